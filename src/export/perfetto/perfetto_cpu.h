/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_EXPORT_PERFETTO_PERFETTO_CPU_H
#define SYSTOP_EXPORT_PERFETTO_PERFETTO_CPU_H

#include <stdbool.h>
#include <stdint.h>

struct perfetto;

struct perfetto_task {
	int32_t tid;      /* 0: the idle thread */
	int32_t prio;     /* the kernel's: 120 is nice 0 */
	const char *comm; /* up to 15 bytes */
};

/*
 * perfetto_cpu_begin, perfetto_cpu_end - around what a CPU did, one CPU after the other: every CPU that is
 * online, also if nothing happened there.
 * @cpu: < 1024, Perfetto knows no others   @current: who ran there when the trace starts
 * In between, in the order of time: what is not later than the trace's start is not written, as @current
 * is what it led to.
 */
void perfetto_cpu_begin(struct perfetto *p, unsigned int cpu, const struct perfetto_task *current);
void perfetto_cpu_end(struct perfetto *p);

/* perfetto_cpu_lost - what happened between the last event and the next one is not known. */
void perfetto_cpu_lost(struct perfetto *p);

/*
 * perfetto_cpu_switch - @state: of who ran until then, as the tracepoint of kernels from 4.14 on prints it:
 * 0 runnable, 1 sleeping, 2 D, 4 stopped, 8 traced, 0x10 dead, 0x20 zombie, 0x40 parked, 0x80 idle kernel
 * thread, 0x100 preempted. A thread that stands for those out of scope always sleeps.
 */
void perfetto_cpu_switch(struct perfetto *p, uint64_t t, unsigned int state,
			 const struct perfetto_task *next);

/* perfetto_cpu_waking - who runs here wakes @wakee. @context: PERFETTO_IN_, if it was interrupted and
 * the wake-up is not its own. */
enum { PERFETTO_IN_HARDIRQ = 0x08, PERFETTO_IN_SOFTIRQ = 0x10 };
void perfetto_cpu_waking(struct perfetto *p, uint64_t t, const struct perfetto_task *wakee,
			 unsigned int target_cpu, unsigned int context);

/* perfetto_cpu_waking_by - another than who runs here wakes it. */
void perfetto_cpu_waking_by(struct perfetto *p, uint64_t t, int32_t waker, const struct perfetto_task *wakee,
			    unsigned int target_cpu);

/* perfetto_cpu_blocked_reason - where in the kernel @tid was blocked, later than it was switched out and
 * not later than it runs again: when it is woken. @caller: NULL: not known. */
void perfetto_cpu_blocked_reason(struct perfetto *p, uint64_t t, int32_t tid, const char *caller,
				 bool io_wait);

/* perfetto_cpu_newtask - @child is born, runnable. @parent: of a thread, any of its process.
 * perfetto_tree_begin() says more about it. */
void perfetto_cpu_newtask(struct perfetto *p, uint64_t t, int32_t parent, const struct perfetto_task *child,
			  bool thread);
void perfetto_cpu_exec(struct perfetto *p, uint64_t t, int32_t tid, int32_t old_tid, const char *filename);
void perfetto_cpu_rename(struct perfetto *p, uint64_t t, int32_t tid, const char *old_comm, const char *comm);
/* perfetto_cpu_exit - it will not run much longer; perfetto_cpu_freed - it is gone: what ends its life in
 * the trace. */
void perfetto_cpu_exit(struct perfetto *p, uint64_t t, const struct perfetto_task *task, int32_t tgid);
void perfetto_cpu_freed(struct perfetto *p, uint64_t t, const struct perfetto_task *task);

/* Interrupts of who runs here, in pairs that are in each other, if at all: an exit without its entry is not
 * written. @name: NULL: not known   @vec: < 10 */
void perfetto_cpu_irq_entry(struct perfetto *p, uint64_t t, int irq, const char *name);
void perfetto_cpu_irq_exit(struct perfetto *p, uint64_t t, int irq, bool handled);
void perfetto_cpu_softirq_entry(struct perfetto *p, uint64_t t, unsigned int vec);
void perfetto_cpu_softirq_exit(struct perfetto *p, uint64_t t, unsigned int vec);

/* perfetto_blocked - who was off the CPU, in D state or asleep, when the trace starts: no switch tells. */
void perfetto_blocked(struct perfetto *p, const struct perfetto_task *task, bool d_state);

#endif
