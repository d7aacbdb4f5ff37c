/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "proc/process.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static size_t read_file(int32_t tgid, const char *name, char *buf, size_t room)
{
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", tgid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, buf, room);
	close(fd);
	return n > 0 ? n : 0;
}

/* "NSpid:	1234	7": the first one is the host's. */
static void read_nspids(struct process_info *w)
{
	char status[4096], *at, *end;
	size_t len = read_file(w->tgid, "status", status, sizeof(status) - 1);

	status[len] = '\0';
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

void process_info_read(struct process_info *w, char *text, size_t room)
{
	read_nspids(w);
	w->len = room ? read_file(w->tgid, "cmdline", text, room) : 0;
	if (w->len)
		text[w->len - 1] = '\0';
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
