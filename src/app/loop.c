/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "app/loop.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "app/turns.h"
#include "util/fail.h"

#define HARVEST_NS 250000000ULL

struct loop {
	const struct loop_options *o;
	const struct loop_ops *ops;
	void *arg;
	int epoll_fd, signal_fd, tick_fd, harvest_fd, end_fd; /* end_fd: -1: none */
	int *signal, *status;
	bool child_ended, sending;
	bool unwatched; /* unsent output is for a file that epoll cannot watch */
	uint64_t interval_ns; /* of tick_fd */
};

static sigset_t loop_signals(void)
{
	static const int handled[] = { SIGHUP,  SIGINT,  SIGTERM, SIGQUIT,
				       SIGWINCH, SIGTSTP, SIGCONT, SIGCHLD, SIGUSR1 };
	struct sigaction hup;
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(handled) / sizeof(handled[0]); i++)
		sigaddset(&set, handled[i]);
	if (!sigaction(SIGHUP, NULL, &hup) && hup.sa_handler == SIG_IGN) /* nohup; a blocked signal would be pending */
		sigdelset(&set, SIGHUP);
	return set;
}

void loop_block_signals(void)
{
	sigset_t set = loop_signals();

	sigprocmask(SIG_BLOCK, &set, NULL);
}

void loop_unblock_signals(void)
{
	sigset_t set = loop_signals();

	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

bool loop_ending(void)
{
	static const int ending[] = { SIGHUP, SIGINT, SIGTERM, SIGQUIT };
	bool any = false;
	sigset_t pending;

	sigpending(&pending);
	for (size_t i = 0; i < sizeof(ending) / sizeof(ending[0]); i++)
		any |= sigismember(&pending, ending[i]) == 1;
	return any;
}

void loop_suspend(const struct loop_ops *ops, void *arg)
{
	ops->suspend(arg);
	kill(getpid(), SIGSTOP);
	ops->resume(arg);
}

static int timer_set(int fd, uint64_t first_ns, uint64_t ns)
{
	struct itimerspec its = {
		.it_value = { first_ns / 1000000000, first_ns % 1000000000 },
		.it_interval = { ns / 1000000000, ns % 1000000000 },
	};

	return timerfd_settime(fd, 0, &its, NULL);
}

static int timer_new(clockid_t clock, uint64_t first_ns, uint64_t ns)
{
	int fd = timerfd_create(clock, TFD_CLOEXEC | TFD_NONBLOCK);

	if (fd >= 0 && timer_set(fd, first_ns, ns)) {
		close(fd);
		return -1;
	}
	return fd;
}

static int loop_watch(struct loop *l, int fd)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.fd = fd };

	return fd < 0 || epoll_ctl(l->epoll_fd, EPOLL_CTL_ADD, fd, &ev) ? -errno : 0;
}

static int loop_open(struct loop *l)
{
	sigset_t set = loop_signals();
	int err;

	l->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (l->epoll_fd < 0)
		return -errno;
	l->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	l->tick_fd = timer_new(l->o->clock, l->o->first_ns, l->o->interval_ns);
	l->harvest_fd = timer_new(CLOCK_MONOTONIC, HARVEST_NS, HARVEST_NS);
	l->end_fd = l->o->duration_ns ? timer_new(CLOCK_MONOTONIC, l->o->duration_ns, 0) : -1;
	err = loop_watch(l, l->signal_fd);
	if (!err)
		err = loop_watch(l, l->tick_fd);
	if (!err)
		err = loop_watch(l, l->harvest_fd);
	if (!err && l->o->duration_ns)
		err = loop_watch(l, l->end_fd);
	if (!err && l->o->terminal_fd >= 0)
		err = loop_watch(l, l->o->terminal_fd);
	for (int i = 0; !err && i < LOOP_WORK_FDS; i++)
		if (l->o->work_fds[i] >= 0)
			err = loop_watch(l, l->o->work_fds[i]);
	return err;
}

