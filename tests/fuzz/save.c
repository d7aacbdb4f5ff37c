/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What W makes of whatever config file there is. */
#include "words.h"

#include <stdio.h>
#include <stdlib.h>

#define config_print config_print_here
#define config_put config_put_here
#define config_run config_run_here
#define config_write config_write_here
#define config_write_work config_write_work_here
#include "../../src/config_write.c"

/* It is read, and says the same. */
void fuzz_save(const uint8_t *bytes, size_t size)
{
	struct settings s, again;
	struct writing w = { .settings = &s };
	FILE *old;
	char *text;
	size_t len;

	if (!fuzz_read_config(&s, bytes, size))
		return;
	old = fmemopen((void *)bytes, size, "r");
	w.to = open_memstream(&text, &len);
	fuzz_check(old && w.to, "no memory");
	put_all(&w, old);
	fclose(old);
	fuzz_check(!fclose(w.to), "no memory");
	fuzz_check(fuzz_read_config(&again, text, len), "what was written is not read");
	fuzz_check_equal(&s, &again);
	free(text);
}
