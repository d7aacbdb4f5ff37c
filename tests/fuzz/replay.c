/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs every target over its stored inputs, which include all earlier findings; under the sanitizers if they are built
 * in. tests/fuzz/replay NAME FILE...: one target over these files.
 */
#include "fuzz.h"

#include <dirent.h>
#include <limits.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef SANITIZED
#define HOW ""
#else
#define HOW ", without the sanitizers"
#endif

/* An input that takes longer hangs, even on an overloaded host. */
#define INPUT_S 60

/* The present input, visible to the process that prints. */
static struct now {
	char file[PATH_MAX + 400];
	int nr;
} *now;

/* In memory of exactly its size, so that the sanitizers see reads beyond its end. */
static uint8_t *read_input(const char *path, size_t *size)
{
	FILE *f = fopen(path, "re");
	uint8_t buf[65536], *bytes;

	fuzz_check(f, "%s: %m", path);
	*size = fread(buf, 1, sizeof(buf), f);
	fclose(f);
	bytes = malloc(*size ? *size : 1);
	fuzz_check(bytes, "no memory");
	memcpy(bytes, buf, *size);
	return bytes;
}

static void run_input(const struct fuzz_target *t, const char *path)
{
	size_t size;
	uint8_t *bytes = read_input(path, &size);

	snprintf(now->file, sizeof(now->file), "%s", path);
	alarm(INPUT_S);
	t->run(bytes, size);
	free(bytes);
	now->nr++;
}

static void run_folder(const struct fuzz_target *t, const char *folder)
{
	struct dirent **list;
	int nr = scandir(folder, &list, NULL, alphasort);

	fuzz_check(nr >= 0, "%s: %m", folder);
	for (int i = 0; i < nr; i++) {
		char path[PATH_MAX + 400];

		snprintf(path, sizeof(path), "%s/%s", folder, list[i]->d_name);
		if (list[i]->d_name[0] != '.')
			run_input(t, path);
		free(list[i]);
	}
	free(list);
}

/* In a process of its own: if it dies, the others continue. */
static bool run_target(const struct fuzz_target *t, const char *folder)
{
	int status;
	pid_t pid;

	*now = (struct now){ 0 };
	fflush(stdout);
	pid = fork();
	if (!pid) {
		run_folder(t, folder);
		exit(EXIT_SUCCESS);
	}
	fuzz_check(pid > 0 && waitpid(pid, &status, 0) == pid, "no process: %m");
	return !status && now->nr;
}

static int run_all(const char *corpus)
{
	int nr = 0, failed = 0;

	for (const struct fuzz_target *t = fuzz_targets; t->name; t++)
		nr++;
	printf("1..%d\n", nr);
	nr = 0;
	for (const struct fuzz_target *t = fuzz_targets; t->name; t++) {
		char folder[PATH_MAX + 100];
		bool ok;

		snprintf(folder, sizeof(folder), "%s/%s", corpus, t->name);
		ok = run_target(t, folder);
		failed += !ok;
		printf("%s %d - %s: %d inputs of %s" HOW "\n", ok ? "ok" : "not ok", ++nr, t->name, now->nr, t->what);
		if (!ok)
			printf("# %s\n", *now->file ? now->file : "no input was run");
	}
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	const struct fuzz_target *t = argc > 1 ? fuzz_find(argv[1]) : NULL;
	const char *srcdir = getenv("srcdir");
	char corpus[PATH_MAX];

	setlocale(LC_ALL, "C.UTF-8");
	now = mmap(NULL, sizeof(*now), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	fuzz_check(now != MAP_FAILED, "no memory");
	if (argc == 1) {
		snprintf(corpus, sizeof(corpus), "%s/tests/fuzz/corpus", srcdir ? srcdir : ".");
		return run_all(corpus);
	}
	fuzz_check(t, "there is no target %s", argv[1]);
	for (int i = 2; i < argc; i++)
		run_input(t, argv[i]);
	return EXIT_SUCCESS;
}
