/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_MODEL_FIELD_H
#define SYSTOP_MODEL_FIELD_H

#include <stddef.h>
#include <stdint.h>

#include "util/format.h"

/* A value that is not known: printed "-", exported null, never 0. */
#define VALUE_NA UINT64_MAX

enum field_kind {
	FIELD_KIND_TIME,     /* ns of the interval spent in a state: adds up over threads */
	FIELD_KIND_COUNT,    /* events in the interval: adds up over threads */
	FIELD_KIND_MAX,      /* largest of the threads' values */
	FIELD_KIND_QUANTILE, /* computed from the row's runqueue histogram, shown with ~ */
};

/*
 * Every measured value of a row, one line each: columns, sorting, JSON and its schema follow from
 * this table. Adding a column is adding a line here and setting the value in collect/slots.c.
 *
 * id, JSON name, column title, unit on the screen, kind, column width, drop priority (columns with
 * the highest number leave a narrow screen first; 0 = never shown as a column), help
 */
#define FIELDS(_)                                                                                  \
	_(RUN,         "run_ns",               "RUN%",   UNIT_SHARE, FIELD_KIND_TIME,     5, 1, "time on a CPU, user and kernel") \
	_(USER,        "user_ns",              "USR%",   UNIT_SHARE, FIELD_KIND_TIME,     6, 6, "part of RUN in user mode; - until the kernel's tick saw the thread") \
	_(KERNEL,      "kernel_ns",            "SYS%",   UNIT_SHARE, FIELD_KIND_TIME,     6, 6, "part of RUN in kernel mode; - until the kernel's tick saw the thread") \
	_(RUNQ,        "runq_ns",              "RUNQ%",  UNIT_SHARE, FIELD_KIND_TIME,     5, 2, "time runnable but not running: waiting for a CPU") \
	_(IRQ,         "irq_ns",               "IRQ%",   UNIT_SHARE, FIELD_KIND_TIME,     5, 4, "time that interrupts took while the thread had the CPU: not part of RUN") \
	_(STEAL,       "steal_ns",             "STL%",   UNIT_SHARE, FIELD_KIND_TIME,     5, 6, "time that the hypervisor took while the thread had the CPU: not part of RUN; - where the kernel does not say") \
	_(THROTTLED,   "throttled_ns",         "THR%",   UNIT_SHARE, FIELD_KIND_TIME,     5, 3, "part of RUNQ: stopped by a cgroup's CPU limit") \
	_(D,           "d_ns",                 "D%",     UNIT_SHARE, FIELD_KIND_TIME,     5, 2, "time in D state: uninterruptible, waiting for a disk, NFS, a lock") \
	_(SLEEP,       "sleep_ns",             "SLEEP%", UNIT_SHARE, FIELD_KIND_TIME,     6, 8, "time asleep, waiting for something to do") \
	_(STOPPED,     "stopped_ns",           "STOP%",  UNIT_SHARE, FIELD_KIND_TIME,     6, 9, "time stopped by a signal or a debugger") \
	_(ALIVE,       "alive_ns",             "ALIVE",  UNIT_NS,    FIELD_KIND_TIME,     6, 9, "part of the interval in which the thread existed") \
	_(RUNQ_P50,    "runq_p50_ns",          "RQ-P50", UNIT_NS,    FIELD_KIND_QUANTILE, 6, 7, "half of the runqueue waits were shorter") \
	_(RUNQ_P99,    "runq_p99_ns",          "RQ-P99", UNIT_NS,    FIELD_KIND_QUANTILE, 6, 4, "99 % of the runqueue waits were shorter") \
	_(RUNQ_MAX,    "runq_max_ns",          "RQ-MAX", UNIT_NS,    FIELD_KIND_MAX,      6, 5, "longest runqueue wait, exact") \
	_(VOLUNTARY,   "switches_voluntary",   "VCS/s",  UNIT_RATE,  FIELD_KIND_COUNT,    6, 7, "voluntary context switches: it went to wait for something") \
	_(INVOLUNTARY, "switches_involuntary", "ICS/s",  UNIT_RATE,  FIELD_KIND_COUNT,    6, 7, "involuntary context switches: it was preempted") \
	_(WAKEUPS,     "wakeups",              "WAKE/s", UNIT_RATE,  FIELD_KIND_COUNT,    6, 8, "times it was woken") \
	_(MIGRATIONS,  "migrations",           "MIG/s",  UNIT_RATE,  FIELD_KIND_COUNT,    6, 8, "moves to another CPU")

enum field_id {
#define _(id, name, title, unit, kind, width, drop, help) FIELD_##id,
	FIELDS(_)
#undef _
	FIELD_COUNT
};

struct field {
	const char *name;  /* stable: JSON, --sort, config */
	const char *title; /* column header */
	enum unit unit;
	enum field_kind kind;
	int width; /* cells, title included */
	int drop;
	const char *help;
};

extern const struct field fields[FIELD_COUNT];

/* field_find - the field with this JSON name or column title, or FIELD_COUNT. Case is ignored, . _ -
 * are the same, the unit may be left out: runq.p99, voluntary, usr; cpu is run. */
enum field_id field_find(const char *name);

#endif
