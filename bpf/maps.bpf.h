/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_BPF_MAPS_BPF_H
#define SYSTOP_BPF_MAPS_BPF_H

/* Maps and settings that several programs share. */

#include "kernel.h"
#include "slot.h"
#include "view.bpf.h"

#include <linux/bpf.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

/* Settings, fixed at load. */
extern const volatile __u32 slots_max;      /* entries of slots, dead_ring and free_slots */
extern const volatile __s32 cgroup_ssid;    /* v1 controller whose hierarchy is shown, -1: v2 */
extern const volatile __s32 limits_ssid;    /* v1 controller whose hierarchy has the CPU limits, -1: v2,
					     * HIERARCHY_NONE: the one shown */
extern const volatile __u32 scope_kinds;    /* enum scope_kind bits in force, 0: everything */
extern const volatile __s32 scope_ssid[SCOPE_HIERARCHIES]; /* of the cgroup scope, or HIERARCHY_NONE */

/* Whether programs may read arbitrary kernel memory, fixed at load: lockdown "confidentiality" forbids it. Without
 * it there are no stacks and no cgroup names; the verifier skips the code that depends on it. */
extern const volatile bool kernel_reads;

/* Whether task storage may be created while the scheduler holds a lock. Fixed at load. */
extern const volatile bool storage_at_switch;

/* Whether a sample, which can be an NMI, must not write to hashes: their locks may be held on this CPU, and until
 * Linux 6.15 two CPUs that wait for each other's lock that way deadlock. Fixed at load. */
extern const volatile bool samples_wait;

/* Whether a scheduler of BPF programs (sched_ext) runs, or has run since boot: then a thread's running time up to
 * its last switch-in is not known. Fixed at load. */
extern const volatile bool sched_ext_ran;

/* State shared with user space (memory-mapped .bss). */
extern struct shared shared;

struct slots_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, SLOTS_DEFAULT);
	__type(key, __u32);
	__type(value, struct slot);
};
extern struct slots_map slots SEC(".maps");

/* One per possible CPU: resized before load. */
struct cpus_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct cpu_slot);
};
extern struct cpus_map cpus SEC(".maps");

/* Slots of dead threads, for user space to harvest: written at dead_head, zeroed by the reader. A slot is here at
 * most once, so a ring of slots_max entries never overflows. The kernel aligns array elements to 8 bytes, hence
 * their size. */
struct dead_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, SLOTS_DEFAULT);
	__type(key, __u32);
	__type(value, __u64);
};
extern struct dead_map dead_ring SEC(".maps");

/* Slots that were harvested and can be used again. */
struct free_map {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, SLOTS_DEFAULT);
	__type(value, __u32);
};
extern struct free_map free_slots SEC(".maps");

/*
 * Where a thread's slot was last found, by the low bits of its tid. At the switch of a thread that has not run for a while, its
 * task storage is three cache misses away (170 ns under 400 processes), and this entry one. An entry is trusted only if the slot
 * says that it belongs to the thread.
 */
struct found_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, FOUND_PER_SLOT * SLOTS_DEFAULT);
	__type(key, __u32);
	__type(value, __u64);
};
extern struct found_map found_slots SEC(".maps");

/* A thread's slot. */
struct slot_ref {
	__u32 slot; /* 0: none */
};

struct refs_map {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct slot_ref);
};
extern struct refs_map refs SEC(".maps");

#endif
