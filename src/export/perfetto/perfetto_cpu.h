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
 * perfetto_cpu_begin, perfetto_cpu_end - enclose the events of one CPU. Call them for one CPU at a time and for all
 * online CPUs, even those without events.
 * @cpu: < 1024, the limit of Perfetto   @current: the thread on the CPU when the trace starts
 * Events between them are in the order of time. Events up to the trace's start are not written: @current is their
 * result.
 */
void perfetto_cpu_begin(struct perfetto *p, unsigned int cpu, const struct perfetto_task *current);
void perfetto_cpu_end(struct perfetto *p);

/*
 * perfetto_cpu_switch - @state: of the previous thread, as printed by the tracepoint since kernel 4.14: 0 runnable, 1
 * sleeping, 2 D, 4 stopped, 8 traced, 0x10 dead, 0x20 zombie, 0x40 parked, 0x80 idle kernel thread, 0x100 preempted. A
 * thread that stands for those out of scope always sleeps.
 */
void perfetto_cpu_switch(struct perfetto *p, uint64_t t, unsigned int state,
			 const struct perfetto_task *next);

/* perfetto_cpu_waking - the current thread wakes @wakee. @context: PERFETTO_IN_ if an interrupt does it on top of the
 * current thread. */
enum { PERFETTO_IN_HARDIRQ = 0x08, PERFETTO_IN_SOFTIRQ = 0x10 };
void perfetto_cpu_waking(struct perfetto *p, uint64_t t, const struct perfetto_task *wakee,
			 unsigned int target_cpu, unsigned int context);

/* perfetto_cpu_blocked_reason - the kernel function in which @tid was blocked. @t: when it is woken; it must be after
 * the switch-out and not after the thread runs again. @caller: NULL: unknown. */
void perfetto_cpu_blocked_reason(struct perfetto *p, uint64_t t, int32_t tid, const char *caller,
				 bool io_wait);

/* perfetto_cpu_newtask - @child is born, runnable. @parent: for a thread, any thread of its process. perfetto_tree_begin() adds
 * the details. */
void perfetto_cpu_newtask(struct perfetto *p, uint64_t t, int32_t parent, const struct perfetto_task *child,
			  bool thread);
void perfetto_cpu_exec(struct perfetto *p, uint64_t t, int32_t tid, int32_t old_tid, const char *filename);
void perfetto_cpu_rename(struct perfetto *p, uint64_t t, int32_t tid, const char *old_comm, const char *comm);
/* perfetto_cpu_freed - the thread is gone, which ends its life in the trace. */
void perfetto_cpu_freed(struct perfetto *p, uint64_t t, const struct perfetto_task *task);

/* Interrupts of the current thread, from @t, which is after the trace's start, to @until; they may be nested.
 * @vec: < 10 */
void perfetto_cpu_irq(struct perfetto *p, uint64_t t, uint64_t until, int irq, const char *name);
void perfetto_cpu_softirq(struct perfetto *p, uint64_t t, uint64_t until, unsigned int vec);

/* perfetto_blocked - a thread that is off the CPU, in D state or asleep, when the trace starts: no switch shows it. */
void perfetto_blocked(struct perfetto *p, const struct perfetto_task *task, bool d_state);

#endif
