/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "helper/message.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "helper/watch.h"

/* If the other side ended with unread messages, the kernel reports ECONNRESET once, before what that side sent and before
 * EPIPE. */
static bool is_passing(int error)
{
	return error == EINTR || error == ECONNRESET;
}

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
	while (n < 0 && is_passing(errno));
	return n < 0 ? -errno : (int)n;
}

static int passed_fd(struct msghdr *m)
{
	struct cmsghdr *c = CMSG_FIRSTHDR(m);
	int fd;

	if (!c || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS || c->cmsg_len != CMSG_LEN(sizeof(int)))
		return -1;
	memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	return fd;
}

int helper_receive(int socket, void *message, size_t room, int *fd)
{
	struct iovec part = { message, room };
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct msghdr m = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control,
			    .msg_controllen = CMSG_LEN(sizeof(int)) }; /* padding would leave room for a second one */
	int passed;
	ssize_t n;
	bool bad;

	if (fd)
		*fd = -1;
	do
		n = recvmsg(socket, &m, MSG_CMSG_CLOEXEC);
	while (n < 0 && is_passing(errno));
	if (n < 0)
		return -errno;
	watch_request();
	passed = passed_fd(&m);
	/* Too long, or with several descriptors. If our table had no room for a descriptor, it is just missing. */
	bad = m.msg_flags & MSG_TRUNC || (m.msg_flags & MSG_CTRUNC && passed >= 0);
	if (fd && !bad)
		*fd = passed;
	else if (passed >= 0)
		close(passed);
	return bad ? -EBADMSG : n ? (int)n : -EPIPE;
}
