/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_QUERY_RECORDED_H
#define SYSTOP_QUERY_RECORDED_H

#include <stdint.h>

#include "model/event.h"
#include "model/sample.h"
#include "stack.h"

/* The sources that recorded_read() reads. */
struct recorded_source {
	/* Events of a time range, CPU by CPU (struct source). */
	int (*events)(void *arg, uint64_t from, uint64_t to, uint64_t *since,
		      int (*fn)(void *fn_arg, int cpu, const struct event *e), void *fn_arg);
	/* All stacks by their ids. */
	int (*stacks)(void *arg,
		      int (*fn)(void *fn_arg, uint32_t id, const struct stack_entry *e, const uint64_t *frames),
		      void *fn_arg);
	void *arg;
	struct model *model;     /* keeps the stacks */
	const struct tick *tick; /* any tick: its history knows the threads */
	int (*frequency)(void *arg, uint64_t at); /* samples per second on each CPU at that time */
};

/*
 * recorded_read - converts the recorder's events from @from to @to, CLOCK_BOOTTIME ns, into samples. CPU samples have
 * no length; blocks (D state or sleep) have a start and an end, and the end is in that time. Skips threads that are no
 * longer known. Stacks live as long as those of the tick being built: a sample_list holds them longer. @since: start of
 * the time that is complete. Returns 0, what @fn returned, or -errno.
 */
typedef int recorded_fn(void *arg, const struct stack_sample *s, uint64_t from, uint64_t until);
int recorded_read(const struct recorded_source *l, uint64_t from, uint64_t to, uint64_t *since, recorded_fn *fn,
		  void *arg);

#endif
