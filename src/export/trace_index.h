/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_EXPORT_TRACE_INDEX_H
#define SYSTOP_EXPORT_TRACE_INDEX_H

#include <stdint.h>
#include <sys/utsname.h>

#include "loss.h"
#include "model/event.h"
#include "model/metric.h"

struct life;
struct redact;

/*
 * Everything that a trace needs besides the recorder's rings, in one block of memory: the threads, the meaning of stack ids,
 * and the positions of the rings. The process that has this information creates it, and the one that writes the trace reads it.
 * Places of parts are bytes from its beginning; a text is given by its offset in the part of texts, 0: there is none.
 */

/* An array in the index. */
struct trace_index_part {
	uint64_t at, nr;
};

#define TRACE_INDEX_LEVELS 4

/* A thread from @from to @to: a thread that changed has several entries. Sorted by tid, then by start and from. */
struct trace_index_thread {
	int32_t tid, tgid, ppid;
	uint32_t uid;
	char comm[16];
	uint64_t start_ns;     /* CLOCK_BOOTTIME, like all times here */
	uint64_t from, to;     /* UINT64_MAX: still valid */
	int32_t prio;
	uint32_t cgroup;       /* index in index.cgroups + 1; 0: unknown */
	uint32_t flags;        /* PF_* */
	uint32_t state;        /* enum thread_state at the end of the window */
};

/* A process that existed at the end, sorted by tgid. */
struct trace_index_process {
	int32_t tgid;
	uint32_t nr_nspids;
	int32_t nspids[TRACE_INDEX_LEVELS]; /* in PID namespaces below the host's, outermost first */
	uint32_t arguments, len;      /* in index.arguments: each is terminated by NUL */
};

struct trace_index_stack {
	uint32_t id;           /* ascending */
	uint32_t first, nr;    /* in index.refs: frames, innermost first */
	uint32_t spare;
};

struct trace_index_frame {
	uint64_t place;        /* address in the file's own address space, otherwise in memory */
	uint32_t function, path;
	uint32_t build_id;     /* in hexadecimal */
	uint32_t kind;         /* enum symbol_kind */
};

struct trace_index_cpu {
	uint64_t head;         /* slots written by the end of the window */
	uint32_t first, nr;    /* in index.marks */
	int32_t online;        /* 0: offline, or without a ring */
	int32_t current;       /* the thread on the CPU at the end */
};

struct trace_index_tick {
	uint64_t began, at;    /* the refresh */
	uint64_t values[METRIC_COUNT]; /* of all threads in scope; VALUE_NA: unknown */
	uint64_t steal_ns;     /* of all CPUs in the refresh; VALUE_NA: unknown */
	uint64_t loss;         /* lost events of all kinds since the start */
};

struct trace_index_irq {
	int32_t number;        /* of the line; vectors have numbers that no line has */
	uint32_t name;
};

struct trace_index_attribute {
	uint32_t key, text;    /* @text 0: use the number */
	int64_t number;
};

struct trace_index_clocks {
	uint64_t boottime_ns, realtime_ns, monotonic_ns, monotonic_raw_ns;
};

/* All parts: name, type of an element. */
#define TRACE_INDEX_PARTS(_)                                    \
	_(threads,    struct trace_index_thread)                \
	_(processes,  struct trace_index_process)               \
	_(arguments,  char)                                     \
	_(cgroups,    uint32_t)                                 \
	_(stacks,     struct trace_index_stack)                 \
	_(refs,       uint32_t)                                 \
	_(frames,     struct trace_index_frame)                 \
	_(cpus,       struct trace_index_cpu)                   \
	_(marks,      struct event_mark)                        \
	_(ticks,      struct trace_index_tick)                  \
	_(irqs,       struct trace_index_irq)                   \
	_(attributes, struct trace_index_attribute)             \
	_(texts,      char)

