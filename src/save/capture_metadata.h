/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_SAVE_CAPTURE_METADATA_H
#define SYSTOP_SAVE_CAPTURE_METADATA_H

#include <stdint.h>

struct save_options;
struct process_info_table;
struct tick;

/* A window's beginning and end, CLOCK_BOOTTIME ns. For each CPU: the slots that its ring had at the end or later, and the
 * thread that ran there. */
struct save_end {
	uint64_t from, at;
	struct save_cpu {
		uint64_t head;
		int32_t current; /* tid; 0: the idle thread, -1: unknown */
	} *cpus;
};

/* capture_metadata - writes all that the writer of a trace needs besides the recorder's rings (export/trace_index.h), for the
 * window of @end. @t: the newest tick. @who: NULL: command lines are not known. @reason: why it is saved, "": on request.
 * Returns the fd of an unnamed file, or -errno. */
int capture_metadata(const struct save_options *o, const struct tick *t, const struct save_end *end,
		     const struct process_info_table *who, const char *reason);

#endif
