/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_BPF_SLOT_H
#define SYSTOP_BPF_SLOT_H

/*
 * Memory shared by the BPF programs and user space: per-thread and per-CPU sums. All sums are
 * cumulative and never reset; user space takes differences. Times are ns of the accounting clock,
 * CLOCK_MONOTONIC: the time in suspend belongs to no state.
 */

#include <linux/types.h>

#include "irq.h"
#include "loss.h"
#include "stack.h"
#include "wait.h"

/* Runqueue wait histogram: slot i counts waits of [2^i, 2^(i+1)) << HIST_SHIFT ns, the first one
 * also everything shorter, the last one everything longer. */
#define HIST_SLOTS 23
#define HIST_SHIFT 10

enum slot_state {
	SLOT_FREE,
	SLOT_RUNNING,
	SLOT_RUNQUEUE,
	SLOT_D,
	SLOT_SLEEP,
	SLOT_STOPPED,
	SLOT_DEAD,
	SLOT_LOST, /* its switch-out was missed; what it did meanwhile is known at its next switch */
};

enum slot_flags {
	SLOT_THROTTLED = 1,  /* the wait in progress began in a throttled cgroup */
	SLOT_RTLOCK = 2,     /* D, waiting for a PREEMPT_RT lock */
	SLOT_SINCE_MIN = 4,  /* `since` is a lower bound of the time in the state */
	SLOT_WOKEN = 8,      /* woken while it still had the CPU: it counts if no other waking comes */
};

/*
 * In slot.wake: the wakee's cgroup was throttled, and who woke it, most often an interrupt, where the
 * present thread is a bystander. The rest of the word is the time of the waking.
 */
#define WAKE_THROTTLED (1ULL << 63)
#define WAKE_CONTEXT_SHIFT 60
#define WAKE_TIME_MASK ((1ULL << WAKE_CONTEXT_SHIFT) - 1)

enum wake_context {
	WAKE_THREAD,  /* the thread that ran there */
	WAKE_IRQ,     /* the interrupt of that number */
	WAKE_SOFTIRQ, /* the softirq of that vector */
	WAKE_TIMER,   /* the CPU's own timer */
	WAKE_IPI,     /* an interrupt from another CPU */
	WAKE_CONTEXTS,
};

/* An interrupt that threads are woken from. */
#define WAKE_SOURCE(context, number) ((__u32)(context) << 16 | (__u16)(number))

/* In slot.waker: which interrupt or vector, and the thread that ran there. */
#define WAKER_TID_BITS 22
#define WAKER_NUMBER_MAX 1023 /* this one, and all above */
#define WAKER(number, tid) ((__u32)(number) << WAKER_TID_BITS | (tid))

/*
 * One thread. Lines 1 and 2 and the histogram are written by sched_switch only, between two bumps
 * of seq (odd: being written); the scheduler orders a thread's switches. `wake` and `wakeups` are
 * written by sched_waking on any CPU; runq_max is also taken by the reader (exchanged with 0).
 */
struct slot {
	/* line 1: where the time went */
	__u32 seq;
	__u8 state;        /* enum slot_state */
	__u8 flags;        /* enum slot_flags */
	__u16 cpu;         /* last one it ran on */
	__u64 since;       /* start of the present state */
	__u64 run_ns;
	__u64 runq_ns;
	__u64 d_ns;
	__u64 sleep_ns;
	__u64 stopped_ns;
	__u32 scope_gen;   /* shared.scope_gen when in_scope and cgroup_id were decided */
	__u32 migrations;  /* the kernel's count, at its last switch-in */

	/* line 2: what the next switch compares with; all that a waking touches */
	__u64 run_delay;   /* the kernel's sum of its runqueue waits, at its last switch */
	__u64 exec_ns;     /* the kernel's sum of its running time, at its last switch-out */
	__u32 voluntary;   /* the kernel's counts of its switches, at its last switch-out; */
	__u32 involuntary; /* like all counts here, they start again from 0 at 2^32 */
	__u64 cred;        /* address of the credentials for which in_scope and uid were decided: compared, never followed */
	__u32 waker_since; /* the wakings before the first one in a row by the present waker */
	__u8 in_scope;
	__u8 pid_scope;    /* of a process asked for by -p, or born from one */
	__u8 sighted;      /* first seen at a switch: the kernel's counts began before the slot */
	__u8 long_block;   /* one of its last blocks was long: the next user stack is worth taking */
	__u64 task;        /* address of its task_struct: compared, never followed; 0: it is dead */
	__u64 wake;        /* time of the last waking, its context, and WAKE_THROTTLED */
	__u32 wakeups;
	__u32 waker;       /* of the last waking: WAKER() */

	/* lines 3 and 4: waits, short ones on line 3, and what changes at a tick only */
	__u64 runq_max_ns; /* longest runqueue wait since the reader last took it */
	__u64 irq_ns;      /* that interrupts took while it had the CPU: not in run_ns */
	__u64 utime_ns;    /* the kernel's tick-based split of the running time, at its last switch-out after a tick */
	__u64 stime_ns;
	__u32 runq_hist[HIST_SLOTS];
	__u32 uid;         /* effective, by cred */

