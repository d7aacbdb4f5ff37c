/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_BPF_UNWIND_H
#define SYSTOP_BPF_UNWIND_H

/*
 * Where a caller's registers are, as tables that user space makes from .eh_frame and the unwinder looks
 * up by file and offset. CFA: the value of the stack pointer before the call.
 */

#include <linux/types.h>

enum cfi_kind {
	CFI_GAP,      /* no information: code of a JIT, hand-written, or between functions */
	CFI_SP,       /* CFA = stack pointer + offset */
	CFI_FP,       /* frame pointer + offset */
	CFI_BX,       /* x86: RBX + offset, of the dynamic loader's resolver only */
	CFI_PLT,      /* x86: SP + offset, and 8 more from byte `more` of 16 on */
	CFI_DEREF_SP, /* what is at SP + offset, + more */
	CFI_DEREF_FP,
	CFI_SIGNAL,   /* the frame of a signal: the kernel put all registers on the stack */
	CFI_STOP,     /* the outermost function */
	CFI_BAD,      /* a rule that this has no words for */
	CFI_KINDS
};

/* Where a register of the caller is. */
enum cfi_saved {
	CFI_SAME,    /* it was not changed */
	CFI_AT_CFA,  /* at CFA + offset */
	CFI_AT_FP,   /* at frame pointer + offset */
	CFI_LOST,
};

/* Equal ones are kept once, for all files. */
struct cfi_rule {
	__u8 kind;       /* enum cfi_kind */
	__u8 fp, bx;     /* enum cfi_saved, of the frame pointer and of RBX */
	__u8 spare;
	__s32 offset;
	__s32 more;
	__s16 fp_offset, bx_offset;
};

_Static_assert(sizeof(struct cfi_rule) == 16, "no holes");

#endif
