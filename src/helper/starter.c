/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "helper/starter.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "helper/cost.h"
#include "helper/helper.h"
#include "helper/message.h"
#include "helper/role.h"
#include "helper/sandbox.h"
#include "helper/watch.h"
#include "util/clock.h"
#include "util/file.h"

/* Helpers end by themselves when systop is gone, but stopped ones do not: they are killed after this time. */
#define END_NS 1000000000ULL

static struct {
	const struct helper_role *roles;
	uint32_t nr_roles;
	int socket;
	struct slot {
		uint32_t id;
		int pidfd; /* -1: free */
		bool finishes;
	} slots[HELPER_SLOTS];
	struct terminal terminal;
	int tty; /* -1: there is nothing to restore */
} starter = { .tty = -1 };

static void report_event(enum starter_event event, uint32_t id, pid_t pid, int err)
{
	const struct starter_answer a = { .event = event, .id = id, .pid = pid, .err = err };

	helper_send(starter.socket, &a, sizeof(a), -1);
}

static int open_score(void)
{
	return open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
}

/*
 * A helper gets no priority over what systop watches, and is the first to be killed when memory runs out. It runs even if the
 * kernel refuses the latter. In /proc, files of a process that cannot be dumped belong to root: without CAP_DAC_OVERRIDE they
 * can be opened only while the process can be dumped.
 */
static int step_back(void)
{
	int fd = open_score();

	if (fd < 0 && !prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)) {
		fd = open_score();
		prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	}
	if (fd >= 0) {
		dprintf(fd, "1000");
		close(fd);
	}
	return getpriority(PRIO_PROCESS, 0) < 0 ? setpriority(PRIO_PROCESS, 0, 0) : 0;
}

/*
 * A helper ends with its socket, not by the terminal's signals. It has no session of its own: on a busy host a new
 * session's scheduler group (autogroup) gets no CPU for its first second, measured: 1.3 s.
 */
static int detach(const struct helper_role *role)
{
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	prctl(PR_SET_NAME, role->name);
	return setpgid(0, 0) || step_back();
}

/* In the new process: runs the role, and never returns. */
static void be_helper(const struct helper_role *role, int socket)
{
	/* Keeps nothing of the starter's: its socket, other helpers, the terminal. */
	if ((socket > 3 && close_range(3, socket - 1, 0)) || close_range(socket + 1, ~0U, 0))
		_exit(EXIT_FAILURE);
	if (!detach(role) && (role->finishes || !watch_start(socket, role->request_ms)) && !sandbox_enter(role))
		role->run(socket);
	_exit(EXIT_SUCCESS);
}

static void start_helper(const struct starter_request *r, int socket)
{
	struct slot *s = &starter.slots[r->id % HELPER_SLOTS];
	int pidfd = -1;
	pid_t pid;

	if (r->role >= starter.nr_roles || !starter.roles[r->role].run || s->pidfd >= 0 || socket < 0) {
		report_event(STARTER_FAILED, r->id, 0, EINVAL);
		return;
	}
	/* Containers refuse clone3(). */
	pid = syscall(SYS_clone, CLONE_PIDFD | SIGCHLD, NULL, &pidfd, NULL, NULL);
	if (!pid)
		be_helper(&starter.roles[r->role], socket);
	if (pid < 0) {
		report_event(STARTER_FAILED, r->id, 0, errno);
		return;
	}
	cost_started(s - starter.slots, pid);
	*s = (struct slot){ r->id, pidfd, starter.roles[r->role].finishes };
	report_event(STARTER_STARTED, r->id, pid, 0);
}

static void kill_helper(uint32_t id)
{
	const struct slot *s = &starter.slots[id % HELPER_SLOTS];

	if (s->pidfd >= 0 && s->id == id)
		syscall(SYS_pidfd_send_signal, s->pidfd, SIGKILL, NULL, 0);
}

static void take_terminal(const struct terminal *t, int fd)
{
	file_close(&starter.tty);
	starter.tty = fd < 0 ? -1 : terminal_open(fd);
	starter.terminal = *t;
}

