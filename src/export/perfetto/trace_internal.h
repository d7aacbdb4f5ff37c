/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_EXPORT_PERFETTO_TRACE_INTERNAL_H
#define SYSTOP_EXPORT_PERFETTO_TRACE_INTERNAL_H

/* Shared by the files of the trace: trace.c (events), trace_threads.c (threads, their stacks and cgroups), trace_rows.c (events
 * without a writer of their own). */

#include "export/capture.h"
#include "export/perfetto/perfetto.h"
#include "export/perfetto/perfetto_cpu.h"
#include "export/perfetto/perfetto_stacks.h"
#include "export/perfetto/perfetto_tree.h"
#include "export/trace_index.h"
#include "util/map.h"

/* Replaces the tid of a thread out of scope. */
#define TRACE_OUTSIDE (-1)

struct trace {
	struct perfetto *p;
	const struct capture *capture;
	const struct trace_index *index; /* of the capture */
	struct capture_result *result;
	int percent;
	int err;                  /* -ENOMEM: trace_remember() failed */
	uint64_t start;           /* since when all CPUs are complete */
	/* State of the CPU that is being written: */
	uint32_t cpu;
	int32_t current, before;  /* the present and the previous thread, by their ids in the trace */
	uint64_t since;

	struct map seen;          /* tid + 1 -> first event, and its time since the start; see trace_threads.c */
	struct map after;         /* tid + 1 -> enum seen + 1: how it was at the end, known from its events after the end */
	struct map stacks[PERFETTO_USES]; /* user id << 32 | kernel id -> number in the trace + 1 */
	struct map tracks;        /* hash of a thread's tid and start -> track of its blocks */
	struct map rows;          /* kind << 32 | CPU, device or tid + 1 -> track of its events; see trace_rows.c */
	uint64_t devices, cpus;   /* groups of such tracks, 0: not created yet */
	struct map block_ends;    /* tid + 1 -> end of its last block */
	struct map born;          /* tid + 1 -> start of its last life that was written */
	struct map ends;          /* tid + 1 -> its last death or exec, << 1, + 1 if it is a death */
	struct map last_deaths;   /* process_key() -> when the last of its threads dies; UINT64_MAX: not in the trace */
	struct map renamed_first, renamed_last; /* thread's entry in the index + 1 -> when it was renamed while that entry was
						 * valid */
	uint64_t *cgroup_ns;      /* [cgroup * seconds + second] */
	uint32_t seconds;
};

int trace_threads_begin(struct trace *t); /* 0 or -ENOMEM */
void trace_threads_end(struct trace *t);

/* trace_tree - writes the threads that exist when the trace starts; trace_born - a thread born later; trace_unborn - at
 * the end, threads that were created out of scope and moved into it. */
void trace_tree(struct trace *t);
void trace_born(struct trace *t, int32_t tid, uint64_t at);
void trace_unborn(struct trace *t);

/* The index knows a thread's name at the end of each refresh; if the thread was renamed again before that, its name at @at is
 * not known. trace_will_be_renamed - call it for each rename before any call of the other two. trace_renamed - writes a rename,
 * unless the name is not known. trace_name - the thread's name just after @at; "?": not known. */
void trace_will_be_renamed(struct trace *t, int32_t tid, uint64_t at);
void trace_renamed(struct trace *t, const struct event *e);
const char *trace_name(const struct trace *t, int32_t tid, uint64_t at);

/* The kernel frees a process's first thread after all others, which ends the process in the trace. trace_will_die,
 * trace_will_exec - call them for each death and exec, then trace_survivors, before any call of trace_died. trace_died - writes
 * the end of a thread, and that of its process if no thread of it remains. */
void trace_will_die(struct trace *t, int32_t tid, uint64_t at);
void trace_will_exec(struct trace *t, int32_t tid, uint64_t at);
void trace_survivors(struct trace *t);
void trace_died(struct trace *t, int32_t tid, uint64_t at);

/* trace_task - a thread's identity in the trace, on the present CPU. */
struct perfetto_task trace_task(struct trace *t, int32_t tid, uint64_t at);

/* What a thread's first event in the trace is; ASLEEP, IN_D: a block that began before the trace. */
enum seen { SEEN_RAN, SEEN_WOKEN, SEEN_ASLEEP, SEEN_IN_D };

/* trace_seen - an event of a thread: one whose first event is a waking was blocked when the trace started.
 * trace_seen_after - how a thread was at the end, known from an event after it; SEEN_RAN: not known.
 * trace_blocked_all - call it when all CPUs are written: writes the threads that were blocked when the trace started. */
void trace_seen(struct trace *t, int32_t tid, uint64_t at, enum seen how);
void trace_seen_after(struct trace *t, int32_t tid, enum seen how);
void trace_blocked_all(struct trace *t);

/* trace_stack - number of a user and a kernel stack combined, 0: none. trace_block - writes the block that ends with @e. */
uint64_t trace_stack(struct trace *t, enum perfetto_use use, uint32_t user, uint32_t kernel);
void trace_block(struct trace *t, int32_t tid, uint64_t since, const struct event *e);

/* trace_thread_track - the track of a thread's blocks, created at @at if necessary; 0: unknown thread. */
uint64_t trace_thread_track(struct trace *t, int32_t tid, uint64_t at);

/* trace_remember - stores a value in a map; sets t->err if out of memory. */
void trace_remember(struct trace *t, struct map *map, uint64_t key, uint64_t value);

/* trace_row_event - writes an event by its row (ring.h). An event of a thread belongs to the current thread of the
 * CPU. */
void trace_row_event(struct trace *t, const struct event_row *row, const struct event *e);

/* trace_ran - adds the time that a thread ran to its cgroup. trace_cgroup_counters - writes these times, with a counter for
 * each cgroup, below @group. */
void trace_ran(struct trace *t, int32_t tid, uint64_t from, uint64_t to);
void trace_cgroup_counters(struct trace *t, uint64_t group);

#endif
