/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_BPF_UNWIND_BPF_H
#define SYSTOP_BPF_UNWIND_BPF_H

/*
 * Walks a thread's user stack and yields frames of files: from frame to frame by the tables that user space makes from
 * .eh_frame (unwind.h), and by frame pointers where there is no table.
 */

#include "known.bpf.h"
#include "unwind_table.bpf.h"
#include "uprobe.bpf.h"

#define UNWIND_FRAME_MAX (1 << 20) /* without a table, larger frames are taken as errors */

/* x86: the code segment of 64-bit programs, and that of an interrupt in one under Xen's paravirtualization. */
#define USER_CS 0x33
#define USER_CS_XEN 0xe033

/* The registers with which a stack walk begins. Returns false if they are not of 64-bit code. */
static __always_inline bool unwind_begin(struct unwind *u, struct task_struct *t)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(t);

#if defined(__TARGET_ARCH_x86)
	u->pc = regs->ip;
	u->sp = regs->sp;
	u->bp = regs->bp;
	u->bx = regs->bx;
	u->di = regs->di;
	u->trapped = regs->orig_ax == ~0UL;
	return (regs->cs & 0xffff) == USER_CS || (regs->cs & 0xffff) == USER_CS_XEN;
#elif defined(__TARGET_ARCH_arm64)
	u->pc = regs->user_regs.pc;
	u->sp = regs->user_regs.sp;
	u->bp = regs->user_regs.regs[29];
	u->bx = regs->user_regs.regs[30];
	return !(regs->user_regs.pstate & 0x10);
#else
	return false;
#endif
}

/* Where the kernel saved the registers that a signal interrupted, as offsets from the stack pointer to which its
 * handler returns: struct rt_sigframe. */
#if defined(__TARGET_ARCH_x86)
#define SIGNAL_FP 120
#define SIGNAL_BX 128
#define SIGNAL_SP 160
#define SIGNAL_PC 168
#define SIGNAL_END 176

/* What follows the call in the trampolines by which Python shows its functions (-X perf): add $8,%rsp; ret. They have
 * neither a table nor a frame pointer. */
#define TRAMPOLINE_END 0xc308c48348ULL
#define TRAMPOLINE_END_BITS 0xffffffffffULL
#define TRAMPOLINE_FRAME 16
#define TRAMPOLINES true
#else
#define SIGNAL_FP 544
#define SIGNAL_BX 552
#define SIGNAL_SP 560
#define SIGNAL_PC 568
#define SIGNAL_END 576
#define TRAMPOLINES false
#endif

enum unwind_next {
	UNWIND_END,
	UNWIND_READ,  /* read the window first */
	UNWIND_DEREF, /* read the word at u->deref_at first, then call unwind_cfa() */
	UNWIND_HERE,  /* everything needed has been read */
};

/* Index of a place in the window; -1: not in it. */
static __always_inline int unwind_in_window(const struct unwind *u, __u64 place)
{
	__u64 from = place - u->window_at;

	return from & 7 || from >= u->window_bytes ? -1 : (int)(from / 8);
}

static __always_inline __u64 unwind_word(const struct unwind *u, __u64 place)
{
	return u->window[(place - u->window_at) / 8 & (UNWIND_WINDOW - 1)];
}

/* Requests the words from @from to @to, at most UNWIND_SAVED. The words after them in the same page are read, too, as
 * the next frames are there. */
static __always_inline int unwind_want(struct unwind *u, __u64 from, __u64 to)
{
	__u64 page_end = ((to - 1) | 4095) + 1;

	if (from >= u->window_at && to <= u->window_at + u->window_bytes)
		return UNWIND_HERE;
	u->window_at = from;
	u->window_bytes = page_end - from < sizeof(u->window) ? page_end - from : sizeof(u->window);
	return UNWIND_READ;
}

/* Where a register of the caller was saved, 0: it was not. */
static __always_inline __u64 unwind_saved(const struct unwind *u, __u8 saved, __s16 offset)
{
	switch (saved) {
	case CFI_AT_CFA:
		return u->cfa + offset;
	case CFI_AT_FP:
		return u->bp + offset;
	default:
		return 0;
	}
}

/*
 * unwind_places() where a call puts the return address in a register: a function that calls others saves it and the frame pointer
 * as a pair, anywhere in its frame. The innermost function need not save it, nor have a frame.
 */
