/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_BPF_SLOT_H
#define SYSTOP_BPF_SLOT_H

/*
 * Memory shared by the BPF programs and user space: per-thread and per-CPU sums. All sums are cumulative and never
 * reset; user space takes differences. Times are ns of the accounting clock, CLOCK_MONOTONIC: time in suspend belongs
 * to no state.
 */

#include <linux/types.h>

#include "irq.h"
#include "loss.h"
#include "stack.h"
#include "usage.h"
#include "wait.h"

/* Runqueue wait histogram: slot i counts waits of [2^i, 2^(i+1)) << HIST_SHIFT ns; the first slot also counts all
 * shorter waits, the last one all longer ones. */
#define HIST_SLOTS 23
#define HIST_SHIFT 10

/*
 * What the kernel counts of each thread, one line each: copied to the slot when the thread leaves the CPU, is sampled,
 * and gets the slot, and shown from there. To add a counter, add a line here, its field in struct slot, on a line that
 * every switch writes, and its metric. A field has 64 bits unless every kernel has the counter: see COUNT_UNKNOWN.
 *
 * field, member of task_struct, metric
 */
#define SLOT_COUNTS(_)                                                                                                   \
	_(voluntary,    nvcsw,   VOLUNTARY)                                                                              \
	_(involuntary,  nivcsw,  INVOLUNTARY)                                                                            \
	_(minor_faults, min_flt, MINOR_FAULTS)                                                                           \
	_(major_faults, maj_flt, MAJOR_FAULTS)

/* Numbers of these counters: a stack taken at such an event has the kind STACK_COUNTED + number. */
enum count_id {
#define _(field, ...) COUNT_##field,
	SLOT_COUNTS(_)
#undef _
	COUNT_IDS
};

#define COUNT_UNKNOWN (~0ULL) /* this kernel does not count it */

enum slot_state {
	SLOT_FREE,
	SLOT_RUNNING,
	SLOT_RUNQUEUE,
	SLOT_D,
	SLOT_SLEEP,
	SLOT_STOPPED,
	SLOT_DEAD,
	SLOT_LOST, /* its switch-out was missed; its next switch accounts for the time */
};

enum slot_flags {
	SLOT_THROTTLED = 1,  /* the wait in progress began in a throttled cgroup */
	SLOT_RTLOCK = 2,     /* D, waiting for a PREEMPT_RT lock */
	SLOT_SINCE_EARLY = 4,  /* `since` is too early: the time in the state is an upper bound */
	SLOT_WOKEN = 8,      /* woken while it still had the CPU: counts unless another wakeup follows */
};

/*
 * In slot.wake: whether the wakee's cgroup was throttled, and the context of the wakeup: most often an interrupt, in
 * which the current thread is a bystander. The rest of the word is the time of the wakeup.
 */
#define WAKE_THROTTLED (1ULL << 63)
#define WAKE_CONTEXT_SHIFT 60
#define WAKE_TIME_MASK ((1ULL << WAKE_CONTEXT_SHIFT) - 1)

enum wake_context {
	WAKE_THREAD,  /* the thread that ran there */
	WAKE_IRQ,     /* an interrupt with a line; its number is in slot.waker */
	WAKE_SOFTIRQ, /* a softirq; its vector is in slot.waker */
	WAKE_TIMER,   /* the CPU's own timer */
	WAKE_IPI,     /* an interrupt from another CPU */
	WAKE_CONTEXTS,
};

/* An interrupt that wakes threads. */
#define WAKE_SOURCE(context, number) ((__u32)(context) << 16 | (__u16)(number))

/* In slot.waker: number of the interrupt or vector, and tid of the thread that ran there. */
#define WAKER_TID_BITS 22
#define WAKER_NUMBER_MAX 1023 /* this number and all above */
#define WAKER(number, tid) ((__u32)(number) << WAKER_TID_BITS | (tid))

