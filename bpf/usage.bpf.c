/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What threads used so far, read for the refresh: user space runs the program with a list of slots. Threads are reached
 * by the address in their slot, which is followed as in a view (view.bpf.h): the answer counts only if the slot has
 * the address afterwards as well, since a thread's memory is freed after its last switch, which takes it away.
 */

#include "maps.bpf.h"

#include "life.bpf.h"
#include "usage.bpf.h"

struct usage_ended_map usage_ended SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, USAGE_BATCH);
	__type(key, __u32);
	__type(value, struct usage);
} usage_asked SEC(".maps");

static __always_inline void usage_io(struct task_struct *task, struct usage_io *io)
{
	struct task_struct___io *t = (void *)task;

	io->read_bytes = bpf_core_field_exists(t->ioac.read_bytes) ? VIEW_FIELD(t, ioac.read_bytes) : USAGE_UNKNOWN;
	io->write_bytes = bpf_core_field_exists(t->ioac.write_bytes) ? VIEW_FIELD(t, ioac.write_bytes) : USAGE_UNKNOWN;
}

static long usage_one(__u32 i, void *unused)
{
	struct usage *u = bpf_map_lookup_elem(&usage_asked, &i);
	struct slot *s = u ? slot_at(u->slot) : 0;
	struct task_struct *t;
	__u64 address;

	if (!s)
		return 0;
	u->read = 0;
	address = *(volatile __u64 *)&s->task;
	if (!address)
		return 0;
	t = (struct task_struct *)address;
	usage_io(VIEW(t), &u->io);
	u->read = *(volatile __u64 *)&s->task == address;
	return 0;
}

SEC("syscall")
int usage_read(struct usage_ask *ask)
{
	if (kernel_reads || has_rdonly_cast)
		bpf_loop(ask->nr, usage_one, 0, 0);
	return 0;
}
