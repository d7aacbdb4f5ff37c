/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_BPF_MAPPING_BPF_H
#define SYSTOP_BPF_MAPPING_BPF_H

/*
 * Which file an address is in, and at which offset: walks the address space's maple tree without a lock. A concurrent
 * change yields a wrong lookup, never a crash, and the result is checked against the bounds of the mapping. Files have
 * ids of their own; each is reported to user space once, and user space frees the ids of files that were not met for a
 * long time. A frame in a file without an id is reported with id 0.
 */

#include "frames.bpf.h"
#include "unwind.h"

#define VM_EXEC 4

/* log2 of the kernel's page size, the unit of mapping offsets. Fixed at load. */
extern const volatile __u32 page_shift;

/* Whether the kernel keeps a process's mappings in the tree that is walked here, since Linux 6.1, with nodes of the
 * known size. Fixed at load. */
extern const volatile bool mappings_known;

/* All ids are below this. Fixed at load. */
extern const volatile __u32 files_max;

/* Id of each file that was met. */
struct files_map {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, UNWIND_FILES);
	__type(key, struct file_key);
	__type(value, __u32);
};
extern struct files_map files SEC(".maps");

struct file_events_map {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 19);
};
extern struct file_events_map file_events SEC(".maps");

/* Files whose mapping user space wants reported again: it could not open them, or found no debug information for them. There is
 * room for all, as one that is not met again stays until its id is freed. */
struct files_asked_map {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, UNWIND_FILES);
	__type(key, struct file_key);
	__type(value, __u32);
};
extern struct files_asked_map files_asked SEC(".maps");

struct unwind_files_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, UNWIND_FILES);
	__type(key, __u32);
	__type(value, struct unwind_file);
};
extern struct unwind_files_map unwind_files SEC(".maps");

/* Names of the file and its folders. A dentry that is its own parent is the root of its file system. */
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

static __always_inline void file_emit(struct unwind *u, const struct file_key *key, __u32 id,
				      struct file *file, __u64 start, __u64 end)
{
	struct file_event *e = bpf_ringbuf_reserve(&file_events, sizeof(*e), 0);
	__u32 one = 1;

	if (!e) { /* report it the next time it is met */
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

/* Notes that a stack has a frame in the file. */
static __always_inline void file_used(__u32 id)
{
	struct unwind_file *f = bpf_map_lookup_elem(&unwind_files, &id);
	__u32 now = shared.seconds;

	if (f && f->used != now)
		f->used = now;
}

/* Notes that a hash has to be written, which this walk must not do. */
static __always_inline void file_wait(void)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct cpu_slot *c = bpf_map_lookup_elem(&cpus, &cpu);

	if (!c)
		return;
	c->files_met = 1;
	c->files_waited++;
}

/*
 * Ids of forgotten files, to which nothing refers any more, are on a stack that needs no lock, so that samples can take one in an
 * NMI. It is no map of type queue: the iterator of blocked threads takes ids, too, and programs that may sleep cannot use such
 * maps on Linux 6.1. A change fails if another CPU makes one at that moment; then it is tried again.
 */
#define FREE_FILES_TRIES 32

static __always_inline bool free_files_change(__u64 was, __u32 first)
{
	return __sync_val_compare_and_swap(&shared.free_files, was, ((was >> 32) + 1) << 32 | first) == was;
}

/* An id from the stack, 0: there is none. */
static __always_inline __u32 free_files_pop(void)
{
	for (int i = 0; i < FREE_FILES_TRIES; i++) {
		__u64 was = *(volatile __u64 *)&shared.free_files;
		__u32 id = was;
		struct unwind_file *f = bpf_map_lookup_elem(&unwind_files, &id);

		if (!id || !f)
			return 0;
		if (free_files_change(was, f->next_free))
			return id;
	}
	return 0;
}

static __always_inline bool free_files_push(__u32 id)
{
	struct unwind_file *f = bpf_map_lookup_elem(&unwind_files, &id);

	for (int i = 0; f && i < FREE_FILES_TRIES; i++) {
		__u64 was = *(volatile __u64 *)&shared.free_files;

		f->next_free = was;
		if (free_files_change(was, id))
			return true;
	}
	return false;
}

/* A free file id, preferably one never used before. 0: all are in use. */
static __always_inline __u32 file_id_take(void)
{
	__u32 id = 0;

	if (shared.files < files_max - 1)
		id = __sync_fetch_and_add(&shared.files, 1) + 1;
	if (id && id < files_max)
		return id;
	id = free_files_pop();
	if (id)
		__sync_fetch_and_add(&shared.files_again, 1);
	return id;
}

static __always_inline void file_id_give(__u32 id)
{
	if (free_files_push(id))
		__sync_fetch_and_add(&shared.files_again, -1);
}

/* The id of a file, a new one if it has none. 0: no ids are left, or the file has to wait. */
static __always_inline __u32 file_id(struct unwind *u, __u32 context, const struct file_key *key, struct file *file,
				     __u64 start, __u64 end)
{
	bool waits = samples_wait && context == UNWIND_SAMPLE;
	__u32 *known = bpf_map_lookup_elem(&files, key), id;

	if (waits && (!known || (shared.files_asked && bpf_map_lookup_elem(&files_asked, key)))) {
		file_wait();
		if (known)
			file_used(*known);
		return known ? *known : 0;
	}
	if (known) {
		id = *known;
		file_used(id);
		if (shared.files_asked && bpf_map_lookup_elem(&files_asked, key) &&
		    !bpf_map_delete_elem(&files_asked, key)) {
			__sync_fetch_and_add(&shared.files_asked, -1);
			file_emit(u, key, id, file, start, end);
		}
		return id;
	}
	id = file_id_take();
	if (!id || bpf_map_update_elem(&files, key, &id, BPF_NOEXIST)) {
		if (id)
			file_id_give(id);
		known = bpf_map_lookup_elem(&files, key); /* another CPU was quicker */
		if (!known)
			__sync_fetch_and_add(&shared.files_lost, 1);
		return known ? *known : 0;
	}
	file_used(id);
	file_emit(u, key, id, file, start, end);
	return id;
}

/* Kinds of maple nodes (include/linux/maple_tree.h). */
enum { MAPLE_DENSE, MAPLE_LEAF_64, MAPLE_RANGE_64, MAPLE_ARANGE_64 };
#define MAPLE_DEPTH_MAX 8

static __always_inline __u32 maple_type(__u64 entry)
{
	return entry >> 3 & 15;
}

/* maple_child - the entry of node @entry for @addr; 0: none, or the node is unreadable. Functions that are not
 * static are verified once, not on every path that leads to them. */
__weak __noinline __u64 maple_child(__u32 context, __u64 entry, __u64 addr)
{
	struct unwind *u = bpf_map_lookup_elem(&unwinds, &context);
	__u32 pivots = maple_type(entry) == MAPLE_ARANGE_64 ? MAPLE_ARANGE_PIVOTS : MAPLE_PIVOTS, i;

	if (!u || !kernel_reads || bpf_probe_read_kernel(u->node, sizeof(u->node), (void *)(entry & ~0xffULL)))
		return 0;
	for (i = 0; i < MAPLE_PIVOTS; i++) {
		__u64 pivot = u->node[1 + i];

		if (i >= pivots || pivot >= addr || (!pivot && i))
			break;
	}
	i += 1 + pivots;
	return i > 31 ? 0 : u->node[i & 31];
}

static __always_inline __u64 inode_mtime(struct inode *inode)
{
	struct inode___new *newer = (void *)inode;
	struct inode___mid *mid = (void *)inode;

	if (bpf_core_field_exists(newer->i_mtime_sec))
		return VIEW_FIELD(newer, i_mtime_sec);
	if (bpf_core_field_exists(mid->__i_mtime))
		return VIEW_FIELD(mid, __i_mtime.tv_sec);
	return VIEW_FIELD(inode, i_mtime.tv_sec);
}

/* vma_find - the executable mapping that holds @addr: its index in u->vmas, or -1. */
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
		__u32 type = maple_type(entry);

