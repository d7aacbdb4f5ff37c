/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Replaces the kernel for most targets (-Wl,--wrap): sockets are lists of messages in memory, as sending through the
 * kernel takes longer than handling a message; and the clock advances only by the input.
 */
#include "fuzz.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define DESCRIPTORS 1024
#define PASSED_MAX 8
#define QUEUED_MAX (200 << 10) /* bytes; a queue with more is full, as a socket would be */

struct message {
	struct message *next;
	size_t bytes;
	int nr_fds, fds[PASSED_MAX];
	uint8_t text[];
};

/* One end of a pair, and the messages on their way to it. */
struct end {
	int refs;
	struct end *other; /* NULL: it is closed */
	struct message *first, *last;
	size_t queued;
};

static struct end *ends[DESCRIPTORS];

int __real_close(int fd);
ssize_t __real_recvmsg(int fd, struct msghdr *m, int flags);
ssize_t __real_sendmsg(int fd, const struct msghdr *m, int flags);
int __wrap_close(int fd);
ssize_t __wrap_recvmsg(int fd, struct msghdr *m, int flags);
ssize_t __wrap_sendmsg(int fd, const struct msghdr *m, int flags);
int __wrap_socketpair(int domain, int type, int protocol, int pair[2]);

static struct end *end_of(int fd)
{
	return fd >= 0 && fd < DESCRIPTORS ? ends[fd] : NULL;
}

/* A descriptor of this end, which is a real one. */
static int descriptor_of(struct end *e, int of)
{
	int fd = fcntl(of, F_DUPFD_CLOEXEC, 0);

	fuzz_check(fd >= 0 && fd < DESCRIPTORS, "no descriptor: %d", fd);
	ends[fd] = e;
	if (e)
		e->refs++;
	return fd;
}

/* What the descriptors refer to. It is opened before any target counts descriptors. */
static int any;

__attribute__((constructor)) static void begin(void)
{
	any = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	fuzz_check(any >= 0, "no descriptor: %m");
}

int __wrap_socketpair(int domain, int type, int protocol, int pair[2])
{
	struct end *e[2];

	fuzz_check(domain == AF_UNIX && (type & ~(SOCK_CLOEXEC | SOCK_NONBLOCK)) == SOCK_SEQPACKET && !protocol,
		   "sockets of another kind");
	for (int i = 0; i < 2; i++) {
		e[i] = calloc(1, sizeof(*e[i]));
		fuzz_check(e[i], "no memory");
		pair[i] = descriptor_of(e[i], any);
	}
	e[0]->other = e[1];
	e[1]->other = e[0];
	return 0;
}

static void free_message(struct message *m)
{
	for (int i = 0; i < m->nr_fds; i++)
		close(m->fds[i]);
	free(m);
}

/* The last descriptor of an end was closed: its pending messages are dropped. */
static void close_end(struct end *e)
{
	if (--e->refs)
		return;
	if (e->other)
		e->other->other = NULL;
	while (e->first) {
		struct message *m = e->first;

		e->first = m->next;
		free_message(m);
	}
	free(e);
}

int __wrap_close(int fd)
{
	struct end *e = end_of(fd);

	if (e) {
		ends[fd] = NULL;
		close_end(e);
	}
	return __real_close(fd);
}

void fuzz_close_sockets(void)
{
	for (int fd = 0; fd < DESCRIPTORS; fd++)
		if (ends[fd])
			close(fd);
}

