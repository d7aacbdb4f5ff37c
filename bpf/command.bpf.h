/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_BPF_COMMAND_BPF_H
#define SYSTOP_BPF_COMMAND_BPF_H

/* Command lines of programs that start: the kernel has just written the arguments, so their pages are in memory. */

#include "command.h"
#include "maps.bpf.h"

struct commands_map {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << COMMAND_RING_BITS);
};
extern struct commands_map commands SEC(".maps");

/* Sends an event of @size bytes, a constant. */
static __always_inline void command_send(__u32 size, __u32 slot, struct task_struct *t, struct cpu_slot *c, __u64 start,
					 __u64 bytes)
{
	struct command_event *e = bpf_ringbuf_reserve(&commands, size, 0);
	__u64 most = size - __builtin_offsetof(struct command_event, text), len = bytes;

	if (!e) {
		c->loss[LOSS_COMMANDS]++;
		return;
	}
	asm volatile("" : "+r"(len)); /* makes the verifier see the bound of the register that is used */
	if (len > most)
		len = most;
	e->slot = slot;
	e->tgid = t->tgid;
	e->total = bytes < ~0U ? bytes : ~0U;
	/* Where lockdown forbids reading the kernel's memory, libbpf calls a helper that reads user or kernel memory, which is
	 * forbidden, too. */
	e->len = kernel_reads && len && !bpf_probe_read_user(e->text, len, (void *)start) ? len : 0;
	c->commands_unread += len != e->len;
	bpf_ringbuf_submit(e, BPF_RB_NO_WAKEUP);
}

/* command_started - the current thread, of slot @slot, has started a program. */
static __always_inline void command_started(struct task_struct *t, __u32 slot, struct cpu_slot *c)
{
	struct mm_struct *mm = t->mm;
	__u64 start, bytes;

	if (!mm)
		return;
	start = mm->arg_start;
	bytes = mm->arg_end - start;
	c->commands++;
	if (bytes <= COMMAND_SMALL - __builtin_offsetof(struct command_event, text))
		command_send(COMMAND_SMALL, slot, t, c, start, bytes);
	else if (bytes <= COMMAND_MEDIUM - __builtin_offsetof(struct command_event, text))
		command_send(COMMAND_MEDIUM, slot, t, c, start, bytes);
	else
		command_send(sizeof(struct command_event), slot, t, c, start, bytes);
}

#endif
