/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "helper/calls.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

/* Kept by every process. */
static const int common[] = {
	SCMP_SYS(brk),
	SCMP_SYS(clock_getres), /* used by clock_getcpuclockid() */
	SCMP_SYS(clock_gettime),
	SCMP_SYS(clock_nanosleep),
	SCMP_SYS(close),
	SCMP_SYS(exit),
	SCMP_SYS(exit_group),
	SCMP_SYS(fstat),
	SCMP_SYS(futex),
	SCMP_SYS(getpid),
	SCMP_SYS(getrandom),
	SCMP_SYS(gettid),
	SCMP_SYS(gettimeofday),
	SCMP_SYS(madvise),
	SCMP_SYS(membarrier),
	SCMP_SYS(mremap),
	SCMP_SYS(munmap),
	SCMP_SYS(nanosleep),
	SCMP_SYS(poll), /* to notice that systop is gone */
	SCMP_SYS(ppoll),
	SCMP_SYS(read),
	SCMP_SYS(recvmsg),
	SCMP_SYS(restart_syscall),
	SCMP_SYS(rseq),
	SCMP_SYS(rt_sigaction),
	SCMP_SYS(rt_sigprocmask),
	SCMP_SYS(rt_sigreturn),
	SCMP_SYS(sched_yield),
	SCMP_SYS(sendmsg),
	SCMP_SYS(sysinfo), /* qsort() checks for free memory */
	SCMP_SYS(time),
	SCMP_SYS(write),
};

static const int parse[] = {
	SCMP_SYS(dup),
	SCMP_SYS(fadvise64),
	SCMP_SYS(fallocate),
	SCMP_SYS(fstatfs),
	SCMP_SYS(ftruncate),
	SCMP_SYS(getrusage),
	SCMP_SYS(lseek),
	SCMP_SYS(memfd_create),
	SCMP_SYS(pread64),
	SCMP_SYS(pwrite64),
	SCMP_SYS(readv),
	SCMP_SYS(writev),
};

static const int look_up[] = {
	SCMP_SYS(access),
	SCMP_SYS(faccessat),
	SCMP_SYS(faccessat2),
	SCMP_SYS(fstatfs),
	SCMP_SYS(getdents64),
	SCMP_SYS(lseek),
	SCMP_SYS(lstat),
	SCMP_SYS(memfd_create), /* for a copy of the vDSO */
	SCMP_SYS(newfstatat),
	SCMP_SYS(openat2),
	SCMP_SYS(pread64),
	SCMP_SYS(readlink),
	SCMP_SYS(readlinkat),
	SCMP_SYS(stat),
	SCMP_SYS(statfs),
	SCMP_SYS(statx),
};

static const int make_files[] = {
	SCMP_SYS(copy_file_range),
	SCMP_SYS(dup),
	SCMP_SYS(fadvise64),
	SCMP_SYS(fallocate),
	SCMP_SYS(fchmod),
	SCMP_SYS(fchown),
	SCMP_SYS(fdatasync),
	SCMP_SYS(fsync),
	SCMP_SYS(ftruncate),
	SCMP_SYS(getpriority),
	SCMP_SYS(link),
	SCMP_SYS(linkat),
	SCMP_SYS(memfd_create),
	SCMP_SYS(mkdir),
	SCMP_SYS(mkdirat),
	SCMP_SYS(open),
	SCMP_SYS(openat),
	SCMP_SYS(pwrite64),
	SCMP_SYS(rename),
	SCMP_SYS(renameat),
	SCMP_SYS(renameat2),
	SCMP_SYS(rmdir),
	SCMP_SYS(setfsuid),
	SCMP_SYS(setpriority),
	SCMP_SYS(sync_file_range),
	SCMP_SYS(umask),
	SCMP_SYS(unlink),
	SCMP_SYS(unlinkat),
	SCMP_SYS(writev),
};

static const int measure[] = {
	SCMP_SYS(capget),
	SCMP_SYS(clock_getres), /* for the CPU clock of a process */
	SCMP_SYS(perf_event_open),
	SCMP_SYS(pidfd_open),
	SCMP_SYS(prlimit64),
	SCMP_SYS(sched_getaffinity),
	SCMP_SYS(sched_getattr),
	SCMP_SYS(sched_getscheduler),
	SCMP_SYS(uname),
};

static const int screen[] = {
	SCMP_SYS(dup),
	SCMP_SYS(dup3),
	SCMP_SYS(epoll_create1),
	SCMP_SYS(epoll_ctl),
	SCMP_SYS(epoll_pwait),
	SCMP_SYS(epoll_pwait2),
	SCMP_SYS(epoll_wait),
	SCMP_SYS(getegid),
	SCMP_SYS(geteuid),
	SCMP_SYS(getgid),
	SCMP_SYS(getppid),
	SCMP_SYS(getpriority),
	SCMP_SYS(getuid),
	SCMP_SYS(ioctl),
	SCMP_SYS(pselect6),
	SCMP_SYS(rt_sigpending),
	SCMP_SYS(rt_sigtimedwait),
	SCMP_SYS(select),
	SCMP_SYS(setitimer),
	SCMP_SYS(shutdown),
	SCMP_SYS(sigaltstack),
	SCMP_SYS(signalfd4),
	SCMP_SYS(timerfd_create),
	SCMP_SYS(timerfd_settime),
	SCMP_SYS(writev),
};