/*
 * One thread. Only sched_switch writes lines 1 and 2 and the histogram, between two increments of seq (odd: being
 * written); the scheduler orders a thread's switches. sched_waking writes `wake` and `wakeups` on any CPU. The reader
 * also takes runq_max_ns (by a compare-and-exchange with 0).
 *
 * A slot holds data of other families only if a switch or a waking reads or writes it: waker and waker_since (wait.bpf.h),
 * long_block and parked (block.bpf.h), softirq (irq.bpf.h). The slot's lines are in the cache then; a separate array would cost
 * another 6 ns for the lookup, and a cache line. Other data is in separate arrays: parked_stacks here, the collectors' in user
 * space.
 */
struct slot {
	/* line 1: where the time went */
	__u32 seq;
	__u8 state;        /* enum slot_state */
	__u8 flags;        /* enum slot_flags */
	__u16 cpu;         /* CPU it ran on last */
	__u64 since;       /* start of the present state */
	__u64 run_ns;
	__u64 runq_ns;
	__u64 d_ns;
	__u64 sleep_ns;
	__u64 stopped_ns;
	__u32 scope_gen;   /* shared.scope_gen when in_scope and cgroup_id were decided */
	__u32 migrations;  /* the kernel's count at its last switch-in */

	/* line 2: what the next switch compares with, and all that a wakeup touches */
	__u64 run_delay;   /* the kernel's sum of its runqueue waits at its last switch */
	__u64 exec_ns;     /* the kernel's sum of its running time at its last switch-out; until then what seed_task() put here */
	__u32 voluntary;   /* SLOT_COUNTS: the kernel's counts of its switches; */
	__u32 involuntary; /* like all counts of 32 bits here, they wrap */
	__u64 cred;        /* address of the credentials by which in_scope and uid were decided: never followed */
	__u32 waker_since; /* `wakeups` when the present waker's series of wakeups began */
	__u8 in_scope;
	__u8 pid_scope;    /* enum pid_scope */
	__u8 sighted : 1;  /* first seen at a switch or after the start: the kernel's counts began before the slot */
	__u8 parked : 1;   /* a user stack was taken at its last switch-out: see park() */
	__u8 long_block;   /* > 0: one of its last blocks was long, so the next user stack is taken */
	__u64 task;        /* address of its task_struct: compared, and followed only by usage.bpf.c; 0: it is dead */
	__u64 wake;        /* time and context of the last wakeup, and WAKE_THROTTLED */
	__u32 wakeups;
	__u32 waker;       /* of the last wakeup: WAKER() */

	/* lines 3 and 4: waits, short ones on line 3, and what changes only at a tick */
	__u64 runq_max_ns; /* longest runqueue wait since the reader last took it */
	__u64 irq_ns;      /* time that interrupts took while it had the CPU: not in run_ns */
	__u64 utime_ns;    /* the kernel's tick-based split of the running time, at its last switch-out after a tick */
	__u64 stime_ns;
	__u32 runq_hist[HIST_SLOTS];
	__u32 uid;         /* effective, from cred */

	/* line 5: identity, copied at birth, first sight, exec and rename */
	char comm[16];
	__u32 tid;
	__u32 tgid;
	__u32 ppid;
	__u64 start_ns;    /* CLOCK_BOOTTIME */
	__u64 born_ns;     /* start of this slot's accounting for the thread */
	__u64 cgroup_id;   /* in the hierarchy that is shown */
	__u32 pf_flags;    /* PF_* */
	__s16 prio;
	__u16 policy;