static void pass_fds(struct message *to, const struct msghdr *m)
{
	const struct cmsghdr *c = m->msg_control && m->msg_controllen >= sizeof(*c) ? m->msg_control : NULL;

	if (!c || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
		return;
	to->nr_fds = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
	fuzz_check(to->nr_fds <= PASSED_MAX, "%d descriptors", to->nr_fds);
	memcpy(to->fds, CMSG_DATA(c), to->nr_fds * sizeof(int));
	for (int i = 0; i < to->nr_fds; i++)
		to->fds[i] = descriptor_of(end_of(to->fds[i]), to->fds[i]);
}

static int failed(int err)
{
	errno = err;
	return -1;
}

ssize_t __wrap_sendmsg(int fd, const struct msghdr *m, int flags)
{
	struct end *e = end_of(fd);
	const struct iovec *part = m->msg_iov;
	struct message *new;

	if (!e)
		return __real_sendmsg(fd, m, flags);
	if (!e->other)
		return failed(EPIPE);
	if (e->other->queued + part->iov_len > QUEUED_MAX)
		return failed(EAGAIN);
	new = malloc(sizeof(*new) + part->iov_len);
	fuzz_check(new && m->msg_iovlen == 1, "no memory, or several parts");
	*new = (struct message){ .bytes = part->iov_len };
	memcpy(new->text, part->iov_base, new->bytes);
	pass_fds(new, m);
	if (e->other->first)
		e->other->last->next = new;
	else
		e->other->first = new;
	e->other->last = new;
	e->other->queued += new->bytes;
	return new->bytes;
}

/* Takes as many as there is room for; closes the others. */
static void take_fds(struct message *from, struct msghdr *m)
{
	struct cmsghdr *c = m->msg_control;
	int room = m->msg_controllen < CMSG_LEN(sizeof(int)) ? 0 : (m->msg_controllen - CMSG_LEN(0)) / sizeof(int);
	int nr = from->nr_fds < room ? from->nr_fds : room;

	m->msg_flags |= nr < from->nr_fds ? MSG_CTRUNC : 0;
	m->msg_controllen = nr ? CMSG_LEN(nr * sizeof(int)) : 0;
	if (!nr)
		return;
	*c = (struct cmsghdr){ CMSG_LEN(nr * sizeof(int)), SOL_SOCKET, SCM_RIGHTS };
	memcpy(CMSG_DATA(c), from->fds, nr * sizeof(int));
	memmove(from->fds, from->fds + nr, (from->nr_fds - nr) * sizeof(int));
	from->nr_fds -= nr;
}

ssize_t __wrap_recvmsg(int fd, struct msghdr *m, int flags)
{
	struct end *e = end_of(fd);
	const struct iovec *part = m->msg_iov;
	struct message *next = e ? e->first : NULL;
	ssize_t bytes;

	if (!e)
		return __real_recvmsg(fd, m, flags);
	if (!next) {
		m->msg_controllen = m->msg_flags = 0;
		return e->other ? failed(EAGAIN) : 0;
	}
	bytes = next->bytes < part->iov_len ? next->bytes : part->iov_len;
	memcpy(part->iov_base, next->text, bytes);
	m->msg_flags = next->bytes > part->iov_len ? MSG_TRUNC : 0;
	take_fds(next, m);
	e->first = next->next;
	e->queued -= next->bytes;
	free_message(next);
	return bytes;
}

/* --- The clock */

static struct {
	bool runs;
	uint64_t ns, cpu_ns;
} ours;

int __real_clock_gettime(clockid_t id, struct timespec *ts);
int __wrap_clock_gettime(clockid_t id, struct timespec *ts);

/* A process's clock of CPU time has a number below 0. */
int __wrap_clock_gettime(clockid_t id, struct timespec *ts)
{
	uint64_t ns = id < 0 ? ours.cpu_ns : ours.ns;

	if (!ours.runs)
		return __real_clock_gettime(id, ts);
	*ts = (struct timespec){ ns / 1000000000, ns % 1000000000 };
	return 0;
}

void fuzz_clock_begin(void)
{
	ours.runs = true;
	ours.ns = 1000000000000;
	ours.cpu_ns = 1000000000;
}

void fuzz_clock_pass(uint64_t ns, uint64_t cpu_ns)
{
	ours.ns += ns;
	ours.cpu_ns += cpu_ns;
}

void fuzz_clock_end(void)
{
	ours.runs = false;
}
