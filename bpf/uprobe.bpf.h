/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_BPF_UPROBE_BPF_H
#define SYSTOP_BPF_UPROBE_BPF_H

/*
 * What uprobes change in a user stack. A uretprobe replaces the return address of a function by that of a trampoline; and an
 * instruction that a probe replaced is executed elsewhere. The kernel keeps what was there before.
 */

#include "frames.bpf.h"

/* Calls of one thread that return to the trampoline, at most: MAX_URETPROBE_DEPTH. */
#define UPROBE_CALLS_MAX 64

/* Bytes of the trampoline, and of each copy of an instruction: UPROBE_XOL_SLOT_BYTES. */
#define UPROBE_COPY_BYTES 128

/* The trampoline pushes up to three registers. */
#define UPROBE_PUSHED 24

/* How far above the stack pointer at a function's entry its caller's frame begins. */
#define UPROBE_CALLER (LINK_REGISTER ? 0 : 8)

/* uprobe_return - u->pc is a return address, but not of code: if a uretprobe replaced it, sets it to what it was. Returns 0 if none
 * did. */
__weak __noinline int uprobe_return(__u32 context)
{
	struct unwind *u = bpf_map_lookup_elem(&unwinds, &context);
	struct return_instance *call;
	struct uprobe_task *utask;

	if (!u || !kernel_reads)
		return 0;
	utask = VIEW((struct uprobe_task *)u->utask);
	call = VIEW_FIELD(utask, return_instances);
	for (int i = 0; i < UPROBE_CALLS_MAX && call; i++) {
		call = VIEW(call);
		if (VIEW_FIELD(call, stack) + UPROBE_CALLER == u->cfa) {
			u->pc = VIEW_FIELD(call, orig_ret_vaddr);
			return 1;
		}
		call = VIEW_FIELD(call, next);
	}
	return 0;
}

/* x86: the instruction that a probe puts in place of the function's. Until the kernel handles it, pc is behind it. */
#define UPROBE_BREAKPOINT 0xcc

/* uprobe_innermost - before the first frame: sets u->pc back to the probed function, from behind a probe's breakpoint or from the
 * copy of an instruction. If the thread is in the trampoline, sets it to the caller of the function that returned. */
__weak __noinline int uprobe_innermost(__u32 context)
{
	struct unwind *u = bpf_map_lookup_elem(&unwinds, &context);
	struct return_instance *call;
	struct uprobe_task *utask;
	struct xol_area *area;
	__u64 into, caller;
	__u8 code = 0;

	if (!u || !kernel_reads)
		return 0;
	if (u->trapped && context != UNWIND_BLOCKED && !bpf_probe_read_user(&code, 1, (void *)(u->pc - 1)) &&
	    code == UPROBE_BREAKPOINT)
		u->pc--; /* the trampoline may begin with one, too */
	utask = VIEW((struct uprobe_task *)u->utask);
	into = u->pc - VIEW_FIELD(utask, xol_vaddr);
	if (into < UPROBE_COPY_BYTES && VIEW_FIELD(utask, active_uprobe)) {
		u->pc = VIEW_FIELD(utask, vaddr) + into;
		return 0;
	}
	call = VIEW_FIELD(utask, return_instances);
	area = VIEW((struct xol_area *)u->xol_area);
	if (u->pc - VIEW_FIELD(area, vaddr) >= UPROBE_COPY_BYTES || !call)
		return 0;
	call = VIEW(call);
	caller = VIEW_FIELD(call, stack) + UPROBE_CALLER;
	if (caller - u->sp <= UPROBE_PUSHED) {
		u->pc = VIEW_FIELD(call, orig_ret_vaddr);
		u->sp = caller;
		u->leaf = 0;
	}
	return 0;
}

/* Notes what these functions need of a thread that is about to be walked. */
static __always_inline void uprobe_begin(struct unwind *u, struct task_struct *t, struct mm_struct *mm)
{
	u->utask = 0;
	if (!bpf_core_field_exists(t->utask) || !bpf_core_field_exists(mm->uprobes_state))
		return;
	u->utask = (__u64)task_view(t)->utask;
	u->xol_area = (__u64)mm->uprobes_state.xol_area;
}

#endif
