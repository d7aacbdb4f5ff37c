/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_QUERY_SOURCE_H
#define SYSTOP_QUERY_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct event;
struct frame_place;
struct stack_sample;
struct symbol;
struct tick;

/* Where names come from, and what was recorded, for queries: the host that runs, or a test. Texts are fit for a
 * terminal unless it says otherwise. */
struct source {
	void *arg;
	/* What a frame is called, now (sym/names.h). NULL: out of memory. */
	const struct symbol *(*symbol)(void *arg, uint64_t frame, uint32_t tgid);
	/* Changes when names were learnt. */
	uint64_t (*names_generation)(void *arg);
	/* What its code was compiled from: lines, raw bytes, "": not known (yet); the build-id of its
	 * file, "-": none. */
	const char *(*code)(void *arg, uint64_t frame);
	void (*build_id)(void *arg, uint64_t frame, char *buf, size_t size);
	/* Where it is (sym/names.h); false: it is in no file. */
	bool (*place)(void *arg, uint64_t frame, struct frame_place *p);
	/* Who handles an interrupt: "nvme0q1", "": not known. */
	void (*irq_name)(void *arg, unsigned int irq, char *buf, size_t size);
	/* Name of a thread that lives, also outside of the scope; "": there is none. */
	void (*thread_name)(void *arg, pid_t tid, char *buf, size_t size);
	/* ns of which the recorder has everything, on all CPUs; VALUE_NA: it is off. */
	uint64_t (*recorded)(void *arg);
	/* What it has of @from to @to, CLOCK_BOOTTIME ns, CPU after CPU; @since: from when on all is there. Ends with
	 * what @fn returns, if that is not 0. A key's work, not a refresh's. */
	int (*recorded_events)(void *arg, uint64_t from, uint64_t to, uint64_t *since,
			       int (*fn)(void *fn_arg, int cpu, const struct event *e), void *fn_arg);
	/* The same as samples of threads, see query/recorded.h; by way of any refresh, whose past knows the threads. */
	int (*recorded_samples)(void *arg, const struct tick *any, uint64_t from, uint64_t to, uint64_t *since,
				int (*fn)(void *fn_arg, const struct stack_sample *s, uint64_t from, uint64_t until),
				void *fn_arg);
};

#endif