	/* line 6: rarely used, except throttled_ns and SLOT_COUNTS at every switch */
	__u64 throttled_ns; /* part of runq_ns */
	__u64 steal_ns;    /* time that the hypervisor took while it had the CPU: not in run_ns */
	__u64 lost_ns;     /* it left a CPU unseen: how long it had run there, from the kernel. Written by that CPU, with
			    * SLOT_LOST, or by another one that sees the thread first */
	union {
		struct {
			__u64 throttle_ns; /* SLOT_THROTTLED: the runqueue's sum of stopped time when the thread was stopped;
					    * later the thread's own stopped time */
			__u64 softirq_began; /* preemptible softirqs: what it had run when the present one began */
		};
		struct usage_io ended; /* SLOT_DEAD: what it read and wrote, see usage.bpf.h */
	};
	__u32 softirq;     /* source of that softirq: WAKE_SOURCE(), 0: none; valid only while the kernel says that
			    * it runs one */
	__u64 minor_faults; /* SLOT_COUNTS */
	__u64 major_faults;
} __attribute__((aligned(64)));

_Static_assert(sizeof(struct slot) == 384, "six cache lines");
_Static_assert(__builtin_offsetof(struct slot, run_delay) == 64, "line 2");
_Static_assert(__builtin_offsetof(struct slot, runq_max_ns) == 128, "line 3");
_Static_assert(__builtin_offsetof(struct slot, comm) == 256, "line 5");

/*
 * What a switch finds out for its later steps. Kept in the CPU's slot, where the verifier forgets it: in a register or
 * on the stack it would double the states of all that follows, and the load time.
 */
enum switch_finding {
	SWITCH_GAP = 1,      /* the switch before was not reported */
	SWITCH_LATE = 2,     /* prev had no slot when it came */
	SWITCH_PARKS = 4,    /* prev's user stack has to be taken */
	SWITCH_DEAD = 8,     /* prev has ended */
	SWITCH_BLOCKED = 16, /* next comes back from a long block */
};

/* Times up to which stacks of a CPU's blocks are paid for, see park_afford() and block_afford(). */
struct block_budget {
	__u64 parks_paid;   /* of user stacks parked where a long block is likely, */
	__u64 guesses_paid; /* or may be the first, */
	__u64 blocks_paid;  /* and of reports of blocks for which none was parked */
};

/*
 * One CPU, written only by its own programs. A reader's copy is consistent if switches_done, read before it, equals
 * switches, read after it.
 */
struct cpu_slot {
	__u64 switches;
	__u64 switches_done;
	__u64 current_task;  /* address of the running thread's task_struct: compared, never followed */
	__u32 current_slot;  /* index of its slot, 0: none */
	__u16 current_idle;  /* it is the idle task */
	__u16 findings;      /* enum switch_finding, of the current switch */
	__u64 since;         /* of the last switch, or started_ns; 0: no switch seen yet */
	__u64 run_ns;        /* run_ns + idle_ns + steal_ns: the time since started_ns */
	__u64 idle_ns;
	__u64 last_ns;       /* of the last event */

	__u64 suspended_ns;  /* CLOCK_BOOTTIME - CLOCK_MONOTONIC */
	__u64 wakings;
	__u64 records;       /* written to this CPU's ring (ring.h), including overwritten ones */
	__u64 clock_seen;    /* when clock_follow() last measured */
	__u64 timer_at;      /* last interrupt of its timer */
	__u64 steal_charged; /* part of the kernel's sum that is in steal_ns; 0: not read yet */
	__u64 steal_seen;    /* the kernel's sum when last read */
	__u32 offline;       /* set by user space until its next switch: its last switch to the idle thread was not
			      * seen */
	__u32 files_met;     /* samples met files that the next switch or tick has to add */

	/* What all interrupts and every switch use: one cache line, and one for the outermost level. */
	__u32 hardirq;       /* current interrupt: WAKE_SOURCE(), 0: none */
	__u32 softirq;       /* the same for softirqs, unless they are preemptible */
	__u64 hardirq_ns;    /* time that interrupts took from the threads that ran */
	__u64 softirq_ns;    /* the same for softirqs, without those in ksoftirqd: they are its own time */
	__u64 interrupts;
	__u64 irq_charged;   /* hardirq_ns + softirq_ns at the last switch: the running thread lost what they grew by since */
	__u64 irq_at;        /* last change of irq_depth */
	__u32 irq_depth;
	__u32 tickless;      /* set by user space: its timer may stop while it is busy */
	struct irq_level irq_levels[IRQ_LEVELS];

