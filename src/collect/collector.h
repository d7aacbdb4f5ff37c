/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_COLLECT_COLLECTOR_H
#define SYSTOP_COLLECT_COLLECTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "loss.h"

/*
 * A collector: a family of probes and what reads them. Each is one row of collectors.c. collect.c, slots.c, load.c and
 * health.c go over the rows and name none of them. Every hook may be NULL.
 */

struct btf;
struct collect;
struct health;
struct life;
struct load;
struct self_cost;
struct slot;
struct systop;
struct values;

/* All rows, in the order in which they open; each may use those before it. Name, and type of its state. */
#define COLLECTORS(_)                                                                                                           \
	_(areas,    areas)                                                                                                      \
	_(sched,    slots)                                                                                                      \
	_(recorder, rings)                                                                                                      \
	_(scope,    scope)                                                                                                      \
	_(names,    cgroup_names)                                                                                               \
	_(moves,    moves)                                                                                                      \
	_(irqs,     irqs)                                                                                                       \
	_(cpus,     cpus)                                                                                                       \
	_(samplers, samplers)                                                                                                   \
	_(stacks,   stacks)                                                                                                     \
	_(tables,   unwind_tables)                                                                                              \
	_(files,    files)                                                                                                      \
	_(waits,    waits)                                                                                                      \
	_(blocked,  blocked)                                                                                                    \
	_(limits,   limits)                                                                                                     \
	_(pressure, pressure_reader)

enum collector_id {
#define _(name, type) COLLECTOR_##name,
	COLLECTORS(_)
#undef _
	COLLECTOR_COUNT
};

/* A program, for the health page; the list ends with one without a name. */
struct collector_program {
	const char *name;
	const char *what;    /* it is for; NULL: the collector's own line says it */
	const char *without; /* what is missing where the kernel does not have it */
	int attempt;         /* load_programs() leaves it out from that attempt on, 0: never; */
	const char *less;    /* what that attempt does without: the first row that names one says it for all */
};

/* A thread in the tick that is being made. */
struct collector_thread {
	uint32_t slot;
	const struct slot *copy;     /* what its slot says; NULL: it ended, or this is what it did before it was moved */
	struct life *life;
	const struct values *values; /* of the interval, */
	uint64_t from, now;          /* which began and, unless @copy is NULL, ended then (accounting clock) */
	uint64_t runq_ns;            /* its sum up to the interval's end */
	uint32_t taken;              /* by thread_take() */
};

/* What systop may cost: --max-cpu, --max-mem. */
enum budget_kind { BUDGET_CPU, BUDGET_MEMORY, BUDGET_KINDS };
#define SHEDS(kind) (1U << (kind))

/* What a collector can leave out, where systop costs more than it may; the list ends with one without a name. The time
 * of threads and CPUs is never left out. */
struct collector_shed {
	const char *name; /* in `shed` of --json, on the screen and the health page */
	const char *what; /* is missing then */
	int place;        /* those with the lowest go first, and come back last */
	unsigned int of;  /* SHEDS() of the budgets that it makes room in */
	void (*set)(struct collect *c, bool shed);
};

/* Rows that have thread_take(), at most. */
#define COLLECTORS_TAKE 2

struct collector {
	const char *name;
	const struct collector_program *programs;
	const struct collector_shed *sheds;

	/* Before the programs are loaded, at each attempt: settings, and sizes of maps. suit - to this kernel's types. */
	void (*configure)(struct systop *skel, struct load *l);
	void (*suit)(struct systop *skel, const struct btf *btf);

	/* open - sets the state; the programs are loaded, and not attached. attach - they are attached, and the threads that
	 * exist are entered. baseline - what was read up to @now belongs to the time before. ready - last of all.
	 * 0 or -errno. @step: what open does, for who is told of the start, if that is worth a step of its own. */
	const char *step;
	int (*open)(struct collect *c);
	int (*attach)(struct collect *c);
	int (*baseline)(struct collect *c, uint64_t now);
	int (*ready)(struct collect *c);
	void (*close)(struct collect *c);

	/* grow - every 250 ms. follow - then, and before each tick: what came and went; @changed: the CPUs that are online.
	 * drain - after follow: reads what the programs wrote, before slots of threads that died are used again.
	 * 0 or -errno. */
	void (*grow)(struct collect *c);
	int (*follow)(struct collect *c, bool changed);
	int (*drain)(void *state);

	/*
	 * In a tick, for each thread that did something. thread_take - what was read of the thread in slot @index since the
	 * last tick: thread_met() has it back as @taken, for a thread that ended later. @over: it ended, and the slot will be
	 * another one's. thread_met - it is about to be shown. thread_shown - it was. thread_gone - it
	 * left the scope, or ended. threads_end - after all threads: what was not shown is forgotten; @baseline: nothing is.
	 * 0 or -errno.
	 */
	int (*thread_take)(void *state, uint32_t index, const struct slot *copy, bool over, uint32_t *taken);
	int (*thread_met)(void *state, const struct collector_thread *t);
	int (*thread_shown)(void *state, const struct collector_thread *t);
	void (*thread_gone)(void *state, uint32_t index, struct life *life);
	int (*threads_end)(void *state, uint64_t now, bool baseline);

	/* tick - after all threads, into the tick that is being made. after - it is complete. */
	int (*tick)(struct collect *c, uint64_t now);
	void (*after)(struct collect *c);

	/* loss, cost - add what was lost since the start, by cause, and what it costs. */
	void (*loss)(const struct collect *c, uint64_t loss[LOSS_COUNT]);
	void (*cost)(const struct collect *c, struct self_cost *cost);

	/* health - its lines. deaf - why a program that runs is of no use here; NULL: it is. */
	void (*health)(const struct collect *c, struct health *h);
	const char *(*deaf)(const struct collect *c, const char *program);
};

extern const struct collector *const collectors[COLLECTOR_COUNT];

/* What goes over rows without struct collect, for tests with some of them. A row whose state is NULL is not open. */
struct collector_set {
	const struct collector *const *rows;
	void *const *states;
	int nr;
};

/* Goes over the rows of a set that are open and have the hook. */
#define COLLECTOR_EACH(set, i, hook)                                                                                            \
	for (int i = 0; i < (set)->nr; i++)                                                                                     \
		if ((set)->states[i] && (set)->rows[i]->hook)

#endif
