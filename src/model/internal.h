/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_MODEL_INTERNAL_H
#define SYSTOP_MODEL_INTERNAL_H

/* What the model's files share: threads.c (who there is), build.c (ticks), history.c (the last ones). */

#include "model/model.h"
#include "model/sample.h"
#include "util/map.h"

/* A process, and how many lives refer to it. A number is used again while ticks show the process
 * that had it: it belongs to the one whose threads live, and whose leader began when this did. */
struct process_node {
	struct process process; /* first: what ticks see */
	size_t lives, living;
	uint64_t leader_start;  /* 0: leader not seen yet */
	pid_t orphan_of;        /* the parent that model_orphans() last told of */
	uint64_t build;         /* the building that last gave it a row, */
	size_t row;             /* and that row's place */
};

/* A thread's life, or the part of it with one name and cgroup: what a tick shows does not change. */
struct life_node {
	struct life life;      /* first: what ticks see */
	uint64_t first, last;  /* ticks that show it; first 0: none yet; last LIFE_ON: it lives */
	struct life_node *prev, *next; /* among those that live; next also among the ended */
	uint64_t mark;         /* of a building that met it */
};

#define LIFE_ON UINT64_MAX

/* A row that adds up threads: its values, and how many idle threads they still lack. */
struct total {
	struct values values, own;
	uint32_t nr_threads, own_threads;
	uint32_t idle[STATE_COUNT];
	enum thread_state state; /* of the most active thread */
	bool exited;
	struct cgroup_limit limit;
};

/* What a tick has in lists that the past shares with it. */
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

/* A tick, its holders and its memory, which is used again for later ticks. */
struct tick_node {
	struct tick tick; /* first: what holders see */
	struct model *model;
	int holders;
	uint64_t build;
	uint64_t oldest;         /* tick that was remembered when it was made */
	bool incomplete;
	struct tick_node *next;

	struct row *active;
	struct values *values; /* of the active threads, in their order */
	size_t active_room, nr_values, values_room;
	struct row *idle;
	size_t idle_room, nr_stopped; /* of them, those that stood stopped */
	struct values idle_values[STATE_COUNT]; /* of a thread that was in this state all the time */
	struct row *processes;
	struct total *process_totals;
	size_t processes_room, process_totals_room;
	struct row *cgroups;
	struct total *cgroup_totals;
	size_t cgroups_room, cgroup_totals_room;
	struct cpu_values *cpus;
	size_t cpus_room;
	struct irq_values *irqs;
	size_t irqs_room;
	struct tick_lists *lists; /* NULL: nothing is in it */
};

struct model {
	uint64_t seq;            /* of the newest tick, or of the one being built */
	uint64_t builds;
	struct map processes;    /* tgid + 1 -> struct process_node */
	bool bereaved;           /* one ended since all others were looked at for children of its */
	struct life_slab *slabs; /* memory of all lives, */
	struct life_node *unused;  /* and what of it is free */
	struct life_node *living;
	struct life_node *ended, **ended_end; /* first one first */
	size_t nr_ended, nr_held; /* of them, those that only held ticks keep */
	struct tick_node *held;  /* newest first */
	struct tick_node *spare;
	struct tick_node *now;   /* being built */
	struct history *history;       /* NULL: nothing is remembered */
	struct map stacks;       /* hash -> struct stack */
	struct block *blocks_known;
	int64_t awake_ns;        /* of the tick being built, or the newest */
};

/* threads.c: frees the lives that neither a held nor a remembered tick, nor one that was remembered when a held one was
 * made, shows; everything. */
void threads_forget(struct model *m);
void threads_free(struct model *m);

/* build.c: the pieces of a tick. node_new: held once, its head zeroed, NULL: out of memory;
 * node_finish completes and publishes it. 0 or -ENOMEM. */
struct tick_node *node_new(struct model *m);
int node_thread(struct tick_node *n, struct life *l, enum thread_state state, bool exited,
		const struct values *values);
int node_idle(struct tick_node *n, struct life *l, enum thread_state state);
int node_cpu(struct tick_node *n, const struct cpu_values *cpu);
int node_irq(struct tick_node *n, const struct irq_values *irq);
int node_cgroup(struct tick_node *n, struct cgroup *cgroup, const struct cgroup_limit *limit);
int node_finish(struct tick_node *n);
/* node_release - its memory is there for another one. */
void node_release(struct tick_node *n);

/* sample.c: forgets the blocks of a life that goes; hands them to the life that goes on in its place. */
void blocks_forget(struct life *l);
void blocks_move(struct life *from, struct life *to);
/* Frees the stacks that no tick shows, now and then; all of them. */
void model_stacks_forget(struct model *m);
void model_stacks_free(struct model *m);

/* tick_lists.c: what a tick shares with the past. tick_lists_now - of the tick being built, made if there is none yet;
 * NULL: out of memory. tick_lists_put - a holder less. tick_lists_bytes - what it takes. tick_lists_show - the tick
 * shows them. */
struct tick_lists *tick_lists_now(struct model *m);
void tick_lists_put(struct tick_lists *b);
size_t tick_lists_bytes(const struct tick_lists *b);
void tick_lists_show(const struct tick_lists *b, struct tick *t);

/* wait.c: finds out whose CPU limit it was, once the cgroups of the tick are known: the nearest one's that stopped
 * somebody. */
void block_limits(struct tick_node *n);

/* history.c */
struct history *history_new(size_t bytes);
void history_free(struct history *p);
/* history_remember - @n as the newest; the oldest go if there is no room. 0 or -ENOMEM. */
int history_remember(struct model *m, const struct tick_node *n);
/* history_head - a remembered tick without its rows, NULL: it is not remembered. */
const struct tick *history_head(const struct history *p, uint64_t seq);
/* history_oldest - seq of the oldest tick remembered, UINT64_MAX: none. */
uint64_t history_oldest(const struct history *p);

#endif
