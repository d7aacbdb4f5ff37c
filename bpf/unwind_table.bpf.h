/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_BPF_UNWIND_TABLE_BPF_H
#define SYSTOP_BPF_UNWIND_TABLE_BPF_H

/* Looks up the rule for a place in a file in the unwind tables (unwind.h). */

#include "area.bpf.h"
#include "mapping.bpf.h"

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

/*
 * Returns the rule of the row that holds @at, among the page's @nr rows from @first on, or -1. The bounds are in
 * memory: in registers, the verifier would track what it knows of them along every path of the search.
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
	/* A page's first row begins with the page. */
	return rows[(*(volatile __u32 *)&u->low - 1) & (UNWIND_CHUNK_ROWS - 1)].rule;
}

/*
 * Cache of the rules found for frames: hot code is met again and again, and a search through a table costs many cache
 * misses. An entry is one word, so that it can be read while it is written: file and offset are multiplied with an odd
 * number, which gives distinct products; a part of the product selects the entry, the rest is stored in it. Before a
 * rule's number gets another meaning, user space zeroes the cache and waits until nothing uses its former content. It cannot
 * wait for programs that may sleep: these only read the cache.
 */
#define MEMORY_BITS (UNWIND_MEMORY_TAG_BITS + UNWIND_MEMORY_BITS)
#define MEMORY_VALID (1U << 15)

_Static_assert(MEMORY_BITS >= FRAME_FILE_SHIFT + 16 && UNWIND_FILES <= 1 << 16, "frames with a table fit");
_Static_assert(UNWIND_RULES <= MEMORY_VALID, "so do rules");

static __always_inline __u64 *unwind_memory(__u64 frame, __u64 *tag)
{
	__u64 mixed = frame * 0x9e3779b97f4a7c15ULL & ((1ULL << MEMORY_BITS) - 1);
	struct cpu_area *area = area_of(bpf_get_smp_processor_id());

	*tag = mixed & ((1ULL << UNWIND_MEMORY_TAG_BITS) - 1);
	return area ? &area->remembered[mixed >> UNWIND_MEMORY_TAG_BITS & (UNWIND_MEMORY - 1)] : NULL;
}

/* The number of the rule for @offset in the file described by @f; -1: the table does not describe it. */
static __always_inline int unwind_table(struct unwind *u, const struct unwind_file *f, __u64 offset)
{
	__u32 page = offset >> UNWIND_PAGE_SHIFT;
	struct unwind_page *p;

	if (page >= f->nr)
		return -1;
	page += f->first;
	p = bpf_map_lookup_elem(&unwind_pages, &page);
	return p && p->nr ? unwind_search(u, p->first, p->nr, offset) : -1;
}

/* unwind_find - copies the rule for a place in a file to u->rule. Returns 0 if the file has no table. */
__weak __noinline int unwind_find(__u32 context, __u64 frame)
{
	struct unwind *u = bpf_map_lookup_elem(&unwinds, &context);
	__u32 file = frame >> FRAME_FILE_SHIFT, at;
	struct unwind_file *f = bpf_map_lookup_elem(&unwind_files, &file);
	__u64 tag, word, *memory = unwind_memory(frame, &tag);
	struct cfi_rule *rule;
	int found;

	if (!u || !f || !memory || shared.tables_off)
		return 0;
	word = *(volatile __u64 *)memory;
	if (word >> 16 == tag && word & MEMORY_VALID) {
		at = word & (MEMORY_VALID - 1);
	} else {
		if (!f->nr) {
			f->met = 1;
			return 0;
		}
		u->rule.kind = CFI_GAP;
		found = unwind_table(u, f, frame & FRAME_OFFSET_MASK);
		if (found < 0)
			return 1;
		at = found & (MEMORY_VALID - 1);
		if (context != UNWIND_BLOCKED)
			*(volatile __u64 *)memory = tag << 16 | MEMORY_VALID | at;
	}
	rule = bpf_map_lookup_elem(&unwind_rules, &at);
	if (rule)
		u->rule = *rule;
	else
		u->rule.kind = CFI_GAP;
	return 1;
}

#endif
