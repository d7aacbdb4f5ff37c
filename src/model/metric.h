/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_MODEL_METRIC_H
#define SYSTOP_MODEL_METRIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "irq.h"  /* IRQ_HIST_SLOTS, IRQ_HIST_SHIFT */
#include "slot.h" /* HIST_SLOTS, HIST_SHIFT: the histograms of the BPF programs */
#include "util/format.h"

/* An unknown value: printed as "-", exported as null, never 0. */
#define VALUE_NA UINT64_MAX

#define DROP_HIDDEN 10

enum metric_kind {
	KIND_SUM,      /* sum over threads in the interval: shown as a share of it, or per second */
	KIND_SPAN,     /* adds up like a sum, but is shown as is */
	KIND_MAX,      /* the largest of the threads' values: longest duration in its histogram */
	KIND_QUANTILE, /* computed from its histogram, shown with ~ */
	KIND_LEVEL,    /* how much there is at the end of the interval, shown as is: never added up */
};

/* Which rows have a level of their own; a thread's row shows that of its process. */
enum level_of { LEVEL_OF_PROCESSES = 1, LEVEL_OF_CGROUPS = 2, LEVEL_OF_BOTH = 3 };

/*
 * Every measured value of a row, one line each. Columns, sorting, filter and triggers, JSON and its schema, --folded,
 * the flamegraph's metrics, counters of a trace and the manual page follow from this table. To add a metric, add a line
 * here and set the value in collect/slot_values.c.
 *
 * id, name (JSON adds the unit: run_ns), column title, unit (NS, COUNT, BYTES), kind, whether it is part of wall time
 * (WALL: these add up to the time alive), its use as a weight of stacks (NONE: not used), name of its counter in a
 * trace (NULL: none), colour role, column width, drop priority (columns with the highest number leave a narrow screen
 * first; 0 = never shown as a column, DROP_HIDDEN = hidden unless chosen), help
 *
 * Kinds: SUM, SPAN, MAX(histogram), QUANTILE(histogram, q), LEVEL(PROCESSES, CGROUPS or BOTH); levels are last.
 * Weights: WEIGHT(place among them, name in --folded and JSON, title, name where all are shown), or SAMPLED(...) if
 * samples are counted, as --folded does instead of using the unit.
 */
