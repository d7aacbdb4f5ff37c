/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_COLLECT_COLLECTOR_H
#define SYSTOP_COLLECT_COLLECTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "loss.h"

/*
 * A collector is a family of probes and the code that reads them: one row, in one of collectors*.c. collect.c, slots.c,
 * load.c and health.c iterate over the rows and name none of them. Every hook may be NULL.
 */

struct btf;
struct collect;
struct collect_options;
struct health;
struct life;
struct load;
struct self_cost;
struct slot;
struct systop;
struct values;

/* All rows in the order in which they open; each may use those before it. Name, type of the state, what frees it. */
#define COLLECTORS(_)                                                                   \
	_(areas,    areas,           areas_free)                                        \
	_(sched,    slots,           slots_free)                                        \
	_(usage,    usages,          usages_free)                                       \
	_(recorder, rings,           rings_free)                                        \
	_(scope,    scope,           scope_free)                                        \
	_(names,    cgroup_names,    cgroup_names_free)                                 \
	_(moves,    moves,           moves_free)                                        \
	_(irqs,     irqs,            irqs_free)                                         \
	_(cpus,     cpus,            cpus_free)                                         \
	_(samplers, samplers,        samplers_free)                                     \
	_(faults,   samplers,        samplers_free)                                     \
	_(minors,   samplers,        samplers_free)                                     \
	_(stacks,   stacks,          stacks_free)                                       \
	_(tables,   unwind_tables,   unwind_tables_free)                                \
	_(files,    files,           files_free)                                        \
	_(waits,    waits,           waits_free)                                        \
	_(blocked,  blocked,         blocked_free)                                      \
	_(commands, commands,        commands_free)                                     \
	_(limits,   limits,          limits_free)                                       \
	_(pressure, pressure_reader, free)                                              \
	_(facts,    facts,           facts_free)

enum collector_id {
#define _(name, type, frees) COLLECTOR_##name,
	COLLECTORS(_)
#undef _
	COLLECTOR_COUNT
};

/* A program, for the health page; a list ends with a program without a name. */
struct collector_program {
	const char *name;
	const char *what;    /* its purpose; NULL: the collector's own health line covers it */
	const char *without; /* what is missing where the kernel does not have it */
	int attempt;         /* load_programs() leaves it out from this attempt on, 0: never */
	const char *less;    /* describes all that the attempt leaves out; one of its programs has it */
};

/* A thread in the tick being built. */
struct collector_thread {
	uint32_t slot;
	const struct slot *copy;     /* its slot; NULL: it ended, or this is the part before a move to another cgroup */
	struct life *life;
	const struct values *values; /* of the interval, */
	uint64_t from, now;          /* bounds of the interval (accounting clock); @now only if @copy is not NULL */
	uint64_t after, until;       /* events of the slot beyond these are not its own (accounting clock); 0: all are */
	uint64_t runq_ns;            /* runqueue time since its birth, up to the interval's end */
	uint32_t taken;              /* result of thread_take() */
};

/* Limits of what systop costs: --max-cpu, --max-mem. */
enum budget_kind { BUDGET_CPU, BUDGET_MEMORY, BUDGET_KINDS };
#define SHEDS(kind) (1U << (kind))

/* Details that a collector can leave out when systop exceeds a budget. The time of threads and CPUs is never left out. */
struct collector_shed {
	const char *name; /* in `shed` of --json, on the screen and the health page */
	const char *what; /* what is missing then */
	int place;        /* rows with lower places are shed first and taken back last */
	unsigned int of;  /* SHEDS() of the budgets that it helps */
	void (*set)(struct collect *c, bool shed);
	bool (*can)(const struct collect_options *o); /* whether it can be left out in this run; NULL: always */
};

/* Maximum number of details that a collector can leave out. */
#define COLLECTOR_SHEDS 2

struct collector {
	const char *name;
	const struct collector_program *programs;
	struct collector_shed sheds[COLLECTOR_SHEDS]; /* unused ones, at the end, have no name */

	/* At each attempt to load the programs. configure - sets settings and map sizes. suit - adapts to the kernel's types. */
	void (*configure)(struct systop *skel, struct load *l);
	void (*suit)(struct systop *skel, const struct btf *btf);

	/* open - creates the state, after the programs are loaded and before they are attached. attach - after that,
	 * when the existing threads have slots. baseline - discards everything counted up to @now. ready - the last
	 * step of the start. 0 or -errno. @step: the name of open in errors and logs, if it is a step of its own. close - ends
	 * what it has besides its state. */
	const char *step;
	int (*open)(struct collect *c);
	int (*attach)(struct collect *c);
	int (*baseline)(struct collect *c, uint64_t now);
	int (*ready)(struct collect *c);
	void (*close)(struct collect *c);

	/* due - every 250 ms: whether something should not wait for the next tick, which may come a second later. It touches
	 * little memory: none of systop's is in a cache after 250 ms. If any row is due, and at least once a second, grow, then
	 * follow and drain of all rows are called; follow and drain also before each tick. follow - notices changes; @changed: the
	 * online CPUs changed. drain - reads what the programs wrote, before slots of dead threads are reused. 0 or -errno. */
	bool (*due)(const struct collect *c);
	void (*grow)(struct collect *c);
	int (*follow)(struct collect *c, bool changed);
	int (*drain)(void *state);

	/*
	 * In a tick, for each thread that did something. thread_take, in one row - takes the data of the thread in slot @index
	 * since the last tick; thread_met() receives it as @taken, for an ended thread only at the tick. @over: the
	 * thread ended and its slot will be reused. thread_met - before the thread is shown. thread_shown - after it.
	 * thread_gone - it left the scope or ended. threads_end - after all threads, discards data that was not shown;
	 * @baseline: nothing was shown. 0 or -errno.
	 */
	int (*thread_take)(void *state, uint32_t index, const struct slot *copy, bool over, uint32_t *taken);
	int (*thread_met)(void *state, const struct collector_thread *t);
	int (*thread_shown)(void *state, const struct collector_thread *t);
	void (*thread_gone)(void *state, uint32_t index, struct life *life);
	int (*threads_end)(void *state, uint64_t now, bool baseline);

	/* capture - at the instant at which a tick ends, reads what would be less exact later; may be repeated. tick - after
	 * all threads, adds to the tick being built. after - the tick is complete. */
	void (*capture)(struct collect *c);
	int (*tick)(struct collect *c, uint64_t now);
	void (*after)(struct collect *c);

	/* loss - adds the losses since the start, by cause. cost - adds the cost since the start. */
	void (*loss)(const struct collect *c, uint64_t loss[LOSS_COUNT]);
	void (*cost)(const struct collect *c, struct self_cost *cost);

	/* health - adds its lines. deaf - why a running program sees no events here; NULL: it works. elsewhere - which other program
	 * sees the events of one that the kernel does not have; NULL: none. */
	void (*health)(const struct collect *c, struct health *h);
	const char *(*deaf)(const struct collect *c, const char *program);
	const char *(*elsewhere)(const struct collect *c, const char *program);
};

extern const struct collector *const collectors[COLLECTOR_COUNT];

/* Rows with their states, so that tests can use some of them without struct collect. A row with state NULL is not
 * open. */
struct collector_set {
	const struct collector *const *rows;
	void *const *states;
	int nr;
};

/* Iterates over the open rows of a set that have the hook. */
#define COLLECTOR_EACH(set, i, hook)                                                                                            \
	for (int i = 0; i < (set)->nr; i++)                                                                                     \
		if ((set)->states[i] && (set)->rows[i]->hook)

#endif
