/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sym/perfmap.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "util/stream.h"

#define LINES_MAX 1000000

int perfmap_read(int fd, struct symtab *t)
{
	FILE *f = stream_of(fd, "r");
	char line[1024];
	int err = 0, nr = 0;

	if (!f)
		return -errno;
	symtab_fini(t);
	while (!err && nr++ < LINES_MAX && fgets(line, sizeof(line), f)) {
		uint64_t address, size;
		int name = 0;

		line[strcspn(line, "\r\n")] = '\0';
		if (sscanf(line, "%" SCNx64 " %" SCNx64 " %n", &address, &size, &name) == 2 && name &&
		    line[name])
			err = symtab_add(t, address, size, line + name, 0);
	}
	fclose(f);
	symtab_sort(t);
	return err;
}