#define METRICS(_)                                                                                                       \
	_(RUN,         "run",         "RUN%",   NS, SUM, WALL, SAMPLED(0, "cpu", "On-CPU", "on CPU"), NULL, RUNNING, 5, 1, "time on a CPU, user and kernel") \
	_(USER,        "user",        "USR%",   NS, SUM, PART, NONE, NULL, USER, 6, 6, "part of RUN in user mode: the kernel's split, mostly by ticks; unknown before the first") \
	_(KERNEL,      "kernel",      "SYS%",   NS, SUM, PART, NONE, NULL, KERNEL, 6, 6, "part of RUN in kernel mode: the kernel's split, mostly by ticks; unknown before the first") \
	_(RUNQ,        "runq",        "RUNQ%",  NS, SUM, WALL, WEIGHT(1, "runq", "Runq", "runqueue"), NULL, RUNQ, 5, 2, "time runnable but not running: waiting for a CPU") \
	_(IRQ,         "irq",         "IRQ%",   NS, SUM, WALL, WEIGHT(4, "irq", "IRQ", "interrupts"), NULL, IRQ, 5, 4, "time that interrupts took while the thread had the CPU: not part of RUN") \
	_(STEAL,       "steal",       "STL%",   NS, SUM, WALL, NONE, NULL, STEAL, 5, 6, "time that the hypervisor took while the thread had the CPU: not part of RUN; unknown if the kernel does not report it") \
	_(THROTTLED,   "throttled",   "THR%",   NS, SUM, PART, NONE, NULL, RUNQ, 5, 3, "part of RUNQ: throttled by a cgroup's CPU limit") \
	_(D,           "d",           "D%",     NS, SUM, WALL, WEIGHT(3, "d", "D-state", "D state"), NULL, D, 5, 2, "time in D state: uninterruptible, waiting for a disk, NFS, a lock") \
	_(SLEEP,       "sleep",       "SLEEP%", NS, SUM, WALL, WEIGHT(2, "sleep", "Sleep", "sleep"), NULL, SLEEP, 6, 8, "time asleep, waiting for something to do") \
	_(STOPPED,     "stopped",     "STOP%",  NS, SUM, WALL, NONE, NULL, STOPPED, 6, 9, "time stopped by a signal, a debugger, or a freezer; a thread that cgroup v1's freezer stops in its sleep counts as asleep") \
	_(ALIVE,       "alive",       "ALIVE",  NS, SPAN, PART, NONE, NULL, TEXT, 6, 9, "part of the interval in which the thread existed") \
	_(RUNQ_P50,    "runq_p50",    "RQ-P50", NS, QUANTILE(RUNQ, 0.50), PART, NONE, NULL, RUNQ, 6, 7, "half of the runqueue waits were shorter") \
	_(RUNQ_P99,    "runq_p99",    "RQ-P99", NS, QUANTILE(RUNQ, 0.99), PART, NONE, "runqueue p99", RUNQ, 6, 4, "99 % of the runqueue waits were shorter") \
	_(RUNQ_MAX,    "runq_max",    "RQ-MAX", NS, MAX(RUNQ), PART, NONE, NULL, RUNQ, 6, 5, "longest runqueue wait, exact") \
	_(VOLUNTARY,   "switches_voluntary",   "VCS/s", COUNT, SUM, PART, NONE, NULL, TEXT, 6, 7, "voluntary context switches: it left the CPU to wait for something") \
	_(INVOLUNTARY, "switches_involuntary", "ICS/s", COUNT, SUM, PART, NONE, NULL, TEXT, 6, 7, "involuntary context switches: it was preempted") \
	_(WAKEUPS,     "wakeups",     "WAKE/s", COUNT, SUM, PART, NONE, NULL, TEXT, 6, 8, "times it was woken") \
	_(MIGRATIONS,  "migrations",  "MIG/s",  COUNT, SUM, PART, NONE, NULL, TEXT, 6, 8, "moves to another CPU") \
	_(MINOR_FAULTS, "minor_faults", "MINF/s", COUNT, SUM, PART, WEIGHT(6, "minflt", "MinFlt", "minor faults"), NULL, TEXT, 6, DROP_HIDDEN, "page faults that needed no disk: first touches of memory, copies on write") \
	_(MAJOR_FAULTS, "major_faults", "MAJF/s", COUNT, SUM, PART, WEIGHT(5, "majflt", "MajFlt", "major faults"), NULL, D, 6, DROP_HIDDEN, "page faults that waited for a disk: pages of files, or in swap") \
	_(READ,        "read",        "READ",   BYTES, SUM, PART, NONE, NULL, TEXT, 6, 8, "bytes fetched from storage for it, as /proc/PID/io counts them: not what was in memory already") \
	_(WRITE,       "write",       "WRITE",  BYTES, SUM, PART, NONE, NULL, TEXT, 6, 8, "bytes of files that it made dirty, or wrote directly, as /proc/PID/io counts them: they may reach the disk later, or never") \
	_(RSS,         "rss",         "RSS",    BYTES, LEVEL(PROCESSES), PART, NONE, NULL, TEXT, 6, 2, "memory of the process that is in RAM: anonymous, of files, and shared; kernel threads have none") \
	_(SWAP,        "swap",        "SWAP",   BYTES, LEVEL(BOTH), PART, NONE, NULL, TEXT, 6, 9, "memory of the process, or cgroup, that is in swap") \
	_(MEMORY,      "memory",      "MEM",    BYTES, LEVEL(CGROUPS), PART, NONE, NULL, TEXT, 6, 2, "memory charged to the cgroup and everything below it, including caches of files")

enum metric_id {
#define _(id, ...) METRIC_##id,
	METRICS(_)
#undef _
	METRIC_COUNT,
	METRIC_LEVELS = METRIC_RSS, /* the first of them */
	METRIC_WALL = METRIC_COUNT, /* as a weight of stacks: all parts of wall time together */
	METRIC_NONE
};

/*
 * Histograms of durations, one line each: the Latency view's kinds follow from it. Those of threads are in struct
 * values, the others in struct tick only.
 * id, title, singular, plural, owner, log2 of the ns at which its first slot begins, number of slots, weight of the
 * stacks of such durations, metric with the longest one, which durations are known, and NULL or the text for those
 * whose threads are unknown
 */
