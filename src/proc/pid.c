/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "proc/pid.h"

#include <errno.h>
#include <stdio.h>

#include "util/fail.h"
#include "util/text.h"

static FILE *pid_open(pid_t pid, const char *file)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, file);
	return fopen(path, "re");
}

static void pid_name(pid_t tgid, char *name, size_t size)
{
	char raw[64] = "", comm[256];
	FILE *f = pid_open(tgid, "comm");
	size_t len = 0;

	if (f) {
		len = fread(raw, 1, sizeof(raw), f);
		fclose(f);
	}
	text_safe(comm, sizeof(comm), raw, len ? len - 1 : 0); /* without its newline */
	snprintf(name, size, "%s %d", comm, tgid);
}

pid_t pid_process(pid_t pid, char *name, size_t size)
{
	FILE *f = pid_open(pid, "status");
	char line[256];
	pid_t tgid = 0;

	while (f && !tgid && fgets(line, sizeof(line), f))
		sscanf(line, "Tgid: %d", &tgid);
	if (f)
		fclose(f);
	if (tgid) {
		pid_name(tgid, name, size);
		return tgid;
	}
	fail(-ESRCH, EXIT_STATUS_TARGET, "no process with PID %d", pid);
	fail_why("/proc/%d does not exist", pid);
	fail_fix("ps -eLf | less    # or pgrep NAME");
	return -ESRCH;
}
