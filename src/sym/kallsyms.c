/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sym/kallsyms.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/file.h"

/* One line: "ffffffff81000000 T _stext", perhaps with "\t[module]", which becomes a part of the name. sscanf() makes reading
 * the 120,000 lines of a kernel take 85 ms instead of 55. */
static int read_line(char *line, struct symtab *t)
{
	char *at, *name, type, *tab;
	uint64_t address = strtoull(line, &at, 16);

	if (!address || at[0] != ' ' || !at[1] || at[2] != ' ')
		return 0;
	type = at[1];
	name = at + 3;
	name[strcspn(name, "\n")] = '\0';
	tab = strchr(name, '\t');
	if (tab)
		*tab = ' ';
	if (!*name || *name == ' ' || !strchr("tTwW", type))
		return 0;
	return symtab_add(t, address, 0, name, strlen(name), !!isupper((unsigned char)type));
}

/* " [module]", "" in the kernel. */
static const char *module_of(const struct symtab *t, const struct symtab_function *f)
{
	const char *module = strchr(t->names + f->name, ' ');

	return module ? module : "";
}

static bool is_last(const struct symtab *t, const struct symtab_function *f)
{
	const struct symtab_function *next = f + 1 < t->functions + t->nr ? f + 1 : NULL;
	const char *module;

	if (next && next->address == f->address)
		return next->size;
	module = module_of(t, f);
	return strcmp(module, " [bpf]") && (!next || strcmp(module, module_of(t, next)));
}

/* The file has no sizes. The last function of the kernel, or of a module, counts up to the end of its page, also if it is
 * longer: the next page can have code of a module that was loaded later, or of BPF programs, which have no symbols if the kernel
 * hides them (net.core.bpf_jit_harden). */
static void end_modules(struct symtab *t)
{
	uint64_t page = sysconf(_SC_PAGESIZE);

	for (size_t i = t->nr; i-- > 0;)
		if (is_last(t, &t->functions[i]))
			t->functions[i].size = page - t->functions[i].address % page;
}

/* Hidden addresses are 0, as some of per-CPU variables always are. The kernel decides whether it hides them when the file is
 * opened. */
int kallsyms_open(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	FILE *f = fd < 0 ? NULL : file_stream(fd, "r");
	struct symtab first = { 0 };
	char line[1024];

	while (f && !first.nr && fgets(line, sizeof(line), f))
		read_line(line, &first);
	if (f)
		fclose(f);
	if (!first.nr)
		file_close(&fd);
	symtab_fini(&first);
	return fd;
}

int kallsyms_read(int fd, struct symtab *t)
{
	FILE *f = file_stream(fd, "r");
	char line[1024];
	int err = 0;

	if (!f)
		return -errno;
	symtab_fini(t);
	while (!err && fgets(line, sizeof(line), f))
		err = read_line(line, t);
	fclose(f);
	if (!err)
		err = symtab_sort(t);
	if (!err)
		end_modules(t);
	return err;
}
