/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_QUERY_TREE_H
#define SYSTOP_QUERY_TREE_H

#include <stdbool.h>
#include <stddef.h>

#include "query/order.h"
#include "query/subject.h"
#include "util/map.h"

/* Rows of a tick as a tree, parts of it folded away. Initialise with zeroes. */
struct tree {
	const struct row *rows;
	size_t nr, room;
	struct tree_node {
		size_t parent; /* place of the row above, TREE_ROOT: none */
		int depth;
		bool wanted;   /* to be shown, with all above it */
		bool inner;    /* something below is */
	} *nodes;
	struct map folded;     /* subject_key() -> itself */
};

#define TREE_ROOT SIZE_MAX

/* tree_begin - @nr rows, all of them roots and not wanted yet. 0 or -ENOMEM. */
int tree_begin(struct tree *t, const struct row *rows, size_t nr);

/* tree_rows - calls @add for the wanted rows from the top on, siblings in this order. 0, -ENOMEM, or what @add returned
 * if that is not 0. */
typedef int tree_add(void *list, const struct row *r);
int tree_rows(struct tree *t, item_before *before, const void *arg, tree_add *add, void *list);

/* tree_name - "    - name": indented, with a mark for what is, or can be, folded. */
void tree_name(const struct tree *t, const struct row *r, const char *name, char *buf, size_t size);

/* tree_fold, tree_unfold - a row (NULL: none); tree_unfold_all - all of them. */
void tree_fold(struct tree *t, const struct row *r);
void tree_unfold(struct tree *t, const struct row *r);
void tree_unfold_all(struct tree *t);

void tree_fini(struct tree *t);

#endif
