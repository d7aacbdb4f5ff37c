/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_SAVE_DESTINATION_H
#define SYSTOP_SAVE_DESTINATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Why a file cannot be saved. */
struct save_failure {
	int err;
	uint64_t need, room; /* bytes needed, and bytes free; 0: unknown */
};

/*
 * destination_check - whether a file can be saved at @path, checked before anything is recorded, within
 * invoker_begin(); calls invoker_drop(). @fd: set to the descriptor if the path is a link of /proc to one of ours, like
 * /dev/stdout, else to -1. @streams: set to whether the path is that of a FIFO or device. Returns 0, or -errno after
 * fail(): exit status 2 if it is not a file, FIFO or character device.
 */
int destination_check(const char *path, int *fd, bool *streams);

/* save_cause - the cause in a few words: "No space left on device (need 3.1 MiB, 128 KiB free)". save_fix - a
 * command to paste. */
void save_cause(const struct save_failure *f, char *buf, size_t size);
const char *save_fix(int err);

#endif
