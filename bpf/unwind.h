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
	CFI_RA_DI,    /* x86: SP + offset, and RDI has the way back: of vfork() only */
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

/*
 * The tables. A file's code is cut into pages of 64 KiB of file offset; a page has rows, sorted, the
 * first of which holds what goes on from the page before. Rows lie in chunks of 1 MiB, which are made
 * when they are needed; those of one page are in one chunk.
 */
#define UNWIND_PAGE_SHIFT 16
#define UNWIND_PAGES 65536
#define UNWIND_CHUNK_ROWS 262144U
#define UNWIND_CHUNK_BYTES (UNWIND_CHUNK_ROWS * 4)
#define UNWIND_CHUNKS 64
#define UNWIND_RULES 16384
#define UNWIND_FILES 65536 /* one more than there are ids of files */

/* Of each CPU: rules found last, by frame (unwind_table.bpf.h). */
#define UNWIND_MEMORY_BITS 11
#define UNWIND_MEMORY (1 << UNWIND_MEMORY_BITS)
#define UNWIND_MEMORY_TAG_BITS 48

/* From this offset in the page on, up to the next row, the rule holds. */
struct unwind_row {
	__u16 from;
	__u16 rule;
};

struct unwind_page {
	__u32 first; /* row: chunk * UNWIND_CHUNK_ROWS + place in it */
	__u32 nr;    /* 0: no code here that is known */
};

/* Of each file, by its id. */
struct unwind_file {
	__u32 first, nr; /* pages; nr 0: there is no table, frame pointers are followed */
	__u32 met;       /* set where one was looked for in vain */
	__u32 used;      /* shared.seconds when a stack last had a frame in it */
};

/* Mappings found for the last stacks of an address space. */
#define UNWIND_KNOWN 16      /* address spaces a CPU, a power of two */
#define UNWIND_KNOWN_VMAS 8

/* A mapping that frames of a stack are in. */
struct unwind_vma {
	__u64 start, end;
	__u64 delta;  /* file offset = address + delta */
	__u64 file;   /* id << FRAME_FILE_SHIFT, FRAME_ANONYMOUS */
};

struct unwind_known {
	__u64 mm;      /* address of the mm_struct: compared, never followed; 0: none, or it is being written */
	__u64 stack;   /* where its stack began: tells it from a later one at the same address */
	__u32 tgid;
	__u32 seq;     /* of its mappings: raised whenever one changes */
	__u32 seconds; /* since the host was started */
	__u32 writes;
	struct unwind_vma vmas[UNWIND_KNOWN_VMAS];
};

#endif
