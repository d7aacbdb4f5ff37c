/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_BPF_COMMAND_H
#define SYSTOP_BPF_COMMAND_H

#include <linux/types.h>

/* Bytes of a command line that an event holds; a helper reads longer ones. */
#define COMMAND_BYTES 256

/* log2 of the ring's bytes: room for 7,700 of the longest events, or 26,000 short ones, between two readings. */
#define COMMAND_RING_BITS 21

/*
 * A thread in scope started a program. The text has each argument with its NUL. Its text determines the size of an event:
 * COMMAND_SMALL, COMMAND_MEDIUM or all of it.
 */
struct command_event {
	__u32 slot;
	__u32 tgid;
	__u32 total;   /* bytes of all arguments */
	__u32 len;     /* of those in the text; 0: they could not be read */
	char text[COMMAND_BYTES];
};

#define COMMAND_SMALL (16 + 48)
#define COMMAND_MEDIUM (16 + 112)

#endif
