/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Messages of any length with any descriptors, and messages to the starter. */
#include "helpers.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "helper/starter.h"

/* Checks the first ones: there are only a few. */
#define DESCRIPTORS 128

static int open_descriptors(void)
{
	struct pollfd p[DESCRIPTORS];
	int nr = 0;

	for (int fd = 0; fd < DESCRIPTORS; fd++)
		p[fd] = (struct pollfd){ .fd = fd };
	fuzz_check(poll(p, DESCRIPTORS, 0) >= 0, "no list of descriptors: %m");
	for (int fd = 0; fd < DESCRIPTORS; fd++)
		nr += !(p[fd].revents & POLLNVAL);
	return nr;
}

/* --- Any message */

#define DESCRIPTORS_MAX 5

static void send_any(struct feed *f, int socket)
{
	uint8_t text[300];
	struct iovec part = { text, 1 + feed_number(f, 1) };
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(DESCRIPTORS_MAX * sizeof(int)) + CMSG_SPACE(sizeof(struct ucred))];
	} control;
	struct msghdr m = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.room };
	int nr = feed_number(f, 1) % (DESCRIPTORS_MAX + 1), fds[DESCRIPTORS_MAX];

	memset(&control, 0, sizeof(control));
	feed_copy(f, text, sizeof(text));
	for (int i = 0; i < nr; i++)
		fds[i] = eventfd(0, EFD_CLOEXEC);
	if (nr) {
		control.head = (struct cmsghdr){ CMSG_LEN(nr * sizeof(int)), SOL_SOCKET, SCM_RIGHTS };
		memcpy(CMSG_DATA(&control.head), fds, nr * sizeof(int));
		m.msg_controllen = CMSG_SPACE(nr * sizeof(int));
	} else {
		m.msg_control = NULL;
	}
	sendmsg(socket, &m, MSG_NOSIGNAL);
	for (int i = 0; i < nr; i++)
		close(fds[i]);
}

/* The kernel's sockets, not those of kernel.c. */
int __real_socketpair(int domain, int type, int protocol, int pair[2]);

static void begin_sockets(struct role_under_test *r)
{
	int pair[2];

	fuzz_check(!__real_socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair), "no socket: %m");
	*r = (struct role_under_test){ pair[0], pair[1] };
}

/* No descriptor leaks, and only accepted messages pass any on. */
void fuzz_messages(const uint8_t *bytes, size_t size)
{
	struct feed f = { bytes, size };
	int before = open_descriptors(), fd, got;
	struct role_under_test r;
	uint8_t text[200];

	begin_sockets(&r);
	while (f.left)
		send_any(&f, r.ask);
	while ((got = helper_receive(r.answer, text, sizeof(text), &fd)) != -EAGAIN) {
		fuzz_check(got <= (int)sizeof(text) && (got > 0 || fd < 0), "%d bytes, descriptor %d", got, fd);
		if (fd >= 0)
			close(fd);
	}
	close(r.ask);
	close(r.answer);
	fuzz_check(open_descriptors() == before, "%d descriptors, before %d", open_descriptors(), before);
}

/* --- The starter, without processes: what it starts is a descriptor, which ends when the input says so */

static struct feed *ends;

static long fake_syscall(long number, ...)
{
	va_list args;

	if (number != SYS_clone)
		return 0;
	va_start(args, number);
	va_arg(args, int);    /* flags */
	va_arg(args, void *); /* stack */
	*va_arg(args, int *) = eventfd(1, EFD_CLOEXEC);
	va_end(args);
	return 1000;
}

static int fake_waitid(siginfo_t *how)
{
	how->si_pid = feed_number(ends, 1) & 1 ? 1000 : 0;
	return 0;
}

noreturn void starter_run_here(const struct helper_role *roles, uint32_t nr, uint32_t own, int socket);
#define starter_run starter_run_here
#define syscall(...) fake_syscall(__VA_ARGS__)
#define waitid(type, id, how, options) fake_waitid(how)
#include "../../src/helper/starter.c"
#undef syscall
#undef waitid

static void run_nothing(int socket)
{
	close(socket);
}

static void begin_starter(int socket)
{
	static const struct helper_role roles[2] = { { .name = "one", .run = run_nothing },
						     { .name = "two", .run = run_nothing, .finishes = true } };

	starter.roles = roles;
	starter.nr_roles = 2;
	starter.socket = socket;
	starter.tty = -1;
	for (int i = 0; i < HELPER_SLOTS; i++)
		starter.slots[i] = (struct slot){ .pidfd = -1 };
}

static void end_starter(void)
{
	for (int i = 0; i < HELPER_SLOTS; i++)
		if (starter.slots[i].pidfd >= 0)
			close(starter.slots[i].pidfd);
	if (starter.tty >= 0)
		close(starter.tty);
}

static void ask_starter(struct feed *f, int socket)
{
	uint8_t how = feed_number(f, 1);
	struct starter_request r = { .what = feed_number(f, 1), .id = feed_number(f, 1 + (how & 3)),
				     .role = feed_number(f, 1 + (how >> 2 & 3)) };
	int fd = !(how & 0x10) ? -1 : r.what == STARTER_TERMINAL ? fuzz_fd(NULL, 0) : eventfd(0, EFD_CLOEXEC);

	if (how & 0x20)
		feed_copy(f, &r.terminal, sizeof(r.terminal));
	helper_send(socket, &r, how & 0x40 ? feed_number(f, 1) : sizeof(r), fd);
	if (fd >= 0)
		close(fd);
	take_request();
	if (how & 0x80)
		wait_for_any(0);
}

void fuzz_starter(const uint8_t *bytes, size_t size)
{
	struct feed f = { bytes, size };
	int before = open_descriptors(), fd;
	struct starter_answer a;
	struct role_under_test r;

	role_begin(&r);
	begin_starter(r.answer);
	ends = &f;
	while (f.left) {
		ask_starter(&f, r.ask);
		while (helper_receive(r.ask, &a, sizeof(a), &fd) == sizeof(a))
			fuzz_check(fd < 0 && a.event <= STARTER_ENDED, "event %u, descriptor %d", a.event, fd);
	}
	if (starter.tty >= 0)
		terminal_restore(&starter.terminal, starter.tty);
	end_starter();
	close(r.ask);
	close(r.answer);
	fuzz_check(open_descriptors() == before, "%d descriptors, before %d", open_descriptors(), before);
}
