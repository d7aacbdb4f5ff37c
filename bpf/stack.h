/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_BPF_STACK_H
#define SYSTOP_BPF_STACK_H

/*
 * Stacks as shared by the programs and user space: frames, the dictionary that gives equal stacks one id, and the rings
 * of events that refer to the ids.
 */

#include <linux/types.h>

/*
 * A frame, innermost first in every list:
 *   kernel    the address itself: bit 63 is set
 *   file      id of the file << 40 | offset in it: the same in all processes, valid after they have ended.
 *             Id 0: the file has no id
 *   anonymous FRAME_ANONYMOUS | address in the process: code made by a JIT compiler
 */
#define FRAME_KERNEL (1ULL << 63)
#define FRAME_ANONYMOUS (1ULL << 62)
#define FRAME_FILE_SHIFT 40
#define FRAME_OFFSET_MASK ((1ULL << FRAME_FILE_SHIFT) - 1)

/* Stands for frames left out in the middle of a deep stack. */
#define FRAME_GAP FRAME_ANONYMOUS

/* Longest user stack kept; a deeper one keeps its innermost frames and its STACK_OUTER outermost ones. The walk ends after
 * STACK_STEPS_MAX frames. */
#define STACK_USER_MAX 256
#define STACK_OUTER 32
#define STACK_STEPS_MAX 2048
#define STACK_KERNEL_MAX 127

/* Why a stack ends where it does. */
enum stack_end {
	STACK_COMPLETE,  /* at a root */
	STACK_TRUNCATED, /* too deep, or the caller could not be found */
	STACK_UNREADABLE, /* memory could not be read */
	STACK_NO_CODE,   /* an address that is no code */
	STACK_TOO_DEEP,  /* the walk did not reach its outer end */
	STACK_NO_RULE,   /* the compiler's rule for the caller cannot be expressed in our tables */
	STACK_EXEC,      /* in the middle of execve(): the registers are the old program's */
	STACK_ENDS
};

/* Adds to both hashes of a stack, which begin with 0: each frame from the innermost outwards; stack_hash_end() adds
 * the process of anonymous frames, and the end. */
static inline void stack_hash(__u64 *hash, __u32 *check, __u64 frame)
{
	*hash = (*hash ^ frame) * 0x9e3779b97f4a7c15ULL;
	*hash ^= *hash >> 29;
	*check = (*check ^ (__u32)frame ^ (__u32)(frame >> 32)) * 0x85ebca6b;
}

static inline void stack_hash_end(__u64 *hash, __u32 *check, __u32 tgid, __u8 end)
{
	if (tgid)
		stack_hash(hash, check, tgid);
	stack_hash(hash, check, end + 1);
}

/*
 * The dictionary has two halves. New stacks go into one; when that is nearly full, user space, which has read all of
 * it, switches to the other, and clears the first once nothing can be writing to it. Each switch starts a generation:
 * an id of 28 bits is generation << index bits | entry, so that no id is reused for 4,095 generations; 511 with the
 * most CPUs. 0 is none.
 */
#define STACK_ID_BITS 28
#define STACK_INDEX_BITS 16       /* for hosts of up to 128 CPUs */
#define STACK_INDEX_BITS_MOST 19  /* for more than 512 CPUs: one bit more for each doubling */
#define STACK_GENERATION_MAX(index_bits) ((1U << (STACK_ID_BITS - (index_bits))) - 1)
#define STACK_HALF(index_bits) (1U << (index_bits)) /* entries */
#define STACK_PROBES 16

/* Frames lie in consecutive lines of 64 bytes. */
#define STACK_LINE_FRAMES 8
#define STACK_LINES_HALF(index_bits) (2U << (index_bits))

enum stack_flags {
	STACK_READY = 1,     /* the frames are written */
	STACK_ANONYMOUS = 2, /* some frames are valid only in process tgid */
	STACK_BY_FP = 4,     /* some callers were found by frame pointers, for lack of a table */
};

/* Written by the program that took the entry, cleared by user space. */
struct stack_entry {
	__u64 hash;   /* of the frames, and of tgid with STACK_ANONYMOUS; 0: free */
	__u32 check;  /* a second hash: distinguishes stacks with equal first hashes */
	__u32 line;   /* first line of its frames */
	__u32 tgid;   /* with STACK_ANONYMOUS */
	__u16 nr;
	__u8 end;     /* enum stack_end */
	__u8 flags;   /* enum stack_flags */
};

