/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_BPF_UNWIND_BPF_H
#define SYSTOP_BPF_UNWIND_BPF_H

/*
 * A thread's user stack, as frames of files: from frame to frame by the tables that user space made from
 * .eh_frame (unwind.h), and by frame pointers where there is none.
 */

#include "mapping.bpf.h"

#define UNWIND_FRAME_MAX (1 << 20) /* no frame is larger */

struct unwind_files_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, UNWIND_FILES);
	__type(key, __u32);
	__type(value, struct unwind_file);
};
extern struct unwind_files_map unwind_files SEC(".maps");

struct unwind_pages_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, UNWIND_PAGES);
	__type(key, __u32);
	__type(value, struct unwind_page);
};
extern struct unwind_pages_map unwind_pages SEC(".maps");

struct unwind_rules_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, UNWIND_RULES);
	__type(key, __u32);
	__type(value, struct cfi_rule);
};
extern struct unwind_rules_map unwind_rules SEC(".maps");

/* Each chunk is an array of one element. */
struct unwind_chunk_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__uint(key_size, 4);
	__uint(value_size, UNWIND_CHUNK_BYTES);
};

struct unwind_chunks_map {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, UNWIND_CHUNKS);
	__uint(key_size, 4);
	__uint(value_size, 4);
	__array(values, struct unwind_chunk_map);
};
extern struct unwind_chunks_map unwind_chunks SEC(".maps");

/* The registers a stack walk begins with. Returns false if they are of no 64-bit code. */
static __always_inline bool unwind_begin(struct unwind *u, struct task_struct *t)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(t);

#if defined(__TARGET_ARCH_x86)
	u->pc = BPF_CORE_READ(regs, ip);
	u->sp = BPF_CORE_READ(regs, sp);
	u->bp = BPF_CORE_READ(regs, bp);
	u->bx = BPF_CORE_READ(regs, bx);
	u->di = BPF_CORE_READ(regs, di);
	return (BPF_CORE_READ(regs, cs) & 0xffff) == 0x33;
#elif defined(__TARGET_ARCH_arm64)
	u->pc = BPF_CORE_READ(regs, user_regs.pc);
	u->sp = BPF_CORE_READ(regs, user_regs.sp);
	u->bp = BPF_CORE_READ(regs, user_regs.regs[29]);
	return !(BPF_CORE_READ(regs, user_regs.pstate) & 0x10);
#else
	return false;
#endif
}

/*
 * A page's row that holds @at, of @nr rows from @first on in a chunk: its rule, -1: none. The bounds are
 * in memory, as the verifier would follow what it knows of them through every way the search can take.
 */
static __always_inline int unwind_search(struct unwind *u, __u32 first, __u32 nr, __u16 at)
{
	__u32 chunk = first / UNWIND_CHUNK_ROWS, zero = 0;
	struct unwind_row *rows;
	void *map;

	map = bpf_map_lookup_elem(&unwind_chunks, &chunk);
	if (!map)
		return -1;
	rows = bpf_map_lookup_elem(map, &zero);
	if (!rows)
		return -1;
	u->low = first & (UNWIND_CHUNK_ROWS - 1);
	u->high = u->low + nr;
	for (int i = 0; i < 17; i++) {
		volatile __u32 *low = &u->low, *high = &u->high;
		__u32 middle = (*low + *high) / 2;

		if (*low >= *high)
			break;
		if (rows[middle & (UNWIND_CHUNK_ROWS - 1)].from <= at)
			*low = middle + 1;
		else
			*high = middle;
	}
	/* A page's first row begins with it. */
	return rows[(*(volatile __u32 *)&u->low - 1) & (UNWIND_CHUNK_ROWS - 1)].rule;
}

