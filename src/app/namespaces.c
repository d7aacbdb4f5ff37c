/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "app/namespaces.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "util/fail.h"
#include "util/file.h"
#include "util/text.h"

/* The host's namespaces have fixed inodes (include/linux/proc_ns.h of the kernel). */
#define CGROUP_OF_HOST 0xEFFFFFFBU
#define PID_OF_HOST 0xEFFFFFFCU
#define USER_OF_HOST 0xEFFFFFFDU
#define TIME_OF_HOST 0xEFFFFFFAU

/* The inode of a namespace, 0: not readable. */
static uint64_t namespace_of(const char *process, const char *kind)
{
	char path[300];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%s/ns/%s", process, kind);
	return stat(path, &st) ? 0 : st.st_ino;
}

static bool is_hosts(const char *kind, uint64_t inode)
{
	uint64_t here = namespace_of("self", kind);

	return !here || here == inode; /* kernels without such namespaces have only the host's */
}

bool namespaces_cgroup(void)
{
	return !is_hosts("cgroup", CGROUP_OF_HOST);
}

/* Whether @process, a number of the host, has the number @pid in our namespace. */
static bool is_called(const char *process, pid_t pid)
{
	char line[512], *last = NULL;
	FILE *f = file_open("/proc/%s/status", process);

	while (f && fgets(line, sizeof(line), f)) {
		if (strncmp(line, "NSpid:", 6))
			continue;
		last = strrchr(line, '\t'); /* that of the innermost namespace */
		break;
	}
	if (f)
		fclose(f);
	return last && strtol(last, NULL, 10) == pid;
}

/* The host's number of a process of our namespace; 0: not found in /proc. */
static pid_t number_on_host(pid_t pid)
{
	uint64_t here = namespace_of("self", "pid");
	DIR *dir = opendir("/proc");
	pid_t number = 0;
	struct dirent *d;

	while (dir && !number && (d = readdir(dir))) {
		pid_t process = strtol(d->d_name, NULL, 10);

		if (process > 0 && process != pid && namespace_of(d->d_name, "pid") == here && is_called(d->d_name, pid))
			number = process;
	}
	if (dir)
		closedir(dir);
	return number;
}

static int check_pid(const pid_t *pids, size_t nr)
{
	char numbers[256] = "";

	if (is_hosts("pid", PID_OF_HOST))
		return 0;
	for (size_t i = 0; i < nr; i++) {
		pid_t number = number_on_host(pids[i]);

		if (number)
			text_add(numbers, sizeof(numbers), "; -p %d is process %d of the host", pids[i], number);
	}
	fail(-ENOTSUP, EXIT_STATUS_KERNEL, "cannot run inside a PID namespace: systop would confuse processes");
	fail_why("BPF programs see the host's PIDs, system calls those of the namespace%s", numbers);
	return fail_fix("start it in the host's namespace: docker run --pid=host ..., hostPID: true, nsenter -t 1 -p -m systop");
}

/* Finds a clock that differs from the host's: its name, as in the namespace's table, and its offset in s and ns. */
static bool clock_offset(char name[16], int64_t *s, int64_t *ns)
{
	char line[128];
	FILE *f = fopen("/proc/self/timens_offsets", "re");
	bool off = false;

	while (f && !off && fgets(line, sizeof(line), f))
		off = sscanf(line, "%15s %" SCNd64 " %" SCNd64, name, s, ns) == 3 && (*s || *ns);
	if (f)
		fclose(f);
	return off;
}

static int check_time(void)
{
	int64_t s = 0, ns = 0;
	char name[16];

	if (is_hosts("time", TIME_OF_HOST) || !clock_offset(name, &s, &ns))
		return 0;
	fail(-ENOTSUP, EXIT_STATUS_KERNEL, "cannot run inside a time namespace: all times would be wrong");
	fail_why("its %s clock is %.3f s off the host's, which the kernel uses", name, s + ns / 1e9);
	return fail_fix("start it in the host's namespace: a container without a time namespace, nsenter -t 1 -T systop");
}

static int check_user(void)
{
	if (is_hosts("user", USER_OF_HOST))
		return 0;
	fail(-ENOTSUP, EXIT_STATUS_KERNEL, "cannot run inside a user namespace: the kernel refuses the BPF programs");
	fail_why("capabilities of a user namespace do not count for BPF");
	return fail_fix("start it as the host's root: sudo systop, a container that is not rootless, docker run --userns=host ...");
}

int namespaces_check(const pid_t *pids, size_t nr)
{
	int err = check_pid(pids, nr);

	if (!err)
		err = check_time();
	return err ? err : check_user();
}
