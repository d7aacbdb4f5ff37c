/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_TUI_VIEW_FLAME_FLAME_VIEW_H
#define SYSTOP_TUI_VIEW_FLAME_FLAME_VIEW_H

/* Shared by the files of the flamegraph's view: view_flame.c (keys), flame_boxes.c (the graph), flame_functions.c
 * (the table of functions), flame_about.c (the lines around them). */

#include "query/calltree.h"
#include "tui/screen/view.h"
#include "tui/widget/table.h"

enum flame_mode {
	MODE_TREE,
	MODE_FUNCTIONS, /* a table: self and total time of each function */
	MODE_SANDWICH,  /* the callers of a function above it, and its callees below */
};

/* The trees of the boxes. Only a sandwich has callers. */
enum flame_tree { TREE_MAIN, TREE_CALLERS, TREES };

/* A box that was drawn, for keys and clicks. */
struct box {
	int node; /* -1: several, too narrow to draw, or it is not in the tree any more */
	enum flame_tree tree;
	int y, x, width;
	uint64_t key; /* of the node */
};

struct flame_view {
	struct calltree flames[TREES];
	uint64_t built[TREES];     /* struct view_context.nr_shown when each was built, */
	uint64_t oldest;           /* and the oldest refresh that was remembered then */
	struct calltree_options options;
	flame_source *source;      /* of view_flame_from(); NULL: the last refreshes */
	void *source_arg;
	void (*free_by)(void *arg); /* frees it; NULL: free() */
	const struct view_context *context; /* while the source runs */
	char what[96];
	enum flame_mode mode;
	struct calltree_frame focus;  /* of the sandwich */
	enum flame_tree tree;      /* tree of the selected box, */
	uint64_t selected;         /* and its node's key; 0: the root */
	uint64_t zoomed;           /* key; 0: the root */
	bool marks;                /* mark all boxes of the selected function */
	struct table_state functions; /* for MODE_FUNCTIONS */
	struct calltree_base base;
	uint64_t base_seq;         /* the refresh that was stored as base; 0: none */
	bool compares;
	struct values *past;       /* of its subject, in the last refreshes, NULL: not known; */
	uint64_t past_seq;         /* and the latest of them */
	struct box *boxes;         /* including those on lines above and below the screen */
	size_t nr_boxes, boxes_room;
	int scrolled;              /* number of lines that the boxes are moved up by when drawn, */
	int hidden;                /* and of lines that were off the screen */
};

/* flame_selected - the selected node, NULL: none.
 * flame_function_selected - the selection in the table. */
const struct calltree_node *flame_selected(const struct flame_view *s);
const struct calltree_function *flame_function_selected(const struct flame_view *s);

/* flame_at - index of the node with this key, of the root if there is none; -1: no nodes. */
int flame_at(const struct calltree *f, uint64_t key);

/* flame_root_name - the name of the flamegraph's subject; a subject that is gone keeps the name by which it was
 * opened. */
void flame_root_name(const struct view_context *c, char *buf, size_t size);

/* flame_matches - whether the search matches the name. */
bool flame_matches(const char *name, const char *search);

/* flame_compares - whether the graph shows changes since the base. The base has whole stacks, so callers and callees of one
 * function cannot be compared with it. */
static inline bool flame_compares(const struct flame_view *s)
{
	return s->compares && s->mode == MODE_TREE;
}

/* flame_inverted - whether the graph is drawn with callers below: the table and the sandwich have both. */
static inline bool flame_inverted(const struct flame_view *s)
{
	return s->options.inverted && s->mode == MODE_TREE;
}

/* flame_change - growth of the node's share since the base: -1 to 1. */
double flame_change(struct flame_view *s, const struct view_context *c, const struct calltree_node *n);

/* flame_source.c:
 * flame_source_samples - for calltree_options.samples; @arg: the view.
 * flame_ticks - maximum number of shown refreshes.
 * flame_export - saves the shown samples, independent of metric and zoom. */
int flame_source_samples(void *arg, sample_fn *fn, void *fn_arg);
uint64_t flame_ticks(const struct flame_view *s, const struct view_context *c);
void flame_export(struct flame_view *s, const struct view_context *c);

/*
 * flame_move.c.
 * flame_box_selected - the box of the selected node, NULL: it has none.
 * flame_lines - the first and the last line of the boxes.
 * flame_select - selects this box.
 * flame_move - moves to the box beside, or to one below or above; a page has @page lines.
 * flame_search - see struct view.
 */
const struct box *flame_box_selected(const struct flame_view *s);
void flame_lines(const struct flame_view *s, int *first, int *last);
void flame_select(struct flame_view *s, const struct box *b);
void flame_move(struct flame_view *s, enum action a, int page);
void flame_search(void *state, int direction, const struct view_context *c);

/* flame_functions.c: flame_function_key - the key of a function's item. flame_functions_update - adds the items of the
 * table, which has been begun. 0 or -ENOMEM. */
extern const struct table_kind flame_functions;
uint64_t flame_function_key(const struct symbol *symbol);
int flame_functions_update(struct flame_view *s, const struct view_context *c);

/* flame_boxes.c: draws the part of the graph with the selected box into lines [top, bottom), from column @left on. */
void flame_draw_tree(struct flame_view *s, const struct view_context *c, int top, int bottom, int left);
void flame_draw_sandwich(struct flame_view *s, const struct view_context *c, int top, int bottom, int left);

/* flame_about.c: draws the line above the graph; counts and draws the lines below it; draws the threads at its left. */
void flame_draw_head(struct flame_view *s, const struct view_context *c);
int flame_about_lines(const struct view_context *c);
void flame_draw_about(struct flame_view *s, const struct view_context *c, int y);
int flame_threads_width(const struct view_context *c);
void flame_draw_threads(struct flame_view *s, const struct view_context *c, int bottom);

#endif
