/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "query/tree.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* Indentation limit. */
#define INDENT_MAX 20

static uint64_t key_of(const struct row *r)
{
	struct subject s = subject_of(r);

	return subject_key(&s);
}

int tree_begin(struct tree *t, const struct row *rows, size_t nr)
{
	if (nr > t->room) {
		struct tree_node *grown = reallocarray(t->nodes, nr, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		t->nodes = grown;
		t->room = nr;
	}
	t->rows = rows;
	t->nr = nr;
	for (size_t i = 0; i < nr; i++)
		t->nodes[i] = (struct tree_node){ .parent = TREE_ROOT };
	return 0;
}

/* Computes depths and marks all ancestors of wanted rows. Parents may follow their children, and a reused number
 * could make a circle: a row that is its own ancestor becomes a root. */
static void complete(struct tree *t)
{
	for (size_t i = 0; i < t->nr; i++) {
		size_t up = t->nodes[i].parent, steps = 0;

		for (; up != TREE_ROOT && up != i && steps <= t->nr; steps++)
			up = t->nodes[up].parent;
		if (up != TREE_ROOT)
			t->nodes[i].parent = TREE_ROOT;
		else
			t->nodes[i].depth = steps;
	}
	for (size_t i = 0; i < t->nr; i++) {
		size_t up = t->nodes[i].parent;

		if (!t->nodes[i].wanted)
			continue;
		for (; up != TREE_ROOT; up = t->nodes[up].parent)
			t->nodes[up].wanted = t->nodes[up].inner = true;
	}
}

struct siblings {
	const struct row **rows; /* by parent: rows[first[parent + 1]] ... */
	size_t *first;
};

/* Groups the wanted rows by parent. */
static int group(const struct tree *t, struct siblings *s)
{
	size_t *next;

	s->rows = calloc(t->nr + 1, sizeof(*s->rows));
	s->first = calloc(t->nr + 3, sizeof(*s->first));
	if (!s->rows || !s->first)
		return -ENOMEM;
	next = s->first + 1; /* first[p + 2] counts, then is the next free place of p + 1 */
	for (size_t i = 0; i < t->nr; i++)
		if (t->nodes[i].wanted)
			next[t->nodes[i].parent + 2]++;
	for (size_t p = 0; p <= t->nr; p++)
		next[p + 1] += next[p];
	for (size_t i = 0; i < t->nr; i++)
		if (t->nodes[i].wanted)
			s->rows[next[t->nodes[i].parent + 1]++] = &t->rows[i];
	return 0;
}

/* Destination of rows, and their order. */
struct listing {
	item_before *before;
	const void *arg;
	tree_add *add;
	void *list;
};

static int list_siblings(struct tree *t, struct siblings *s, size_t parent, const struct listing *l)
{
	const struct row **rows = s->rows + s->first[parent + 1];
	size_t nr = s->first[parent + 2] - s->first[parent + 1];
	int err = 0;

	rows_order(rows, nr, 0, nr, l->before, l->arg);
	for (size_t i = 0; !err && i < nr; i++) {
		err = l->add(l->list, rows[i]);
		if (!err && !map_get(&t->folded, key_of(rows[i])))
			err = list_siblings(t, s, rows[i] - t->rows, l);
	}
	return err;
}

int tree_rows(struct tree *t, item_before *before, const void *arg, tree_add *add, void *list)
{
	const struct listing l = { before, arg, add, list };
	struct siblings s = { 0 };
	int err;

	complete(t);
	err = group(t, &s);
	if (!err)
		err = list_siblings(t, &s, TREE_ROOT, &l);
	free(s.rows);
	free(s.first);
	return err;
}

void tree_name(const struct tree *t, const struct row *r, const char *name, char *buf, size_t size)
{
	const struct tree_node *n = &t->nodes[r - t->rows];
	const char *mark = !n->inner ? "  " : map_get(&t->folded, key_of(r)) ? "+ " : "- ";

	snprintf(buf, size, "%*s%s%s", n->depth < INDENT_MAX ? n->depth : INDENT_MAX, "", mark,
		 name);
}

void tree_fold(struct tree *t, const struct row *r)
{
	if (r)
		map_put(&t->folded, key_of(r), t);
}

void tree_unfold(struct tree *t, const struct row *r)
{
	if (r)
		map_del(&t->folded, key_of(r));
}

void tree_unfold_all(struct tree *t)
{
	map_fini(&t->folded);
}

void tree_fini(struct tree *t)
{
	free(t->nodes);
	map_fini(&t->folded);
	*t = (struct tree){ 0 };
}