/* False: systop is gone. */
static bool take_request(void)
{
	struct starter_request r;
	int fd, got = helper_receive(starter.socket, &r, sizeof(r), &fd);

	if (got == sizeof(r)) {
		if (r.what == STARTER_START)
			start_helper(&r, fd);
		else if (r.what == STARTER_KILL)
			kill_helper(r.id);
		else if (r.what == STARTER_TERMINAL)
			take_terminal(&r.terminal, fd);
	}
	file_close(&fd);
	return got >= 0 || got == -EBADMSG;
}

static void reap(struct slot *s)
{
	siginfo_t how = { 0 };

	if (waitid(P_PIDFD, s->pidfd, &how, WEXITED | WNOHANG | WNOWAIT) || !how.si_pid)
		return;
	cost_ended(s - starter.slots);
	waitid(P_PIDFD, s->pidfd, &how, WEXITED | WNOHANG);
	file_close(&s->pidfd);
	report_event(STARTER_ENDED, s->id, how.si_pid, 0);
}

/* Waits for a request, or for a helper's end. 1: there is a request, 0: none yet, -1: the kernel refuses to wait, for example
 * because of a limit of open files that was set since. */
static int wait_for_any(int timeout_ms)
{
	/* Only existing helpers: poll() takes no more entries than files may be open. */
	struct pollfd p[HELPER_SLOTS + 1] = { { .fd = starter.socket, .events = POLLIN } };
	struct slot *slots[HELPER_SLOTS + 1];
	int nr = 1, ready;

	for (int i = 0; i < HELPER_SLOTS; i++) {
		if (starter.slots[i].pidfd < 0)
			continue;
		slots[nr] = &starter.slots[i];
		p[nr++] = (struct pollfd){ .fd = starter.slots[i].pidfd, .events = POLLIN };
	}
	ready = poll(p, nr, timeout_ms);
	if (ready < 0)
		return errno == EINTR ? 0 : -1;
	for (int i = 1; i < nr; i++)
		if (p[i].revents)
			reap(slots[i]);
	return p[0].revents != 0;
}

/* Gives writers time to clean up. */
static void end_helpers(void)
{
	uint64_t until = clock_ns(CLOCK_MONOTONIC) + END_NS, now;
	bool any = true;

	file_close(&starter.socket);
	while (any && (now = clock_ns(CLOCK_MONOTONIC)) < until) {
		any = false;
		for (int i = 0; i < HELPER_SLOTS; i++)
			any |= starter.slots[i].pidfd >= 0;
		if (any && wait_for_any((until - now) / 1000000 + 1) < 0)
			break;
	}
	for (int i = 0; i < HELPER_SLOTS; i++)
		if (!starter.slots[i].finishes)
			kill_helper(starter.slots[i].id);
}

noreturn void starter_run(const struct helper_role *roles, uint32_t nr, uint32_t own, int socket)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), got;

	starter.roles = roles;
	starter.nr_roles = nr;
	starter.socket = socket;
	for (int i = 0; i < HELPER_SLOTS; i++)
		starter.slots[i].pidfd = -1;
	/* A stuck helper must not keep a terminal or a pipe open. */
	for (int i = 0; i < 3; i++)
		dup2(null, i);
	setpgid(0, 0); /* signals of a shell to its job are for systop only */
	signal(SIGTTOU, SIG_IGN); /* restoring the terminal must not stop the starter */
	prctl(PR_SET_NAME, roles[own].name);
	if (sandbox_enter(&roles[own]))
		_exit(EXIT_FAILURE);
	do
		got = wait_for_any(-1);
	while (!got || (got > 0 && take_request()));
	if (got < 0) /* systop goes on, with its terminal and the helpers that there are */
		_exit(EXIT_FAILURE);
	if (starter.tty >= 0)
		terminal_restore(&starter.terminal, starter.tty);
	end_helpers();
	_exit(EXIT_SUCCESS);
}
