/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_BPF_UNWIND_BPF_H
#define SYSTOP_BPF_UNWIND_BPF_H

/*
 * A thread's user stack, as frames of files: each address is looked up in the address space (a walk
 * of its maple tree, without a lock: a change meanwhile gives a wrong look-up, never a crash, and
 * what was found is checked against the bounds of the mapping), and the caller's is found by the
 * frame pointer.
 */

#include "maps.bpf.h"
#include "stack.h"
#include "unwind.h"

/* Whether programs may read any kernel memory, fixed at load: lockdown "confidentiality" forbids it.
 * Without it there are no stacks; what is behind it is not even verified. */
extern const volatile bool kernel_reads;

static __always_inline void stack_hash(__u64 *hash, __u32 *check, __u64 frame)
{
	*hash = (*hash ^ frame) * 0x9e3779b97f4a7c15ULL;
	*hash ^= *hash >> 29;
	*check = (*check ^ (__u32)frame ^ (__u32)(frame >> 32)) * 0x85ebca6b;
}

/* Frames kept at the inner end of a stack that is too deep to be kept as a whole. */
#define STACK_INNER (STACK_USER_MAX - 1 - STACK_OUTER)

#define UNWIND_VMAS 16
#define UNWIND_FRAME_MAX (1 << 20) /* no frame is larger */
#define VM_EXEC 4

/* A mapping that frames of this stack are in. */
struct unwind_vma {
	__u64 start, end;
	__u64 delta;  /* file offset = address + delta */
	__u64 file;   /* id << FRAME_FILE_SHIFT, FRAME_ANONYMOUS */
};

struct frames {
	__u64 frames[STACK_USER_MAX];
};

struct unwind {
	__u64 pc, sp, bp, bx, di; /* di: of the innermost frame only */
	__u64 hash;
	__u64 mm_root;      /* of the maple tree */
	__u64 vdso;
	__u32 nr, nr_vmas, last;
	__u32 leaf;         /* pc is where it is, not where it returns to */
	__u32 end;          /* enum stack_end */
	__u32 flags;        /* enum stack_flags */
	__u32 tgid;
	__u32 check;        /* a second hash */
	__u32 in_exec;
	__u64 inner_hash;   /* both, of the frames that are kept at the inner end */
	__u32 inner_check;
	struct unwind_vma vmas[UNWIND_VMAS];
	struct frames frames;
	/* Scratch that would be too much for the programs' stack: 512 bytes for all calls together. */
	struct file_key key;
	__u64 node[32];
	/* What is to be read for the next step, and what was: places are 0 if there is nothing to read. */
	struct cfi_rule rule;
	__u64 cfa;
	__u32 low, high;    /* of a search */
	__u64 deref_at, pair_at, fp_at, bx_at;
	__u64 deref, pair[2], fp, bx_saved; /* pair: what is below the return address, and it */
	__u32 busy;         /* UNWIND_BLOCKED only: another one is at it, and waits */
};

/* A scratch each: a sample comes in the middle of a switch, and both in the middle of reading another
 * thread's stack. */
enum unwind_context { UNWIND_SAMPLE, UNWIND_SWITCH, UNWIND_BLOCKED, UNWIND_CONTEXTS };

struct unwinds_map {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, UNWIND_CONTEXTS);
	__type(key, __u32);
	__type(value, struct unwind);
};
extern struct unwinds_map unwinds SEC(".maps");

/* For kernel stacks. */
struct kernel_frames_map {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, UNWIND_CONTEXTS);
	__type(key, __u32);
	__type(value, struct frames);
};
extern struct kernel_frames_map kernel_frames SEC(".maps");

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

/* Id of each file met. */
struct files_map {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 65536);
	__type(key, struct file_key);
	__type(value, __u32);
};
extern struct files_map files SEC(".maps");

struct file_events_map {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 18);
};
extern struct file_events_map file_events SEC(".maps");