	/* line 5: who it is, copied at birth, first sight, exec and rename */
	char comm[16];
	__u32 tid;
	__u32 tgid;
	__u32 ppid;
	__u64 start_ns;    /* CLOCK_BOOTTIME */
	__u64 born_ns;     /* since when this slot accounts for the thread */
	__u64 cgroup_id;   /* in the hierarchy that is shown */
	__u32 pf_flags;    /* PF_* */
	__s16 prio;
	__u16 policy;

	/* line 6: what is seldom */
	__u64 throttled_ns; /* part of runq_ns */
	__u64 steal_ns;    /* that the hypervisor took while it had the CPU: not in run_ns */
	__u64 lost_ns;     /* SLOT_LOST: how long it ran since `since`, by the kernel; written by the CPU it left */
	__u64 throttle_ns; /* SLOT_THROTTLED: for how long threads of its runqueue stood when it was stopped; then, it */
	__u64 softirq_began; /* where softirqs are preemptible: when the one that it runs began, */
	__u32 softirq;     /* and which that is: WAKE_SOURCE(), 0: none; believed only while the kernel says that it runs one */
} __attribute__((aligned(64)));

_Static_assert(sizeof(struct slot) == 384, "six cache lines");
_Static_assert(__builtin_offsetof(struct slot, run_delay) == 64, "line 2");
_Static_assert(__builtin_offsetof(struct slot, runq_max_ns) == 128, "line 3");
_Static_assert(__builtin_offsetof(struct slot, comm) == 256, "line 5");

/*
 * What a switch finds out for its later steps. It is kept in the CPU's slot because the verifier then forgets it: what is
 * known in a register or on the stack doubles the states of all that follows, and the time of the start.
 */
enum switch_finding {
	SWITCH_GAP = 1,      /* the switch before was not reported */
	SWITCH_LATE = 2,     /* prev had no slot when it came */
	SWITCH_PARKS = 4,    /* prev's user stack is to be taken */
	SWITCH_DEAD = 8,     /* prev has ended */
	SWITCH_BLOCKED = 16, /* next comes back from a long block */
};

/*
 * One CPU, written by its own programs only. A reader's copy is whole if switches_done, read
 * before it, equals switches, read after it.
 */
struct cpu_slot {
	__u64 switches;
	__u64 switches_done;
	__u64 current_task;  /* address of the running thread's task_struct: compared, never followed */
	__u32 current_slot;  /* its slot, 0: none */
	__u16 current_idle;  /* it is the idle task */
	__u16 findings;      /* enum switch_finding, of the switch that is being accounted for */
	__u64 since;         /* of the last switch, or started_ns; 0: nothing seen yet */
	__u64 run_ns;        /* with idle_ns and steal_ns: the time since started_ns */
	__u64 idle_ns;
	__u64 last_ns;       /* of the last event */

	__u64 suspended_ns;  /* CLOCK_BOOTTIME - CLOCK_MONOTONIC */
	__u64 wakings;
	__u64 records;       /* written to this CPU's ring (ring.h), the ones that were overwritten included */
	__u64 clock_seen;    /* when clock_follow() last looked */
	__u64 timer_at;      /* its timer came for the last time */
	__u64 steal_charged; /* of the kernel's sum: up to where it is in steal_ns; 0: not read yet */
	__u64 steal_seen;    /* the kernel's sum, when it was last looked at */
	__u32 offline;       /* set by user space, until its next switch: its last one to the idle thread was not seen */
	__u32 files_met;     /* files_waited that the next switch or tick is to enter */

	/* Interrupts, all of them and every switch: a cache line, and one for the outermost level. */
	__u32 hardirq;       /* in which interrupt the CPU is: WAKE_SOURCE(), 0: none */
	__u32 softirq;       /* where they are not preemptible */
	__u64 hardirq_ns;    /* that interrupts took from whoever ran, */
	__u64 softirq_ns;    /* and softirqs, but for those in ksoftirqd: these are its own */
	__u64 interrupts;
	__u64 irq_charged;   /* both at the last switch: what is more, the running thread lost */
	__u64 irq_at;        /* the last time that irq_depth changed */
	__u32 irq_depth;
	__u32 tickless;      /* set by user space: its timer need not come while it is busy */
	struct irq_level irq_levels[IRQ_LEVELS];

