/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_MODEL_TICK_H
#define SYSTOP_MODEL_TICK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "loss.h"
#include "model/field.h"
#include "model/hist.h"

/*
 * A tick is what one refresh interval held: the only thing views, -b and --json read. It is
 * immutable, and everything it points to lives until tick_put() of the last holder.
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

/* Name as in --json: running runqueue d sleep stopped dead; letter as in the S column: R q D S T X. */
extern const char *const state_names[STATE_COUNT];
extern const char state_letters[STATE_COUNT];

/* What an interval held for one thread, or for all threads of a process, cgroup or host. */
struct values {
	uint64_t v[FIELD_COUNT]; /* ns or counts; VALUE_NA where unknown; quantiles: use row_value() */
	struct hist runq;
};

/* A cgroup of the shown hierarchy. */
struct cgroup {
	uint64_t id;               /* inode of its directory */
	const char *path;          /* "/", "/system.slice/ssh.service"; raw bytes: text_safe() */
	struct cgroup *parent;     /* NULL: root */
	int depth;                 /* root: 0 */
	size_t row;                /* for the model only: place in the tick being built, */
	uint32_t refs;             /* and how many lives and ticks show it */
	bool throttled;            /* for the collector only: threads of it were, in this interval */
};

struct process {
	pid_t tgid, ppid;
	uint32_t uid;
	char comm[16];             /* of the leader; raw bytes, NUL-terminated */
	struct cgroup *cgroup;     /* of the leader */
};

/* Identity of a thread, one record per life (a reused tid is another life). */
struct life {
	pid_t tid, tgid, ppid;
	uint32_t uid;
	char comm[16];             /* raw bytes, NUL-terminated: text_safe() */
	uint64_t start_ns;         /* CLOCK_BOOTTIME at its start */
	uint32_t flags;            /* PF_* of the kernel */
	uint32_t policy;           /* SCHED_* */
	int32_t priority;          /* kernel's prio: 0-99 real time, 100-139 nice -20..19 */
	int32_t cpu;               /* last CPU, -1: none yet */
	struct process *process;
	struct cgroup *cgroup;
};

enum row_kind { ROW_THREAD, ROW_PROCESS, ROW_CGROUP };

/* One line of any table. Exactly one of thread, process, cgroup is the row's own; the outer ones
 * are set too (a thread row has all three, a process row process and cgroup). */
struct row {
	enum row_kind kind;
	enum thread_state state;      /* of the thread; of a process: its most active thread's */
	bool exited;                  /* died in this interval */
	bool incomplete;              /* time of threads without a slot is missing: see loss */
	const struct life *thread;
	const struct process *process;
	const struct cgroup *cgroup;
	uint32_t nr_threads;          /* 1 for threads; a cgroup's with everything below it */
	const struct values *values;  /* a cgroup's: with everything below it */
	const struct values *own;     /* cgroup rows: own threads only; else == values */
	uint32_t own_threads;
	uint64_t nr_throttled;        /* cgroup rows: periods throttled, from cpu.stat; else VALUE_NA */
	uint64_t limit_throttled_ns;  /* cgroup rows: throttled time of cpu.stat; else VALUE_NA */
};

struct cpu_values {
	int cpu;
	uint64_t run_ns, idle_ns;     /* add up to the interval */
	uint64_t switches;
};

struct self_cost {
	uint64_t cpu_ns;              /* CPU time of all systop's processes in the interval */
	uint64_t rss_bytes;
	uint64_t bpf_ns;              /* estimated run time of the BPF programs in the interval */
	uint64_t bpf_bytes;           /* memory of the BPF maps */
};

struct tick {
	uint64_t seq;                 /* 1, 2, ... */
	struct timespec wall;         /* CLOCK_REALTIME at its end */
	uint64_t boottime_ns;         /* CLOCK_BOOTTIME at its end */
	uint64_t interval_ns;         /* time awake since the previous tick's end */

	/* Threads with an event, or with time in a state other than sleeping or stopped, first
	 * (nr_active), then all others (idle), which share values per state. Unsorted. */
	const struct row *threads;
	size_t nr_threads, nr_active;
	const struct row *processes;
	size_t nr_processes;
	const struct row *cgroups;    /* depth first: parents before their children, siblings by path */
	size_t nr_cgroups;
	const struct cpu_values *cpus;
	size_t nr_cpus;

	struct values total;          /* all threads in scope */
	uint32_t total_d;             /* threads in D at the end of the interval */
	uint64_t loss[LOSS_COUNT];    /* since start, by cause */
	struct self_cost self;
};

/* row_value - a row's value of any field, quantiles computed from its histogram.
 * Returns ns or a count of the interval, VALUE_NA if not known. */
uint64_t row_value(const struct row *r, enum field_id f);

/* Holders of a tick keep it alive. */
const struct tick *tick_get(const struct tick *t);
void tick_put(const struct tick *t);

/* row_before - whether @a stands before @b; @arg is the caller's. */
typedef bool row_before(const struct row *a, const struct row *b, const void *arg);

/* rows_rank - how many of the rows stand before @row. O(n). */
size_t rows_rank(const struct row *const *refs, size_t nr, const struct row *row,
		 row_before *before, const void *arg);

/*
 * rows_order - puts the rows that a screen of lines @first .. @first + @count shows into place:
 * refs[first .. first+count) hold what a full sort would put there; the rest is in any order.
 * O(n) in @nr, so that 50,000 threads cost no full sort. Ties by tid, pid or path: stable.
 */
void rows_order(const struct row **refs, size_t nr, size_t first, size_t count,
		row_before *before, const void *arg);

#endif
