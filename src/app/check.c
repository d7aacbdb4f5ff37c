/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "app/check.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "app/clocksource.h"
#include "app/namespaces.h"
#include "app/options.h"
#include "app/roles.h"
#include "collect/collect.h"
#include "collect/load.h"
#include "collect/probe.h"
#include "helper/calls.h"
#include "helper/sandbox.h"
#include "model/health.h"
#include "proc/cgroup.h"
#include "proc/hierarchy.h"
#include "proc/memory.h"
#include "proc/mounts.h"
#include "proc/sched_ext.h"

#define BTF_PATH "/sys/kernel/btf/vmlinux"

/* Needed to load, attach and read the programs; kept for CPUs that come online later. */
static const struct {
	cap_value_t cap;
	const char *name, *what;
} needed[] = {
	{ CAP_BPF, "CAP_BPF", "load BPF programs, make maps" },
	{ CAP_PERFMON, "CAP_PERFMON", "attach to tracepoints and timers" },
};

#define NR_NEEDED (sizeof(needed) / sizeof(needed[0]))

static bool has_cap(cap_value_t cap)
{
	cap_t caps = cap_get_proc();
	cap_flag_value_t value = CAP_CLEAR, all = CAP_CLEAR;

	if (!caps)
		return false;
	cap_get_flag(caps, cap, CAP_EFFECTIVE, &value);
	cap_get_flag(caps, CAP_SYS_ADMIN, CAP_EFFECTIVE, &all); /* includes both, as before 5.8 */
	cap_free(caps);
	return value == CAP_SET || all == CAP_SET;
}

/* The first line of a small file, "" if it can't be read. */
static void read_line(const char *path, char *buf, size_t size)
{
	FILE *f = fopen(path, "re");

	if (!f || !fgets(buf, size, f))
		*buf = '\0';
	buf[strcspn(buf, "\n")] = '\0';
	if (f)
		fclose(f);
}

/* The active mode of "none [integrity] confidentiality". */
static void lockdown_mode(char *mode, size_t size)
{
	char line[128], *open;

	read_line("/sys/kernel/security/lockdown", line, sizeof(line));
	open = strchr(line, '[');
	if (open) {
		open[strcspn(open, "]")] = '\0';
		snprintf(mode, size, "%s", open + 1);
	} else {
		snprintf(mode, size, "none");
	}
}

/* The capabilities held or missing, as "CAP_BPF, CAP_PERFMON"; "none". */
static void list_caps(bool held, char *buf, size_t size)
{
	size_t used = 0;

	snprintf(buf, size, "none");
	for (size_t i = 0; i < NR_NEEDED; i++)
		if (has_cap(needed[i].cap) == held)
			used += snprintf(buf + used, size - used, "%s%s", used ? ", " : "",
					 needed[i].name);
}

static bool has_all_caps(void)
{
	for (size_t i = 0; i < NR_NEEDED; i++)
		if (!has_cap(needed[i].cap))
			return false;
	return true;
}

static int check_kernel(const struct utsname *uts)
{
	const struct probe *probes;
	bool old_storage = false;
	size_t nr;

	if (probes_read(&probes, &nr)) {
		fail(-ENOTSUP, EXIT_STATUS_KERNEL, "kernel %s has no BTF (" BTF_PATH " %s)",
		     uts->release, access(BTF_PATH, F_OK) ? "missing" : "unreadable");
		fail_why("built with CONFIG_DEBUG_INFO_BTF=n, or /sys is not mounted");
		fail_fix("boot a kernel with CONFIG_DEBUG_INFO_BTF=y (every distribution's)");
		return -ENOTSUP;
	}
	for (size_t i = 0; i < nr; i++) {
		if (!probes[i].found && !strcmp(probes[i].name, PROBE_STORAGE_MEMORY))
			old_storage = true;
		if (!probes[i].needed || probes[i].found)
			continue;
		fail(-ENOTSUP, EXIT_STATUS_KERNEL, "kernel %s lacks %s", uts->release,
		     probes[i].why);
		fail_why("without it systop cannot know %s", probes[i].what);
		fail_fix("systop --check");
		return -ENOTSUP;
	}
	if (old_storage && strstr(uts->version, "PREEMPT_RT")) {
		fail(-ENOTSUP, EXIT_STATUS_KERNEL, "kernel %s is PREEMPT_RT, without dedicated memory for task storage",
		     uts->release);
		fail_why("it takes memory where a PREEMPT_RT kernel may not (before Linux 6.4)");
		fail_fix("boot a PREEMPT_RT kernel from 6.4 on");
		return -ENOTSUP;
	}
	return 0;
}

