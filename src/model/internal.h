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
	pid_t orphan_of;        /* the parent last reported by model_orphans() */
	size_t ended_bytes;     /* of its command line, once it has ended */
	struct levels levels;   /* as last read, */
	uint64_t levels_at;     /* and when, in the caller's time; 0: not yet; */
	uint32_t levels_by;     /* of this thread of it, in the caller's numbers */
	uint64_t build;         /* the last build in which it got a row */
	size_t row;             /* index of that row */
};

/* A thread's life, or the part of it with one name and cgroup, so that what a tick shows never changes. */
struct life_node {
	struct life life;      /* first: the part that ticks see */
	uint64_t first, last;  /* ticks that show it; first 0: none yet; last LIFE_ON: it is alive */
	struct life_node *prev, *next; /* in the list of the living; next also in the list of the ended */
	uint64_t mark;         /* the last build that met it */
};

#define LIFE_ON UINT64_MAX

/* A row that adds up threads: their values, and the number of idle threads still to be added. */
struct total {
	struct values values, own;
	uint32_t nr_threads, own_threads;
	uint32_t idle[STATE_COUNT];
	enum thread_state state; /* of the most active thread */
	bool exited;
	struct cgroup_limit limit;
	struct levels levels;
};

/* Levels of processes are in pieces that stay where they are, as rows refer to them while there come more. */
#define LEVELS_PIECE 512

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
	size_t idle_room, nr_stopped; /* number of them that were stopped */
	struct values idle_values[STATE_COUNT]; /* of a thread that was in this state all the time */
	struct row *processes;
	struct total *process_totals;
	size_t processes_room, process_totals_room;
	struct levels **levels;  /* of the processes: [row / LEVELS_PIECE][row % LEVELS_PIECE] */
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
	bool cmdlines_frozen;
	bool bereaved;           /* a process ended since all others were last searched for its children */
	struct life_slab *slabs; /* memory of all lives */
	struct life_node *unused;  /* free ones in it */
	struct life_node *living;
	struct life_node *ended, **ended_end; /* oldest first */
	size_t nr_ended, nr_held; /* of these, the ones kept only by held ticks */
	struct tick_node *held;  /* newest first */
	struct tick_node *spare;
	struct tick_node *now;   /* being built */
	bool early;              /* its interval has not ended yet */
	struct history *history;       /* NULL: nothing is remembered */
	struct map stacks;       /* hash -> struct stack */
	struct block *blocks_known;
	bool unknown[METRIC_COUNT]; /* of all threads */
	int64_t awake_ns;        /* of the tick being built, or the newest */
};

/* threads.c. threads_forget - frees the ended lives that no tick shows which is held, is remembered, or was
 * remembered when a held one was built. threads_free - frees everything. */
void threads_forget(struct model *m);
void threads_free(struct model *m);

/* cmdlines.c. cmdline_inherit - a new process has its parent's command line: @parent: NULL: unknown. cmdline_ended - the
 * process has ended. cmdline_drop - it has none any more. */
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

/* build.c: the pieces of a tick. node_new - held once, its head zeroed, NULL: out of memory. The others: 0 or
 * -ENOMEM. */
struct tick_node *node_new(struct model *m);
int node_thread(struct tick_node *n, struct life *l, enum thread_state state, bool exited,
		const struct values *values);
int node_cpu(struct tick_node *n, const struct cpu_values *cpu);
int node_irq(struct tick_node *n, const struct irq_values *irq);
int node_cgroup(struct tick_node *n, struct cgroup *cgroup, const struct cgroup_limit *limit, const struct levels *levels);

/* build_sums.c. node_idle - adds an idle thread, and adds it up; node_finish - adds up all others, completes the tick
 * and publishes it. 0 or -ENOMEM. */
int node_idle(struct tick_node *n, struct life *l, enum thread_state state);
int node_finish(struct tick_node *n);

/* levels.c. levels_of_row - of the process with that row. levels_add - makes room for those of one more process, which
 * nothing is known of yet: 0 or -ENOMEM. levels_show - gives processes, and their threads that did something, their levels.
 * values_level, values_no_level - sets the levels of values, or makes them unknown. */
struct levels *levels_of_row(const struct tick_node *n, size_t row);
int levels_add(struct tick_node *n, size_t row);
void levels_show(struct tick_node *n);
void values_level(struct values *v, const struct levels *levels);
void values_no_level(struct values *v);

/* node_release - keeps its memory for another tick. */
void node_release(struct tick_node *n);

/* sample.c. blocks_forget - detaches the blocks of a life that is freed. blocks_move - gives them to the life that
 * continues it. */
void blocks_forget(struct life *l);
void blocks_move(struct life *from, struct life *to);
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
/* history_oldest - seq of the oldest remembered tick, UINT64_MAX: none. */
uint64_t history_oldest(const struct history *p);

#endif