#define THREAD_HISTS(_)                                                                                                  \
	_(RUNQ, "runqueue wait", "wait", "waits", THREADS, HIST_SHIFT, HIST_SLOTS, RUNQ, RUNQ_MAX, "of threads in scope", NULL)
#define TICK_HISTS(_)                                                                                                    \
	_(SLEEP, "sleep", "sleep", "sleeps", BLOCKS, HIST_SHIFT, HIST_SLOTS, SLEEP, NONE, ">= 65 us; threads known from 1 ms on", "threads of sleeps under 1 ms are unknown") \
	_(D, "D state", "D state", "D states", BLOCKS, HIST_SHIFT, HIST_SLOTS, D, NONE, ">= 65 us; threads known from 100 us on", "threads of D states under 100 us are unknown") \
	_(IRQ, "interrupt", "interrupt", "interrupts", SOURCES, IRQ_HIST_SHIFT, IRQ_HIST_SLOTS, IRQ, NONE, "of the whole host", NULL) \
	_(SOFTIRQ, "softirq", "softirq", "softirqs", SOURCES, IRQ_HIST_SHIFT, IRQ_HIST_SLOTS, IRQ, NONE, "of the whole host", NULL)

enum hist_id {
#define _(id, ...) HIST_##id,
	THREAD_HISTS(_)
	HISTS_OF_THREADS,
	HISTS_BEFORE_TICK = HISTS_OF_THREADS - 1,
	TICK_HISTS(_)
#undef _
	HIST_COUNT,
	HIST_NONE = HIST_COUNT
};

enum hist_owner {
	HIST_OF_THREADS, /* each thread has one: values.hist */
	HIST_OF_BLOCKS,  /* struct away has the threads of the long ones */
	HIST_OF_SOURCES, /* each source of interrupts has one: irq_values.hist */
};

struct metric {
	const char *stem;  /* name without the unit */
	const char *name;  /* stable: JSON, --sort, config */
	const char *title; /* column header */
	enum unit unit;    /* of the value */
	enum metric_kind kind;
	enum hist_id hist; /* histogram it is computed from, HIST_NONE: none */
	enum level_of level; /* KIND_LEVEL */
	double q;          /* KIND_QUANTILE: the fraction of durations that are shorter */
	bool wall;
	struct {
		const char *name; /* NULL: not a weight of stacks */
		const char *title, *part;
		int place;
		bool sampled;
	} weight;
	const char *counter;
	int width; /* in cells, title included */
	int drop;
	const char *help;
};

struct hist_row {
	const char *name, *one, *more;
	enum hist_owner owner;
	int first, last; /* slots of struct hist in use */
	enum metric_id weight, longest;
	const char *which, *unknown;
};

/* The last one is METRIC_WALL, which is only a weight of stacks. */
extern const struct metric metrics[METRIC_COUNT + 1];
extern const struct hist_row hists[HIST_COUNT];

/* hist_word - "wait", "waits", "D states", ... */
static inline const char *hist_word(enum hist_id id, uint64_t count)
{
	return count == 1 ? hists[id].one : hists[id].more;
}

/* metric_suffix - the unit at the end of its JSON name: "_ns", or nothing. */
static inline const char *metric_suffix(enum metric_id m)
{
	return metrics[m].name + strlen(metrics[m].stem);
}

/* metric_of_threads - whether it is something that threads do, rather than a level of a process or cgroup. */
static inline bool metric_of_threads(enum metric_id m)
{
	return metrics[m].kind != KIND_LEVEL;
}

/* metric_shown - the unit in which it is shown: the value's own, a share of the interval, or a rate. */
enum unit metric_shown(enum metric_id m);

/* metric_find - the metric with this JSON name or column title, or METRIC_COUNT. Case is ignored, . _ - are equal,
 * the unit may be left out: runq.p99, voluntary, usr; cpu is run. */
enum metric_id metric_find(const char *name);

/* metric_weight - the metric at this place among the weights of stacks, METRIC_WALL after the others; METRIC_NONE:
 * there are no more. metric_weight_next - the next one, the first after the last. */
enum metric_id metric_weight(int place);
enum metric_id metric_weight_next(enum metric_id m);

/* metric_weighs - whether samples of metric @sample are part of @shown: the same metric, or wall time. */
bool metric_weighs(enum metric_id shown, enum metric_id sample);

#endif
