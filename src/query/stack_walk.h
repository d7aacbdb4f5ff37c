/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_QUERY_STACK_WALK_H
#define SYSTOP_QUERY_STACK_WALK_H

#include <stdbool.h>
#include <stdint.h>

struct source;
struct stack_sample;
struct symbol;
struct tick;

enum stack_walk_how {
	WALK_FROM_ROOT = 0,
	WALK_INNERMOST = 1, /* the innermost frame first */
	WALK_NO_KERNEL = 2, /* without these frames */
	WALK_NO_USER = 4,
	WALK_MARKS = 8,     /* also stops at a mark where frames are missing */
};

/* Position of a walk over the frames of a sample: kernel functions are inside user functions. */
struct stack_walk {
	uint64_t frame;
	uint32_t tgid;    /* process of its stack */
	bool kernel;
	const char *mark; /* not NULL: a mark instead of a frame: "~", "[user stack not taken]", "[truncated]",
			   * "[no stack]" */
	/* Private: */
	const struct source *source;
	bool innermost;
	struct stack_walk_part {
		const char *mark;
		const uint64_t *frames; /* innermost first */
		uint32_t nr, tgid;
	} parts[6];
	int nr_parts;     /* from the root */
	int part;         /* in the order of the walk */
	uint32_t at;      /* in the part */
};

/* stack_walk - begins a walk over both stacks of a sample.
 * stack_walk_frames - begins one over frames, innermost first, of a process. Both borrow what they walk.
 * stack_walk_next - advances to the next frame or mark; false: the end. */
void stack_walk(struct stack_walk *w, const struct source *source, const struct stack_sample *s, int how);
void stack_walk_frames(struct stack_walk *w, const struct source *source, const uint64_t *frames, uint32_t nr,
		       uint32_t tgid);
bool stack_walk_next(struct stack_walk *w);

/* stack_walk_symbol - the present symbol of the frame. NULL: out of memory.
 * stack_walk_name - its name in raw bytes, never NULL; also of a mark. */
const struct symbol *stack_walk_symbol(const struct stack_walk *w);
const char *stack_walk_name(const struct stack_walk *w);

/* stack_walk_ask - requests the names of all frames of a tick, so that they arrive later. */
void stack_walk_ask(const struct source *source, const struct tick *t);

#endif
