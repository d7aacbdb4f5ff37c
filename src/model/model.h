/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_MODEL_MODEL_H
#define SYSTOP_MODEL_MODEL_H

#include "model/tick.h"

/*
 * The model turns what the collectors found in an interval into a tick. Per interval: model_begin(), model_thread() or
 * model_idle() for every thread that is not idle already, then model_end().
 */
struct health;
struct model;

/* model_new - @past_bytes: memory for remembering the last ticks, 0: none are remembered. Returns NULL when out of
 * memory. */
struct model *model_new(size_t past_bytes);
void model_free(struct model *m);

/* model_window - @ns: the time of which the recorder has events: tick_lives() reports the lives of this time, too, if the
 * memory for the last ticks allows it. */
void model_window(struct model *m, uint64_t ns);

/* model_health - how much of the memory for the last ticks is in use, and what was dropped for lack of it. */
void model_health(const struct model *m, struct health *h);

/* What is known about a thread when it is first seen, or has changed. */
struct identity {
	pid_t tid, tgid, ppid;
	uint32_t uid;
	char comm[16];
	uint64_t start_ns;
	uint32_t flags, policy;
	int32_t priority, cpu;
	uint64_t cpu_ns;        /* on a CPU since it began */
	struct cgroup *limiter; /* cgroup with its CPU limits; NULL: the one that it is shown in */
};

/*
 * model_life - creates the record of a thread's life. The model owns it: model_life_end() gives it back, and it stays
 * readable as long as a tick shows it. @cgroup: has to live at least as long, see proc/cgroup.h. Returns NULL when out
 * of memory.
 */
struct life *model_life(struct model *m, const struct identity *id, struct cgroup *cgroup);
void model_life_end(struct model *m, struct life *l);

/* model_life_update - its identity or cgroup may have changed. model_life_leave - ticks stop showing it, for now or
 * for good: it left the scope. Both return the life to use from now on, as past ticks keep what they show; NULL when
 * out of memory. */
struct life *model_life_update(struct model *m, struct life *l, const struct identity *id,
			       struct cgroup *cgroup);
struct life *model_life_leave(struct model *m, struct life *l);

/* model_life_part - the thread moves to another cgroup, @after_ns after the last tick's end, when it has had a CPU for
 * @cpu_ns since it began, and continues as the returned life; @l holds what it did before, and ends by
 * model_life_end(). NULL when out of memory. */
struct life *model_life_part(struct model *m, struct life *l, uint64_t after_ns, uint64_t cpu_ns);

/* model_orphans - calls @fn for each process whose parent has ended, or is not known yet, once for each parent. If there are many,
 * the rest follow at the next calls. */
typedef void orphan_fn(void *arg, pid_t tgid);
void model_orphans(struct model *m, orphan_fn *fn, void *arg);

/* model_process - the process that has this PID now, NULL: none is known. */
struct process *model_process(const struct model *m, pid_t tgid);

/* model_processes_new - calls @fn for each process that was first seen since the last call, unless it has ended;
 * @start_ns: CLOCK_BOOTTIME at its start, or at that of its first thread that was seen. */
typedef void process_fn(void *arg, struct process *p, uint64_t start_ns);
void model_processes_new(struct model *m, process_fn *fn, void *arg);

/*
 * model_cmdline - sets the process's command line: @len bytes as /proc/PID/cmdline has them; @cut: it has more. False: there was
 * no room for it, see CMDLINES_BYTES; the former one is forgotten. model_cmdline_bytes - the memory of all.
 */
bool model_cmdline(struct model *m, struct process *p, const char *text, size_t len, bool cut);
size_t model_cmdline_bytes(const struct model *m);

/* model_freeze_cmdlines - whether cmdline_shown() stays what it is, for processes whose command line is known. */
void model_freeze_cmdlines(struct model *m, bool frozen);

/* Memory for command lines. Above half of it only CMDLINE_SHORT bytes of each are kept. */
#define CMDLINES_BYTES (64UL << 20)
#define CMDLINE_SHORT 256

/* model_levels - sets the levels of a thread's process; NULL: reading them failed. @at: the caller's time, not 0, for
 * model_levels_at(); @by: how the caller finds the thread again, for model_levels_by(). Ticks that exist do not change. */
void model_levels(const struct life *l, const struct levels *levels, uint64_t at, uint32_t by);
uint64_t model_levels_at(const struct life *l);
uint32_t model_levels_by(const struct process *p);

/* model_lives_alone - whether no other thread of its process lives. */
bool model_lives_alone(const struct life *l);

/* model_begin_early - starts the next tick before its interval has ended, with model_thread() for threads that have
 * ended: model_begin() then continues it. Others may read past ticks meanwhile, and threads may begin and end. Does
 * nothing if it was called already.
 * model_begin - starts a tick that covers @interval_ns up to @boottime_ns and @wall. Returns 0 or -ENOMEM, like all
 * model_* functions that return int. */
int model_begin_early(struct model *m);
int model_begin(struct model *m, uint64_t interval_ns, uint64_t boottime_ns,
		const struct timespec *wall);

/* model_unknown - whether this metric is unknown for every thread, idle ones too, from now on. */
void model_unknown(struct model *m, enum metric_id metric, bool unknown);

/* model_thread - a thread with events, or with time in a state other than sleeping or stopped. */
int model_thread(struct model *m, struct life *l, enum thread_state state, bool exited,
		 const struct values *values);

/* model_idle - a thread that slept, or was stopped (@state), through the interval, and through those that follow, until
 * model_thread(), model_life_end(), or model_not_idle(): from then on it is not shown until it is reported again. */
int model_idle(struct model *m, struct life *l, enum thread_state state);
void model_not_idle(struct model *m, struct life *l);

/* model_cgroup - adds a cgroup with its levels (NULL: unknown): those of the shown hierarchy, depth first, then those aside that
 * have a limit, or are below one that has. */
int model_cgroup(struct model *m, struct cgroup *cgroup, const struct cgroup_limit *limit,
		 const struct levels *levels);

/* model_cpu, model_irq - add a CPU, or an active source of interrupts, to the tick being built. The others set what struct tick
 * has under that name; without model_host() the host's memory and load are unknown. */
int model_cpu(struct model *m, const struct cpu_values *cpu);
int model_irq(struct model *m, const struct irq_values *irq);
void model_timers_unseen(struct model *m);
void model_pressure(struct model *m, const struct pressure pressure[PRESSURE_COUNT]);
void model_host(struct model *m, const struct host_state *host);
void model_rss_error(struct model *m, const struct level_error *error);

/* model_end - completes the tick. @loss: since the start. Returns the tick, held once for the caller (tick_put), or NULL
 * when out of memory. */
const struct tick *model_end(struct model *m, const uint64_t loss[LOSS_COUNT], const struct self_cost *self);

#endif