		/* Only the root carries the tag of an internal entry. */
		if (entry <= 4096 || (!depth && (entry & 3) != 2))
			return -1;
		entry = maple_child(context, entry, addr);
		if (type == MAPLE_LEAF_64)
			break;
		if (type != MAPLE_RANGE_64 && type != MAPLE_ARANGE_64)
			return -1;
	}
	if (!entry || entry & 3)
		return -1;
	vma = (void *)entry;
	vma = VIEW(vma);
	start = VIEW_FIELD(vma, vm_start);
	end = VIEW_FIELD(vma, vm_end);
	if (addr < start || addr >= end || !(VIEW_FIELD(vma, vm_flags) & VM_EXEC))
		return -1;
	at = u->nr_vmas++ % UNWIND_VMAS;
	v = &u->vmas[at & (UNWIND_VMAS - 1)];
	v->start = start;
	v->end = end;
	v->delta = 0;
	v->file = FRAME_ANONYMOUS;
	key = &u->key;
	*key = (struct file_key){};
	file = VIEW_FIELD(vma, vm_file);
	if (file) {
		struct inode *inode = VIEW_FIELD(file, f_inode);
		struct super_block *sb = VIEW_FIELD(inode, i_sb);

		key->inode = VIEW_FIELD(inode, i_ino);
		key->size = VIEW_FIELD(inode, i_size);
		key->mtime_s = inode_mtime(inode);
		key->device = VIEW_FIELD(sb, s_dev);
		key->generation = VIEW_FIELD(inode, i_generation);
		v->delta = (VIEW_FIELD(vma, vm_pgoff) << page_shift) - start;
	} else if (start == u->vdso) {
		key->device = FILE_VDSO;
		v->delta = -start;
	} else {
		return at;
	}
	v->file = (__u64)file_id(u, context, key, file, start, end) << FRAME_FILE_SHIFT;
	/* Check again that the mapping is still the one whose file was read. */
	if (VIEW_FIELD(vma, vm_start) != start || VIEW_FIELD(vma, vm_file) != file) {
		v->end = 0;
		return -1;
	}
	return at;
}

/* unwind_vma - as vma_find(), but searches the mappings found so far first. */
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

#endif