/* unwind_find - copies the rule for a place in a file to u->rule. 0: the file has no table. */
__weak __noinline int unwind_find(__u32 context, __u32 file, __u64 offset)
{
	struct unwind *u = bpf_map_lookup_elem(&unwinds, &context);
	struct unwind_file *f = bpf_map_lookup_elem(&unwind_files, &file);
	struct unwind_page *p;
	struct cfi_rule *rule;
	__u32 page = offset >> UNWIND_PAGE_SHIFT, at;
	int found;

	if (!u || !f || shared.tables_off)
		return 0;
	if (!f->nr) {
		f->met = 1;
		return 0;
	}
	u->rule.kind = CFI_GAP;
	if (page >= f->nr)
		return 1;
	page += f->first;
	p = bpf_map_lookup_elem(&unwind_pages, &page);
	if (!p || !p->nr)
		return 1;
	found = unwind_search(u, p->first, p->nr, offset);
	if (found < 0)
		return 1;
	at = found;
	rule = bpf_map_lookup_elem(&unwind_rules, &at);
	if (rule)
		u->rule = *rule;
	return 1;
}

/* Where the kernel put the registers of what a signal interrupted, from the stack pointer on that its
 * handler returns to: struct rt_sigframe. */
#if defined(__TARGET_ARCH_x86)
#define SIGNAL_FP 120
#define SIGNAL_BX 128
#define SIGNAL_SP_PC 160 /* one behind the other */
#endif

/* The places to be read for a caller whose CFA is known. Returns 0 if that cannot be. */
static __always_inline int unwind_places(struct unwind *u)
{
	if (u->cfa <= u->sp || u->cfa - u->sp > UNWIND_FRAME_MAX || u->cfa & 7) {
		u->end = STACK_TRUNCATED;
		return 0;
	}
	u->pair_at = u->cfa - 16;
	if (u->rule.fp == CFI_AT_CFA && u->rule.fp_offset != -16)
		u->fp_at = u->cfa + u->rule.fp_offset;
	else if (u->rule.fp == CFI_AT_FP)
		u->fp_at = u->bp + u->rule.fp_offset;
	if (u->rule.bx == CFI_AT_CFA)
		u->bx_at = u->cfa + u->rule.bx_offset;
	else if (u->rule.bx == CFI_AT_FP)
		u->bx_at = u->bp + u->rule.bx_offset;
	return 1;
}

/* By frame pointers: where there is no table, or a gap in it. */
static __always_inline int unwind_by_fp(struct unwind *u, __u32 nr)
{
	u->rule = (struct cfi_rule){ .kind = CFI_FP, .offset = 16, .fp = CFI_AT_CFA, .fp_offset = -16 };
	/* The outermost frame has none before it, by the ABI. Alone it tells nothing: code without
	 * frame pointers has anything in that register. */
	if (!u->bp) {
		u->end = nr ? STACK_COMPLETE : STACK_TRUNCATED;
		return 0;
	}
	u->cfa = u->bp + 16;
	if (u->bp < u->sp || u->bp & 7 || u->bp - u->sp > UNWIND_FRAME_MAX) {
		u->end = STACK_TRUNCATED; /* the register holds something else */
		return 0;
	}
	u->flags |= STACK_BY_FP;
	return unwind_places(u);
}

/* u->deref was read, if the rule needs it: the places for the rest. 0: the walk ends. */
__weak __noinline int unwind_cfa(__u32 context)
{
	struct unwind *u = bpf_map_lookup_elem(&unwinds, &context);

	if (!u)
		return 0;
	u->cfa = u->deref + u->rule.more;
	return unwind_places(u);
}

enum unwind_next {
	UNWIND_END,
	UNWIND_READ,  /* the places are known */
	UNWIND_DEREF, /* what is at u->deref_at comes first, for unwind_cfa() */
	UNWIND_HERE,  /* nothing is to be read */
};

