/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "proc/sched_ext.h"

#include <string.h>

#include "util/file.h"
#include "util/text.h"

void sched_ext_read(const char *dir, struct sched_ext *s)
{
	char line[128];

	*s = (struct sched_ext){ .ops = "-" };
	file_line(line, sizeof(line), "%s/state", dir);
	s->on = *line && strcmp(line, "disabled");
	file_line(line, sizeof(line), "%s/enable_seq", dir);
	s->ran = s->on || (*line && strcmp(line, "0"));
	if (s->on)
		file_line(line, sizeof(line), "%s/root/ops", dir);
	if (s->on && *line)
		text_safe(s->ops, sizeof(s->ops), line, strlen(line));
}
