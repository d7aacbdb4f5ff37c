/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_EXPORT_TRACE_INDEX_H
#define SYSTOP_EXPORT_TRACE_INDEX_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>
#include <sys/utsname.h>

#include "loss.h"
#include "model/event.h"
#include "model/metric.h"

struct cgroup;
struct life;

/*
 * All that a trace needs beside the recorder's rings, in one piece of memory: who the threads were, what the stacks'
 * ids mean, how far the rings had come. It is made by the process that knows these things, and read by the one that
 * writes the trace. Places in it are counted in bytes from its beginning; a text's 0 is none.
 */

/* An array in it. */
struct trace_index_part {
	uint64_t at, nr;
};

#define TRACE_INDEX_LEVELS 4

/* A thread from @from to @to: one that changed is here more than once. Sorted by tid, then by start and from. */
struct trace_index_thread {
	int32_t tid, tgid, ppid;
	uint32_t uid;
	char comm[16];
	uint64_t start_ns;     /* CLOCK_BOOTTIME, as are all */
	uint64_t from, to;     /* UINT64_MAX: it still is */
	int32_t prio;
	uint32_t cgroup;       /* index + 1 of a text; 0: not known */
	uint32_t flags;        /* PF_* */
	uint32_t state;        /* enum thread_state at the end */
};

/* What is known of a process that there was at the end, sorted by tgid. */
struct trace_index_process {
	int32_t tgid;
	uint32_t nr_nspids;
	int32_t nspids[TRACE_INDEX_LEVELS]; /* in PID namespaces below the host's, outer ones first */
	uint32_t arguments, len;      /* of index.arguments: each ends with NUL */
};

struct trace_index_stack {
	uint32_t id;           /* ascending */
	uint32_t first, nr;    /* of index.refs: frames, innermost first */
	uint32_t spare;
};

struct trace_index_frame {
	uint64_t place;        /* of a file: offset; else an address */
	uint32_t function, path;
	uint32_t build_id;     /* as hex */
	uint32_t kind;         /* enum symbol_kind */
};

struct trace_index_cpu {
	uint64_t head;         /* slots written when the window ended */
	uint32_t first, nr;    /* of index.marks */
	int32_t online;        /* 0: it is not, or has no ring */
	int32_t current;       /* who ran at the end */
};

struct trace_index_tick {
	uint64_t at;           /* its end */
	uint64_t values[METRIC_COUNT]; /* of all threads in scope; VALUE_NA: not known */
	uint64_t steal_ns;     /* of all CPUs in the refresh; VALUE_NA: not known */
	uint64_t loss;         /* events of any kind that were lost, since the start */
};

struct trace_index_irq {
	int32_t number;        /* of the line; of a vector one that no line has */
	uint32_t name;
};

struct trace_index_attribute {
	uint32_t key, text;    /* @text 0: it is the number */
	int64_t number;
};

struct trace_index_clocks {
	uint64_t boottime_ns, realtime_ns, monotonic_ns, monotonic_raw_ns;
};

struct trace_index {
	uint64_t magic, bytes;
	uint64_t from, end;    /* of the window */
	struct trace_index_clocks clocks;
	struct utsname uname;
	uint32_t hz, page_size, nr_cpus, frequency;
	int32_t utc_offset_min;
	uint32_t cycles;       /* samples are by processor cycles, else by a clock */
	uint64_t ram_bytes;
	uint32_t ring_slots;
	uint32_t scoped;       /* not all threads of the host are in it */
	struct trace_index_part threads, processes, arguments, cgroups, stacks, refs, frames, cpus, marks, ticks, irqs,
		attributes, texts;
};

#define TRACE_INDEX_MAGIC 0x31676d69706f7473ULL

/* --- Making one */

struct trace_index_maker;

/* trace_index_maker - @head: what is not in a part. NULL: no memory. All that follow keep the first error. */
struct trace_index_maker *trace_index_maker(const struct trace_index *head);
void trace_index_free(struct trace_index_maker *m);

/* trace_index_text - its place; equal ones are one. */
uint32_t trace_index_text(struct trace_index_maker *m, const char *text);

void trace_index_thread(struct trace_index_maker *m, const struct life *l, uint64_t from, uint64_t to, uint32_t state);

/* trace_index_process - call it in the order of tgids. @arguments: p->len bytes. */
void trace_index_process(struct trace_index_maker *m, const struct trace_index_process *p, const char *arguments);

/* trace_index_frame - its index, the same for the same @key; trace_index_has_frame - whether it is there already. */
uint32_t trace_index_frame(struct trace_index_maker *m, uint64_t key, const struct trace_index_frame *f);
int64_t trace_index_has_frame(const struct trace_index_maker *m, uint64_t key);
void trace_index_stack(struct trace_index_maker *m, uint32_t id, const uint32_t *frames, uint32_t nr);

void trace_index_cpu(struct trace_index_maker *m, const struct trace_index_cpu *c, const struct event_mark *marks);
/* trace_index_irq - in the order of irq.h's sources. */
void trace_index_irq(struct trace_index_maker *m, int32_t number, const char *name);
void trace_index_tick(struct trace_index_maker *m, const struct trace_index_tick *t);
void trace_index_number(struct trace_index_maker *m, const char *key, int64_t number);
void trace_index_words(struct trace_index_maker *m, const char *key, const char *text);

/* trace_index_put - all of it, in a file without a name: its fd, or -errno. */
int trace_index_put(struct trace_index_maker *m);

/* --- Reading one */

/* trace_index_open - maps it. NULL: it is none. trace_index_close - unmaps it. */
const struct trace_index *trace_index_open(int fd);
void trace_index_close(const struct trace_index *i);

/* A part's first element. */
#define TRACE_INDEX_AT(index, part, type) ((const type *)((const char *)(index) + (index)->part.at))

const char *trace_index_string(const struct trace_index *i, uint32_t text); /* "" for 0 */

/* trace_index_who - who had this tid at @t, NULL: nobody that is known. */
const struct trace_index_thread *trace_index_who(const struct trace_index *i, int32_t tid, uint64_t t);

/* trace_index_find_process, trace_index_find_stack - NULL: not known. */
const struct trace_index_process *trace_index_find_process(const struct trace_index *i, int32_t tgid);
const struct trace_index_stack *trace_index_find_stack(const struct trace_index *i, uint32_t id);

#endif
