/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A name as a compiler, or anyone else who made the file, wrote it: how the helper puts it into its answer, and how it is
 * shortened for the screen. */
#include "fuzz.h"

#include <stdlib.h>

void symbols_run_here(int socket);
#define symbols_run symbols_run_here
#include "../../src/sym/symbols.c"

void fuzz_demangle(const uint8_t *bytes, size_t size)
{
	static struct symbols_names a;
	static const struct known file;
	char *name = fuzz_text(bytes, size), *copy = strdup(name), brief[SYMBOLS_NAME];
	size_t len;

	a.bytes = 0;
	put_name(&a, NAME_SYMBOL, name, size & 1 ? NULL : &file);
	fuzz_check(a.bytes && a.bytes <= SYMBOLS_NAME && strlen(a.names) == a.bytes - 1, "%u bytes", a.bytes);
	len = short_name(brief, sizeof(brief), copy);
	fuzz_check(len < sizeof(brief) && len <= strlen(copy) && strlen(brief) == len, "%zu bytes", len);
	if (strcmp(a.names, name))
		fuzz_outcome(a.names);
	a.bytes = sizeof(a.names) - 16; /* it is cut to fit */
	put_name(&a, NAME_SYMBOL, copy, size & 1 ? NULL : &file);
	fuzz_check(a.bytes <= sizeof(a.names) && !a.names[a.bytes - 1], "%u bytes", a.bytes);
	free(copy);
	free(name);
}
