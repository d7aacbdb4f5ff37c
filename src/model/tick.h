/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_MODEL_TICK_H
#define SYSTOP_MODEL_TICK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>

#include "irq.h"
#include "loss.h"
#include "model/cmdline.h"
#include "model/hist.h"
#include "model/metric.h"

/*
 * A tick is what one refresh interval held: the only thing that views, -b and --json read. It is immutable, except for
 * struct process and a part of struct life, and all it points to lives until the last holder's tick_put().
 */

enum thread_state {
	STATE_RUNNING,
	STATE_RUNQUEUE,
	STATE_D,
	STATE_SLEEP,
	STATE_STOPPED,
	STATE_DEAD,
	STATE_COUNT
};

/* Names in --json: running runqueue d sleep stopped dead; letters in the S column: R q D S T X. */
extern const char *const state_names[STATE_COUNT];
extern const char state_letters[STATE_COUNT];

/* What an interval held for one thread, or for all threads of a process, cgroup or host. */
struct values {
	uint64_t v[METRIC_COUNT]; /* in the metric's unit; VALUE_NA: unknown; for quantiles use row_value() */
	struct hist hist[HISTS_OF_THREADS];
	/* The kernel's ticks, ns, of threads whose split into user and kernel time was not known before. They stand for all such
	 * threads, even those that ended without a tick. See values_split(). */
	struct ticked {
		uint64_t user, kernel;
	} ticked;
};

/* The metrics of KIND_LEVEL of a process or a cgroup: [metric - METRIC_LEVELS], VALUE_NA: unknown. */
struct levels {
	uint64_t v[METRIC_COUNT - METRIC_LEVELS];
};

/* By how much a process's RSS may be off, as the kernel does not add up each page at once: bytes, and bytes for each of its
 * threads. */
struct level_error {
	uint64_t process, thread;
};

/* levels_unknown - nothing is known. */
static inline void levels_unknown(struct levels *l)
{
	memset(l, 0xff, sizeof(*l));
}

/* A cgroup of the shown hierarchy, or of the one with the CPU limits. */
struct cgroup {
	uint64_t id;               /* inode of its directory */
	const char *path;          /* "/", "/system.slice/ssh.service", aside "cpu:/web"; raw bytes: text_safe() */
	struct cgroup *parent;     /* NULL: root */
	const struct owner *owner; /* what it is itself (model/owner.h); NULL: nothing known */
	int depth;                 /* root: 0 */
	size_t row;                /* for the model only: index in the tick being built */
	uint64_t build;            /* for the model only: that tick */
	uint32_t idle[2];          /* for the model only: idle threads in it: asleep, stopped, in that tick, */
	uint32_t resting[2];       /* and from now on */
	uint32_t refs;             /* for the model only: lives and ticks that show it */
	uint32_t living;           /* threads that are in it now */
	bool throttled;            /* for the collector only: threads of it were throttled in this interval, */
	bool acted;                /* and it, or a cgroup below it, had threads that did something */
	bool aside;                /* not in the hierarchy shown: its threads are in cgroups of that one, too */
	bool in_scope;             /* -c names it or one above it, and no other option narrows the scope */
};

/* cgroup_key - an id that is unique in both hierarchies. */
static inline uint64_t cgroup_key(const struct cgroup *c)
{
	return c->id | (uint64_t)c->aside << 63;
}

/* A process as it is now, even in past ticks: only the cgroup in its row is that of the tick. */
struct process {
	pid_t tgid, ppid;
	uint32_t uid;
	char comm[16];             /* of the leader; raw bytes, NUL-terminated */
	uint64_t start_ns;         /* of the thread by which it was first seen: PIDs are reused */
	uint64_t cpu_ns;           /* time on a CPU of its threads, including those that ended since systop began */
	struct cgroup *cgroup;     /* of the leader */
	struct cgroup *limiter;    /* likewise, see struct life */
	uint32_t flags;            /* of the leader: PF_* */
	uint32_t execs;            /* for the collector only: programs that it ran since it was first seen */
	bool whole;                /* for the collector only: the last program had a short command line, which is known */
	uint64_t asked_ns;         /* for the collector only: no new request for its command line before this time */
	const struct cmdline *cmdline; /* the newest; NULL: unknown, or a kernel thread without */
	const struct cmdline *frozen;  /* the one it had at model_freeze_cmdlines(), if that was another one; or NULL */
};

/* cmdline_shown - the command line that a screen shows, which stays as it is while the screen is paused. */
static inline const struct cmdline *cmdline_shown(const struct process *p)
{
	return p->frozen ? p->frozen : p->cmdline;
}

/* In flags (linux/sched.h): a kernel thread; a worker of a workqueue. */
#define PF_KTHREAD 0x00200000
#define PF_WQ_WORKER 0x00000020