	__u64 scope_cgroup;  /* scratch of cgroup_met() */
	__u64 stack_events;  /* written to this CPU's ring */
	struct block_budget sleep_budget, d_budget;
	__u32 ring_other;    /* the recorder's last event was RING_OTHER */
	__u64 steal_ns;      /* see steal.bpf.h */
	__u64 clock_offset;  /* accounting clock - the scheduler's, see clock_follow() */
	__u64 clock_least;   /* smallest distance since clock_window */
	__u64 clock_before;  /* the same in the window before */
	__u64 clock_window;
	__u64 bpf_ns;        /* estimated run time of the programs without the sampler */
	__u64 sample_ns;     /* run time of the sampler, which can interrupt the others */
	__u64 samples[SAMPLE_CLASSES];
	__u64 files_waited;  /* samples that met new files and left adding them to the next switch or tick */
	__u64 stacks_skipped; /* long blocks beyond the budget */
	__u64 counted_paid;  /* time up to which stacks of counted events are paid for */
	__u64 counted_skipped; /* counted events beyond the budget */
	__u64 minors_paid;   /* as counted_paid, for minor page faults, which must not use up the budget of major ones */
	__u32 fault_points;  /* events of minor page faults so far, */
	__u32 fault_taken;   /* and which of FAULT_POINTS in a row is the one whose stack is taken */
	__u64 was_since;     /* scratch of block_begin() */
	__u64 was_blocked;
	__u64 was_runq;
	__u64 was_throttled;
	__u16 was_state;
	__u16 was_moved;     /* to another CPU, while it was off the CPU */
	struct wait_run runs[WAIT_RUNS]; /* last long runs, a ring */
	__u32 nr_runs;
	__u32 nr_shares, skipped_runs;         /* scratch of wait_emit_before(), */
	struct wait_share shares[WAIT_SHARES]; /* about one wait */
	__u64 wait_events;   /* written to this CPU's ring */
	__u64 waits_paid;    /* time up to which events are paid for: see wait_afford() */
	__u64 busy_since;    /* when it was last idle */
	__u64 tick_at;       /* last interrupt of its timer or sampler */
	__u64 gap_ns;        /* longest time without one on a busy CPU since the reader last took it */
	__u64 gap_at;        /* end of that gap, accounting clock */
	__u32 gap_tid;       /* thread that ran at its end */
	__u64 commands;      /* programs that threads in scope started, */
	__u64 commands_unread; /* and those of them whose command line could not be read then */
	__u32 away_hist[2][HIST_SLOTS]; /* sleeps and D states of AWAY_NS and more, of threads in scope */
	__u64 loss[LOSS_COUNT];
} __attribute__((aligned(64)));

_Static_assert(__builtin_offsetof(struct cpu_slot, hardirq) == 128, "line 2");

/* State shared by all programs and user space; one instance, memory-mapped. */
struct shared {
	/* Read by every switch or sample, seldom changed. */
	__u32 scope_gen;     /* raised when a thread changes its cgroup, or the scope changes: switches decide again */
	__u32 seeded;        /* set by user space once the threads that existed at start have slots */
	__u64 started_ns;    /* accounting clock when the probes were attached, set by user space */
	__u32 stack_generation; /* of the dictionary, 1 to STACK_GENERATION_MAX(); 0: no stacks are taken */
	__u32 sampler_timer; /* a timer's interrupt drives the sampler */
	__u64 entry_from, entry_to; /* the kernel's entry code, which only an NMI can interrupt; 0: there is none */
	__u64 suspended_ns;  /* CLOCK_BOOTTIME - CLOCK_MONOTONIC, set by user space */
	__u32 seconds;       /* since boot, set by user space */
	__u32 tables_off;    /* the unwinder's tables do not work here: frame pointers are used */
	__u32 steal_known;    /* stolen time is known: the kernel reports it, or there is no hypervisor */
	__u32 sched_ext;     /* set by user space: a scheduler of BPF programs has threads now */
	__u32 sampler_seen;  /* the sampler's own interrupt is seen like any other, as a timer's or as a line: no NMI */
	__u32 peek_slot;     /* slot whose user stack is being read, see blocked.bpf.c; 0: none */
	__u32 sampler_gap_ns; /* a busy CPU without a sample for this long has a gap, if a timer drives the sampler */
	__u64 block_price_ns; /* set by user space: 1 s / stacks of D states allowed per second and CPU, see block_price() */
	__u64 counted_price_ns; /* set by user space: the same for stacks of counted events */
	__u64 wait_price_ns; /* set by user space: of each reported wait, see wait_afford() */