/* Files whose mapping user space wants to be told of again: it could not open them the last time. */
struct files_asked_map {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 4096);
	__type(key, struct file_key);
	__type(value, __u32);
};
extern struct files_asked_map files_asked SEC(".maps");

/* Names of the file and of its folders; a ring of dentries ends at the root of its file system. */
static __always_inline void file_names(struct file_event *e, struct dentry *d)
{
	for (int i = 0; i < FILE_NAMES; i++) {
		struct dentry *parent = BPF_CORE_READ(d, d_parent);

		e->names[i][0] = 0;
		if (!d || d == parent)
			break;
		bpf_probe_read_kernel_str(e->names[i], FILE_NAME_SIZE, BPF_CORE_READ(d, d_name.name));
		d = parent;
	}
}

static __always_inline void file_tell(struct unwind *u, const struct file_key *key, __u32 id,
				      struct file *file, __u64 start, __u64 end)
{
	struct file_event *e = bpf_ringbuf_reserve(&file_events, sizeof(*e), 0);
	__u32 one = 1;

	if (!e) { /* the next time it is met */
		if (!bpf_map_update_elem(&files_asked, key, &one, BPF_NOEXIST))
			__sync_fetch_and_add(&shared.files_asked, 1);
		else
			__sync_fetch_and_add(&shared.files_lost, 1);
		return;
	}
	e->key = *key;
	e->id = id;
	e->tgid = u->tgid;
	e->start = start;
	e->end = end;
	for (int i = 0; i < FILE_NAMES; i++)
		e->names[i][0] = 0;
	if (file)
		file_names(e, BPF_CORE_READ(file, f_path.dentry));
	bpf_ringbuf_submit(e, 0);
}

/* The id of a file: a new one if it has none. 0: no more ids. */
static __always_inline __u32 file_id(struct unwind *u, const struct file_key *key, struct file *file,
				     __u64 start, __u64 end)
{
	__u32 *known = bpf_map_lookup_elem(&files, key), id;

	if (known) {
		id = *known;
		if (shared.files_asked && bpf_map_lookup_elem(&files_asked, key) &&
		    !bpf_map_delete_elem(&files_asked, key)) {
			__sync_fetch_and_add(&shared.files_asked, -1);
			file_tell(u, key, id, file, start, end);
		}
		return id;
	}
	id = __sync_fetch_and_add(&shared.files, 1) + 1;
	if (id >= FRAME_FILES_MAX || bpf_map_update_elem(&files, key, &id, BPF_NOEXIST)) {
		known = bpf_map_lookup_elem(&files, key); /* another CPU was quicker */
		if (!known)
			__sync_fetch_and_add(&shared.files_lost, 1);
		return known ? *known : 0;
	}
	file_tell(u, key, id, file, start, end);
	return id;
}

/* Which slot of a maple node with @pivots pivots holds @addr. */
static __always_inline int maple_slot(const struct unwind *u, __u64 addr, __u32 pivots)
{
	int i;

	for (i = 0; i < 15; i++) {
		__u64 pivot = u->node[1 + i];

		if ((__u32)i >= pivots || pivot >= addr || (!pivot && i))
			break;
	}
	return i;
}

/* Kinds of maple nodes, and how many pivots they have (include/linux/maple_tree.h). */
enum { MAPLE_DENSE, MAPLE_LEAF_64, MAPLE_RANGE_64, MAPLE_ARANGE_64 };
#define MAPLE_PIVOTS 15
#define MAPLE_ARANGE_PIVOTS 9
#define MAPLE_DEPTH_MAX 8

static __always_inline __u64 inode_mtime(struct inode *inode)
{
	struct inode___new *newer = (void *)inode;
	struct inode___mid *mid = (void *)inode;

	if (bpf_core_field_exists(newer->i_mtime_sec))
		return BPF_CORE_READ(newer, i_mtime_sec);
	if (bpf_core_field_exists(mid->__i_mtime))
		return BPF_CORE_READ(mid, __i_mtime.tv_sec);
	return BPF_CORE_READ(inode, i_mtime.tv_sec);
}

