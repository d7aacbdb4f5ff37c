/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_MODEL_INTERNAL_H
#define SYSTOP_MODEL_INTERNAL_H

/* Shared by the model's files: threads.c (lives of threads), build.c (ticks), build_sums.c (what they add
 * up to), history.c (the last ticks). */

#include "model/model.h"
#include "model/sample.h"
#include "util/map.h"

/* A process, and how many lives refer to it. Its tgid can be reused while ticks still show it: the tgid belongs to
 * the process that has living threads and the leader's start time. */
struct process_node {
	struct process process; /* first: the part that ticks see */
	size_t lives, living;
	uint64_t leader_start;  /* 0: leader not seen yet */
	size_t led;             /* living lives of its leader; 0: it has ended, or was not seen */
	pid_t orphan_of;        /* the parent last reported by model_orphans() */
	bool shown;             /* by a tick */
	size_t ended_bytes;     /* of its command line, once it has ended, if it was shown */
	struct levels levels;   /* as last read, */
	uint64_t levels_at;     /* and when, in the caller's time; 0: not yet; */
	uint32_t levels_by;     /* by which of its threads, in the caller's numbers */
	uint32_t place;         /* of its levels in each tick */
	uint32_t resting[2];    /* threads that are asleep, and stopped, see struct resting, */
	uint32_t rests_at;      /* and its index there, if there are any */
	uint64_t build;         /* the last build in which its threads were added up, */
	size_t total;           /* and the index of their total */
	size_t nr_held;         /* its lives that only held ticks keep, as counted so far in the walk over all ended ones */
	uint64_t walk;          /* with this number */
};

/* A thread's life, or the part of it with one name and cgroup, so that what a tick shows never changes. */
struct life_node {
	struct life life;      /* first: the part that ticks see */
	uint64_t first, last;  /* ticks that show it; first 0: none yet; last LIFE_ON: it is alive */
	struct life_node *prev, *next; /* in the list of the living; next also in the list of the ended */
	uint64_t mark;         /* the last build that met it */
	uint32_t rests;        /* its index in the threads of struct resting, plus 1; 0: it is not there */
	uint32_t from_us, to_us; /* its start in tick `first` and its end in tick `last`, us, if it was moved in that tick;
				  * otherwise 0 */
	int64_t since;         /* when it took over from a former life of the thread, on the clock of tick.awake_ns; 0: there is
				* none */
	bool named;            /* a tick's waits name it */
};

#define LIFE_ON UINT64_MAX

/* Number of changes of the list of resting threads that are remembered: an older tick is made anew. */
#define RESTING_CHANGES 65536

/* Threads that are idle until something else is reported, and the processes that have such threads. */
struct resting {
	struct life_node **threads; /* those that are stopped first */
	size_t nr, room, nr_stopped;
	struct process_node **processes;
	size_t nr_processes, processes_room;
	uint32_t changed[RESTING_CHANGES]; /* indices of threads, a ring */
	uint64_t changes;
};

/* A row that adds up threads: their values, and the number of idle threads still to be added. */
struct total {
	size_t row;
	struct values values, own;
	uint32_t nr_threads, own_threads;
	uint32_t idle[STATE_COUNT];
	enum thread_state state; /* of the most active thread */
	bool exited;
	bool moved;              /* state and exited are only of threads that moved on within the tick */
	struct cgroup_limit limit;
	struct levels levels;
};

/* Levels of processes are in pieces that never move, as rows refer to them while more are added. A process has the same
 * place in all ticks, as rows of idle threads stay from tick to tick. */
#define LEVELS_PIECE 512

/* Processes all of whose threads slept differ only in their number of threads: up to this many, they share their
 * values. */
#define ASLEEP_MAX 256

/* Lists of a tick which the past shares with it. */
struct tick_lists {
	int holders;
	struct stack_sample *samples;
	size_t nr_samples, samples_room;
	struct wait *waits;
	size_t nr_waits, waits_room;
	struct woken *wokens;
	size_t nr_wokens, wokens_room;
	struct away *aways;
	size_t nr_aways, aways_room;
	struct irq_cpu *irq_cpus;
	size_t nr_irq_cpus, irq_cpus_room;
};

/* A tick, its holders and its memory, which is reused for later ticks. */
struct tick_node {
	struct tick tick; /* first: the part that holders see */
	struct model *model;
	int holders;
	uint64_t build;
	uint64_t oldest;         /* oldest tick remembered when it was built */
	bool incomplete;
	struct tick_node *next;

