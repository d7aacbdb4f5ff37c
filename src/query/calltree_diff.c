/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A stored flamegraph to compare with. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "query/calltree.h"
#include "query/source.h"
#include "util/hash.h"

int calltree_base_set(struct calltree_base *b, const struct calltree *f)
{
	struct calltree_node *nodes = calloc(f->nr + 1, sizeof(*nodes));

	if (!nodes)
		return -ENOMEM;
	calltree_base_fini(b);
	memcpy(nodes, f->nodes, f->nr * sizeof(*nodes));
	for (size_t i = 0; i < f->nr; i++) {
		nodes[i].self = nodes[i].total;
		if (!nodes[i].symbol) /* its text is freed with the tree; the key of a text never changes */
			nodes[i].text = NULL;
	}
	b->nodes = nodes;
	b->nr = f->nr;
	return 0;
}

/* New names have arrived, so that places of the same frames have other keys now. */
static void rekey(struct calltree_base *b, const struct source *source)
{
	map_fini(&b->shares);
	b->shares = (struct map){ 0 };
	b->generation = source->names_generation(source->arg);
	for (size_t i = 0; i < b->nr; i++)
		b->nodes[i].total = b->nodes[i].self;
	for (size_t i = 0; i < b->nr; i++) {
		struct calltree_node *n = &b->nodes[i], *known;
		uintptr_t at;

		if (n->symbol) {
			n->symbol = source->symbol(source->arg, n->at.frame, n->at.tgid);
			n->key = n->parent < 0 ? 1 : hash_add(b->nodes[n->parent].key, (uintptr_t)n->symbol);
		}
		at = (uintptr_t)map_get(&b->shares, n->key);
		known = at ? &b->nodes[at - 1] : NULL;
		if (known) /* two nodes that have the same name now */
			known->total += n->total;
		else
			map_put(&b->shares, n->key, (void *)(uintptr_t)(i + 1));
	}
}

double calltree_base_share(struct calltree_base *b, uint64_t key, const struct source *source)
{
	uintptr_t at;

	if (!b->nr || !b->nodes[0].total)
		return 0;
	if (!b->shares.nr || b->generation != source->names_generation(source->arg))
		rekey(b, source);
	at = (uintptr_t)map_get(&b->shares, key);
	return at ? (double)b->nodes[at - 1].total / b->nodes[0].total : 0;
}

void calltree_base_fini(struct calltree_base *b)
{
	free(b->nodes);
	map_fini(&b->shares);
	*b = (struct calltree_base){ 0 };
}