static const int ask[] = {
	SCMP_SYS(ftruncate),
	SCMP_SYS(memfd_create),
	SCMP_SYS(pwrite64),
	SCMP_SYS(socketpair),
	SCMP_SYS(wait4),
	SCMP_SYS(waitid),
};

static const int start[] = {
	SCMP_SYS(capget),
	SCMP_SYS(capset),
	SCMP_SYS(clone),
	SCMP_SYS(close_range),
	SCMP_SYS(dup2),
	SCMP_SYS(dup3),
	SCMP_SYS(getegid),
	SCMP_SYS(geteuid),
	SCMP_SYS(getgid),
	SCMP_SYS(getppid),
	SCMP_SYS(getpriority),
	SCMP_SYS(getuid),
	SCMP_SYS(ioctl),
	SCMP_SYS(pidfd_open),
	SCMP_SYS(pidfd_send_signal),
	SCMP_SYS(prctl),
	SCMP_SYS(prlimit64),
	SCMP_SYS(seccomp),
	SCMP_SYS(set_robust_list),
	SCMP_SYS(setfsgid),
	SCMP_SYS(setfsuid),
	SCMP_SYS(setgroups),
	SCMP_SYS(setitimer),
	SCMP_SYS(setpgid),
	SCMP_SYS(setpriority),
	SCMP_SYS(setresgid),
	SCMP_SYS(setresuid),
	SCMP_SYS(socketpair),
	SCMP_SYS(wait4),
	SCMP_SYS(waitid),
};

static const int iterate[] = { BPF_ITER_CREATE };

/* Commands of bpf() after the programs were loaded. */
static const int bpf_commands[] = {
	BPF_MAP_CREATE,
	BPF_MAP_LOOKUP_ELEM,
	BPF_MAP_UPDATE_ELEM,
	BPF_MAP_DELETE_ELEM,
	BPF_MAP_GET_NEXT_KEY,
	BPF_MAP_LOOKUP_AND_DELETE_ELEM,
	BPF_MAP_LOOKUP_BATCH,
	BPF_MAP_LOOKUP_AND_DELETE_BATCH,
	BPF_MAP_UPDATE_BATCH,
	BPF_MAP_DELETE_BATCH,
	BPF_PROG_TEST_RUN,
	BPF_OBJ_GET_INFO_BY_FD,
	BPF_LINK_CREATE,
	BPF_LINK_UPDATE,
	BPF_ITER_CREATE,
	BPF_LINK_DETACH,
};

#define LIST(list) list, sizeof(list) / sizeof(list[0])

static const struct {
	const char *words;
	const int *calls;
	size_t nr;
	const int *bpf; /* commands of bpf() */
	size_t nr_bpf;
} sets[CALLS_SETS] = {
	{ "reads files handed to it", LIST(parse) },
	{ "opens files for reading", LIST(look_up) },
	{ "makes, writes and renames files", LIST(make_files) },
	{ "makes BPF iterators of links handed to it", NULL, 0, LIST(iterate) },
	{ "reads and writes BPF maps, attaches timers", LIST(measure), LIST(bpf_commands) },
	{ "draws on the terminal", LIST(screen) },
	{ "sends requests to helpers", LIST(ask) },
	{ "starts and ends helpers", LIST(start) },
};

/* Calls that libraries make and can do without: libdw opens files named in a file. */
static const int denied[] = {
	SCMP_SYS(access),  SCMP_SYS(faccessat), SCMP_SYS(faccessat2), SCMP_SYS(open),
	SCMP_SYS(openat),  SCMP_SYS(readlink),  SCMP_SYS(readlinkat), SCMP_SYS(stat),
};

const char *calls_words(int set)
{
	return sets[set].words;
}

/* --- Refused calls arrive as a signal, whose handler counts them. */

static struct {
	uint64_t nr;
	int last;
} refused;

#if defined(__x86_64__)
#define RESULT(context) ((context)->uc_mcontext.gregs[REG_RAX])
#elif defined(__aarch64__)
#define RESULT(context) ((context)->uc_mcontext.regs[0])
#endif

#ifdef RESULT
static void on_refused(int number, siginfo_t *info, void *context)
{
	(void)number;
	refused.nr++;
	refused.last = info->si_syscall;
	RESULT((ucontext_t *)context) = -EPERM;
}