	struct row *active;
	struct values *values; /* of the active threads, in their order */
	size_t active_room, nr_values, values_room;
	struct row *idle;
	size_t idle_room;
	uint64_t resting_shown;  /* changes of resting threads that its idle rows include, plus 1; 0: not from these */
	struct values idle_values[STATE_COUNT]; /* of a thread that was in this state all the time */
	struct values *asleep;   /* [threads]: of a process all of whose threads slept all the time; */
	bool asleep_made[ASLEEP_MAX + 1]; /* whether they are made in this tick */
	struct row *processes;
	struct total *process_totals; /* of processes with threads that did something */
	size_t processes_room, nr_totals, process_totals_room;
	struct levels **levels;  /* of the processes: [place / LEVELS_PIECE][place % LEVELS_PIECE] */
	size_t nr_levels, levels_room; /* of pieces */
	struct row *cgroups;
	struct total *cgroup_totals;
	size_t cgroups_room, cgroup_totals_room;
	struct cpu_values *cpus;
	size_t cpus_room;
	struct irq_values *irqs;
	size_t irqs_room;
	struct tick_lists *lists; /* NULL: all are empty */
};

struct model {
	uint64_t seq;            /* of the newest tick, or of the one being built */
	uint64_t builds;
	struct map processes;    /* tgid + 1 -> struct process_node */
	struct process_new {
		pid_t tgid;
		uint64_t start_ns;
	} *new_processes;        /* since model_processes_new() */
	size_t nr_new_processes, new_processes_room;
	size_t cmdline_bytes, cmdline_bytes_ended; /* of all processes; of those that only past ticks show */
	uint32_t *places;        /* of processes that are gone, */
	size_t nr_places, places_room;
	uint32_t nr_placed;      /* and all that were ever given */
	struct map children;     /* tgid + 1 -> number of processes that have it as their parent */
	bool bereaved;           /* processes have lost their parent since all were last searched for such ones */
	struct resting resting;
	bool cmdlines_frozen;
	uint64_t unlisted;       /* LOSS_UNLISTED up to the last tick */
	struct life_slab *slabs; /* memory of all lives */
	struct life_node *unused;  /* free ones in it */
	struct life_node *living;
	struct life_list {
		struct life_node *first, **end; /* oldest first */
	} ended, unshown;        /* unshown: shown by no tick as they are out of scope, and forgotten soon */
	size_t nr_ended, nr_held; /* in ended; of these, the ones kept only by held ticks, */
	size_t cmdline_bytes_held; /* and the part of cmdline_bytes_ended of processes that have no others */
	uint64_t walks;          /* over the ended ones */
	struct tick_node *held;  /* newest first */
	struct tick_node *spare;
	struct tick_node *now;   /* being built */
	bool early;              /* its interval has not ended yet */
	struct history *history;       /* NULL: nothing is remembered */
	struct map stacks;       /* model_stack_key() -> struct stack */
	size_t stack_bytes, stack_bytes_now; /* of all stacks; of those that the tick being built uses, */
	size_t stack_bytes_kept; /* and of those that model_stacks_forget() found in use */
	struct block *blocks_known;
	bool unknown[METRIC_COUNT]; /* of all threads */
	int64_t awake_ns;        /* of the tick being built, or the newest */
};

/* threads.c. threads_forget - frees the ended lives, except for those that are shown by a tick that is held, is remembered, is of
 * the recorder's window, or was remembered when a held one was built. Returns the number of the freed ones. threads_free - frees
 * everything. */
size_t threads_forget(struct model *m);
void threads_free(struct model *m);

/* cmdlines.c. cmdline_inherit - a new process has its parent's command line: @parent: NULL: unknown. cmdline_ended - the
 * process, which ticks show, has ended. cmdline_drop - it has none any more. */
void cmdline_inherit(struct process *p, const struct process *parent, const struct identity *id);
void cmdline_ended(struct model *m, struct process *p);
void cmdline_drop(struct model *m, struct process *p);

/* thread_row - a thread's row, which has no values yet. */
static inline struct row thread_row(struct life *l, enum thread_state state, bool exited)
{
	return (struct row){
		.kind = ROW_THREAD,
		.state = state,
		.exited = exited,
		.number = l->tid,
		.nr_threads = 1,
		.own_threads = 1,
		.thread = l,
		.process = l->process,
		.cgroup = l->cgroup,
	};
}