static __always_inline int unwind_link_places(struct unwind *u, bool anywhere)
{
	__u64 from;

	if (u->rule.bx == CFI_LOST || (u->rule.bx == CFI_SAME && !u->leaf)) {
		u->end = STACK_NO_RULE;
		return UNWIND_END;
	}
	if ((u->cfa < u->sp + !u->leaf && !anywhere) || u->cfa & 7) {
		u->end = STACK_TRUNCATED;
		return UNWIND_END;
	}
	u->fp_at = unwind_saved(u, u->rule.fp, u->rule.fp_offset);
	u->bx_at = unwind_saved(u, u->rule.bx, u->rule.bx_offset);
	if (!u->bx_at)
		return UNWIND_HERE;
	from = u->fp_at == u->bx_at - 8 ? u->fp_at : u->bx_at;
	return unwind_want(u, from, from + 16);
}

/* Requests the places to be read for a caller whose CFA is known: enum unwind_next. @anywhere: the caller may have another
 * stack: runtimes switch stacks, and keep the old one's place on the new one. */
static __always_inline int unwind_places(struct unwind *u, bool anywhere)
{
	__u64 from = u->cfa - 8 * UNWIND_SAVED;
	int next;

	if (LINK_REGISTER)
		return unwind_link_places(u, anywhere);
	if ((u->cfa <= u->sp && !anywhere) || u->cfa & 7) {
		u->end = STACK_TRUNCATED;
		return UNWIND_END;
	}
	/* Not beyond the stack pointer, where memory may not be mapped. */
	if (from < u->sp && u->cfa >= u->sp)
		from = (u->sp + 7) & ~7ULL;
	if (from == u->cfa) {
		u->end = STACK_TRUNCATED;
		return UNWIND_END;
	}
	next = unwind_want(u, from, u->cfa);
	u->fp_at = unwind_saved(u, u->rule.fp, u->rule.fp_offset);
	u->bx_at = unwind_saved(u, u->rule.bx, u->rule.bx_offset);
	return next;
}

/* By frame pointers: where there is no table, or a gap in it. @may_end: this may be the outermost frame, whose frame pointer is 0
 * by the ABI. If not, code without frame pointers may keep anything in that register, even the address of two zeros: rule.more,
 * which rules of this kind in tables do not use, keeps those from counting as a root. */
static __always_inline int unwind_by_fp(struct unwind *u, bool may_end)
{
	__u64 bp = u->bp;

	u->rule = (struct cfi_rule){ .kind = CFI_FP, .offset = 16, .fp = CFI_AT_CFA, .fp_offset = -16, .more = !may_end };
	if (LINK_REGISTER) {
		u->rule.bx = CFI_AT_CFA;
		u->rule.bx_offset = -8;
	}
	if (!bp) {
		u->end = may_end ? STACK_COMPLETE : STACK_TRUNCATED;
		return UNWIND_END;
	}
	if (bp < u->sp || bp & 7 || bp - u->sp > UNWIND_FRAME_MAX) {
		u->end = STACK_TRUNCATED; /* the register holds something else */
		return UNWIND_END;
	}
	u->cfa = bp + 16;
	u->flags |= STACK_BY_FP;
	return unwind_places(u, false);
}

/* unwind_cfa - after u->deref was read: the word that the CFA is computed from or, without a table (CFI_GAP), the code at u->pc.
 * Requests the remaining places, enum unwind_next. */
__weak __noinline int unwind_cfa(__u32 context)
{
	struct unwind *u = bpf_map_lookup_elem(&unwinds, &context);

	if (!u)
		return UNWIND_END;
#if defined(__TARGET_ARCH_x86)
	if (u->rule.kind == CFI_GAP) {
		if ((u->deref & TRAMPOLINE_END_BITS) != TRAMPOLINE_END)
			return unwind_by_fp(u, u->flags & STACK_BY_FP);
		u->rule = (struct cfi_rule){ .kind = CFI_SP };
		u->cfa = u->sp + TRAMPOLINE_FRAME;
		return unwind_places(u, false);
	}
#endif
	u->cfa = u->deref + u->rule.more;
	return unwind_places(u, true);
}

/* Returns how to continue from the noted frame by u->rule: enum unwind_next. */
static __always_inline int unwind_rule(struct unwind *u)
{
	switch (u->rule.kind) {
	case CFI_SP:
		u->cfa = u->sp + u->rule.offset;
		break;
	case CFI_FP:
	case CFI_FP_AWAY:
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
		return UNWIND_HERE;
	case CFI_DEREF_SP:
	case CFI_DEREF_FP:
		u->deref_at = (u->rule.kind == CFI_DEREF_SP ? u->sp : u->bp) + u->rule.offset;
		return UNWIND_DEREF;
	case CFI_SIGNAL:
		u->fp_at = u->sp + SIGNAL_FP;
		u->bx_at = u->sp + SIGNAL_BX;
		return unwind_want(u, u->sp + SIGNAL_FP, u->sp + SIGNAL_END);
	case CFI_STOP:
		u->end = STACK_COMPLETE;
		return UNWIND_END;
	default:
		u->end = STACK_NO_RULE;
		return UNWIND_END;
	}
	return unwind_places(u, u->rule.kind == CFI_FP_AWAY);
}

