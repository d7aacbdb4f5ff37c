/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "app/check.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "app/clocksource.h"
#include "app/roles.h"
#include "collect/probe.h"
#include "helper/calls.h"
#include "helper/sandbox.h"
#include "model/health.h"
#include "proc/sched_ext.h"
#include "util/file.h"
#include "util/online.h"
#include "util/text.h"

/* Needed to load, attach and read the programs, and kept for CPUs that come online later; and what helpers use. */
static const struct right {
	cap_value_t cap;
	const char *name, *what;
} needed[] = {
	{ CAP_BPF, "CAP_BPF", "load BPF programs, make maps" },
	{ CAP_PERFMON, "CAP_PERFMON", "attach to tracepoints and timers" },
};

static const struct right useful[] = {
	{ CAP_SYS_PTRACE, "CAP_SYS_PTRACE", "read names and command lines of other users' processes" },
	{ CAP_DAC_READ_SEARCH, "CAP_DAC_READ_SEARCH", "read files that only their owners can read" },
	{ CAP_SYSLOG, "CAP_SYSLOG", "read the kernel's symbols, unless kernel.kptr_restrict is 2" },
	{ CAP_CHECKPOINT_RESTORE, "CAP_CHECKPOINT_RESTORE", "read files that are deleted or in containers" },
};

#define NR_NEEDED (sizeof(needed) / sizeof(needed[0]))
#define NR_USEFUL (sizeof(useful) / sizeof(useful[0]))

/* CAP_SYS_ADMIN does not count, though the kernel accepts it instead of these: no process of systop keeps it. */
static bool has_right(const struct right *r)
{
	cap_t caps = cap_get_proc();
	cap_flag_value_t value = CAP_CLEAR;

	if (!caps)
		return false;
	cap_get_flag(caps, r->cap, CAP_EFFECTIVE, &value);
	cap_free(caps);
	return value == CAP_SET;
}

/* The active mode of "none [integrity] confidentiality". */
void check_lockdown(char *mode, size_t size)
{
	char line[128], *open;

	file_line(line, sizeof(line), "/sys/kernel/security/lockdown");
	open = strchr(line, '[');
	if (open) {
		open[strcspn(open, "]")] = '\0';
		snprintf(mode, size, "%s", open + 1);
	} else {
		snprintf(mode, size, "none");
	}
}

const char *check_right(size_t i, bool *is_needed, const char **what, bool *held)
{
	const struct right *r = i < NR_NEEDED ? &needed[i] : &useful[i - NR_NEEDED];

	if (i >= NR_NEEDED + NR_USEFUL)
		return NULL;
	*is_needed = i < NR_NEEDED;
	*what = r->what;
	*held = has_right(r);
	return r->name;
}

/* The capabilities held or missing, as "CAP_BPF, CAP_PERFMON". Returns whether there are any. */
static bool list_caps(bool held, char *buf, size_t size)
{
	*buf = '\0';
	for (size_t i = 0; i < NR_NEEDED; i++)
		if (has_right(&needed[i]) == held)
			text_add(buf, size, "%s%s", *buf ? ", " : "", needed[i].name);
	return *buf;
}

int check_kernel(void)
{
	const struct probe *probes;
	bool old_storage = false;
	struct utsname uts;
	char cpus[64];
	size_t nr;

	uname(&uts);
	file_line(cpus, sizeof(cpus), ONLINE_FILES "possible");
	if (!*cpus) {
		fail(-ENOTSUP, EXIT_STATUS_KERNEL, "the list of possible CPUs is %s",
		     access(ONLINE_FILES "possible", F_OK) ? "missing" : "unreadable");
		fail_why(ONLINE_FILES "possible is hidden, or /sys is not mounted");
		return fail_fix("mount -t sysfs sysfs /sys");
	}
	if (probes_read(&probes, &nr)) {
		fail(-ENOTSUP, EXIT_STATUS_KERNEL, "kernel %s has no BTF (" BTF_PATH " %s)",
		     uts.release, access(BTF_PATH, F_OK) ? "missing" : "unreadable");
		fail_why("built with CONFIG_DEBUG_INFO_BTF=n, or /sys is not mounted");
		return fail_fix("boot a kernel with CONFIG_DEBUG_INFO_BTF=y (every distribution's)");
	}
	for (size_t i = 0; i < nr; i++) {
		if (!probes[i].found && !strcmp(probes[i].name, PROBE_STORAGE_MEMORY))
			old_storage = true;
		if (!probes[i].needed || probes[i].found)
			continue;
		fail(-ENOTSUP, EXIT_STATUS_KERNEL, "kernel %s lacks %s", uts.release,
		     probes[i].why);
		fail_why("systop needs it for: %s", probes[i].what);
		return fail_fix("systop --check");
	}
	if (old_storage && strstr(uts.version, "PREEMPT_RT")) {
		fail(-ENOTSUP, EXIT_STATUS_KERNEL, "kernel %s is PREEMPT_RT, without dedicated memory for task storage",
		     uts.release);
		fail_why("before Linux 6.4 task storage allocates memory where PREEMPT_RT forbids it");
		return fail_fix("boot a PREEMPT_RT kernel, 6.4 or newer");
	}
	return 0;
}