/* levels.c. levels_room - makes room for the levels of all processes: 0 or -ENOMEM. levels_of - of a process. levels_show - gives
 * processes, and their threads that did something, their levels. values_level, values_no_level - sets the levels of values, or
 * makes them unknown. */
int levels_room(struct tick_node *n);
struct levels *levels_of(const struct tick_node *n, const struct process *p);
void levels_show(struct tick_node *n);
void values_level(struct values *v, const struct levels *levels);
void values_no_level(struct values *v);

/* idle_row - the row of a thread that did nothing, with its values. */
static inline struct row idle_row(const struct tick_node *n, struct life *l, enum thread_state state)
{
	struct row row = thread_row(l, state, false);

	row.values = row.own = &n->idle_values[state];
	row.levels = levels_of(n, l->process);
	return row;
}

/* build.c: the pieces of a tick. node_new - held once, its head zeroed, NULL: out of memory. The others: 0 or
 * -ENOMEM. */
struct tick_node *node_new(struct model *m);
int node_thread(struct tick_node *n, struct life *l, enum thread_state state, bool exited,
		const struct values *values);
int node_cpu(struct tick_node *n, const struct cpu_values *cpu);
int node_irq(struct tick_node *n, const struct irq_values *irq);
int node_cgroup(struct tick_node *n, struct cgroup *cgroup, const struct cgroup_limit *limit, const struct levels *levels);

/* build_sums.c. node_idle - adds an idle thread to a tick of the past, and adds it up; node_finish - adds up all others,
 * completes the tick and publishes it. 0 or -ENOMEM. */
int node_idle(struct tick_node *n, struct life *l, enum thread_state state);
int node_finish(struct tick_node *n);

/* resting.c. resting_add - adds a thread that rests from now on: 0 or -ENOMEM; resting_remove - removes it, if it is there.
 * resting_show - makes all of them the idle threads of the tick being built: 0 or -ENOMEM. */
int resting_add(struct model *m, struct life_node *l, enum thread_state state);
void resting_remove(struct model *m, struct life_node *l);
int resting_show(struct tick_node *n);

/* node_release - keeps its memory for another tick, unless it is that of a peak. */
void node_release(struct tick_node *n);

/* sample.c. blocks_forget - detaches the blocks of a life that is freed. blocks_move - gives the block in progress to @to, which
 * continues life @from, as of @after_ns after the last tick's end; what ticks showed of the block stays with @from. */
void blocks_forget(struct life *l);
void blocks_move(struct model *m, struct life *from, struct life *to, uint64_t after_ns);
/* model_stacks_forget - now and then frees the stacks that no tick shows; model_stacks_free - frees all. */
void model_stacks_forget(struct model *m);
void model_stacks_free(struct model *m);

/* tick_lists.c: what a tick shares with the past. tick_lists_now - of the tick being built, allocated if necessary;
 * NULL: out of memory. tick_lists_put - drops a holder. tick_lists_bytes - memory they use. tick_lists_show - makes
 * the tick show them. */
struct tick_lists *tick_lists_now(struct model *m);
void tick_lists_put(struct tick_lists *b);
size_t tick_lists_bytes(const struct tick_lists *b);
void tick_lists_show(const struct tick_lists *b, struct tick *t);

/* wait.c: finds whose CPU limit stopped each thread, once the tick's cgroups are known: the nearest cgroup that was
 * throttled. */
void block_limits(struct tick_node *n);

/* history.c */
struct history *history_new(size_t bytes);
void history_free(struct history *p);
/* history_remember - adds @n as the newest tick; drops the oldest ones if there is no room. 0 or -ENOMEM. */
int history_remember(struct model *m, const struct tick_node *n);
/* history_head - a remembered tick without its rows, NULL: it is not remembered. */
const struct tick *history_head(const struct history *p, uint64_t seq);
/* history_oldest - seq of the oldest remembered tick, UINT64_MAX: none. history_kept - of
 * the oldest one whose lives are kept. */
uint64_t history_oldest(const struct history *p);
uint64_t history_kept(const struct history *p);
/* history_end - when a tick whose lives are kept ended, CLOCK_BOOTTIME ns; 0: unknown. */
uint64_t history_end(const struct history *p, uint64_t seq);

#endif