/* unwind_note - notes the current frame. Returns how to continue: enum unwind_next. */
__weak __noinline int unwind_note(__u32 context)
{
	struct unwind *u = bpf_map_lookup_elem(&unwinds, &context);
	struct unwind_vma *v;
	bool found, callee_in_file;
	__u64 addr, f;
	__u32 nr;
	int at;

	if (!u)
		return UNWIND_END;
	if (!u->nr && u->utask)
		uprobe_innermost(context);
	addr = u->leaf ? u->pc : u->pc - 1; /* the call itself, not the instruction after it */
	nr = u->nr;
	if (!u->pc) { /* the caller of a root; if a frame pointer is left, the walk did not follow real frames */
		u->end = u->bp || (u->rule.kind == CFI_FP && u->rule.more) ? STACK_TRUNCATED : STACK_COMPLETE;
		return UNWIND_END;
	}
	if (nr >= STACK_STEPS_MAX) {
		u->end = STACK_TOO_DEEP;
		return UNWIND_END;
	}
	callee_in_file = !u->leaf && !(u->vmas[u->last & (UNWIND_VMAS - 1)].file & FRAME_ANONYMOUS);
	at = unwind_vma(context, addr);
	if (at < 0 && u->utask && !u->leaf && uprobe_return(context)) {
		addr = u->pc - 1;
		at = unwind_vma(context, addr);
	}
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
	u->fp_at = u->bx_at = 0;
	found = !(f & FRAME_ANONYMOUS) && unwind_find(context, f);
	if (found && u->rule.kind == CFI_SIGNAL && !u->leaf)
		f++; /* no call: a signal's handler returns to where this function begins */
	at = nr > STACK_INNER ? (STACK_USER_MAX - STACK_OUTER) | (nr & (STACK_OUTER - 1)) : nr;
	u->frames.frames[at & (STACK_USER_MAX - 1)] = f;
	u->nr = nr + 1;
	u->returns_to = u->leaf ? 0 : u->pc;
	stack_hash(&u->hash, &u->check, f);

	/* A trampoline calls the interpreter, which is in a file; code of JITs mostly calls its own, and is not read then. */
	if (TRAMPOLINES && f & FRAME_ANONYMOUS && callee_in_file) {
		u->rule.kind = CFI_GAP;
		u->deref_at = u->pc;
		return UNWIND_DEREF;
	}
	if (!found || u->rule.kind == CFI_GAP)
		return unwind_by_fp(u, nr && (found || u->flags & STACK_BY_FP));
	return unwind_rule(u);
}

/* Steps to the caller: everything has been read. */
static __always_inline void unwind_up(struct unwind *u)
{
	if (u->rule.kind == CFI_SIGNAL) {
		u->pc = unwind_word(u, u->sp + SIGNAL_PC);
		u->sp = unwind_word(u, u->sp + SIGNAL_SP);
		u->leaf = 1; /* the signal interrupted it there */
		return;
	}
	if (LINK_REGISTER)
		u->pc = u->bx & u->address_bits;
	else
		u->pc = u->rule.kind == CFI_RA_DI ? u->di : unwind_word(u, u->cfa - 8);
	u->sp = u->cfa;
	u->leaf = 0;
}

/* Whether @code, the first eight bytes to which a coroutine's function returns, is that of a library: it switches to the next
 * coroutine, or exits. glibc's __start_context, with or without indirect branch tracking, and Boost.Context's, which PHP has. */
static __always_inline bool unwind_ends_coroutine(__u64 code)
{
#if defined(__TARGET_ARCH_x86)
	__u64 first = code & 0xffffffffffffffULL;

	return first == 0x243c8b48dc8948ULL /* mov %rbx,%rsp; mov (%rsp),%rdi */ ||
	       code == 0x48dc8948fa1e0ff3ULL /* endbr64; the same */ ||
	       (__u32)code == 0xe8ff3148; /* xor %rdi,%rdi; call */
#else
	return (code & 0xff00001fffffffffULL) == 0xb5000000aa1303e0ULL || /* mov x0, x19; cbnz x0, .. */
	       (code & 0xfc000000ffffffffULL) == 0x94000000d2800000ULL;   /* mov x0, #0; bl */
#endif
}

/* unwind_finish - ends a walk: puts a gap for the frames left out of a deep stack. */
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
	first = u->nr; /* the oldest frame in the ring is the next one to be overwritten */
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