struct stack_line {
	__u64 frames[STACK_LINE_FRAMES];
};

enum stack_kind {
	STACK_SAMPLE, /* was on a CPU; weight: 1 */
	STACK_D,      /* was blocked; weight: ns */
	STACK_SLEEP,
	STACK_COUNTED, /* and above: of an event that the kernel counts, STACK_COUNTED + enum count_id; weight: 1 */
};

enum stack_event_flags {
	STACK_USER_LOST = 1,   /* it could not be given an id */
	STACK_KERNEL_LOST = 2,
	STACK_NO_USER = 4,     /* not taken at the switch-out that began this block, or without a frame that can be followed */
	STACK_USER_MODE = 8,   /* a sample taken in user mode */
	STACK_GUEST = 16,      /* a sample taken while the CPU ran a virtual machine */
};

/* Something that happened to a thread and has stacks, in the ring of its CPU. */
struct stack_event {
	__u64 seq;          /* its place in the ring + 1, written last */
	__u64 at;           /* accounting clock: time of the sample, or end of the block */
	__u64 weight;
	__u64 wait;         /* ns on the runqueue after the block, charged to its stack */
	__u64 runq_ns;      /* the thread's runqueue sum, including @wait */
	__u32 slot;
	__u32 tid;
	__u32 user, kernel; /* stack ids, 0: none */
	__u32 waker;        /* what ended the block: WAKER() in slot.h; 0: no wakeup was seen */
	__u16 cpu;
	__u8 wake_context;  /* enum wake_context */
	__u8 kind;          /* enum stack_kind */
	__u8 flags;         /* enum stack_event_flags */
	__u8 spare;
	__u16 irq;          /* of a sample: interrupt that it was taken in (irq.h) + 1, 0: none */
	__u8 spares[4];
};

_Static_assert(sizeof(struct stack_event) == 72, "no holes");

/* Events of each CPU's ring; a power of two. Read every 250 ms. */
#define STACK_EVENTS 4096

/* Samples of a CPU, by what it ran; samples of threads in scope are events, too. */
enum sample_class {
	SAMPLE_THREAD, /* a thread, in user or kernel mode */
	SAMPLE_KERNEL, /* a thread without a user stack: a kernel thread, io_uring's, vhost's */
	SAMPLE_IDLE,
	SAMPLE_GUEST,  /* a virtual machine's CPU */
	SAMPLE_ENTRY,  /* on entry to the kernel: the registers are not saved yet, so there is no user stack */
	SAMPLE_SELF,   /* systop itself */
	SAMPLE_MISSED, /* between two threads, or a thread without a slot */
	SAMPLE_CLASSES
};

/*
 * Stacks of minor page faults: the event comes about once every FAULT_PERIOD faults of a CPU, and the program takes the stack
 * of one random event out of FAULT_POINTS in a row.
 */
#define FAULT_PERIOD 32
#define FAULT_POINTS 8

/* Identifies a mapped file. */
struct file_key {
	__u64 inode;
	__u64 size;
	__u64 mtime_s;
	__u32 device;      /* in the kernel's form: major << 20 | minor; or FILE_VDSO */
	__u32 generation;
};

#define FILE_VDSO 0xffffffffU

/*
 * What the iterator over blocked threads writes for each requested thread (blocked.bpf.c): this, then nr_user and
 * nr_kernel frames.
 */
struct blocked_record {
	__u64 since;     /* start of the block in the slot, both when requested and now */
	__u32 slot;
	__u32 tgid;      /* of anonymous user frames */
	__u16 nr_user, nr_kernel;
	__u8 user_end;   /* enum stack_end */
	__u8 user_flags; /* enum stack_flags */
	__u8 notes;      /* STACK_NO_USER: there is a user stack, but it was not read */
	__u8 spare;
};

_Static_assert(sizeof(struct blocked_record) == 24, "no holes");

/* In blocked_wanted: do not read the user stack, as its memory did not answer. Times leave the bit free. */
#define BLOCKED_NO_USER (1ULL << 63)

/* Enough for a file of a container: /var/lib/docker/overlay2/, 64 digits, /diff/, and ten more. */
#define FILE_NAMES 16
#define FILE_NAME_SIZE 68

/* A file met for the first time, reported through a BPF ring buffer. */
struct file_event {
	struct file_key key;
	__u32 id;
	__u32 tgid;
	__u64 start, end; /* of the mapping */
	char names[FILE_NAMES][FILE_NAME_SIZE]; /* of the file and the folders it is in, innermost first */
};

#endif
