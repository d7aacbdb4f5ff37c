/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The targets for libFuzzer: SYSTOP_FUZZ names the target to run; without it, lists them. */
#include "fuzz.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

static const struct fuzz_target *target;

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const char *name = getenv("SYSTOP_FUZZ");

	(void)argc;
	(void)argv;
	if (!name) {
		for (const struct fuzz_target *t = fuzz_targets; t->name; t++)
			printf("%s %zu %s\n", t->name, t->bytes, t->what);
		exit(EXIT_SUCCESS);
	}
	target = fuzz_find(name);
	if (!target) {
		fprintf(stderr, "there is no target %s\n", name);
		exit(2);
	}
	setlocale(LC_ALL, "C.UTF-8");
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	target->run(bytes, size);
	return 0;
}