	__u64 scope_cgroup;  /* scratch of cgroup_met() */
	__u64 overflow_ns;   /* running time of threads without a slot */
	__u64 stack_events;  /* written to this CPU's ring */
	__u64 stacks_paid;   /* until when stacks of blocks are paid for: see block_afford() */
	__u32 ring_other;    /* the recorder's last event said that threads out of scope run */
	__u64 steal_ns;      /* see steal.bpf.h */
	__u64 clock_offset;  /* accounting clock - the scheduler's, see clock_follow() */
	__u64 clock_least;   /* smallest distance since clock_window */
	__u64 clock_before;  /* and in the window before */
	__u64 clock_window;
	__u64 bpf_ns;        /* estimated run time of the programs */
	__u64 samples[SAMPLE_CLASSES];
	__u64 files_waited;  /* samples that met files for the first time, and left that to the next switch or tick */
	__u64 stacks_skipped; /* long blocks that were not paid for */
	__u64 was_since;     /* scratch of block_begin() */
	__u64 was_blocked;
	__u64 was_runq;
	__u64 was_throttled;
	__u32 was_state;
	struct wait_run runs[WAIT_RUNS]; /* the last long ones, a ring */
	__u32 nr_runs;
	__u64 wait_events;   /* written to this CPU's ring */
	__u64 waits_paid;    /* until when they are paid for: see wait_afford() */
	__u64 busy_since;    /* when it was idle for the last time */
	__u64 tick_at;       /* its timer or sampler came for the last time */
	__u64 gap_ns;        /* the longest time without, of a busy CPU, since the reader last took it, */
	__u64 gap_at;        /* its end, accounting clock, */
	__u32 gap_tid;       /* and which thread ran then */
	__u32 away_hist[2][HIST_SLOTS]; /* sleeps, D states of threads in scope, of AWAY_NS and more */
	__u64 loss[LOSS_COUNT];
} __attribute__((aligned(64)));

_Static_assert(__builtin_offsetof(struct cpu_slot, hardirq) == 128, "line 2");

/* State that all programs and user space share; one instance, memory-mapped. */
struct shared {
	/* What every switch or sample reads, and seldom changes. */
	__u32 scope_gen;     /* raised when a thread changed its cgroup, or the scope changed: decided again at switches */
	__u32 seeded;        /* set by user space once the threads that existed at start are entered */
	__u64 started_ns;    /* accounting clock when the probes were attached, set by user space */
	__u32 stack_generation; /* of the dictionary, 1 to STACK_GENERATION_MAX(); 0: no stacks are taken */
	__u32 sampler_timer; /* samples come by a timer's interrupt */
	__u64 entry_from, entry_to; /* the kernel's entry code, where only an NMI can be; 0: none can */
	__u64 suspended_ns;  /* CLOCK_BOOTTIME - CLOCK_MONOTONIC, set by user space */
	__u32 seconds;       /* since the host was started, set by user space */
	__u32 tables_off;    /* the unwinder's tables do not work here: by frame pointers */
	__u32 steal_told;    /* what is stolen is known: the kernel says it, or there is no hypervisor */
	__u32 sched_ext;     /* set by user space: a scheduler of BPF programs has threads now */
	__u32 peek_slot;     /* whose user stack is being read, see blocked.bpf.c; 0: none */

	/* What all CPUs write where threads, files and stacks come and go. */
	__u32 slots_used __attribute__((aligned(64))); /* highest slot ever handed out */
	__u32 dead_head;     /* next entry of the dead ring */
	__u32 files;         /* ids given to files for the first time, */
	__u32 files_again;   /* ids given that a forgotten file had */
	__u32 files_asked;   /* entries of that map */
	__u32 files_lost;    /* how often there was no id for a file that a stack is in, or no room to tell of it */
	__u32 irq_lines;     /* sources given to lines of /proc/interrupts */
	__u32 stack_lines[2];   /* handed out in each half */
	__u32 stack_entries[2];
	__u32 moves_lost;    /* there was no room to tell who is moved between cgroups */
} __attribute__((aligned(64)));

/* Entries of the slot map; user space may raise it before load. Slot 0 is never used: none. */
#define SLOTS_DEFAULT 65536
/* Entries of found_slots for each slot: a power of two, as is the number of slots. */
#define FOUND_PER_SLOT 2

/* What -c, -p and -u ask for: a thread is in scope if it fits every kind that was given. */
enum scope_kind {
	SCOPE_CGROUP = 1,
	SCOPE_PID = 2,
	SCOPE_UID = 4,
};

/* Hierarchies a cgroup scope can name at once; v1 controllers by their number, v2 is -1. */
#define SCOPE_HIERARCHIES 4
#define HIERARCHY_V2 (-1)
#define HIERARCHY_NONE (-2)

/* A cgroup, for user space to know it by name before its walk of the hierarchy comes by. */
#define CGROUP_NAME_SIZE 256 /* NAME_MAX and its end */

struct cgroup_event {
	__u64 id;
	__u64 parent;        /* 0: it is the hierarchy's root */
	__u64 limits;        /* of the hierarchy with the CPU limits, not of the one shown */
	char name[CGROUP_NAME_SIZE];
};

/* Entries of cgroups_told: 2 to the power of. */
#define CGROUPS_TOLD_BITS 14

/*
 * Threads and cgroups: somebody moves a thread, or a process (@slot 0), of which the kernel says only that; or a thread,
 * asleep or not, is found to be in another cgroup, or another scope, than its slot says: what that said up to then.
 */
struct cgroup_move {
	__u32 slot;
	__u32 tid;
	__u32 process;     /* all its threads are moved */
	__u32 spare;
	__u64 at;          /* accounting clock */
	struct slot was;   /* not there if slot is 0 */
};

/* A cgroup in scope, with everything below it: key of the scope_cgroups map. */
struct scope_cgroup {
	__u64 id;
	__s32 ssid;
	__u32 spare;
};

#endif