/* How to go on from the noted frame, by u->rule. */
static __always_inline int unwind_rule(struct unwind *u)
{
	switch (u->rule.kind) {
	case CFI_SP:
		u->cfa = u->sp + u->rule.offset;
		break;
	case CFI_FP:
		u->cfa = u->bp + u->rule.offset;
		break;
	case CFI_BX:
		u->cfa = u->bx + u->rule.offset;
		break;
	case CFI_PLT:
		u->cfa = u->sp + u->rule.offset + ((__s64)(u->pc & 15) >= u->rule.more ? 8 : 0);
		break;
	case CFI_RA_DI:
		if (!u->leaf) {
			u->end = STACK_NO_RULE;
			return UNWIND_END;
		}
		u->cfa = u->sp + u->rule.offset;
		u->pair[1] = u->di;
		return UNWIND_HERE;
	case CFI_DEREF_SP:
	case CFI_DEREF_FP:
		u->deref_at = (u->rule.kind == CFI_DEREF_SP ? u->sp : u->bp) + u->rule.offset;
		return UNWIND_DEREF;
#if defined(__TARGET_ARCH_x86)
	case CFI_SIGNAL:
		u->pair_at = u->sp + SIGNAL_SP_PC;
		u->fp_at = u->sp + SIGNAL_FP;
		u->bx_at = u->sp + SIGNAL_BX;
		return UNWIND_READ;
#endif
	case CFI_STOP:
		u->end = STACK_COMPLETE;
		return UNWIND_END;
	default:
		u->end = STACK_NO_RULE;
		return UNWIND_END;
	}
	return unwind_places(u) ? UNWIND_READ : UNWIND_END;
}

/* unwind_note - the frame the walk is at, and how to go on: enum unwind_next. */
__weak __noinline int unwind_note(__u32 context)
{
	struct unwind *u = bpf_map_lookup_elem(&unwinds, &context);
	struct unwind_vma *v;
	__u64 addr, f;
	__u32 nr;
	int at;

	if (!u)
		return UNWIND_END;
	addr = u->leaf ? u->pc : u->pc - 1; /* of the call, not behind it */
	nr = u->nr;
	if (!u->pc) { /* the way out of a root; with a frame pointer it was no frame that was followed */
		u->end = u->bp ? STACK_TRUNCATED : STACK_COMPLETE;
		return UNWIND_END;
	}
	if (nr >= STACK_STEPS_MAX) {
		u->end = STACK_TOO_DEEP;
		return UNWIND_END;
	}
	at = unwind_vma(context, addr);
	if (at < 0) {
		u->end = STACK_NO_CODE;
		return UNWIND_END;
	}
	if (nr == STACK_INNER) {
		u->inner_hash = u->hash;
		u->inner_check = u->check;
	}
	at &= UNWIND_VMAS - 1;
	u->last = at;
	v = &u->vmas[at];
	if (v->file & FRAME_ANONYMOUS) {
		f = FRAME_ANONYMOUS | addr;
		u->flags |= STACK_ANONYMOUS;
	} else {
		f = v->file | ((addr + v->delta) & FRAME_OFFSET_MASK);
	}
	at = nr > STACK_INNER ? (STACK_USER_MAX - STACK_OUTER) | (nr & (STACK_OUTER - 1)) : nr;
	u->frames.frames[at & (STACK_USER_MAX - 1)] = f;
	u->nr = nr + 1;
	stack_hash(&u->hash, &u->check, f);

	u->fp_at = u->bx_at = 0;
	if (f & FRAME_ANONYMOUS || !unwind_find(context, f >> FRAME_FILE_SHIFT, f & FRAME_OFFSET_MASK) ||
	    u->rule.kind == CFI_GAP)
		return unwind_by_fp(u, nr) ? UNWIND_READ : UNWIND_END;
	return unwind_rule(u);
}

/* On to the caller: everything was read. */
static __always_inline void unwind_up(struct unwind *u)
{
	if (u->rule.kind == CFI_SIGNAL) {
		u->sp = u->pair[0];
		u->leaf = 1; /* it was interrupted there */
	} else {
		if (u->rule.fp == CFI_AT_CFA && u->rule.fp_offset == -16)
			u->fp = u->pair[0];
		u->sp = u->cfa;
		u->leaf = 0;
	}
	if (u->fp_at || (u->rule.fp == CFI_AT_CFA && u->rule.fp_offset == -16))
		u->bp = u->fp;
	if (u->bx_at)
		u->bx = u->bx_saved;
	u->pc = u->pair[1];
}

