/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "proc/pid.h"

#include <errno.h>
#include <stdio.h>

#include "util/fail.h"

pid_t pid_process(pid_t pid)
{
	char path[64], line[256];
	pid_t tgid = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	f = fopen(path, "re");
	while (f && !tgid && fgets(line, sizeof(line), f))
		sscanf(line, "Tgid: %d", &tgid);
	if (f)
		fclose(f);
	if (tgid)
		return tgid;
	fail(-ESRCH, EXIT_STATUS_TARGET, "no process with PID %d", pid);
	fail_why("/proc/%d does not exist", pid);
	fail_fix("ps -eLf | less    # or pgrep NAME");
	return -ESRCH;
}
