/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_BPF_IRQ_H
#define SYSTOP_BPF_IRQ_H

/* Interrupts by source: what each CPU spent on each. */

#include <linux/types.h>

/*
 * Sources: the softirq vectors by number, then those of the CPU's own vectors that are traced, then the lines of
 * /proc/interrupts in the order in which they were met (irq_lines). If the host has more lines than there are sources,
 * user space gives the lines of one device one source before the programs are loaded.
 */
#define IRQ_SOFTIRQS 10

enum irq_index {
	IRQ_LOC = IRQ_SOFTIRQS, /* named as in /proc/interrupts: the CPU's own timer */
	IRQ_RES,                /* another CPU requests a reschedule */
	IRQ_CAL,                /* another CPU requests a function call, on one CPU or on all */
	IRQ_IWI,                /* work deferred to an interrupt (irq_work) */
	IRQ_LINES = 16,
	IRQ_SOURCES = 256,
	IRQ_NAMED = IRQ_SOURCES - IRQ_LINES - 1, /* further lines share one source, the last */
};

/* Line numbers that have a source of their own; higher ones share the last. */
#define IRQ_LINES_MAX 16384
#define IRQ_NO_LINE (~0U)

#define IRQ_HIST_SLOTS 22
#define IRQ_HIST_SHIFT 7 /* the first slot ends at 256 ns, each further one is twice as long */

/* One source on one CPU, written only by that CPU's programs. Two cache lines. */
struct irq_slot {
	__u64 count;
	__u64 ns;      /* without the time of what interrupted it */
	__u64 max_ns;  /* the longest since the reader last took it */
	__u64 max_at;  /* start of the longest, accounting clock */
	__u32 max_tid; /* thread that the longest interrupted; 0: the idle thread */
	__u32 spare;
	__u32 hist[IRQ_HIST_SLOTS];
} __attribute__((aligned(64)));

_Static_assert(sizeof(struct irq_slot) == 128, "two cache lines");

/* A busy CPU whose timer did not fire for this long is reported. */
#define IRQ_GAP_NS 50000000

/* Nesting: interrupts can interrupt one another. */
#define IRQ_LEVELS 4

struct irq_level {
	__u64 began;
	__u64 own_ns;  /* so far, without those nested in it */
	__u32 source;
	__u32 spare;
};

#endif
