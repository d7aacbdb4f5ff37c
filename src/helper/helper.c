/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "helper/helper.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "helper/cost.h"
#include "helper/sandbox.h"
#include "helper/starter.h"
#include "util/clock.h"
#include "util/file.h"

/* A starter that takes longer is reported as not answering. It needs less than 1 ms, and a CPU. */
#define LATE_NS 2000000000ULL

enum state { NONE, RUNS, STOPPED, ENDED };

static struct {
	enum state state;
	pid_t pid;
	int socket;
	int signal; /* that ended it; 0: none */
	int err; /* why it could not be started */
	uint32_t last; /* last id given out */
	struct slot {
		uint32_t id;
		enum { FREE, ASKED, STARTED, FAILED } state;
		pid_t pid;
		int err;
		uint64_t since; /* when it was requested; CLOCK_MONOTONIC ns */
	} slots[HELPER_SLOTS];
} starter = { .socket = -1 };

static void set_nonblocking(int fd)
{
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

int helper_start(const struct helper_role *roles, int nr, int own)
{
	int pair[2];

	sandbox_init();
	cost_init();
	signal(SIGCHLD, SIG_DFL); /* if it were ignored, children's ends would not be reported */
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return -(starter.err = errno);
	starter.pid = fork();
	if (!starter.pid) {
		close(pair[0]);
		starter_run(roles, nr, own, pair[1]);
	}
	starter.err = errno;
	close(pair[1]);
	if (starter.pid < 0) {
		starter.pid = 0;
		close(pair[0]);
		return -starter.err;
	}
	starter.socket = pair[0];
	starter.state = RUNS;
	set_nonblocking(starter.socket);
	return 0;
}

pid_t helper_starter(void)
{
	return starter.state == RUNS || starter.state == STOPPED ? starter.pid : 0;
}

uint64_t helper_cpu_ns(void)
{
	return cost_cpu_ns(helper_starter());
}

uint64_t helper_private_bytes(void)
{
	return cost_private_bytes(helper_starter());
}

void helper_stop(void)
{
	helper_work();
	file_close(&starter.socket);
	if (starter.state == STOPPED)
		kill(starter.pid, SIGCONT); /* it is our child, not waited for yet, so the PID is still its own */
}

/* --- State of the starter */

static struct slot *slot_of(uint32_t id)
{
	struct slot *s = &starter.slots[id % HELPER_SLOTS];

	return s->id == id ? s : NULL;
}

static void take(const struct starter_answer *a)
{
	struct slot *s = slot_of(a->id);

	if (!s)
		return;
	s->state = a->event == STARTER_STARTED ? STARTED : a->event == STARTER_FAILED ? FAILED : FREE;
	s->pid = s->state == STARTED ? a->pid : 0;
	s->err = a->err;
}

static void look_after(void)
{
	siginfo_t how = { 0 };

	while (helper_starter() && !waitid(P_PID, starter.pid, &how, WEXITED | WSTOPPED | WCONTINUED | WNOHANG) &&
	       how.si_pid) {
		starter.state = how.si_code == CLD_CONTINUED ? RUNS : how.si_code == CLD_STOPPED ? STOPPED : ENDED;
		if (starter.state == ENDED)
			starter.signal = how.si_code == CLD_EXITED ? 0 : how.si_status;
		how = (siginfo_t){ 0 };
	}
}

void helper_work(void)
{
	struct starter_answer a;
	int got;

	if (starter.state == NONE)
		return;
	look_after();
	while (starter.socket >= 0 && (got = helper_receive(starter.socket, &a, sizeof(a), NULL)) != -EAGAIN) {
		if (got == sizeof(a))
			take(&a);
		else
			file_close(&starter.socket);
	}
}

int helper_events(void)
{
	return starter.socket;
}

static bool is_late(void)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	for (int i = 0; i < HELPER_SLOTS; i++)
		if (starter.slots[i].state == ASKED && now > starter.slots[i].since + LATE_NS)
			return true;
	return false;
}

const char *helper_trouble(void)
{
	static char text[128];

	*text = '\0';
	helper_work();
	if (starter.state == NONE)
		snprintf(text, sizeof(text), "the starter process could not be started: %s: start systop again",
			 strerror(starter.err));
	else if (starter.state == STOPPED)
		snprintf(text, sizeof(text), "the starter process is stopped: kill -CONT %d", starter.pid);
	else if (starter.socket < 0 && starter.signal)
		snprintf(text, sizeof(text), "the starter process was ended by signal %d: start systop again",
			 starter.signal);
	else if (starter.socket < 0)
		snprintf(text, sizeof(text), "the starter process ended: start systop again");
	else if (is_late())
		snprintf(text, sizeof(text), "the starter process %d does not answer: is it frozen?", starter.pid);
	return text;
}

void helper_terminal(const struct terminal *t, int fd)
{
	struct starter_request r = { .what = STARTER_TERMINAL };

	if (t)
		r.terminal = *t;
	if (starter.socket >= 0)
		helper_send(starter.socket, &r, sizeof(r), fd);
}

/* --- Helpers */

static struct slot *free_slot(void)
{
	for (int i = 1; i <= HELPER_SLOTS; i++) {
		struct slot *s = &starter.slots[(starter.last + i) % HELPER_SLOTS];

		if (s->state == FREE || s->state == FAILED) {
			starter.last += i;
			*s = (struct slot){ .id = starter.last, .state = ASKED,
					    .since = clock_ns(CLOCK_MONOTONIC) };
			return s;
		}
	}
	return NULL;
}

int helper_open(int role, struct helper *h)
{
	struct starter_request r = { .what = STARTER_START, .role = role };
	struct slot *s = *helper_trouble() ? NULL : free_slot();
	int pair[2], sent;

	*h = (struct helper){ .socket = -1 };
	if (!s)
		return -EAGAIN;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair)) {
		s->state = FREE;
		return -errno;
	}
	r.id = s->id;
	sent = helper_send(starter.socket, &r, sizeof(r), pair[1]);
	close(pair[1]);
	if (sent < 0) {
		s->state = FREE;
		close(pair[0]);
		return sent;
	}
	set_nonblocking(pair[0]);
	*h = (struct helper){ .id = s->id, .socket = pair[0] };
	return 0;
}

pid_t helper_pid(uint32_t id)
{
	const struct slot *s = slot_of(id);

	return s ? s->pid : 0;
}

bool helper_ended(uint32_t id)
{
	const struct slot *s = slot_of(id);

	return !s || s->state == FREE || s->state == FAILED;
}

int helper_error(uint32_t id)
{
	const struct slot *s = slot_of(id);

	return s && s->state == FAILED ? -s->err : 0;
}

void helper_leave(struct helper *h)
{
	file_close(&h->socket);
}

void helper_kill(struct helper *h)
{
	struct starter_request r = { .what = STARTER_KILL, .id = h->id };

	if (h->socket < 0)
		return;
	helper_leave(h);
	if (starter.socket >= 0)
		helper_send(starter.socket, &r, sizeof(r), -1);
}