/* vma_find - the mapping of executable memory that holds @addr: its place in u->vmas, or -1. */
__weak __noinline int vma_find(__u32 context, __u64 addr)
{
	struct unwind *u = bpf_map_lookup_elem(&unwinds, &context);
	struct vm_area_struct *vma;
	struct unwind_vma *v;
	__u64 entry, start, end;
	struct file_key *key;
	struct file *file;
	__u32 at;

	if (!u || !kernel_reads)
		return -1;
	entry = u->mm_root;
	for (int depth = 0; depth < MAPLE_DEPTH_MAX; depth++) {
		__u32 type = entry >> 3 & 15, pivots, slot;

		/* Only the root carries the tag of an internal entry. */
		if (entry <= 4096 || (!depth && (entry & 3) != 2))
			return -1;
		if (bpf_probe_read_kernel(u->node, sizeof(u->node), (void *)(entry & ~0xffULL)))
			return -1;
		pivots = type == MAPLE_ARANGE_64 ? MAPLE_ARANGE_PIVOTS : MAPLE_PIVOTS;
		slot = 1 + pivots + maple_slot(u, addr, pivots);
		if (slot > 31)
			return -1;
		entry = u->node[slot & 31];
		if (type == MAPLE_LEAF_64)
			break;
		if (type != MAPLE_RANGE_64 && type != MAPLE_ARANGE_64)
			return -1;
	}
	if (!entry || entry & 3)
		return -1;
	vma = (void *)entry;
	start = BPF_CORE_READ(vma, vm_start);
	end = BPF_CORE_READ(vma, vm_end);
	if (addr < start || addr >= end || !(BPF_CORE_READ(vma, vm_flags) & VM_EXEC))
		return -1;
	at = u->nr_vmas++ % UNWIND_VMAS;
	v = &u->vmas[at & (UNWIND_VMAS - 1)];
	v->start = start;
	v->end = end;
	v->delta = 0;
	v->file = FRAME_ANONYMOUS;
	key = &u->key;
	*key = (struct file_key){};
	file = BPF_CORE_READ(vma, vm_file);
	if (file) {
		struct inode *inode = BPF_CORE_READ(file, f_inode);

		key->inode = BPF_CORE_READ(inode, i_ino);
		key->size = BPF_CORE_READ(inode, i_size);
		key->mtime_s = inode_mtime(inode);
		key->device = BPF_CORE_READ(inode, i_sb, s_dev);
		key->generation = BPF_CORE_READ(inode, i_generation);
		v->delta = (BPF_CORE_READ(vma, vm_pgoff) << 12) - start;
	} else if (start == u->vdso) {
		key->device = FILE_VDSO;
		v->delta = -start;
	} else {
		return at;
	}
	v->file = (__u64)file_id(u, key, file, start, end) << FRAME_FILE_SHIFT;
	/* Looked at again: what was there when its file was read is what was found. */
	if (BPF_CORE_READ(vma, vm_start) != start || BPF_CORE_READ(vma, vm_file) != file ||
	    !v->file) {
		v->end = 0;
		return -1;
	}
	return at;
}

/* Where in u->vmas the mapping is that holds @addr, or -1. Functions that are not static are verified
 * once, and not on every path that leads to them. */
__weak __noinline int unwind_vma(__u32 context, __u64 addr)
{
	struct unwind *u = bpf_map_lookup_elem(&unwinds, &context);
	__u32 last;

	if (!u)
		return -1;
	last = u->last & (UNWIND_VMAS - 1);
	if (u->nr_vmas && addr >= u->vmas[last].start && addr < u->vmas[last].end)
		return last;
	for (int i = 0; i < UNWIND_VMAS; i++) {
		if ((__u32)i >= u->nr_vmas)
			break;
		if (addr >= u->vmas[i].start && addr < u->vmas[i].end)
			return i;
	}
	return vma_find(context, addr);
}

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
	if (!u->pc) {
		u->end = STACK_COMPLETE;
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
