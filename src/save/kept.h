/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_SAVE_KEPT_H
#define SYSTOP_SAVE_KEPT_H

struct capture;
struct keep_ring;
struct trace_index;

/* The recorder's rings, or a copy of them, with their index. */
struct kept {
	const struct trace_index *index;
	struct keep_ring *rings; /* one per CPU of the index */
};

/* kept_capture - makes @c read from @k, which is borrowed; c->progress is the caller's. */
void kept_capture(struct capture *c, struct kept *k);

#endif
