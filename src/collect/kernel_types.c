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
	__u32 *ids;              /* of the types with a name, those of one kind together, in their order */
	__u32 from[KINDS + 1];   /* of kind k: ids[from[k]] to ids[from[k + 1] - 1] */
} types;

/* Without memory types are looked up one by one. */
static void sort_out(void)
{
	__u32 nr = btf__type_cnt(types.btf), next[KINDS];

	types.ids = malloc(nr * sizeof(*types.ids));
	memset(types.from, 0, sizeof(types.from));
	if (!types.ids)
		return;
	for (__u32 id = 1; id < nr; id++) {
		const struct btf_type *t = btf__type_by_id(types.btf, id);

		if (t->name_off && btf_kind(t) < KINDS)
			types.from[btf_kind(t) + 1]++;
	}
	for (int kind = 0; kind < KINDS; kind++) {
		types.from[kind + 1] += types.from[kind];
		next[kind] = types.from[kind];
	}
	for (__u32 id = 1; id < nr; id++) {
		const struct btf_type *t = btf__type_by_id(types.btf, id);

		if (t->name_off && btf_kind(t) < KINDS)
			types.ids[next[btf_kind(t)]++] = id;
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
	free(types.ids);
	types.btf = NULL;
	types.ids = NULL;
}

__u32 kernel_type(const struct btf *btf, const char *name, __u32 kind)
{
	if (btf != types.btf || !types.ids || kind >= KINDS) {
		__s32 id = btf__find_by_name_kind(btf, name, kind);

		return id > 0 ? id : 0;
	}
	for (__u32 i = types.from[kind]; i < types.from[kind + 1]; i++) {
		const struct btf_type *t = btf__type_by_id(btf, types.ids[i]);

		if (!strcmp(btf__name_by_offset(btf, t->name_off), name))
			return types.ids[i];
	}
	return 0;
}
