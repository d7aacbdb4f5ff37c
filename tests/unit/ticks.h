/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_TESTS_TICKS_H
#define SYSTOP_TESTS_TICKS_H

/* Refreshes of a model, built by hand. */

#include "unit.h"

#include <string.h>

#include "model/model.h"
#include "model/sample.h"

#define SEC 1000000000ULL

/* tick_life - a process's first thread. */
static inline struct life *tick_life(struct model *m, pid_t tid, const char *comm, struct cgroup *cgroup)
{
	struct identity id = { .tid = tid, .tgid = tid, .start_ns = 1000 + tid };

	strncpy(id.comm, comm, sizeof(id.comm) - 1);
	return model_life(m, &id, cgroup);
}

/* tick_stack - the shared stack like another one. */
static inline const struct stack *tick_stack(struct model *m, const struct stack *like)
{
	const struct stack_entry e = { .hash = like->hash, .check = like->check, .tgid = like->tgid, .nr = like->nr,
				       .end = like->end, .flags = like->flags };

	return model_stack(m, &e, like->frames);
}

/* tick_begin - starts a refresh of one second, at 5 s.
 * tick_begin_at - at this time, CLOCK_BOOTTIME. */
static inline void tick_begin_at(struct model *m, uint64_t boottime_ns)
{
	struct timespec wall = { 0 };

	assert_int_equal(model_begin(m, SEC, boottime_ns, &wall), 0);
}

static inline void tick_begin(struct model *m)
{
	tick_begin_at(m, 5 * SEC);
}

/* tick_cgroup - @limit NULL: none. */
static inline void tick_cgroup(struct model *m, struct cgroup *cgroup, const struct cgroup_limit *limit)
{
	static const struct cgroup_limit none = { VALUE_NA, VALUE_NA };

	assert_int_equal(model_cgroup(m, cgroup, limit ? limit : &none, NULL), 0);
}

static inline const struct tick *tick_end(struct model *m)
{
	static const uint64_t loss[LOSS_COUNT];
	static const struct self_cost self;
	const struct tick *t = model_end(m, loss, &self);

	assert_non_null(t);
	return t;
}

#endif
