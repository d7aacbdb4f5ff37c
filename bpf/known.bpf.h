/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_BPF_KNOWN_BPF_H
#define SYSTOP_BPF_KNOWN_BPF_H

/*
 * Cache of the mappings that the last stacks of an address space were in. Finding a mapping touches about 25 cold cache lines:
 * three nodes of the maple tree, the mapping, its file, inode and id. The kernel counts the changes of an address space's mappings
 * for its own lockless lookups: while the count stands, the mappings are unchanged. They are looked up again after a second, as a
 * file may have changed in place, and has to be noted as still in use (file_used()).
 */

#include "area.bpf.h"
#include "frames.bpf.h"
#include "view.bpf.h"

/* The count of changes. False: the kernel has none, or a change is in progress. */
static __always_inline bool known_seq(struct mm_struct *mm, __u32 *seq)
{
	struct mm_struct___count *count = (void *)mm;
	struct mm_struct___number *number = (void *)mm;

	if (bpf_core_field_exists(count->mm_lock_seq.sequence)) {
		*seq = VIEW_FIELD(count, mm_lock_seq.sequence);
		return !(*seq & 1);
	}
	if (!bpf_core_field_exists(number->mm_lock_seq))
		return false;
	*seq = VIEW_FIELD(number, mm_lock_seq);
	return true;
}

/* The cache entry of an address space. The address is aligned at least to cache lines. */
static __always_inline struct unwind_known *known_at(__u64 mm)
{
	struct cpu_area *area = area_of(bpf_get_smp_processor_id());

	return area ? &area->known[(mm >> 6 ^ mm >> 10) & (UNWIND_KNOWN - 1)] : NULL;
}

/* known_take - at the start of a walk: copies the cached mappings. A sample may interrupt the copying and write to the cache. */
static __always_inline void known_take(struct unwind *u, struct mm_struct *mm)
{
	struct unwind_known *k = known_at((__u64)mm);
	__u32 writes;

	u->known = ~0U;
	if (!k || !known_seq(mm, &u->seq))
		return;
	u->known = 0;
	writes = *(volatile __u32 *)&k->writes;
	if (k->mm != (__u64)mm || k->seq != u->seq || k->tgid != u->tgid || k->seconds != shared.seconds ||
	    k->stack != mm->start_stack)
		return;
	__builtin_memcpy(u->vmas, k->vmas, sizeof(k->vmas));
	barrier();
	if (*(volatile __u32 *)&k->writes == writes)
		u->known = u->nr_vmas = UNWIND_KNOWN_VMAS;
}

/* known_keep - at the end of a walk: caches the mappings it found. */
static __always_inline void known_keep(struct unwind *u, struct mm_struct *mm)
{
	struct unwind_known *k = known_at((__u64)mm);
	__u32 seq, nr = u->nr_vmas;

	if (!k || u->known == ~0U || u->known == nr || !known_seq(mm, &seq) || seq != u->seq)
		return;
	*(volatile __u64 *)&k->mm = 0;
	*(volatile __u32 *)&k->writes += 1;
	k->stack = mm->start_stack;
	k->tgid = u->tgid;
	k->seq = seq;
	k->seconds = shared.seconds;
	for (__u32 i = 0; i < UNWIND_KNOWN_VMAS; i++) {
		k->vmas[i] = u->vmas[i];
		if (i >= nr || !k->vmas[i].file) /* its file may have an id next time */
			k->vmas[i].end = 0;
	}
	*(volatile __u32 *)&k->writes += 1;
	*(volatile __u64 *)&k->mm = (__u64)mm;
}

#endif
