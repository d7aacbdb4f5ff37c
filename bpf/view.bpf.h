/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_BPF_VIEW_BPF_H
#define SYSTOP_BPF_VIEW_BPF_H

/* Ways to follow the kernel's pointers. */

#include "kernel.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

/* Whether the kernel has bpf_rdonly_cast(), 6.2 and later. Fixed at load. */
extern const volatile bool has_rdonly_cast;

/* Gives an address the kernel's type @type, so that it can be followed: an unmapped address reads as 0, by the
 * processor's exception. */
extern void *bpf_rdonly_cast(const void *address, __u32 type) __ksym __weak;

/*
 * For following pointers out of a task. At every place that follows a trusted pointer, and on every path to it, the
 * verifier searches all of the kernel's type names (1 ms each on 6.18); pointers of a view are not trusted. Numbers are
 * read from the task itself, which saves a check.
 */
static __always_inline struct task_struct *task_view(struct task_struct *t)
{
	return has_rdonly_cast ? bpf_rdonly_cast(t, bpf_core_type_id_kernel(struct task_struct)) : t;
}

/* A view of an object that is known only by its address, for VIEW_FIELD(). */
#define VIEW(p) (has_rdonly_cast ? (typeof(p))bpf_rdonly_cast(p, bpf_core_type_id_kernel(typeof(*(p)))) : (p))

/* A field of a VIEW(): 1 ns, or 15 ns without the cast. */
#define VIEW_FIELD(p, field) (has_rdonly_cast ? (p)->field : BPF_CORE_READ(p, field))

#endif
