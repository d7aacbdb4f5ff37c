/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_BPF_IRQ_H
#define SYSTOP_BPF_IRQ_H

/* Interrupts by where they come from: what each CPU did of each. */

#include <linux/types.h>

/*
 * Sources: the softirq vectors by number, then the CPU's own vectors, as far as they are traced, then the
 * lines of /proc/interrupts in the order in which they were met: irq_lines. If the host has more lines than there are
 * sources, those of one device are one, which user space sees to before the programs are there.
 */
#define IRQ_SOFTIRQS 10

enum irq_index {
	IRQ_LOC = IRQ_SOFTIRQS, /* as /proc/interrupts calls them: the CPU's own timer, */
	IRQ_RES,                /* another CPU wants it to reschedule, */
	IRQ_CAL,                /* or to call a function, of one or of all; */
	IRQ_IWI,                /* what could not be done where it was wanted (irq_work) */
	IRQ_LINES = 16,
	IRQ_SOURCES = 256,
	IRQ_NAMED = IRQ_SOURCES - IRQ_LINES - 1, /* further lines are one: the last */
};

/* Numbers of lines that have a source; from this one on they are the last one. */
#define IRQ_LINES_MAX 16384

#define IRQ_HIST_SLOTS 22
#define IRQ_HIST_SHIFT 7 /* the first slot: up to 256 ns, each next one twice as long */

/* One source on one CPU, written by that CPU's programs only. Two cache lines. */
struct irq_slot {
	__u64 count;
	__u64 ns;      /* without what interrupted it */
	__u64 max_ns;  /* the longest since the reader last took it, */
	__u64 max_at;  /* when it began, accounting clock, */
	__u32 max_tid; /* and whom it interrupted; 0: the idle thread */
	__u32 spare;
	__u32 hist[IRQ_HIST_SLOTS];
} __attribute__((aligned(64)));

_Static_assert(sizeof(struct irq_slot) == 128, "two cache lines");

/* A busy CPU whose timer did not come for so long is worth a word. */
#define IRQ_GAP_NS 50000000

/* Interrupts can interrupt one another: what a CPU was in when one more came. */
#define IRQ_LEVELS 4

struct irq_level {
	__u64 began;
	__u64 own_ns;  /* of it so far, without those above */
	__u32 source;
	__u32 spare;
};

#endif
