/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_TUI_WIDGET_TABLE_H
#define SYSTOP_TUI_WIDGET_TABLE_H

#include "tui/screen/view.h"
#include "tui/widget/list.h"

struct tree;

/* What all tables have in common: a list of rows, its columns, search and the mouse. */
struct table_state {
	enum table table;
	struct list list;
	struct columns columns;
	int pan;
	size_t matches;      /* of the search */
	struct values *past; /* of the rows on the screen */
	size_t past_room;
};

/* table_wants - whether a row is to be shown: a part of what was gone into, not hidden, passing the
 * filter. */
bool table_wants(const struct table_state *t, const struct view_context *c, const struct row *r);

/* table_update - the list has the rows of the tick. @ordered: in their order already */
void table_update(struct table_state *t, const struct view_context *c, bool ordered);

/* table_add_tree - the list has the wanted rows of a tree, in the order that is set. 0 or -ENOMEM. table_fold - folds and
 * unfolds its selected row; returns whether @a was such an action. */
int table_add_tree(struct table_state *t, const struct view_context *c, struct tree *tree);
bool table_fold(const struct table_state *t, enum action a, struct tree *tree);

/* table_draw - titles and rows. @name: text of a row in its tree, NULL: no tree */
typedef void table_name(const void *state, const struct row *r, char *buf, size_t size);
void table_draw(struct table_state *t, const struct view_context *c, const char *id_title,
		table_name *name, const void *state);

/* table_act, table_search, table_click - see struct view. @ordered: as at table_update() */
bool table_act(struct table_state *t, const struct view_context *c, enum action a, bool ordered);
void table_search(struct table_state *t, const struct view_context *c, int direction, bool ordered);
bool table_click(struct table_state *t, const struct view_context *c, int y, int x, bool ordered);

/* table_status - "16 of 1204 threads", what hides some of them, and matches of the search. */
void table_status(const struct table_state *t, const struct view_context *c, size_t all,
		  const char *what, char *buf, size_t size);

void table_fini(struct table_state *t);

#endif