/* unwind_finish - the walk is over: of a deep stack, what is left out becomes a gap. */
__weak __noinline int unwind_finish(__u32 context)
{
	struct unwind *u = bpf_map_lookup_elem(&unwinds, &context);
	__u32 first;

	if (!u)
		return 0;
	if (u->end == STACK_NO_CODE && !u->nr && u->in_exec)
		u->end = STACK_EXEC;
	if (u->nr <= STACK_USER_MAX)
		return 0;
	first = u->nr; /* the oldest in the ring is the next one that would go */
	for (__u32 i = 0; i < STACK_OUTER; i++) {
		__u32 at = (STACK_USER_MAX - STACK_OUTER) | ((first + i) & (STACK_OUTER - 1));

		u->node[i & 31] = u->frames.frames[at & (STACK_USER_MAX - 1)];
	}
	u->hash = u->inner_hash;
	u->check = u->inner_check;
	u->frames.frames[STACK_INNER] = FRAME_GAP;
	stack_hash(&u->hash, &u->check, FRAME_GAP);
	for (__u32 i = 0; i < STACK_OUTER; i++) {
		u->frames.frames[STACK_INNER + 1 + i] = u->node[i & 31];
		stack_hash(&u->hash, &u->check, u->node[i & 31]);
	}
	u->nr = STACK_USER_MAX;
	return 0;
}

struct unwind_loop {
	__u32 context;
};

/* One frame of the present thread: noted, and on to its caller. Returns 1 at the end of the stack. */
static long unwind_step(__u32 i, struct unwind_loop *loop)
{
	__u32 context = loop->context;
	struct unwind *u = bpf_map_lookup_elem(&unwinds, &context);
	int next;

	if (!u)
		return 1;
	next = unwind_note(context);
	if (next == UNWIND_END)
		return 1;
	u->end = STACK_UNREADABLE;
	if (next == UNWIND_DEREF &&
	    bpf_probe_read_user(&u->deref, sizeof(u->deref), (void *)u->deref_at))
		return 1;
	if (next == UNWIND_DEREF && !unwind_cfa(context))
		return 1;
	if ((next != UNWIND_HERE && bpf_probe_read_user(u->pair, sizeof(u->pair), (void *)u->pair_at)) ||
	    (u->fp_at && bpf_probe_read_user(&u->fp, sizeof(u->fp), (void *)u->fp_at)) ||
	    (u->bx_at && bpf_probe_read_user(&u->bx_saved, sizeof(u->bx_saved), (void *)u->bx_at)))
		return 1;
	unwind_up(u);
	return 0;
}

/*
 * unwind_start - where a walk of the thread's user stack begins.
 * Returns false if it has none: kernel, io_uring and vhost threads, and 32-bit code.
 */
static __always_inline bool unwind_start(struct unwind *u, struct task_struct *t)
{
	/* Copied, not followed: the verifier looks through all of the kernel's type names for each. */
	struct mm_struct *mm = BPF_CORE_READ(t, mm);

	if (!bpf_core_field_exists(mm->mm_mt)) /* a kernel before 6.1 */
		return false;
	if (!mm || BPF_CORE_READ(t, flags) & (PF_KTHREAD | PF_IO_WORKER | PF_USER_WORKER))
		return false;
	if (!unwind_begin(u, t))
		return false;
	u->mm_root = (__u64)BPF_CORE_READ(mm, mm_mt.ma_root);
	u->vdso = bpf_core_field_exists(mm->context.vdso) ? (__u64)BPF_CORE_READ(mm, context.vdso) : 0;
	u->tgid = BPF_CORE_READ(t, tgid);
	u->in_exec = BPF_CORE_READ_BITFIELD_PROBED(t, in_execve);
	u->nr = u->nr_vmas = u->last = u->flags = 0;
	u->hash = u->check = 0;
	u->leaf = 1;
	u->end = STACK_TRUNCATED;
	return true;
}

/* unwind_user - the present thread's user stack into a scratch of this CPU. NULL: it has none. */
static __always_inline struct unwind *unwind_user(struct task_struct *t, __u32 context)
{
	struct unwind *u = bpf_map_lookup_elem(&unwinds, &context);
	struct unwind_loop loop = { context };

	if (!kernel_reads || !u || !unwind_start(u, t))
		return 0;
	bpf_loop(STACK_STEPS_MAX + 1, unwind_step, &loop, 0);
	unwind_finish(context);
	return u;
}

#endif
