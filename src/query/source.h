/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_QUERY_SOURCE_H
#define SYSTOP_QUERY_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct event;
struct frame_place;
struct map;
struct stack_sample;
struct symbol;
struct tick;

/* Names and recorded events for queries, from the running host or from a test. Texts are fit for a terminal unless
 * noted. */
struct source {
	void *arg;
	/* The present name of a frame (sym/names.h). NULL: out of memory. */
	const struct symbol *(*symbol)(void *arg, uint64_t frame, uint32_t tgid);
	/* What the frame lacks for a name: enum frame_lack; asks for it, too. NULL: not known. */
	int (*lack)(void *arg, uint64_t frame, uint32_t tgid);
	/* Changes when new names arrive. */
	uint64_t (*names_generation)(void *arg);
	/* Source lines of its code, raw bytes, "": not known (yet); and the build-id of its file, "-": none. */
	const char *(*code)(void *arg, uint64_t frame);
	void (*build_id)(void *arg, uint64_t frame, char *buf, size_t size);
	/* The place of a frame (sym/names.h); false: it is in no file. */
	bool (*place)(void *arg, uint64_t frame, struct frame_place *p);
	/* The handler of an interrupt: "nvme0q1", "": not known. */
	void (*irq_name)(void *arg, unsigned int irq, char *buf, size_t size);
	/* Name of a living thread, also outside the scope; "": no such thread. */
	void (*thread_name)(void *arg, pid_t tid, char *buf, size_t size);
	/* The same for many threads, in one walk over all. @names: TID -> char[16], raw bytes; unchanged if there is no such
	 * thread. */
	void (*thread_names)(void *arg, const struct map *names);
	/* ns that the recorder covers completely on all CPUs; VALUE_NA: it is off. */
	uint64_t (*recorded)(void *arg);
	/* Recorded events from @from to @to, CLOCK_BOOTTIME ns, CPU by CPU. @since: start of the time that is
	 * complete. Stops with the result of @fn if that is not 0. Too slow for each refresh: for a key press. */
	int (*recorded_events)(void *arg, uint64_t from, uint64_t to, uint64_t *since,
			       int (*fn)(void *fn_arg, int cpu, const struct event *e), void *fn_arg);
	/* The same as samples of threads, see query/recorded.h. @any: any refresh; its history knows the threads. */
	int (*recorded_samples)(void *arg, const struct tick *any, uint64_t from, uint64_t to, uint64_t *since,
				int (*fn)(void *fn_arg, const struct stack_sample *s, uint64_t from, uint64_t until),
				void *fn_arg);
};

#endif
