/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "helper/helper.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "helper/role.h"
#include "helper/sandbox.h"

/* What systop asks of its starter; the answer is the same with the pid, and the socket, or an error. */
struct wish {
	enum { WISH_OPEN, WISH_KILL } what;
	int role;
	pid_t pid;
	int err;
};

static struct {
	const struct helper_role *roles;
	int nr, own;
	int socket;
	pid_t pid;
} starter = { .socket = -1 };

int helper_send(int socket, const void *message, size_t bytes, int fd)
{
	struct iovec part = { (void *)message, bytes };
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct msghdr m = { .msg_iov = &part, .msg_iovlen = 1 };
	ssize_t n;

	if (fd >= 0) {
		m.msg_control = &control;
		m.msg_controllen = sizeof(control.room);
		control.head.cmsg_level = SOL_SOCKET;
		control.head.cmsg_type = SCM_RIGHTS;
		control.head.cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(&control.head), &fd, sizeof(fd));
	}
	do
		n = sendmsg(socket, &m, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : (int)n;
}

int helper_receive(int socket, void *message, size_t room, int *fd)
{
	struct iovec part = { message, room };
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct msghdr m = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control,
			    .msg_controllen = sizeof(control.room) };
	struct cmsghdr *c;
	ssize_t n;

	*fd = -1;
	do
		n = recvmsg(socket, &m, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	c = CMSG_FIRSTHDR(&m);
	if (c && c->cmsg_type == SCM_RIGHTS && c->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(fd, CMSG_DATA(c), sizeof(*fd));
	return n ? (int)n : -EPIPE;
}

/* --- The starter */

/* In the new process: does the role, and never returns. */
static void be_helper(const struct helper_role *role, int socket)
{
	close(starter.socket);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, role->name);
	/*
	 * A helper ends with its socket, by no signal of the terminal. It has no session of its own: on a busy host the
	 * scheduler's group of a new one (autogroup) gets nothing for its first second, measured: 1.3 s.
	 */
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	if (!setpgid(0, 0) && !setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + role->nice) &&
	    !sandbox_enter(role))
		role->run(socket);
	_exit(EXIT_SUCCESS);
}

static void fork_helper(struct wish *w)
{
	int pair[2] = { -1, -1 };

	w->err = 0;
	if (w->role < 0 || w->role >= starter.nr || !starter.roles[w->role].run ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair)) {
		w->err = errno ? errno : EINVAL;
	} else {
		w->pid = fork();
		if (!w->pid) {
			close(pair[0]);
			be_helper(&starter.roles[w->role], pair[1]);
		}
		if (w->pid < 0)
			w->err = errno;
	}
	helper_send(starter.socket, w, sizeof(*w), w->err ? -1 : pair[0]);
	for (int i = 0; i < 2; i++)
		if (pair[i] >= 0)
			close(pair[i]);
}

/* Until systop is gone, by whatever end: then its socket is closed, and so the helpers' are. */
static void be_starter(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	struct wish w;
	int fd;

	/* A helper that is stuck must not hold a terminal or a pipe open. */
	for (int i = 0; i < 3; i++)
		dup2(null, i);
	prctl(PR_SET_NAME, "systop-starter");
	signal(SIGCHLD, SIG_IGN); /* nobody waits for helpers */
	if (sandbox_enter(&starter.roles[starter.own]))
		_exit(EXIT_FAILURE);
	while (helper_receive(starter.socket, &w, sizeof(w), &fd) == sizeof(w)) {
		if (fd >= 0)
			close(fd);
		if (w.what == WISH_KILL)
			kill(w.pid, SIGKILL);
		else
			fork_helper(&w);
	}
	_exit(EXIT_SUCCESS);
}

int helper_start(const struct helper_role *roles, int nr, int own)
{
	static const struct timeval patience = { .tv_sec = 1 };
	int pair[2];

	sandbox_init();
	starter.roles = roles;
	starter.nr = nr;
	starter.own = own;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return -errno;
	starter.pid = fork();
	if (starter.pid < 0) {
		close(pair[0]);
		close(pair[1]);
		return -errno;
	}
	starter.socket = pair[!starter.pid];
	close(pair[!!starter.pid]);
	if (!starter.pid)
		be_starter();
	setsockopt(starter.socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	return 0;
}

pid_t helper_starter(void)
{
	return starter.socket < 0 ? 0 : starter.pid;
}

void helper_stop(void)
{
	if (starter.socket >= 0)
		close(starter.socket);
	starter.socket = -1;
}

int helper_open(int role, struct helper *h)
{
	struct wish w = { .what = WISH_OPEN, .role = role };
	int n;

	*h = (struct helper){ .socket = -1 };
	n = helper_send(starter.socket, &w, sizeof(w), -1);
	if (n > 0)
		n = helper_receive(starter.socket, &w, sizeof(w), &h->socket);
	if (n < 0) { /* it ended, or somebody stopped it: do without it */
		helper_stop();
		return n;
	}
	h->pid = w.pid;
	if (h->socket >= 0)
		fcntl(h->socket, F_SETFL, O_NONBLOCK);
	return w.err || h->socket < 0 ? -(w.err ? w.err : EIO) : 0;
}

void helper_leave(struct helper *h)
{
	if (h->socket >= 0)
		close(h->socket);
	h->socket = -1;
}

void helper_kill(struct helper *h)
{
	struct wish w = { .what = WISH_KILL, .pid = h->pid };

	if (h->socket < 0)
		return;
	helper_leave(h);
	helper_send(starter.socket, &w, sizeof(w), -1);
}