static uint32_t refuse(void)
{
	struct sigaction sa = { .sa_sigaction = on_refused, .sa_flags = SA_SIGINFO | SA_NODEFER };

	return sigaction(SIGSYS, &sa, NULL) ? SCMP_ACT_ERRNO(EPERM) : SCMP_ACT_TRAP;
}
#else
static uint32_t refuse(void)
{
	return SCMP_ACT_ERRNO(EPERM);
}
#endif

uint64_t calls_refused(char *last, size_t size)
{
	char *name = refused.nr ? seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, refused.last) : NULL;

	snprintf(last, size, "%s", name ? name : "");
	free(name);
	return refused.nr;
}

/* --- The filter */

static int allow(scmp_filter_ctx ctx, const int *calls, size_t nr)
{
	int err = 0;

	for (size_t i = 0; !err && i < nr; i++)
		err = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, calls[i], 0);
	return err;
}

/* Allows @call with these values of the argument number @arg. */
static int allow_commands(scmp_filter_ctx ctx, int call, unsigned int arg, const int *commands, size_t nr)
{
	int err = 0;

	for (size_t i = 0; !err && i < nr; i++)
		err = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, call, 1, SCMP_CMP(arg, SCMP_CMP_EQ, commands[i]));
	return err;
}

/* Memory is never executable. Signals only go to the process itself, except SIGCONT, which ends no process. */
static int allow_some(scmp_filter_ctx ctx)
{
	static const int memory[] = { SCMP_SYS(mmap), SCMP_SYS(mprotect) }, signals[] = { SCMP_SYS(kill), SCMP_SYS(tgkill) };
	int err = 0;

	for (size_t i = 0; !err && i < sizeof(memory) / sizeof(memory[0]); i++)
		err = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, memory[i], 1, SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
	for (size_t i = 0; !err && i < sizeof(signals) / sizeof(signals[0]); i++)
		err = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, signals[i], 1, SCMP_A0(SCMP_CMP_EQ, getpid()));
	return err ? err : seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(kill), 1, SCMP_A1(SCMP_CMP_EQ, SIGCONT));
}

/* Other commands and O_ASYNC make the kernel send signals to any process of the same user. */
static int allow_fcntl(scmp_filter_ctx ctx)
{
	static const int commands[] = { F_DUPFD_CLOEXEC, F_GETFD, F_SETFD, F_GETFL, F_ADD_SEALS, F_GET_SEALS };
	int err = allow_commands(ctx, SCMP_SYS(fcntl), 1, LIST(commands));

	return err ? err : seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(fcntl), 2, SCMP_A1(SCMP_CMP_EQ, F_SETFL),
					    SCMP_A2(SCMP_CMP_MASKED_EQ, O_ASYNC, 0));
}

static int allow_opening(scmp_filter_ctx ctx, unsigned int which)
{
	const uint64_t changes = O_ACCMODE | O_CREAT | O_TRUNC | O_APPEND;
	int err = 0;

	if (which & CALLS_WRITE)
		return 0; /* it may open files in any way */
	if (which & CALLS_OPEN) {
		err = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(openat), 1,
				       SCMP_A2(SCMP_CMP_MASKED_EQ, changes, O_RDONLY));
		return err ? err : seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(open), 1,
						    SCMP_A1(SCMP_CMP_MASKED_EQ, changes, O_RDONLY));
	}
	for (size_t i = 0; !err && i < sizeof(denied) / sizeof(denied[0]); i++)
		err = seccomp_rule_add(ctx, SCMP_ACT_ERRNO(ENOENT), denied[i], 0);
	/* fstat() of a descriptor works; names do not exist. */
	if (!err)
		err = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(newfstatat), 1,
				       SCMP_A3(SCMP_CMP_MASKED_EQ, AT_EMPTY_PATH, AT_EMPTY_PATH));
	return err ? err : seccomp_rule_add(ctx, SCMP_ACT_ERRNO(ENOENT), SCMP_SYS(newfstatat), 1,
					    SCMP_A3(SCMP_CMP_MASKED_EQ, AT_EMPTY_PATH, 0));
}

static int add_rules(scmp_filter_ctx ctx, unsigned int which)
{
	int err = allow(ctx, LIST(common));

	if (!err)
		err = allow_some(ctx);
	if (!err)
		err = allow_fcntl(ctx);
	if (!err)
		err = allow_opening(ctx, which);
	for (int i = 0; i < CALLS_SETS && !err; i++) {
		if (!(which & 1U << i))
			continue;
		err = allow(ctx, sets[i].calls, sets[i].nr);
		if (!err)
			err = allow_commands(ctx, SCMP_SYS(bpf), 0, sets[i].bpf, sets[i].nr_bpf);
	}
	return err;
}

int calls_limit(unsigned int which, enum calls_else otherwise)
{
	scmp_filter_ctx ctx = seccomp_init(otherwise == CALLS_KILL ? SCMP_ACT_KILL_PROCESS : refuse());
	int err = ctx ? add_rules(ctx, which) : -ENOMEM;

	if (!err)
		err = seccomp_load(ctx);
	seccomp_release(ctx);
	return err;
}
