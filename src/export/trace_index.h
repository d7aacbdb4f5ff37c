/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_EXPORT_TRACE_INDEX_H
#define SYSTOP_EXPORT_TRACE_INDEX_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>
#include <sys/utsname.h>

#include "loss.h"
#include "record/rings.h"

struct cgroup;
struct life;

/*
 * All that a trace needs beside the recorder's rings, in one piece of memory: who the threads were, what the stacks'
 * ids mean, how far the rings had come. It is made by the process that knows these things, and read by the one that
 * writes the trace. Places in it are counted in bytes from its beginning; a text's 0 is none.
 */

/* An array in it. */
struct image_part {
	uint64_t at, nr;
};

#define IMAGE_LEVELS 4

/* A thread from @from to @to: one that changed is here more than once. Sorted by tid, then by start and from. */
struct image_thread {
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
struct image_process {
	int32_t tgid;
	uint32_t nr_nspids;
	int32_t nspids[IMAGE_LEVELS]; /* in PID namespaces below the host's, outer ones first */
	uint32_t arguments, len;      /* of image.arguments: each ends with NUL */
};

struct image_stack {
	uint32_t id;           /* ascending */
	uint32_t first, nr;    /* of image.refs: frames, innermost first */
	uint32_t spare;
};

struct image_frame {
	uint64_t place;        /* of a file: offset; else an address */
	uint32_t function, path;
	uint32_t build_id;     /* as hex */
	uint32_t kind;         /* enum symbol_kind */
};

struct image_cpu {
	uint64_t head;         /* slots written when the window ended */
	uint32_t first, nr;    /* of image.marks */
	int32_t online;        /* 0: it is not, or has no ring */
	int32_t current;       /* who ran at the end */
};

struct image_tick {
	uint64_t at;           /* its end */
	uint64_t runq_p99_ns;  /* VALUE_NA: none waited */
	uint64_t steal_ns;     /* of all CPUs in the refresh; VALUE_NA: not known */
	uint64_t loss;         /* events of any kind that were lost, since the start */
};

struct image_irq {
	int32_t number;        /* of the line; of a vector one that no line has */
	uint32_t name;
};

struct image_attribute {
	uint32_t key, text;    /* @text 0: it is the number */
	int64_t number;
};

struct image_clocks {
	uint64_t boottime_ns, realtime_ns, monotonic_ns, monotonic_raw_ns;
};

struct image {
	uint64_t magic, bytes;
	uint64_t from, end;    /* of the window */
	struct image_clocks clocks;
	struct utsname uname;
	uint32_t hz, page_size, nr_cpus, frequency;
	int32_t utc_offset_min;
	uint32_t cycles;       /* samples are by processor cycles, else by a clock */
	uint64_t ram_bytes;
	uint32_t ring_slots;
	uint32_t scoped;       /* not all threads of the host are in it */
	struct image_part threads, processes, arguments, cgroups, stacks, refs, frames, cpus, marks, ticks, irqs,
		attributes, texts;
};

#define IMAGE_MAGIC 0x31676d69706f7473ULL

/* --- Making one */

struct image_maker;

/* image_maker - @head: what is not in a part. NULL: no memory. All that follow keep the first error. */
struct image_maker *image_maker(const struct image *head);
void image_free(struct image_maker *m);

/* image_text - its place; equal ones are one. */
uint32_t image_text(struct image_maker *m, const char *text);

void image_thread(struct image_maker *m, const struct life *l, uint64_t from, uint64_t to, uint32_t state);

/* image_process - call it in the order of tgids. @arguments: p->len bytes. */
void image_process(struct image_maker *m, const struct image_process *p, const char *arguments);

/* image_frame - its index, the same for the same @key; image_has_frame - whether it is there already. */
uint32_t image_frame(struct image_maker *m, uint64_t key, const struct image_frame *f);
int64_t image_has_frame(const struct image_maker *m, uint64_t key);
void image_stack(struct image_maker *m, uint32_t id, const uint32_t *frames, uint32_t nr);

void image_cpu(struct image_maker *m, const struct image_cpu *c, const struct rings_mark *marks);
/* image_irq - in the order of irq.h's sources. */
void image_irq(struct image_maker *m, int32_t number, const char *name);
void image_tick(struct image_maker *m, const struct image_tick *t);
void image_number(struct image_maker *m, const char *key, int64_t number);
void image_words(struct image_maker *m, const char *key, const char *text);

/* image_put - all of it, in a file without a name: its fd, or -errno. */
int image_put(struct image_maker *m);

/* --- Reading one */

/* image_open - maps it. NULL: it is none. image_close - unmaps it. */
const struct image *image_open(int fd);
void image_close(const struct image *i);

/* A part's first element. */
#define IMAGE_AT(image, part, type) ((const type *)((const char *)(image) + (image)->part.at))

const char *image_string(const struct image *i, uint32_t text); /* "" for 0 */

/* image_who - who had this tid at @t, NULL: nobody that is known. */
const struct image_thread *image_who(const struct image *i, int32_t tid, uint64_t t);

/* image_find_process, image_find_stack - NULL: not known. */
const struct image_process *image_find_process(const struct image *i, int32_t tgid);
const struct image_stack *image_find_stack(const struct image *i, uint32_t id);

#endif
