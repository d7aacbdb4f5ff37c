/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "proc/sched_ext.h"

#include <stdio.h>
#include <string.h>

#include "util/text.h"

/* Reads the first line of a file, "": there is none. */
static void read_line(const char *dir, const char *name, char *line, int size)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "re");
	if (!f || !fgets(line, size, f))
		*line = '\0';
	line[strcspn(line, "\n")] = '\0';
	if (f)
		fclose(f);
}

void sched_ext_read(const char *dir, struct sched_ext *s)
{
	char line[128];

	*s = (struct sched_ext){ .ops = "-" };
	read_line(dir, "state", line, sizeof(line));
	s->on = *line && strcmp(line, "disabled");
	read_line(dir, "enable_seq", line, sizeof(line));
	s->ran = s->on || (*line && strcmp(line, "0"));
	if (s->on)
		read_line(dir, "root/ops", line, sizeof(line));
	if (s->on && *line)
		text_safe(s->ops, sizeof(s->ops), line, strlen(line));
}