int check_setuid(void)
{
	if (getuid() == geteuid() && getgid() == getegid())
		return 0;
	fail(-EPERM, EXIT_STATUS_PERMISSION, "refusing to run setuid or setgid");
	fail_why("the file systop is set to run with its owner's rights");
	fail_fix("chmod ug-s $(command -v systop)    # then: sudo systop");
	return -EPERM;
}

int check_preconditions(void)
{
	char missing[64], held[64];
	struct utsname uts;
	int err;

	uname(&uts);
	if (!has_all_caps()) {
		list_caps(false, missing, sizeof(missing));
		list_caps(true, held, sizeof(held));
		fail(-EPERM, EXIT_STATUS_PERMISSION,
		     "cannot load BPF programs: missing %s (have: %s)", missing, held);
		fail_why("the effective capabilities of this process lack them");
		fail_fix("sudo systop");
		return -EPERM;
	}
	err = check_kernel(&uts);
	return err;
}

/* Measured once: a slow clock takes a while. */
static const struct clocksource *kernel_clock(void)
{
	static struct clocksource clock;

	if (!*clock.name)
		clocksource_read(&clock);
	return &clock;
}

int check_clock(bool force)
{
	return clocksource_check(kernel_clock(), force);
}

/* The BPF programs, their maps, and those of each CPU. */
#define FILES_NEEDED 120
#define FILES_NEEDED_CPU 6

int check_files(void)
{
	rlim_t needed_files = FILES_NEEDED + FILES_NEEDED_CPU * (rlim_t)sysconf(_SC_NPROCESSORS_CONF);
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return 0;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	if (limit.rlim_cur >= needed_files)
		return 0;
	fail(-EMFILE, EXIT_STATUS_RUNTIME, "too few files may be open: %ju of %ju", (uintmax_t)limit.rlim_cur,
	     (uintmax_t)needed_files);
	fail_why("the limit of open files (RLIMIT_NOFILE) is below what systop needs");
	fail_fix("ulimit -n %ju", needed_files > 1024 ? (uintmax_t)needed_files : 1024);
	return -EMFILE;
}

int check_drop_privileges(void)
{
	return sandbox_enter(&processes[PROCESS_MAIN])
		       ? fail(-errno, EXIT_STATUS_PERMISSION, "cannot give up privileges: %s", strerror(errno))
		       : 0;
}

static void print_hierarchies(void)
{
	FILE *f = fopen("/proc/self/mountinfo", "re");
	struct cgroup_mounts m = { 0 };

	if (f) {
		cgroup_mounts_read(&m, f);
		fclose(f);
	}
	for (size_t i = 0; i < m.nr; i++)
		printf("%-18s %-4s %s\n", i ? "" : "cgroups",
		       m.mounts[i].controllers ? m.mounts[i].controllers : "v2", m.mounts[i].path);
	if (!m.nr)
		printf("%-18s none mounted: all threads are shown in /\n", "cgroups");
	cgroup_mounts_fini(&m);
}

static void print_probes(void)
{
	const struct probe *probes;
	size_t nr;

	if (probes_read(&probes, &nr)) {
		printf("%-18s missing: %s\n", "BTF", BTF_PATH);
		return;
	}
	printf("%-18s ok\n", "BTF");
	for (size_t i = 0; i < nr; i++)
		printf("%-18s %-4s %s%s%s\n", probes[i].name, probes[i].found ? "ok" : "off",
		       probes[i].what, probes[i].found ? "" : ": no ",
		       probes[i].found ? "" : probes[i].why);
}

/* Prints the kernel's reasons for a refusal. */
static void print_refusal(const struct load_attempt *a, bool at_last)
{
	printf("%-18s %-4s %s%sthe kernel refuses %s: %s\n", "BPF programs", at_last ? "no" : "off",
	       at_last ? "" : a->without, at_last ? "" : "; ", *a->refusal.what ? a->refusal.what : "them", strerror(-a->err));
	for (int i = 0; i < a->refusal.nr_lines; i++)
		printf("%-18s      %s\n", "", a->refusal.lines[i]);
}

static void print_report(const struct load_report *report, int err)
{
	for (int i = err ? report->refused - 1 : 0; i >= 0 && i < report->refused; i++)
		print_refusal(&report->attempts[i], err);
	if (!err)
		printf("%-18s %-4s %s\n", "BPF programs", "ok", report->refused ? "the kernel takes the others" : "the kernel takes them");
}

/* Describes the scheduler. A BPF scheduler does not keep how long a thread had the CPU when it went to sleep. */
static void scheduler_text(char *buf, size_t size)
{
	static const char *const unknown = "; sleeps from before the start count from when the thread got the CPU";
	struct sched_ext s;

	sched_ext_read(SCHED_EXT_DIR, &s);
	if (s.on)
		snprintf(buf, size, "BPF programs (sched_ext): %s%s", s.ops, unknown);
	else
		snprintf(buf, size, "the kernel's%s%s", s.ran ? "; BPF programs (sched_ext) were before" : "", s.ran ? unknown : "");
}