/* Reads the memory of the walked thread. Returns 0, or nonzero if it cannot be read. */
typedef long unwind_reader(void *to, __u32 bytes, __u64 from, struct task_struct *t);

/* Notes one frame and steps to its caller. Returns 1 if it cannot. */
static __always_inline long unwind_caller(struct unwind *u, __u32 context, unwind_reader *read, struct task_struct *t)
{
	int next = unwind_note(context), at;

	if (next == UNWIND_END)
		return 1;
	u->end = STACK_UNREADABLE;
	if (next == UNWIND_DEREF) {
		if (read(&u->deref, sizeof(u->deref), u->deref_at, t)) {
			if (u->rule.kind != CFI_GAP)
				return 1;
			u->deref = 0; /* code that cannot be read */
		}
		next = unwind_cfa(context);
		if (next == UNWIND_END)
			return 1;
	}
	if (next == UNWIND_READ) {
		__u64 bytes = u->window_bytes;

		barrier_var(bytes);
		if (bytes > sizeof(u->window) || read(u->window, bytes, u->window_at, t))
			return 1;
	}
	if (u->fp_at) {
		at = unwind_in_window(u, u->fp_at);
		if (at >= 0)
			u->bp = u->window[at & (UNWIND_WINDOW - 1)];
		else if (read(&u->bp, sizeof(u->bp), u->fp_at, t))
			return 1;
	}
	if (u->bx_at) {
		at = unwind_in_window(u, u->bx_at);
		if (at >= 0)
			u->bx = u->window[at & (UNWIND_WINDOW - 1)];
		else if (read(&u->bx, sizeof(u->bx), u->bx_at, t))
			return 1;
	}
	unwind_up(u);
	return 0;
}

/* One step of a walk. Returns 1 at the end of the stack. */
static __always_inline long unwind_step(struct unwind *u, __u32 context, unwind_reader *read, struct task_struct *t)
{
	if (!unwind_caller(u, context, read, t))
		return 0;
	/* There is no rule for the outermost frame of a coroutine, but it is known by its code, unless that is not in memory: the
	 * table of a shared glibc has a row for it. */
	if (u->end != STACK_COMPLETE && u->returns_to && !read(&u->deref, sizeof(u->deref), u->returns_to, t) &&
	    unwind_ends_coroutine(u->deref))
		u->end = STACK_COMPLETE;
	return 1;
}

static __always_inline long read_own(void *to, __u32 bytes, __u64 from, struct task_struct *t)
{
	return bpf_probe_read_user(to, bytes, (void *)from);
}

struct unwind_loop {
	__u32 context;
};

static long unwind_own_step(__u32 i, struct unwind_loop *loop)
{
	__u32 context = loop->context;
	struct unwind *u = bpf_map_lookup_elem(&unwinds, &context);

	return u ? unwind_step(u, context, read_own, 0) : 1;
}

/*
 * unwind_start - prepares the walk of a thread's user stack. Returns false if it has none: kernel, io_uring and vhost
 * threads, and 32-bit code.
 */
static __always_inline bool unwind_start(struct unwind *u, struct task_struct *t)
{
	struct mm_struct *mm = task_view(t)->mm;

	if (!mappings_known)
		return false;
	if (!mm || t->flags & (PF_KTHREAD | PF_IO_WORKER | PF_USER_WORKER))
		return false;
	if (!unwind_begin(u, t))
		return false;
	u->mm_root = (__u64)mm->mm_mt.ma_root;
	if (LINK_REGISTER)
		u->address_bits = mm->task_size - 1; /* the size is a power of two there */
	u->vdso = bpf_core_field_exists(mm->context.vdso) ? (__u64)mm->context.vdso : 0;
	u->tgid = t->tgid;
	u->returns_to = 0;
	u->in_exec = BPF_CORE_READ_BITFIELD(t, in_execve);
	u->nr = u->nr_vmas = u->last = u->flags = 0;
	u->window_bytes = 0;
	u->hash = u->check = 0;
	u->leaf = 1;
	u->end = STACK_TRUNCATED;
	uprobe_begin(u, t, mm);
	return true;
}

/* unwind_user - walks the current thread's user stack into a scratch of this CPU. NULL: it has none. */
static __always_inline struct unwind *unwind_user(struct task_struct *t, __u32 context)
{
	struct unwind *u = bpf_map_lookup_elem(&unwinds, &context);
	struct unwind_loop loop = { context };

	if (!kernel_reads || !u || !unwind_start(u, t))
		return 0;
	known_take(u, task_view(t)->mm);
	bpf_loop(STACK_STEPS_MAX + 1, unwind_own_step, &loop, 0);
	unwind_finish(context);
	known_keep(u, task_view(t)->mm);
	return u;
}

#endif
