/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_HELPER_MESSAGE_H
#define SYSTOP_HELPER_MESSAGE_H

#include <stddef.h>

/*
 * helper_send, helper_receive - one message, with a file descriptor (-1: none; where none is expected, @fd is NULL, and one
 * that comes is closed). Return its size, or -errno; -EPIPE: the other side is gone; -EBADMSG: it was longer than @room, or
 * had more descriptors.
 */
int helper_send(int socket, const void *message, size_t bytes, int fd);
int helper_receive(int socket, void *message, size_t room, int *fd);

#endif
