/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_BPF_UNWIND_H
#define SYSTOP_BPF_UNWIND_H

/*
 * Where a caller's registers are, as tables that user space makes from .eh_frame and the unwinder looks up by file and
 * offset. CFA: the value of the stack pointer before the call.
 */

#include <linux/types.h>

enum cfi_kind {
	CFI_GAP,      /* no information: a JIT compiler's code, hand-written code, or between functions */
	CFI_SP,       /* CFA = stack pointer + offset */
	CFI_FP,       /* CFA = frame pointer + offset */
	CFI_FP_AWAY,  /* the same, and that may be on another stack than the stack pointer */
	CFI_BX,       /* x86: RBX + offset, only in the dynamic loader's resolver */
	CFI_PLT,      /* x86: SP + offset, and 8 more from byte `more` of each 16 on */
	CFI_DEREF_SP, /* the word at SP + offset, + more */
	CFI_DEREF_FP,
	CFI_RA_DI,    /* x86: SP + offset, return address in RDI: only in vfork() */
	CFI_SIGNAL,   /* a signal frame: the kernel saved all registers on the stack */
	CFI_STOP,     /* the outermost function */
	CFI_BAD,      /* a rule that cannot be expressed here */
	CFI_KINDS
};

/* Where a register of the caller is. */
enum cfi_saved {
	CFI_SAME,    /* unchanged */
	CFI_AT_CFA,  /* at CFA + offset */
	CFI_AT_FP,   /* at frame pointer + offset */
	CFI_LOST,
};

/* Pivots of the kernel's maple nodes that the programs can walk, by kind (include/linux/maple_tree.h). */
#define MAPLE_PIVOTS 15
#define MAPLE_ARANGE_PIVOTS 9

/* Equal rules are kept once for all files. */
struct cfi_rule {
	__u8 kind;       /* enum cfi_kind */
	__u8 fp, bx;     /* enum cfi_saved, of the frame pointer and of RBX; on arm64 of the link register */
	__u8 spare;
	__s32 offset;
	__s32 more;
	__s16 fp_offset, bx_offset;
};

_Static_assert(sizeof(struct cfi_rule) == 16, "no holes");

/*
 * The tables. A file's code is cut into pages of 64 KiB of file offset; a page has sorted rows, the first of which
 * continues the page before. Rows lie in chunks of 1 MiB, which are allocated on demand; the rows of a page are in one
 * chunk.
 */
#define UNWIND_PAGE_SHIFT 16
#define UNWIND_PAGES 65536
#define UNWIND_CHUNK_ROWS 262144U
#define UNWIND_CHUNK_BYTES (UNWIND_CHUNK_ROWS * 4)
#define UNWIND_CHUNKS 64
#define UNWIND_RULES 16384
#define UNWIND_FILES 65536 /* one more than there are file ids */

/* Per CPU: the rules found last, by frame (unwind_table.bpf.h). */
#define UNWIND_MEMORY_BITS 11
#define UNWIND_MEMORY (1 << UNWIND_MEMORY_BITS)
#define UNWIND_MEMORY_TAG_BITS 48

/* The rule holds from this offset in the page up to the next row. */
struct unwind_row {
	__u16 from;
	__u16 rule;
};

struct unwind_page {
	__u32 first; /* row: chunk * UNWIND_CHUNK_ROWS + index in it */
	__u32 nr;    /* 0: no known code here */
};

/* Per file, by its id. */
struct unwind_file {
	union {
		__u32 first;     /* page */
		__u32 next_free; /* of a free id: see shared.free_files, 0: it is the last one */
	};
	__u32 nr;        /* pages; 0: there is no table, frame pointers are followed */
	__u32 met;       /* set when a table was looked for in vain */
	__u32 used;      /* shared.seconds when a stack last had a frame in it */
};

/* Cache of the mappings found for the last stacks of an address space. */
#define UNWIND_KNOWN 16      /* address spaces per CPU, a power of two */
#define UNWIND_KNOWN_VMAS 8

/* A mapping that frames of a stack are in. */
struct unwind_vma {
	__u64 start, end;
	__u64 delta;  /* file offset = address + delta */
	__u64 file;   /* id << FRAME_FILE_SHIFT, or FRAME_ANONYMOUS */
};

struct unwind_known {
	__u64 mm;      /* address of the mm_struct: compared, never followed; 0: none, or being written */
	__u64 stack;   /* where its stack began: distinguishes it from a later one at the same address */
	__u32 tgid;
	__u32 seq;     /* of its mappings: raised at each change */
	__u32 seconds; /* since boot */
	__u32 writes;
	struct unwind_vma vmas[UNWIND_KNOWN_VMAS];
};

#endif
