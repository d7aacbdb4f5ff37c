/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "proc/process.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/file.h"

/* "NSpid:	1234	7": the first one is the host's. */
static void read_nspids(struct process_info *w)
{
	char status[4096], *at, *end;

	file_text(status, sizeof(status), "/proc/%d/status", w->tgid);
	w->nr_nspids = 0;
	at = strstr(status, "\nNSpid:");
	if (!at)
		return;
	strtol(at + strlen("\nNSpid:"), &at, 10);
	for (long pid = strtol(at, &end, 10); *at == '\t' && end != at && w->nr_nspids < PROCESS_INFO_LEVELS;
	     pid = strtol(at, &end, 10)) {
		w->nspids[w->nr_nspids++] = pid;
		at = end;
	}
}

int process_command_read(int32_t tgid, bool worker, char *text, size_t room, bool *cut)
{
	char path[64], more;
	ssize_t n = 0;
	size_t len = 0;
	int fd;

	*cut = false;
	snprintf(path, sizeof(path), "/proc/%d/%s", tgid, worker ? "comm" : "cmdline");
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	while (len < room && (n = read(fd, text + len, room - len)) > 0)
		len += n;
	if (n < 0)
		n = -errno;
	else if (len == room)
		*cut = read(fd, &more, 1) > 0;
	close(fd);
	if (worker && len && text[len - 1] == '\n')
		len--;
	return n < 0 ? (int)n : (int)len;
}

void process_info_read(struct process_info *w, char *text, size_t room)
{
	static const char mark[] = "\0.."; /* an argument of its own */
	bool cut = false;
	int got = room ? process_command_read(w->tgid, false, text, room, &cut) : 0;

	read_nspids(w);
	w->len = got > 0 ? got : 0;
	if (w->len)
		text[w->len - 1] = '\0';
	if (cut && room > sizeof(mark))
		memcpy(text + room - sizeof(mark), mark, sizeof(mark));
}
