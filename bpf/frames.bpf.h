/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_BPF_FRAMES_BPF_H
#define SYSTOP_BPF_FRAMES_BPF_H

/* The state of a user stack walk, and scratch memory for it and for kernel stacks. */

#include "maps.bpf.h"
#include "stack.h"
#include "unwind.h"

/* Frames kept at the inner end of a stack that is too deep to be kept whole. */
#define STACK_INNER (STACK_USER_MAX - 1 - STACK_OUTER)

#define UNWIND_VMAS 16

/* Words of the stack read at once; a power of two. */
#define UNWIND_WINDOW 64

/* Compilers save registers at the end of a frame: within this many words. */
#define UNWIND_SAVED 8

struct frames {
	__u64 frames[STACK_USER_MAX];
};

struct unwind {
	__u64 pc, sp, bp, bx, di; /* di: only of the innermost frame. arm64: bx is the link register */
	__u64 address_bits; /* arm64: those of an address; the others of a return address can hold its signature */
	__u64 hash;
	__u64 mm_root;      /* of the maple tree */
	__u64 vdso;
	__u64 utask;        /* struct uprobe_task; 0: the thread met no uprobe */
	__u64 xol_area;     /* of its process, if it met one */
	__u64 returns_to;   /* return address of the last frame; 0: it is the innermost one */
	__u32 nr, nr_vmas, last;
	__u32 leaf;         /* pc is the frame's own address, not a return address */
	__u32 end;          /* enum stack_end */
	__u32 flags;        /* enum stack_flags */
	__u32 tgid;
	__u32 check;        /* a second hash */
	__u32 in_exec;
	__u32 trapped;      /* x86: an exception without an error code entered the kernel, such as a breakpoint's */
	__u32 known;        /* mappings in vmas that came from the cache; ~0: do not cache them */
	__u32 seq;          /* of the mappings, at the start of the walk */
	__u64 inner_hash;   /* both hashes of the frames kept at the inner end */
	__u32 inner_check;
	struct unwind_vma vmas[UNWIND_VMAS];
	struct frames frames;
	/* Scratch that does not fit on the programs' stack: 512 bytes for all nested calls. */
	struct file_key key;
	__u64 node[32];
	struct cfi_rule rule; /* of the current frame */
	__u64 cfa;
	__u32 low, high;    /* of a search */
	__u64 deref_at, deref;
	__u64 fp_at, bx_at; /* where the caller's registers were saved; 0: unchanged */
	__u64 window_at;    /* a part of the stack that was read at once */
	__u32 window_bytes;
	__u64 window[UNWIND_WINDOW];
	__u32 busy;         /* UNWIND_BLOCKED only: a run of the iterator, which may sleep, uses this scratch */
};

/* One scratch each: a sample can interrupt a switch, and both can interrupt the reading of another thread's stack. */
enum unwind_context { UNWIND_SAMPLE, UNWIND_SWITCH, UNWIND_BLOCKED, UNWIND_CONTEXTS };

/* Whether a call puts the return address in a register rather than on the stack. */
#if defined(__TARGET_ARCH_arm64)
#define LINK_REGISTER true
#else
#define LINK_REGISTER false
#endif

struct unwinds_map {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, UNWIND_CONTEXTS);
	__type(key, __u32);
	__type(value, struct unwind);
};
extern struct unwinds_map unwinds SEC(".maps");

/* Scratch for kernel stacks. */
struct kernel_frames_map {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, UNWIND_CONTEXTS);
	__type(key, __u32);
	__type(value, struct frames);
};
extern struct kernel_frames_map kernel_frames SEC(".maps");

#endif