/* Identity of a thread, one record per life (a reused tid is another life). What changes within a life is as it is now,
 * also in past ticks: ppid, flags, policy, priority, cpu and cpu_ns. */
struct life {
	pid_t tid, tgid, ppid;
	uint32_t uid;
	char comm[16];             /* raw bytes, NUL-terminated: text_safe() */
	uint64_t start_ns;         /* CLOCK_BOOTTIME at its start */
	uint32_t flags;            /* the kernel's PF_* */
	uint32_t policy;           /* SCHED_* */
	int32_t priority;          /* the kernel's prio: 0-99 real time, 100-139 nice -20..19 */
	int32_t cpu;               /* last CPU, -1: none yet */
	uint64_t cpu_ns;           /* time on a CPU since it began, before systop, too */
	struct process *process;
	struct cgroup *cgroup;     /* in the hierarchy shown */
	struct cgroup *limiter;    /* in the hierarchy with the CPU limits: the same as cgroup if that one is shown */
	struct block *block;       /* its last known block (model/sample.h), NULL: none */
};

/* life_runs_softirqs - whether it is a ksoftirqd or, with threaded interrupts, a ktimers. */
bool life_runs_softirqs(const struct life *l);

enum row_kind { ROW_THREAD, ROW_PROCESS, ROW_CGROUP };

/* A cgroup's CPU limit, and its effect in the interval, from cpu.stat: VALUE_NA where there is none. */
struct cgroup_limit {
	uint64_t nr_throttled; /* periods in which threads were stopped */
	uint64_t throttled_ns; /* total time on all CPUs */
	uint64_t quota_ns;     /* CPU time allowed per period on all CPUs together; 0: no limit */
	uint64_t period_ns;
};

/* One line of any table, a cache line long: there can be 50,000. A thread's row has thread, process and cgroup, a
 * process's has process and cgroup (its leader's), a cgroup's has cgroup. */
struct row {
	enum row_kind kind : 8;
	enum thread_state state : 8;  /* of the thread; of a process: that of its most active thread */
	bool exited;                  /* died in this interval */
	bool incomplete;              /* threads may be missing: without a slot, or they ended unlisted: see loss */
	pid_t number;                 /* tid or tgid; 0 for cgroups */
	uint32_t nr_threads;          /* 1 for threads; for cgroups including everything below */
	uint32_t own_threads;
	const struct life *thread;
	const struct process *process;
	const struct cgroup *cgroup;
	const struct values *values;  /* for cgroups including everything below */
	const struct values *own;     /* cgroup rows: own threads only; else == values */
	union {
		const struct cgroup_limit *limit; /* cgroup rows */
		const struct levels *levels;      /* thread and process rows: of the process */
	};
};

_Static_assert(sizeof(struct row) == 64, "a cache line");

/* row_limiter - the cgroup whose CPU limits, and its ancestors', apply to the row. NULL: the row has no cgroup. */
static inline const struct cgroup *row_limiter(const struct row *r)
{
	const struct process *p = r->process;
	const struct cgroup *limiter = r->thread ? r->thread->limiter : p && p->limiter != p->cgroup ? p->limiter : NULL;

	return limiter ? limiter : r->cgroup;
}

/* row_comm, row_uid, row_is_kthread - of the thread, or of the process; "", 0 and false for cgroups. */
static inline const char *row_comm(const struct row *r)
{
	return r->thread ? r->thread->comm : r->process ? r->process->comm : "";
}

static inline uint32_t row_uid(const struct row *r)
{
	return r->thread ? r->thread->uid : r->process ? r->process->uid : 0;
}

static inline bool row_is_kthread(const struct row *r)
{
	return (r->thread ? r->thread->flags : r->process ? r->process->flags : 0) & PF_KTHREAD;
}

struct cpu_values {
	int cpu;
	pid_t tid;                    /* thread that ran there at the end; 0: idle, -1: unknown */
	char comm[16];                /* of that thread; raw bytes, NUL-terminated */
	uint32_t queued;              /* threads waiting for a CPU at the end which ran on this one last */
	uint64_t run_ns, idle_ns;     /* with stolen time they add up to the interval: cpu_interval() */
	uint64_t steal_ns;            /* time that the hypervisor ran something else; VALUE_NA: the kernel does not
				       * report it */
	uint64_t hardirq_ns;          /* part of run_ns and idle_ns: taken by interrupts */
	uint64_t softirq_ns;          /* part of run_ns and idle_ns: taken by softirqs, except for those in ksoftirqd or ktimers */
	uint64_t switches;
	uint64_t gap_ns, gap_at;      /* longest time without a timer interrupt while it was busy, and its end:
				       * CLOCK_BOOTTIME ns; 0: none worth reporting, VALUE_NA: not watched */
	pid_t gap_tid;                /* thread that ran at its end */
};

