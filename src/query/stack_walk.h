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
	WALK_MARKS = 8,     /* from the root: stops also where frames are missing, at a mark */
};

/* Where a walk over the frames of a sample is: kernel functions are inside of user functions. */
struct stack_walk {
	uint64_t frame;
	uint32_t tgid;    /* of its stack */
	bool kernel;
	const char *mark; /* not NULL: this, and no frame: "[truncated]", "[user stack not taken]", "[no stack]", "~" */
	/* Its own: */
	const struct source *source;
	bool innermost;
	struct stack_walk_part {
		const char *mark;
		const uint64_t *frames; /* innermost first */
		uint32_t nr, tgid;
	} parts[6];
	int nr_parts, part;
	uint32_t at;      /* in the part */
};

/* stack_walk - begins one over both stacks of a sample. stack_walk_frames - over frames, innermost first, of a process.
 * What they are of is borrowed. stack_walk_next - goes to the next frame or mark; false: there are no more. */
void stack_walk(struct stack_walk *w, const struct source *source, const struct stack_sample *s, int how);
void stack_walk_frames(struct stack_walk *w, const struct source *source, const uint64_t *frames, uint32_t nr,
		       uint32_t tgid);
bool stack_walk_next(struct stack_walk *w);

/* stack_walk_symbol - what the frame is called now. NULL: out of memory. stack_walk_name - the same in raw bytes, never
 * NULL; also of a mark. */
const struct symbol *stack_walk_symbol(const struct stack_walk *w);
const char *stack_walk_name(const struct stack_walk *w);

/* stack_walk_ask - asks for the names of all frames of a tick, so that they are there later. */
void stack_walk_ask(const struct source *source, const struct tick *t);

#endif
