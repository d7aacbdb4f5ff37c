/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_BPF_ORDER_BPF_H
#define SYSTOP_BPF_ORDER_BPF_H

/*
 * Keeps writes in order for a reader on another CPU. x86 keeps stores in order by itself, and a locked instruction
 * there would hold up the loads behind it. Elsewhere an atomic instruction that returns a value is a full barrier, and
 * one that returns none is no barrier at all (arm64's STADD and STSET): the value must look used, or the compiler drops
 * it. tests/btf/relocate.c checks the instructions.
 */

#include <linux/types.h>

#include <bpf/bpf_helpers.h>

/* order_add - adds to a word that others may write, too; earlier writes become visible before it. */
static __always_inline void order_add(__u32 *at, __u32 n)
{
	__u32 was = __sync_fetch_and_add(at, n);

	asm volatile("" : : "r"(was));
}

/* order_step - adds one to a word that only this program writes now; earlier writes become visible before it, later
 * ones after it. order_set - the same, but sets the word. */
static __always_inline void order_step(__u32 *at)
{
#ifdef __TARGET_ARCH_x86
	barrier();
	*(volatile __u32 *)at += 1;
	barrier();
#else
	order_add(at, 1);
#endif
}

static __always_inline void order_set(__u64 *at, __u64 value)
{
#ifdef __TARGET_ARCH_x86
	barrier();
	*(volatile __u64 *)at = value;
	barrier();
#else
	__sync_lock_test_and_set(at, value);
#endif
}

#endif