/* cpu_interval - the CPU's time, ns: running, idle and stolen. */
static inline uint64_t cpu_interval(const struct cpu_values *c)
{
	return c->run_ns + c->idle_ns + (c->steal_ns == VALUE_NA ? 0 : c->steal_ns);
}

/* cpu_irq - the part of it that interrupts and softirqs took. */
static inline uint64_t cpu_irq(const struct cpu_values *c)
{
	return c->hardirq_ns + c->softirq_ns;
}

/* Kinds of interrupt sources: a line of /proc/interrupts, one of the CPU's own vectors, or a softirq. */
enum irq_kind { IRQ_HARD, IRQ_VECTOR, IRQ_SOFT, IRQ_KINDS };

/* Names in --json: hard, vector, soft; names in /proc/softirqs, by vector number. */
extern const char *const irq_kind_names[IRQ_KINDS];
extern const char *const softirq_names[IRQ_SOFTIRQS];

struct irq_source {
	enum irq_kind kind;
	uint16_t index;               /* as in irq.h, struct irq_cpu and struct event */
	char name[24];                /* name in /proc/interrupts or /proc/softirqs: "24", "LOC", "NET_RX" */
	char device[64];              /* of a line: its handlers; raw bytes: text_safe() */
};

/* What a source did in an interval on all CPUs; only active ones are listed. */
struct irq_values {
	const struct irq_source *source;
	uint64_t count, ns;           /* without the time of what interrupted it */
	uint64_t max_ns, max_at;      /* the longest, and its start, CLOCK_BOOTTIME ns; if its thread was preempted, a later time */
	int max_cpu;
	pid_t max_tid;                /* thread interrupted by the longest; 0: an idle CPU */
	int nr_cpus;
	struct hist hist;
};

/* The part of that on one CPU. */
struct irq_cpu {
	uint16_t source;              /* irq.h */
	uint16_t cpu;
	uint32_t count;
	uint64_t ns;
};

/* irq_hist - the host's histogram for interrupts of a kind. */
enum hist_id irq_hist(enum irq_kind kind);

struct wait;
struct woken;
struct away;

/* How long some, or all, tasks of the host with work to do waited for a resource; VALUE_NA: unknown. */
enum { PRESSURE_CPU, PRESSURE_MEMORY, PRESSURE_IO, PRESSURE_COUNT };

struct pressure {
	uint64_t some_ns, full_ns;
};

/* The host at the end of the interval; VALUE_NA: unknown. */
enum { HOST_LOADS = 3 };

struct host_state {
	uint64_t mem_total, mem_available;  /* bytes */
	uint64_t mem_free;                  /* mem_available is this plus what caches can give back */
	uint64_t swap_total, swap_used;
	uint64_t load[HOST_LOADS];          /* means of 1, 5 and 15 minutes, in hundredths */
	uint64_t uptime_ns;                 /* since boot, with the time in suspend */
};

/* host_unknown - nothing is known about it. */
static inline void host_unknown(struct host_state *h)
{
	memset(h, 0xff, sizeof(*h));
}

#define SELF_SHED_MAX 48

struct self_cost {
	uint64_t cpu_ns;              /* CPU time of all of systop's processes in the interval */
	uint64_t rss_bytes;
	uint64_t bpf_ns;              /* estimated run time of the BPF programs in the interval */
	uint64_t bpf_bytes;           /* memory of the BPF maps without the recorder's rings */
	uint64_t recorder_bytes;      /* memory of the recorder's rings */
	const char *shed[SELF_SHED_MAX]; /* details left out from now on, for --max-cpu and --max-mem */
	int nr_shed;
};

struct tick {
	uint64_t seq;                 /* 1, 2, ... */
	struct timespec wall;         /* CLOCK_REALTIME at its end */
	uint64_t boottime_ns;         /* CLOCK_BOOTTIME at its end */
	uint64_t interval_ns;         /* time awake since the previous tick's end */
	int64_t awake_ns;             /* sum of the intervals up to its end */

	/* Threads with an event, or with time in a state other than sleeping or stopped. Unsorted. */
	const struct row *active;
	size_t nr_active;
	/* All others: they slept, or were stopped, and share their values. Unsorted, except that the stopped ones come
	 * first. */
	const struct row *idle;
	size_t nr_idle, nr_stopped;
	const struct row *processes;
	size_t nr_processes;
	const struct row *cgroups;    /* depth first: parents before children, siblings by path; those aside follow */
	size_t nr_cgroups, nr_aside;
	const struct cpu_values *cpus;
	size_t nr_cpus;
	const struct irq_values *irqs; /* of the host, regardless of the scope */
	size_t nr_irqs;

