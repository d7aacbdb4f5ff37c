/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sym/kallsyms.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "util/stream.h"

/* One line: "ffffffff81000000 T _stext", perhaps with "\t[module]". */
static int read_line(const char *line, struct symtab *t)
{
	char name[512], module[64], both[sizeof(name) + sizeof(module) + 4], type;
	uint64_t address;
	int n = sscanf(line, "%" SCNx64 " %c %511s [%63[^]]", &address, &type, name, module);

	if (n < 3 || !address || !strchr("tTwW", type))
		return 0;
	snprintf(both, sizeof(both), n > 3 ? "%s [%s]" : "%s", name, module);
	return symtab_add(t, address, 0, both, strlen(both), !!isupper((unsigned char)type));
}

int kallsyms_read(int fd, struct symtab *t)
{
	FILE *f = stream_of(fd, "r");
	char line[1024];
	int err = 0;

	if (!f)
		return -errno;
	symtab_fini(t);
	while (!err && fgets(line, sizeof(line), f))
		err = read_line(line, t);
	fclose(f);
	return err ? err : symtab_sort(t);
}
