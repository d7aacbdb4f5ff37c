/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_QUERY_TREE_H
#define SYSTOP_QUERY_TREE_H

#include <stdbool.h>
#include <stddef.h>

#include "tui/input/actions.h"
#include "tui/widget/list.h"
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

/* tree_list - puts the wanted rows into the list, siblings in this order. 0 or -ENOMEM. */
int tree_list(struct tree *t, struct list *l, row_before *before, const void *arg);

/* tree_name - "    - name": indented, with a mark for what is, or can be, folded. */
void tree_name(const struct tree *t, const struct row *r, const char *name, char *buf, size_t size);

/* tree_act - folds and unfolds the selected row. Returns whether @a was such an action. */
bool tree_act(struct tree *t, enum action a, const struct row *selected);

void tree_fini(struct tree *t);

#endif
