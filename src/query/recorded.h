/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_QUERY_RECORDED_H
#define SYSTOP_QUERY_RECORDED_H

#include <stdint.h>

#include "model/event.h"
#include "model/sample.h"
#include "stack.h"

/* Where recorded_read() takes it from. */
struct recorded_source {
	/* Events of a time, CPU after CPU (struct source). */
	int (*events)(void *arg, uint64_t from, uint64_t to, uint64_t *since,
		      int (*fn)(void *fn_arg, int cpu, const struct event *e), void *fn_arg);
	/* All stacks by their ids. */
	int (*stacks)(void *arg,
		      int (*fn)(void *fn_arg, uint32_t id, const struct stack_entry *e, const uint64_t *frames),
		      void *fn_arg);
	void *arg;
	const struct tick *tick; /* any: whose past knows who there was */
	int frequency;           /* samples a second on each CPU */
};

/*
 * recorded_read - turns what the recorder has of @from to @to, CLOCK_BOOTTIME ns, into samples: of CPUs, which have no
 * length; of blocks, D state or sleep, from their start to their end, which is in that time. Threads that nobody knows
 * any more are left out. Stacks live until it returns. @since: from when on all is there. Returns 0, what @fn returned,
 * or -errno.
 */
typedef int recorded_fn(void *arg, const struct stack_sample *s, uint64_t from, uint64_t until);
int recorded_read(const struct recorded_source *l, uint64_t from, uint64_t to, uint64_t *since, recorded_fn *fn,
		  void *arg);

#endif