	/* Written by all CPUs when threads, files and stacks come and go. */
	__u32 slots_used __attribute__((aligned(64))); /* highest slot ever handed out */
	__u32 dead_head;     /* next entry of the dead ring */
	__u32 files;         /* ids given out for the first time */
	__u32 files_again;   /* ids given out again after their file was forgotten */
	__u32 files_asked;   /* entries of the map of that name */
	__u32 files_lost;    /* files of frames for which there was no id, or no room to report them */
	__u32 irq_lines;     /* sources given to lines of /proc/interrupts */
	__u32 stack_lines[2];   /* allocated in each half */
	__u32 stack_entries[2];
	__u32 moves_lost;    /* a move between cgroups could not be reported for lack of room */
	__u32 newest_program; /* highest id of a BPF program that newest_program has met */
	__u64 free_files;    /* stack of free file ids, linked by next_free: the first one, 0: none; the upper half holds a number
			      * that each change raises, so that a change from an earlier state fails */
} __attribute__((aligned(64)));

/* Entries of the slot map; user space may raise it before load. Slot 0 is never used: it means none. */
#define SLOTS_DEFAULT 65536
/* Entries of found_slots per slot: a power of two, as is the number of slots. */
#define FOUND_PER_SLOT 2

/* The kinds of scope that -c, -p with -t, and -u set: a thread is in scope if it fits every kind given. */
enum scope_kind {
	SCOPE_CGROUP = 1,
	SCOPE_PID = 2,
	SCOPE_UID = 4,
};

/* How -p and -t cover a thread. A number of the map scope_pids may be both. */
enum pid_scope {
	SCOPE_PROCESS = 1, /* its process was given with -p, or its parent thread is covered so */
	SCOPE_THREAD = 2,  /* it was given with -t: what it creates is not covered */
};

/* Hierarchies that a cgroup scope can name at once; v1 controllers by number, v2 is -1. */
#define SCOPE_HIERARCHIES 4
#define HIERARCHY_V2 (-1)
#define HIERARCHY_NONE (-2)

/* A cgroup, reported so that user space knows its name before it next walks the hierarchy. */
#define CGROUP_NAME_SIZE 256 /* NAME_MAX and the terminating 0 */

struct cgroup_event {
	__u64 id;
	__u64 parent;        /* 0: this is the hierarchy's root */
	__u64 limits;        /* in the hierarchy with the CPU limits, not in the one shown */
	char name[CGROUP_NAME_SIZE];
};

/* log2 of the entries of cgroups_reported. */
#define CGROUPS_REPORTED_BITS 14

/*
 * A move to another cgroup. @slot is 0 if a thread, or a whole process, was moved: the kernel reports no more than that. Otherwise
 * a thread, asleep or not, was found in another cgroup or scope than its slot says: @was is the slot's content up to then.
 */
struct cgroup_move {
	__u32 slot;
	__u32 tid;
	__u32 process;     /* all its threads are moved */
	__u32 spare;
	__u64 at;          /* accounting clock */
	struct slot was;   /* absent if slot is 0 */
};

/* A cgroup in scope, with everything below it: key of the scope_cgroups map. */
struct scope_cgroup {
	__u64 id;
	__s32 ssid;
	__u32 spare;
};

#endif
