/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_EXPORT_PERFETTO_PERFETTO_STACKS_H
#define SYSTOP_EXPORT_PERFETTO_PERFETTO_STACKS_H

#include <stddef.h>
#include <stdint.h>

struct perfetto;

/* As in Perfetto. */
enum perfetto_event {
	PERFETTO_CPU_CLOCK = 1,
	PERFETTO_TASK_CLOCK = 3,
	PERFETTO_CPU_CYCLES = 10,
	PERFETTO_INSTRUCTIONS = 11,
};

struct perfetto_sampler {
	const char *name;        /* what Perfetto calls its samples */
	enum perfetto_event event;
	uint64_t frequency;      /* samples a second of each CPU; 0: not so */
	uint64_t period;         /* or events a sample */
};

/* perfetto_stacks_begin - before any stack. @sampler: NULL: there are no samples. */
void perfetto_stacks_begin(struct perfetto *p, const struct perfetto_sampler *sampler);

struct perfetto_mapping {
	const char *path;        /* "[kernel.kallsyms]": the kernel */
	const uint8_t *build_id; /* as it is in the file */
	size_t build_id_len;     /* 0: none is known */
	uint64_t start, end;     /* addresses */
	uint64_t offset;         /* in the file, of start */
	uint64_t load_bias;      /* of its code: address in the file's tables - offset in the file */
};

enum perfetto_kind { PERFETTO_NATIVE = 1, PERFETTO_KERNEL = 2, PERFETTO_JIT = 4 };

struct perfetto_frame {
	const char *function;    /* NULL: not known */
	const struct perfetto_mapping *mapping; /* NULL: none, which old Perfettos don't like */
	uint64_t rel_pc;         /* its address in the file's tables: that of the code - start + offset +
	                          * load_bias */
	enum perfetto_kind kind;
	const char *source;      /* NULL: not known */
	uint32_t line;           /* 0: not known */
};

/* Stacks of samples and of slices are numbered each for themselves. */
enum perfetto_use { PERFETTO_OF_SAMPLE, PERFETTO_OF_SLICE, PERFETTO_USES };

/* perfetto_stack - a stack's number in the trace, written when it is new. Call it once a stack: it has to
 * look at each name. @frames: outermost first. Returns 0 if it has none, and after an error. */
uint64_t perfetto_stack(struct perfetto *p, enum perfetto_use use, const struct perfetto_frame *frames, size_t nr);

enum perfetto_mode {
	PERFETTO_MODE_KERNEL = 1,
	PERFETTO_MODE_USER = 2,
	PERFETTO_MODE_GUEST_KERNEL = 4,
	PERFETTO_MODE_GUEST_USER = 5,
};

struct perfetto_sample {
	uint64_t t;
	unsigned int cpu;
	int32_t pid, tid;        /* pid: of its process, and not 0 unless it is idle */
	uint64_t stack;          /* 0: none */
	enum perfetto_mode mode;
};
void perfetto_sample(struct perfetto *p, const struct perfetto_sample *s);

/* perfetto_samples_lost - @nr: > 0. */
void perfetto_samples_lost(struct perfetto *p, uint64_t t, unsigned int cpu, uint64_t nr);

/*
 * perfetto_thread_track - a track of a thread's own, for slices. Once in a thread's life: a second one of
 * a thread means to Perfetto that its tid was used again.
 * @t: when its first slice begins; it must be born before (or it would be taken for another)
 */
uint64_t perfetto_thread_track(struct perfetto *p, uint64_t t, int32_t pid, int32_t tid, const char *name);

/* Something that took time, e.g. a block: pairs that are in each other, if at all. */
struct perfetto_slice {
	const char *name, *category;
	uint64_t stack;          /* 0: none */
	const struct perfetto_argument {
		const char *name;
		uint64_t value;
	} *arguments;
	size_t nr_arguments;     /* PERFETTO_ARGUMENTS at most */
};
#define PERFETTO_ARGUMENTS 8
void perfetto_slice_begin(struct perfetto *p, uint64_t t, uint64_t track, const struct perfetto_slice *s);
void perfetto_slice_end(struct perfetto *p, uint64_t t, uint64_t track);
/* perfetto_slice_instant - the same of something that took none. */
void perfetto_slice_instant(struct perfetto *p, uint64_t t, uint64_t track, const struct perfetto_slice *s);

#endif