int check_setuid(void)
{
	if (getuid() == geteuid() && getgid() == getegid())
		return 0;
	fail(-EPERM, EXIT_STATUS_PERMISSION, "refusing to run setuid or setgid");
	fail_why("the systop file is set to run with the rights of its owner or group");
	return fail_fix("chmod ug-s $(command -v systop)    # then: sudo systop");
}

int check_rights(void)
{
	char missing[64], held[64];

	if (!list_caps(false, missing, sizeof(missing)))
		return 0;
	list_caps(true, held, sizeof(held));
	fail(-EPERM, EXIT_STATUS_PERMISSION, "cannot load BPF programs: missing %s (have: %s)", missing,
	     *held ? held : "none");
	fail_why("the effective capabilities of this process lack them");
	return fail_fix("sudo systop");
}

/* The BPF programs, their maps, and sockets of helpers: up to 130 were open while a detail was shown, a trace was saved, and the
 * config and a log were written. Each online CPU has three samplers, an event and a link each, and a ring. */
#define FILES_NEEDED 140
#define FILES_NEEDED_CPU 7

static rlim_t files_before;

void check_files_restore(void)
{
	struct rlimit limit;

	if (!files_before || getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = files_before;
	setrlimit(RLIMIT_NOFILE, &limit);
}

int check_files(void)
{
	rlim_t needed_files = FILES_NEEDED + FILES_NEEDED_CPU * (rlim_t)sysconf(_SC_NPROCESSORS_ONLN);
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return 0;
	files_before = limit.rlim_cur;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	if (limit.rlim_cur >= needed_files)
		return 0;
	fail(-EMFILE, EXIT_STATUS_RUNTIME, "the limit of open files is too low: %ju of %ju", (uintmax_t)limit.rlim_cur,
	     (uintmax_t)needed_files);
	fail_why("the limit of open files (RLIMIT_NOFILE) is below what systop needs");
	return fail_fix("ulimit -n %ju", needed_files > 1024 ? (uintmax_t)needed_files : 1024);
}

/* All views together used up to 140K; demangling a long name takes more. */
#define STACK_NEEDED (512 << 10)

int check_stack(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_STACK, &limit) || limit.rlim_cur >= STACK_NEEDED)
		return 0;
	fail(-ENOMEM, EXIT_STATUS_RUNTIME, "the limit of the stack is too low: %juK of %dK", (uintmax_t)limit.rlim_cur >> 10,
	     STACK_NEEDED >> 10);
	fail_why("the limit of the stack (RLIMIT_STACK) is below what systop needs");
	return fail_fix("ulimit -s 8192");
}

int check_drop_privileges(void)
{
	int err = sandbox_enter(&processes[PROCESS_MAIN]) ? -errno : 0;

	if (!err)
		return 0;
	fail(err, EXIT_STATUS_PERMISSION, "cannot give up privileges: %s", strerror(-err));
	if (err == -EINVAL) {
		fail_why("the kernel has no filters of system calls (seccomp)");
		fail_fix("boot a kernel with CONFIG_SECCOMP_FILTER=y (every distribution's)");
	} else if (err != -ENOMEM) {
		fail_why("a seccomp filter or a security module forbids it");
		fail_fix("start it as root on the host, or: docker run --privileged ...");
	}
	return err;
}

/* Describes the scheduler. A BPF scheduler does not record how long a thread had the CPU when it went to sleep. */
void check_scheduler(char *buf, size_t size)
{
	static const char *const unknown = "; sleeps from before the start count from when the thread got the CPU";
	struct sched_ext s;

	sched_ext_read(SCHED_EXT_DIR, &s);
	if (s.on)
		snprintf(buf, size, "BPF programs (sched_ext): %s%s", s.ops, unknown);
	else
		snprintf(buf, size, "the kernel's%s%s", s.ran ? "; BPF programs (sched_ext) were before" : "", s.ran ? unknown : "");
}

void check_health(struct health *h)
{
	struct utsname uts;
	char mode[32], call[32], scheduler[200];
	uint64_t refused = calls_refused(call, sizeof(call));
	const struct clocksource *source = clocksource_now();

	uname(&uts);
	check_lockdown(mode, sizeof(mode));
	health_add(h, "Kernel", "release", HEALTH_FACT, "%s", uts.release);
	health_add(h, "Kernel", "lockdown", strcmp(mode, "confidentiality") ? HEALTH_FACT : HEALTH_DEGRADED,
		   "%s", mode);
	health_add(h, "Kernel", "clock", source->counter ? HEALTH_FACT : HEALTH_DEGRADED, "%s%s", source->text,
		   source->counter ? "" : ": it slows down every switch");
	check_scheduler(scheduler, sizeof(scheduler));
	health_add(h, "Kernel", "scheduler", HEALTH_FACT, "%s", scheduler);
	for (size_t i = 0; i < NR_NEEDED; i++)
		health_add(h, "Rights", needed[i].name,
			   has_right(&needed[i]) ? HEALTH_ON : HEALTH_OFF, "%s", needed[i].what);
	if (refused)
		health_add(h, "Rights", "system calls", HEALTH_DEGRADED, "%" PRIu64 " refused, the last was %s()",
			   refused, call);
	else
		health_add(h, "Rights", "system calls", HEALTH_ON, "allowed as needed; others are refused");
}
