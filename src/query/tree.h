/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_QUERY_TREE_H
#define SYSTOP_QUERY_TREE_H

#include <stdbool.h>
#include <stddef.h>

#include "query/order.h"
#include "query/subject.h"
#include "util/map.h"

/* Rows of a tick as a tree with folded parts. Initialise with zeroes. */
struct tree {
	const struct row *rows;
	size_t nr, room;
	struct tree_node {
		size_t parent; /* index of the parent row, TREE_ROOT: none */
		int depth;
		bool wanted;   /* shown, with all its ancestors */
		bool inner;    /* has shown descendants */
	} *nodes;
	struct map folded;     /* subject_key() -> itself */
};

#define TREE_ROOT SIZE_MAX

/* tree_begin - @nr rows, all roots and not wanted. 0 or -ENOMEM. */
int tree_begin(struct tree *t, const struct row *rows, size_t nr);

/* tree_rows - calls @add for the wanted rows from the top down, siblings in the given order. 0, -ENOMEM, or the
 * first result of @add that is not 0. */
typedef int tree_add(void *list, const struct row *r);
int tree_rows(struct tree *t, item_before *before, const void *arg, tree_add *add, void *list);

/* tree_name - "    - name": indented, with a mark if the row is, or can be, folded. */
void tree_name(const struct tree *t, const struct row *r, const char *name, char *buf, size_t size);

/* tree_fold, tree_unfold - a row (NULL: none); tree_unfold_all - all of them. */
void tree_fold(struct tree *t, const struct row *r);
void tree_unfold(struct tree *t, const struct row *r);
void tree_unfold_all(struct tree *t);

void tree_fini(struct tree *t);

#endif
