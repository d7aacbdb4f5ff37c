/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_EXPORT_PERFETTO_PERFETTO_STACKS_H
#define SYSTOP_EXPORT_PERFETTO_PERFETTO_STACKS_H

#include <stddef.h>
#include <stdint.h>

struct perfetto;

/* The values are Perfetto's. */
enum perfetto_event {
	PERFETTO_CPU_CLOCK = 1,
	PERFETTO_CPU_CYCLES = 10,
};

struct perfetto_sampler {
	const char *name;        /* Perfetto's name for the samples */
	enum perfetto_event event;
	uint64_t frequency;      /* samples per second of each CPU */
};

/* perfetto_stacks_begin - call it before any stack. @sampler: NULL: there are no samples. */
void perfetto_stacks_begin(struct perfetto *p, const struct perfetto_sampler *sampler);

enum perfetto_kind { PERFETTO_NATIVE = 1, PERFETTO_KERNEL = 2, PERFETTO_JIT = 4 };

struct perfetto_frame {
	const char *function;    /* NULL: unknown */
	const char *path;        /* of its file; "[kernel.kallsyms]": the kernel; NULL: none, which old versions of
				  * Perfetto reject */
	uint64_t rel_pc;         /* address in the file's symbol tables */
	enum perfetto_kind kind;
	uint8_t build_id[20];    /* as stored in the file */
	size_t build_id_len;     /* 0: unknown */
};

/* Stacks of samples and of slices are numbered separately. */
enum perfetto_use { PERFETTO_OF_SAMPLE, PERFETTO_OF_SLICE, PERFETTO_USES };

/* perfetto_stack - a stack's number in the trace; writes the stack if it is new. Call it once per stack: it examines
 * each name. @frames: outermost first. Returns 0 if there are none, and after an error. */
uint64_t perfetto_stack(struct perfetto *p, enum perfetto_use use, const struct perfetto_frame *frames, size_t nr);

enum perfetto_mode {
	PERFETTO_MODE_KERNEL = 1,
	PERFETTO_MODE_USER = 2,
};

struct perfetto_sample {
	uint64_t t;
	unsigned int cpu;
	int32_t pid, tid;        /* pid: of its process, not 0 except for idle */
	uint64_t stack;          /* 0: none */
	enum perfetto_mode mode;
};
void perfetto_sample(struct perfetto *p, const struct perfetto_sample *s);

/* perfetto_samples_lost - records at @t that @nr > 0 samples of a CPU were lost. */
void perfetto_samples_lost(struct perfetto *p, uint64_t t, unsigned int cpu, uint64_t nr);

/*
 * perfetto_thread_track - creates a track for the blocks of a thread, and returns its id. Call it once in a thread's life:
 * Perfetto takes a second one for a reuse of the tid.
 * @t: start of its first slice, after the thread's birth (else Perfetto takes it for another thread)
 */
uint64_t perfetto_thread_track(struct perfetto *p, uint64_t t, int32_t pid, int32_t tid);

/* An interval such as a block: begin and end form pairs, which may be nested. */
struct perfetto_slice {
	const char *name, *category;
	uint64_t stack;          /* 0: none */
	const struct perfetto_argument {
		const char *name;
		uint64_t value;
	} *arguments;
	size_t nr_arguments;     /* at most PERFETTO_ARGUMENTS */
};
#define PERFETTO_ARGUMENTS 8
void perfetto_slice_begin(struct perfetto *p, uint64_t t, uint64_t track, const struct perfetto_slice *s);
void perfetto_slice_end(struct perfetto *p, uint64_t t, uint64_t track);
/* perfetto_slice_instant - the same for an event without duration. */
void perfetto_slice_instant(struct perfetto *p, uint64_t t, uint64_t track, const struct perfetto_slice *s);

#endif