static void loop_close(struct loop *l)
{
	const int fds[] = { l->epoll_fd, l->signal_fd, l->tick_fd, l->harvest_fd, l->end_fd };

	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

static void loop_child(struct loop *l)
{
	if (l->o->child && waitpid(l->o->child, l->status, WNOHANG) == l->o->child)
		l->child_ended = true;
}

static enum loop_verdict loop_signal(struct loop *l)
{
	struct signalfd_siginfo si;

	while (read(l->signal_fd, &si, sizeof(si)) == sizeof(si)) {
		switch (si.ssi_signo) {
		case SIGWINCH:
			l->ops->resize(l->arg);
			break;
		case SIGTSTP:
			loop_suspend(l->ops, l->arg);
			break;
		case SIGCONT: /* after a stop that was not announced */
			l->ops->resume(l->arg);
			break;
		case SIGUSR1:
			l->ops->save(l->arg);
			break;
		case SIGCHLD:
			loop_child(l);
			break;
		default:
			*l->signal = si.ssi_signo;
			return LOOP_STOP;
		}
	}
	return LOOP_GO_ON;
}

/* Watches the output only while some is unsent: a pipe whose reader is gone would wake the loop forever. A regular file
 * cannot be watched: what was too much for one turn is written in the next ones. */
static void loop_watch_output(struct loop *l)
{
	struct epoll_event ev = { .events = EPOLLOUT, .data.fd = l->o->output_fd };
	bool unsent = l->ops->unsent(l->arg);

	if (unsent == l->sending)
		return;
	l->sending = unsent;
	l->unwatched = epoll_ctl(l->epoll_fd, unsent ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, ev.data.fd, &ev) && unsent;
}

static enum loop_verdict cannot_wait(void)
{
	fail(-errno, EXIT_STATUS_RUNTIME, "cannot wait for events: %s", strerror(errno));
	return LOOP_FAILED;
}

/* Completes pending output at the end: a pipe's reader may be late. A signal ends the wait. */
static enum loop_verdict loop_last(struct loop *l)
{
	struct pollfd p[2] = { { .fd = l->signal_fd, .events = POLLIN },
			       { .fd = l->o->output_fd, .events = POLLOUT } };
	enum loop_verdict verdict = LOOP_GO_ON;

	while (verdict == LOOP_GO_ON && l->ops->unsent(l->arg)) {
		if (poll(p, 2, -1) < 0)
			verdict = errno == EINTR ? LOOP_GO_ON : cannot_wait();
		else if (p[0].revents)
			verdict = loop_signal(l);
		else if (p[1].revents)
			verdict = l->ops->send(l->arg);
	}
	return verdict == LOOP_FAILED ? LOOP_FAILED : LOOP_STOP;
}

static bool timer_fired(int fd)
{
	uint64_t times;

	return read(fd, &times, sizeof(times)) == sizeof(times);
}

static bool is_work(const struct loop *l, int fd)
{
	for (int i = 0; i < LOOP_WORK_FDS; i++)
		if (fd == l->o->work_fds[i])
			return true;
	return false;
}

/* The duration is over. */
static enum loop_verdict loop_ends(struct loop *l)
{
	enum loop_verdict verdict = l->ops->last(l->arg);

	return verdict == LOOP_GO_ON ? LOOP_STOP : verdict;
}

static enum loop_verdict loop_event(struct loop *l, const struct epoll_event *ev)
{
	int fd = ev->data.fd;

	if (fd == l->signal_fd)
		return loop_signal(l);
	if (fd == l->harvest_fd)
		return timer_fired(fd) ? l->ops->harvest(l->arg) : LOOP_GO_ON;
	if (fd == l->tick_fd)
		return timer_fired(fd) ? l->ops->tick(l->arg) : LOOP_GO_ON;
	if (fd == l->end_fd)
		return loop_ends(l);
	if (is_work(l, fd)) {
		l->ops->work(l->arg);
		return LOOP_GO_ON;
	}
	if (l->o->terminal_fd >= 0 && ev->events & (EPOLLHUP | EPOLLERR)) { /* the terminal is gone */
		*l->signal = SIGHUP;
		return LOOP_STOP;
	}
	if (fd == l->o->output_fd)
		return l->ops->send(l->arg);
	return l->ops->input(l->arg);
}

/* The interval may have changed: the next tick is one from now. */
static void loop_pace(struct loop *l)
{
	uint64_t ns = l->ops->interval(l->arg);

	if (!ns || ns == l->interval_ns)
		return;
	l->interval_ns = ns;
	timer_set(l->tick_fd, ns, ns);
}

/* Completes what was begun, whatever ended the loop. */
static enum loop_verdict loop_finish(struct loop *l)
{
	enum loop_verdict verdict = LOOP_GO_ON;

	while (verdict != LOOP_FAILED && l->ops->unfinished(l->arg)) {
		turns_begin();
		verdict = l->ops->go_on(l->arg);
		turns_end();
	}
	return verdict == LOOP_FAILED ? LOOP_FAILED : LOOP_STOP;
}

static enum loop_verdict loop_once(struct loop *l)
{
	struct epoll_event evs[8];
	enum loop_verdict verdict = LOOP_GO_ON;
	bool unfinished = l->ops->unfinished(l->arg);
	int n = epoll_wait(l->epoll_fd, evs, 8, unfinished || l->unwatched ? 0 : -1);

	if (n < 0 && errno != EINTR)
		return cannot_wait();
	turns_begin();
	for (int i = 0; i < n && verdict == LOOP_GO_ON; i++)
		verdict = loop_event(l, &evs[i]);
	if (unfinished && verdict == LOOP_GO_ON && l->ops->unfinished(l->arg))
		verdict = l->ops->go_on(l->arg);
	if (l->unwatched && verdict == LOOP_GO_ON)
		verdict = l->ops->send(l->arg);
	if (verdict == LOOP_GO_ON && l->child_ended) {
		verdict = l->ops->tick(l->arg); /* the child's last interval */
		if (verdict == LOOP_GO_ON)
			verdict = LOOP_STOP;
	}
	loop_watch_output(l);
	loop_pace(l);
	turns_end();
	return verdict;
}

enum loop_verdict loop_run(const struct loop_options *o, const struct loop_ops *ops, void *arg,
			   int *signal, int *status)
{
	struct loop l = { .o = o, .ops = ops, .arg = arg, .epoll_fd = -1, .signal_fd = -1, .tick_fd = -1, .harvest_fd = -1,
			  .end_fd = -1, .interval_ns = o->interval_ns, .signal = signal, .status = status };
	enum loop_verdict verdict = LOOP_GO_ON;
	int err = loop_open(&l);

	*signal = 0;
	if (err) {
		fail(err, EXIT_STATUS_RUNTIME, "cannot start the main loop: %s", strerror(-err));
		verdict = LOOP_FAILED;
	}
	if (!err)
		loop_child(&l); /* it may have ended before the loop began */
	while (verdict == LOOP_GO_ON)
		verdict = loop_once(&l);
	if (verdict == LOOP_STOP)
		verdict = loop_finish(&l);
	if (verdict == LOOP_STOP && !*signal && o->terminal_fd < 0)
		verdict = loop_last(&l);
	loop_close(&l);
	return verdict;
}