	/* Waits and wakeups of threads in scope, see model/wait.h: unsorted, and equal ones are added up. */
	const struct wait *waits;
	size_t nr_waits;
	const struct woken *wokens;
	size_t nr_wokens;
	const struct away *aways;
	size_t nr_aways;
	const struct irq_cpu *irq_cpus; /* of the host */
	size_t nr_irq_cpus;

	struct hist hist[HIST_COUNT]; /* waits, sleeps, D states that ended: of threads in scope; interrupts: of the
				       * host */
	struct values total;          /* all threads in scope */
	uint32_t total_d;             /* threads in D at the end of the interval */
	bool timers_unseen;           /* CPUs are busy, but no timer interrupt is seen: their time and the threads
				       * they wake are unknown */
	struct pressure pressure[PRESSURE_COUNT];
	struct host_state host;
	struct level_error rss_error;
	uint64_t loss[LOSS_COUNT];    /* since start, by cause */
	struct self_cost self;
};

/* values_value - the value of any metric, quantiles computed from their histogram; row_value - the same of a row, and of
 * its process if that is a level; row_value_of - of a cgroup, without those below if @own, except for levels. All return
 * the value in the interval, in the metric's unit, VALUE_NA if unknown. */
uint64_t values_value(const struct values *v, enum metric_id m);
uint64_t row_value(const struct row *r, enum metric_id m);
uint64_t row_value_of(const struct row *r, enum metric_id m, bool own);

/* values_acted - whether the row with these values was not asleep or stopped all the time. */
bool values_acted(const struct values *v);

/* values_known - whether the tick of tick_history() that they belong to is remembered. */
static inline bool values_known(const struct values *v)
{
	return v->v[METRIC_ALIVE] != VALUE_NA;
}

/* row_is_seen - whether the numbers of a cgroup are known. Threads out of @scope, which is as the header shows it, are not
 * seen: a cgroup that had only these in the interval, and is not in scope itself, would show 0. */
static inline bool row_is_seen(const struct row *r, const char *scope)
{
	return !strcmp(scope, "all") || r->cgroup->in_scope || r->values->v[METRIC_ALIVE];
}

/* tick_get - adds a holder, which keeps the tick alive. tick_put - drops one; accepts NULL. */
const struct tick *tick_get(const struct tick *t);
void tick_put(const struct tick *t);

/* Most ticks that are remembered, if their memory allows it. */
#define HISTORY_TICKS 120

/* tick_past - sets @oldest to the seq of the oldest remembered tick (@t's if none is); @t: any tick. Returns the bytes that all
 * remembered ticks use. tick_past_short - whether that memory has no room for HISTORY_TICKS. */
size_t tick_past(const struct tick *t, uint64_t *oldest);
bool tick_past_short(const struct tick *t);

/* tick_head - a remembered tick without its rows, but with its lists (cpus, irqs, waits, ...), valid as long as it
 * is remembered; or @any itself. NULL: neither. The threads, processes and cgroups in its lists live as long as @any
 * is held. */
const struct tick *tick_head(const struct tick *any, uint64_t seq);

/* tick_length - ns of the refresh @back refreshes before @t, 0: it is not remembered. Refreshes differ: the user can set how
 * long they are. */
uint64_t tick_length(const struct tick *t, uint64_t back);

/* tick_at - a remembered tick, rebuilt; held for the caller. NULL: not remembered, or out of memory. */
const struct tick *tick_at(const struct tick *any, uint64_t seq);

/*
 * tick_threads - calls @fn for every thread that did something in a remembered tick, until it returns other than 0,
 * which is returned. Makes no rows: 0.1 us per thread. -ENOENT: it is not remembered.
 */
typedef int thread_fn(void *arg, const struct life *l, const struct values *v);
int tick_threads(const struct tick *any, uint64_t seq, thread_fn *fn, void *arg);

/*
 * tick_lives - calls @fn for all lives that exist, are in the remembered ticks or of model_window(); @any: any tick.
 * @from, @to: when that identity was valid, CLOCK_BOOTTIME ns; @from 0: unknown; @to UINT64_MAX: it still is, or its end is
 * unknown. Unordered. Ends when @fn returns other than 0, which is returned.
 */
typedef int life_fn(void *arg, const struct life *l, uint64_t from, uint64_t to);
int tick_lives(const struct tick *any, life_fn *fn, void *arg);

/*
 * tick_history - what rows did in the @ticks ticks up to @t, oldest first: out[row * ticks + tick].
 * @rows: all of one kind, of any tick; @own: of cgroups, only their own threads
 * Levels and quantiles are VALUE_NA, as is everything in a tick that is not remembered. Returns 0 or -ENOMEM.
 */
int tick_history(const struct tick *t, const struct row *const *rows, size_t nr, size_t ticks, bool own, struct values *out);

#endif
