/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_BPF_USAGE_BPF_H
#define SYSTOP_BPF_USAGE_BPF_H

#include "maps.bpf.h"

#include "usage.h"

struct task_io_accounting___counts { /* CONFIG_TASK_IO_ACCOUNTING */
	__u64 read_bytes;
	__u64 write_bytes;
} __attribute__((preserve_access_index));

struct task_struct___io {
	struct task_io_accounting___counts ioac;
} __attribute__((preserve_access_index));

/* usage_end - keeps the usage of a thread that will not run again, before its slot is buried. */
static __always_inline void usage_end(struct task_struct *task, struct slot *s)
{
	struct task_struct___io *t = (void *)task;

	s->ended.read_bytes = bpf_core_field_exists(t->ioac.read_bytes) ? t->ioac.read_bytes : USAGE_UNKNOWN;
	s->ended.write_bytes = bpf_core_field_exists(t->ioac.write_bytes) ? t->ioac.write_bytes : USAGE_UNKNOWN;
}

#endif
