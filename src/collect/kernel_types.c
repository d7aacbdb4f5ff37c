/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The start looks up 50 of the kernel's 130,000 types, and libbpf would search all of them for each. */
#include "collect/kernel_types.h"

#include <bpf/btf.h>
#include <stdlib.h>
#include <string.h>

#include "util/heap.h"

#define KINDS (BTF_KIND_ENUM64 + 1)

static struct {
	struct btf *btf;
	__u32 first[KINDS]; /* the first type of each kind that has a name; 0: none */
	__u32 *next;        /* by type: the next one of its kind; 0: none */
} types;

/* Without memory types are looked up one by one. */
static void sort_out(void)
{
	__u32 nr = btf__type_cnt(types.btf);

	types.next = malloc(nr * sizeof(*types.next));
	memset(types.first, 0, sizeof(types.first));
	for (__u32 id = nr - 1; types.next && id; id--) {
		const struct btf_type *t = btf__type_by_id(types.btf, id);
		int kind = btf_kind(t);

		if (!t->name_off || kind >= KINDS)
			continue;
		types.next[id] = types.first[kind];
		types.first[kind] = id;
	}
}

const struct btf *kernel_types(void)
{
	if (types.btf)
		return types.btf;
	heap_keep(); /* they take 11 MiB, and libbpf reads them once more */
	types.btf = btf__load_vmlinux_btf();
	if (types.btf)
		sort_out();
	return types.btf;
}

void kernel_types_forget(void)
{
	btf__free(types.btf);
	free(types.next);
	types.btf = NULL;
	types.next = NULL;
}

__u32 kernel_type(const struct btf *btf, const char *name, __u32 kind)
{
	if (btf != types.btf || !types.next || kind >= KINDS) {
		__s32 id = btf__find_by_name_kind(btf, name, kind);

		return id > 0 ? id : 0;
	}
	for (__u32 id = types.first[kind]; id; id = types.next[id]) {
		const struct btf_type *t = btf__type_by_id(btf, id);

		if (!strcmp(btf__name_by_offset(btf, t->name_off), name))
			return id;
	}
	return 0;
}
