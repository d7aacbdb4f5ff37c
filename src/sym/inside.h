/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_SYM_INSIDE_H
#define SYSTOP_SYM_INSIDE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * inside_look - finds a file by its path @inside its file system, wherever that is mounted: a container's files have other
 * paths in their process, and other numbers on its overlay. Nothing is followed on the way: neither links nor other mounts.
 * @device: of the file system, in the kernel's form: major << 20 | minor
 * @accept: whether a descriptor (O_PATH) is of the file; called with @arg
 * Returns a descriptor that was accepted, or -1 with errno.
 */
int inside_look(uint32_t device, const char *inside, bool (*accept)(int fd, const void *arg), const void *arg);

#endif
