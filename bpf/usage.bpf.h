/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_BPF_USAGE_BPF_H
#define SYSTOP_BPF_USAGE_BPF_H

#include "maps.bpf.h"

#include "usage.h"

/* By slot: the last counts of a thread that ended, written before its slot is buried. User space zeroes them before
 * the slot is used again. */
struct usage_ended_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, SLOTS_DEFAULT);
	__type(key, __u32);
	__type(value, struct usage_io);
};
extern struct usage_ended_map usage_ended SEC(".maps");

struct task_io_accounting___counts { /* CONFIG_TASK_IO_ACCOUNTING */
	__u64 read_bytes;
	__u64 write_bytes;
} __attribute__((preserve_access_index));

struct task_struct___io {
	struct task_io_accounting___counts ioac;
} __attribute__((preserve_access_index));

/* usage_end - keeps what a thread used that will run no more. */
static __always_inline void usage_end(struct task_struct *task, __u32 slot)
{
	struct task_struct___io *t = (void *)task;
	struct usage_io *io = bpf_map_lookup_elem(&usage_ended, &slot);

	if (!io)
		return;
	io->read_bytes = bpf_core_field_exists(t->ioac.read_bytes) ? t->ioac.read_bytes : USAGE_UNKNOWN;
	io->write_bytes = bpf_core_field_exists(t->ioac.write_bytes) ? t->ioac.write_bytes : USAGE_UNKNOWN;
}

#endif
