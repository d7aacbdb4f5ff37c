/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "query/tree.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* Indentation limit. */
#define INDENT_MAX 20

/* Depth of a row: not known yet, and on the way up from the row whose depth is being found. */
#define DEPTH_UNKNOWN (-1)
#define DEPTH_ON_WAY (-2)

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
		t->nodes[i] = (struct tree_node){ .parent = TREE_ROOT, .depth = DEPTH_UNKNOWN };
	return 0;
}

/* Computes depths, each once: a chain of processes can be as long as their table. Parents may follow their children, and
 * a reused number could make a circle: one of its rows becomes a root. */
static void find_depths(struct tree *t)
{
	for (size_t i = 0; i < t->nr; i++) {
		size_t at = i, last = i;
		int depth = -1; /* of the row above @i that has one */

		for (; at != TREE_ROOT && t->nodes[at].depth == DEPTH_UNKNOWN; at = t->nodes[at].parent) {
			t->nodes[at].depth = DEPTH_ON_WAY;
			last = at;
			depth++;
		}
		if (at != TREE_ROOT && t->nodes[at].depth == DEPTH_ON_WAY)
			t->nodes[last].parent = TREE_ROOT;
		else if (at != TREE_ROOT)
			depth += t->nodes[at].depth + 1;
		for (at = i; at != TREE_ROOT && t->nodes[at].depth == DEPTH_ON_WAY; at = t->nodes[at].parent)
			t->nodes[at].depth = depth--;
	}
}

/* Marks all ancestors of wanted rows. */
static void want_ancestors(struct tree *t)
{
	for (size_t i = 0; i < t->nr; i++) {
		size_t up = t->nodes[i].wanted ? t->nodes[i].parent : TREE_ROOT;

		for (; up != TREE_ROOT && !t->nodes[up].inner; up = t->nodes[up].parent)
			t->nodes[up].wanted = t->nodes[up].inner = true;
	}
}

/* The wanted rows by parent, and those that are listed next, the last one first. */
struct siblings {
	const struct row **rows; /* of a parent: rows[first[parent + 1]] ... */
	size_t *first;
	const struct row **next;
	size_t nr_next;
};

/* Groups the wanted rows by parent. */
static int group(const struct tree *t, struct siblings *s)
{
	size_t *next;

	s->rows = calloc(t->nr + 1, sizeof(*s->rows));
	s->first = calloc(t->nr + 3, sizeof(*s->first));
	s->next = calloc(t->nr + 1, sizeof(*s->next));
	if (!s->rows || !s->first || !s->next)
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

static void next_below(struct siblings *s, size_t parent, item_before *before, const void *arg)
{
	const struct row **rows = s->rows + s->first[parent + 1];
	size_t nr = s->first[parent + 2] - s->first[parent + 1];

	rows_order(rows, nr, 0, nr, before, arg);
	while (nr)
		s->next[s->nr_next++] = rows[--nr];
}

int tree_rows(struct tree *t, item_before *before, const void *arg, tree_add *add, void *list)
{
	struct siblings s = { 0 };
	int err;

	find_depths(t);
	want_ancestors(t);
	err = group(t, &s);
	if (!err)
		next_below(&s, TREE_ROOT, before, arg);
	while (!err && s.nr_next) {
		const struct row *r = s.next[--s.nr_next];

		err = add(list, r);
		if (!map_get(&t->folded, row_key(r)))
			next_below(&s, r - t->rows, before, arg);
	}
	free(s.rows);
	free(s.first);
	free(s.next);
	return err;
}

void tree_name(const struct tree *t, const struct row *r, const char *name, char *buf, size_t size)
{
	const struct tree_node *n = &t->nodes[r - t->rows];
	const char *mark = !n->inner ? "  " : map_get(&t->folded, row_key(r)) ? "+ " : "- ";

	snprintf(buf, size, "%*s%s%s", n->depth < INDENT_MAX ? n->depth : INDENT_MAX, "", mark,
		 name);
}

void tree_fold(struct tree *t, const struct row *r)
{
	if (r)
		map_put(&t->folded, row_key(r), t);
}

void tree_unfold(struct tree *t, const struct row *r)
{
	if (r)
		map_del(&t->folded, row_key(r));
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