struct trace_index {
	uint64_t magic, bytes;
	uint64_t from, end;    /* of the window */
	struct trace_index_clocks clocks;
	struct utsname uname;
	uint32_t hz, page_size, nr_cpus, frequency; /* frequency: samples per second on each CPU, 0: none */
	int32_t utc_offset_min;
	uint32_t cycles;       /* samples are by processor cycles, otherwise by a clock */
	uint64_t ram_bytes;
	uint32_t ring_slots;
	uint32_t scoped;       /* it does not contain all threads of the host */
#define _(name, type) struct trace_index_part name;
	TRACE_INDEX_PARTS(_)
#undef _
};

#define TRACE_INDEX_MAGIC 0x31676d69706f7473ULL

/* Longest window: rings know the times of their events for no longer (RING_TIME_BITS). */
#define TRACE_INDEX_WINDOW_MAX_NS (2 * 86400 * 1000000000ULL)

/* --- Writing an index */

struct trace_index_maker;

/* trace_index_maker - @head: the fields outside of parts; a window longer than TRACE_INDEX_WINDOW_MAX_NS begins later. NULL: no
 * memory. All functions that follow keep the first error. */
struct trace_index_maker *trace_index_maker(const struct trace_index *head);

/* trace_index_redact - threads and cgroups that follow have hashes in place of names; @r is borrowed. NULL: they keep
 * their names. */
void trace_index_redact(struct trace_index_maker *m, const struct redact *r);
void trace_index_free(struct trace_index_maker *m);

/* trace_index_text - the offset of a text; equal texts are stored once. */
uint32_t trace_index_text(struct trace_index_maker *m, const char *text);

/* trace_index_thread - adds an entry of a thread, which is valid from @from to @to. @state: enum thread_state at the end. */
void trace_index_thread(struct trace_index_maker *m, const struct life *l, uint64_t from, uint64_t to, uint32_t state);

/* trace_index_process - adds a process; call it in ascending order of tgids. @arguments: p->len bytes. */
void trace_index_process(struct trace_index_maker *m, const struct trace_index_process *p, const char *arguments);

/* trace_index_frame - adds a frame, and returns its index. trace_index_has_frame - the index of the frame that was added with
 * @key; -1: none. */
uint32_t trace_index_frame(struct trace_index_maker *m, uint64_t key, const struct trace_index_frame *f);
int64_t trace_index_has_frame(const struct trace_index_maker *m, uint64_t key);
/* trace_index_stack - adds a stack. @frames: indexes of its frames, innermost first. */
void trace_index_stack(struct trace_index_maker *m, uint32_t id, const uint32_t *frames, uint32_t nr);

/* trace_index_cpu - adds the next CPU. @marks: c->nr of them; c->first is not read. */
void trace_index_cpu(struct trace_index_maker *m, const struct trace_index_cpu *c, const struct event_mark *marks);
/* trace_index_irq - adds a source of interrupts; call it in the order of irq.h's sources. */
void trace_index_irq(struct trace_index_maker *m, int32_t number, const char *name);
void trace_index_tick(struct trace_index_maker *m, const struct trace_index_tick *t);
/* trace_index_number, trace_index_words - add an attribute of the trace. */
void trace_index_number(struct trace_index_maker *m, const char *key, int64_t number);
void trace_index_words(struct trace_index_maker *m, const char *key, const char *text);

/* trace_index_put - writes the index to an unnamed file: its fd, or -errno. */
int trace_index_put(struct trace_index_maker *m);

/* --- Reading an index */

/* trace_index_open - maps an index. NULL: it is not valid. trace_index_close - unmaps it. */
const struct trace_index *trace_index_open(int fd);
void trace_index_close(const struct trace_index *i);

/* First element of a part. */
#define TRACE_INDEX_AT(index, part, type) ((const type *)((const char *)(index) + (index)->part.at))

const char *trace_index_string(const struct trace_index *i, uint32_t text); /* "" for 0 */

/* trace_index_who - the last entry of a tid that had begun at @t, or else its first entry: the caller checks whether it existed
 * then. NULL: there is none. */
const struct trace_index_thread *trace_index_who(const struct trace_index *i, int32_t tid, uint64_t t);

/* trace_index_find_process, trace_index_find_stack - NULL: unknown. */
const struct trace_index_process *trace_index_find_process(const struct trace_index *i, int32_t tgid);
const struct trace_index_stack *trace_index_find_stack(const struct trace_index *i, uint32_t id);

#endif
