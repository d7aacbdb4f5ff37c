/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "proc/pid.h"

#include <errno.h>
#include <stdio.h>

#include "util/fail.h"
#include "util/file.h"
#include "util/text.h"

static void pid_name(pid_t number, char *name, size_t size)
{
	char raw[64], comm[256];
	size_t len = file_text(raw, sizeof(raw), "/proc/%d/comm", number);

	text_safe(comm, sizeof(comm), raw, len ? len - 1 : 0); /* without its newline */
	snprintf(name, size, "%s %d", comm, number);
}

static pid_t process_of(pid_t number)
{
	char status[4096];
	uint64_t tgid;

	file_text(status, sizeof(status), "/proc/%d/status", number);
	return text_number(status, "Tgid", &tgid) ? tgid : 0;
}

static int fail_missing(const char *what, pid_t number)
{
	fail(-ESRCH, EXIT_STATUS_TARGET, "no %s %d", what, number);
	fail_why("/proc/%d does not exist", number);
	fail_fix("ps -eLf | less    # or pgrep NAME");
	return -ESRCH;
}

pid_t pid_process(pid_t pid, char *name, size_t size)
{
	pid_t tgid = process_of(pid);

	if (!tgid)
		return fail_missing("process with PID", pid);
	pid_name(tgid, name, size);
	return tgid;
}

int pid_thread(pid_t tid, char *name, size_t size)
{
	if (!process_of(tid))
		return fail_missing("thread with TID", tid);
	pid_name(tid, name, size);
	return 0;
}
