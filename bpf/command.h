/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_BPF_COMMAND_H
#define SYSTOP_BPF_COMMAND_H

#include <linux/types.h>

/* Bytes of a command line that an event holds; a helper reads longer ones. */
#define COMMAND_BYTES 256

/* log2 of the ring's bytes: room for 7,400 of the longest events, or 29,000 of the shortest, between two readings. */
#define COMMAND_RING_BITS 21

/*
 * A thread in scope started a program. The text has each argument with its NUL. The text's length determines the event's size:
 * COMMAND_SMALL, COMMAND_MEDIUM or the whole struct.
 */
struct command_event {
	__u32 slot;
	__u32 tgid;
	__u32 total;   /* bytes of all arguments */
	__u32 len;     /* bytes in the text; 0: they could not be read */
	char text[COMMAND_BYTES];
};

#define COMMAND_SMALL (16 + 48)
#define COMMAND_MEDIUM (16 + 112)

#endif
