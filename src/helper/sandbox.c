/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "helper/sandbox.h"

#include <errno.h>
#include <grp.h>
#include <seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "helper/helper.h"
#include "util/invoker.h"

#define NOBODY 65534

/* What a helper needs that only reads files it was handed, and answers. */
static const int allowed[] = {
	SCMP_SYS(read),      SCMP_SYS(pread64), SCMP_SYS(lseek),      SCMP_SYS(fstat),
	SCMP_SYS(newfstatat), SCMP_SYS(close),  SCMP_SYS(recvmsg),    SCMP_SYS(sendmsg),
	SCMP_SYS(brk),       SCMP_SYS(mmap),    SCMP_SYS(munmap),     SCMP_SYS(mremap),
	SCMP_SYS(madvise),   SCMP_SYS(mprotect), SCMP_SYS(fcntl),     SCMP_SYS(exit),
	SCMP_SYS(exit_group), SCMP_SYS(futex),  SCMP_SYS(getrandom),  SCMP_SYS(rt_sigreturn),
	SCMP_SYS(rt_sigprocmask), SCMP_SYS(clock_gettime), SCMP_SYS(getpid), SCMP_SYS(gettid),
	SCMP_SYS(sysinfo), /* qsort(), to see whether there is memory to spare */
	SCMP_SYS(dup),       SCMP_SYS(memfd_create), SCMP_SYS(write),
	SCMP_SYS(poll),      SCMP_SYS(ppoll), /* whether systop is gone */
};

/* What libraries try, and can do without: libdw opens files that a file names. */
static const int denied[] = { SCMP_SYS(open), SCMP_SYS(openat), SCMP_SYS(readlink), SCMP_SYS(access) };

static int lock(const struct helper_role *role)
{
	scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_KILL_PROCESS);
	int err = ctx ? 0 : -1;

	for (size_t i = 0; !err && i < sizeof(allowed) / sizeof(allowed[0]); i++)
		err = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, allowed[i], 0);
	for (size_t i = 0; !err && i < sizeof(denied) / sizeof(denied[0]); i++)
		err = seccomp_rule_add(ctx, SCMP_ACT_ERRNO(ENOENT), denied[i], 0);
	if (!err && role->bpf)
		err = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(bpf), 0);
	if (!err)
		err = seccomp_load(ctx);
	seccomp_release(ctx);
	return err;
}

static int set_limits(const struct helper_role *role)
{
	struct rlimit memory = { role->memory, role->memory };
	struct rlimit cpu = { role->cpu_seconds, role->cpu_seconds };
	struct rlimit none = { 0, 0 }, file = { role->memory / 8, role->memory / 8 };

	return (role->memory && (setrlimit(RLIMIT_AS, &memory) || setrlimit(RLIMIT_FSIZE, &file))) ||
	       (role->cpu_seconds && setrlimit(RLIMIT_CPU, &cpu)) || setrlimit(RLIMIT_CORE, &none);
}

/* The user, and all groups, of whom sudo was called by; without sudo root stays root. */
static int become_invoker(void)
{
	const struct invoker *i = invoker();

	if (!i->name)
		return 0;
	return initgroups(i->name, i->gid) || setresgid(i->gid, i->gid, i->gid) || setresuid(i->uid, i->uid, i->uid);
}

/* Root only: another user has nothing to give up, and what he lacks is what does not work. */
static int drop(const struct helper_role *role)
{
	cap_t caps = cap_init();
	int err;

	if (geteuid())
		return caps ? cap_free(caps) : 0;
	/* With SECBIT_KEEP_CAPS the rights survive the change of user. */
	err = !caps || prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) || (role->invoker && become_invoker()) ||
	      (role->nobody && (setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) ||
				setresuid(NOBODY, NOBODY, NOBODY))) ||
	      (role->nr_caps &&
	       (cap_set_flag(caps, CAP_PERMITTED, role->nr_caps, role->caps, CAP_SET) ||
		cap_set_flag(caps, CAP_EFFECTIVE, role->nr_caps, role->caps, CAP_SET))) ||
	      cap_set_proc(caps);
	cap_free(caps);
	return err ? -1 : 0;
}

int sandbox_enter(const struct helper_role *role)
{
	/*
	 * A helper ends with its socket, by no signal of the terminal. It has no session of its own: on a busy host the
	 * scheduler's group of a new one (autogroup) gets nothing for its first second, measured: 1.3 s.
	 */
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	if (setpgid(0, 0) || setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + role->nice) ||
	    set_limits(role) || drop(role) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0))
		return -1;
	return role->locked ? lock(role) : 0;
}
