/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_BPF_AREA_H
#define SYSTOP_BPF_AREA_H

/* The large per-CPU memory: allocated only for online CPUs, when they come online. */

#include <linux/types.h>

#include "irq.h"
#include "stack.h"
#include "unwind.h"
#include "wait.h"

struct cpu_area {
	struct irq_slot irqs[IRQ_SOURCES];
	__u64 irqs_met[IRQ_SOURCES / 64];               /* one bit for each source that occurred at least once */
	__u64 remembered[UNWIND_MEMORY];                /* the unwinder's cache: last rules found, by frame */
	struct unwind_known known[UNWIND_KNOWN];        /* cache: last mappings found, by address space */
	struct stack_event stack_events[STACK_EVENTS];  /* rings */
	struct wait_event wait_events[WAIT_EVENTS];
};

#endif