static int try_programs(const struct options *o)
{
	struct collect_options with = { .frequency = o->frequency, .wait_ns = o->wait_ns, .table_mib = o->table_mib,
					.window_s = o->window_s, .window_bytes = o->window_bytes,
					.max_cpu = o->max_cpu, .max_memory = o->max_memory };
	struct cgroup_mounts mounts = { 0 };
	struct load_report report = { 0 };
	struct cgroups *cgroups = NULL;
	int err = hierarchy_mounts(&mounts);

	if (!err)
		err = memory_check(&mounts);
	if (!err) {
		cgroups = hierarchy_open(&mounts, NULL, &with.shown_controller, &with.limits_controller);
		err = cgroups ? 0 : -EIO;
	}
	if (!err) {
		with.memory_spare = memory_spare(&mounts);
		err = load_try(&with, &report);
		print_report(&report, err);
	}
	if (err)
		fail(err, EXIT_STATUS_RUNTIME, "cannot load BPF programs: %s", strerror(-err));
	cgroups_free(cgroups);
	cgroup_mounts_fini(&mounts);
	return err;
}

enum exit_status check_print(const struct options *o)
{
	enum exit_status status = EXIT_STATUS_OK;
	char mode[64], paranoid[64], clock[80], scheduler[200];
	struct utsname uts;

	uname(&uts);
	lockdown_mode(mode, sizeof(mode));
	read_line("/proc/sys/kernel/perf_event_paranoid", paranoid, sizeof(paranoid));
	printf("%-18s %s %s%s\n", "kernel", uts.release, uts.machine,
	       strstr(uts.version, "PREEMPT_RT") ? " PREEMPT_RT" : "");
	print_probes();
	for (size_t i = 0; i < NR_NEEDED; i++)
		printf("%-18s %-4s to %s\n", needed[i].name, has_cap(needed[i].cap) ? "held" : "no",
		       needed[i].what);
	printf("%-18s these two are all systop needs; all others are given up after start\n", "");
	printf("%-18s %s%s\n", "lockdown", mode,
	       strcmp(mode, "confidentiality") ? "" : ": no stacks, and names after a rename are not seen");
	printf("%-18s %s\n", "perf_event_paranoid", *paranoid ? paranoid : "-");
	clocksource_text(kernel_clock(), clock, sizeof(clock));
	printf("%-18s %-4s %s\n", "clock", kernel_clock()->counter ? "ok" : "slow", clock);
	scheduler_text(scheduler, sizeof(scheduler));
	printf("%-18s %s\n", "scheduler", scheduler);
	print_hierarchies();

	if (check_kernel(&uts) || namespaces_check(NULL, 0) || check_preconditions() || check_clock(o->force) ||
	    check_files() || try_programs(o))
		status = failure_print(stdout);
	printf("%-18s %s\n", "verdict", status ? "systop cannot run here" : "systop can run here");
	return status;
}

void check_health(struct health *h)
{
	struct utsname uts;
	char mode[32], call[32], clock[80], scheduler[200];
	uint64_t refused = calls_refused(call, sizeof(call));

	uname(&uts);
	lockdown_mode(mode, sizeof(mode));
	health_add(h, "Kernel", "release", HEALTH_FACT, "%s", uts.release);
	health_add(h, "Kernel", "lockdown", strcmp(mode, "confidentiality") ? HEALTH_FACT : HEALTH_DEGRADED,
		   "%s", mode);
	clocksource_text(kernel_clock(), clock, sizeof(clock));
	health_add(h, "Kernel", "clock", kernel_clock()->counter ? HEALTH_FACT : HEALTH_DEGRADED, "%s%s", clock,
		   kernel_clock()->counter ? "" : ": it slows down every switch");
	scheduler_text(scheduler, sizeof(scheduler));
	health_add(h, "Kernel", "scheduler", HEALTH_FACT, "%s", scheduler);
	for (size_t i = 0; i < NR_NEEDED; i++)
		health_add(h, "Rights", needed[i].name,
			   has_cap(needed[i].cap) ? HEALTH_ON : HEALTH_OFF, "%s", needed[i].what);
	if (refused)
		health_add(h, "Rights", "system calls", HEALTH_DEGRADED, "%" PRIu64 " refused, the last was %s()",
			   refused, call);
	else
		health_add(h, "Rights", "system calls", HEALTH_ON, "allowed as needed; others are refused");
}
