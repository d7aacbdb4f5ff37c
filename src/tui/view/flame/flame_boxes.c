/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The flamegraph itself: boxes below their callers. */
#include <stdio.h>
#include <string.h>

#include "sym/names.h"
#include "tui/term/paint.h"
#include "tui/view/flame/flame_view.h"
#include "tui/widget/function_text.h"
#include "util/text.h"
#include "util/vec.h"

/* In narrower boxes names are cut: two dots would leave too little of them. */
#define ELIDE_FROM 8

/* Smaller changes of a share are noise. */
#define CHANGE_MIN 0.005

void flame_root_name(const struct view_context *c, char *buf, size_t size)
{
	const struct row *r = subject_row(&c->within, c->tick);

	if (!r && c->within.kind != SUBJECT_ALL && *c->within_name)
		snprintf(buf, size, "%s", c->within_name);
	else
		subject_name(&c->within, r, buf, size);
}

/* Text of its box, fit for a terminal. */
static void name_of(const struct flame_view *s, const struct view_context *c, const struct calltree_node *n,
		    char *buf, size_t size)
{
	const char *name = calltree_name(n);

	if (n->symbol)
		function_text(buf, size, name, c->settings);
	else if (n->depth || s->mode == MODE_SANDWICH)
		text_safe(buf, size, name, strlen(name));
	else
		flame_root_name(c, buf, size);
}

static enum role box_role(struct flame_view *s, const struct view_context *c, const struct box *b, double change)
{
	const struct calltree_node *n = &s->flames[b->tree].nodes[b->node], *selected = flame_selected(s);

	if (n == selected)
		return ROLE_SELECTED;
	if (flame_matches(calltree_name(n), c->search) ||
	    (s->marks && selected && n->symbol && n->symbol == selected->symbol))
		return ROLE_MATCH;
	if (flame_compares(s))
		return change > CHANGE_MIN ? ROLE_GREW : change < -CHANGE_MIN ? ROLE_SHRANK : ROLE_DIM;
	return function_role(n->symbol);
}

static void draw_box(struct flame_view *s, const struct view_context *c, const struct box *b)
{
	const struct calltree_node *n = &s->flames[b->tree].nodes[b->node];
	const char *marks = n->symbol || n->depth ? function_marks(n->symbol) : "[]";
	char name[256], with_change[280], elided[256];
	double change = flame_compares(s) ? flame_change(s, c, n) : 0;
	enum role role = box_role(s, c, b, change);
	int room = b->width - 2, x;

	if (b->width == 1) {
		paint_text(c->paint, b->y, b->x, 1, role, change > CHANGE_MIN    ? "+"
							   : change < -CHANGE_MIN ? "-"
										   : "|");
		return;
	}
	name_of(s, c, n, name, sizeof(name));
	if (flame_compares(s) && (change > CHANGE_MIN || change < -CHANGE_MIN))
		snprintf(with_change, sizeof(with_change), "%+.1f %s", 100 * change, name);
	else
		snprintf(with_change, sizeof(with_change), "%s", name);
	if (room >= ELIDE_FROM)
		text_elide(elided, sizeof(elided), with_change, room);
	else
		text_cut(elided, sizeof(elided), with_change, room);
	x = paint_text(c->paint, b->y, b->x, 1, role, marks);
	x = paint_text(c->paint, b->y, x, room, role, elided);
	x = paint_repeated(c->paint, b->y, x, b->x + 1 + room - x, role, " ");
	paint_text(c->paint, b->y, x, 1, role, marks + 1);
}

static void add_box(struct flame_view *s, struct box b)
{
	b.key = b.node >= 0 ? s->flames[b.tree].nodes[b.node].key : 0;
	VEC_PUSH(s->boxes, s->nr_boxes, s->boxes_room, b);
}

/* Places @node's children in @width cells from @x on, callers above it; all that are narrower than a cell share one box. */
static void place_children(struct flame_view *s, enum flame_tree tree, int node, int y, int x, int width)
{
	const struct calltree *f = &s->flames[tree];
	uint64_t done = 0, all = f->nodes[node].total;
	int end = x + width;

	for (int child = f->nodes[node].child; child >= 0 && f->nodes[child].total; child = f->nodes[child].next) {
		uint64_t total = f->nodes[child].total;
		int from = x + (int)((double)done * width / all);
		int to = x + (int)((double)(done + total) * width / all);

		if (to <= from) {
			/* All that follow are lighter. */
			if (from < end)
				add_box(s, (struct box){ -1, tree, y, from, 1 });
			return;
		}
		add_box(s, (struct box){ child, tree, y, from, to - from });
		place_children(s, tree, child, tree == TREE_CALLERS ? y - 1 : y + 1, from, to - from);
		done += total;
	}
}

/* Draws the lines with the selected box, and as many others as fit. */
static void draw_boxes(struct flame_view *s, const struct view_context *c, int top, int bottom)
{
	const struct box *selected = flame_box_selected(s);
	struct paint page = *c->paint;
	struct view_context in_page = *c;
	int y = selected ? selected->y : top, first, last;

	if (y >= s->scrolled + bottom)
		s->scrolled = y - bottom + 1;
	if (y < s->scrolled + top)
		s->scrolled = y - top;
	page.shift -= s->scrolled;
	in_page.paint = &page;
	flame_lines(s, &first, &last);
	if (first < s->scrolled + top)
		s->hidden += s->scrolled + top - first;
	if (last >= s->scrolled + bottom)
		s->hidden += last + 1 - s->scrolled - bottom;
	for (size_t i = 0; i < s->nr_boxes; i++) {
		const struct box *b = &s->boxes[i];

		if (b->y < s->scrolled + top || b->y >= s->scrolled + bottom)
			continue;
		if (b->node >= 0)
			draw_box(s, &in_page, b);
		else
			paint_text(&page, b->y, b->x, 1, ROLE_DIM, page.unicode ? "…" : ".");
	}
}

void flame_draw_tree(struct flame_view *s, const struct view_context *c, int top, int bottom, int left)
{
	int root = flame_at(&s->flames[TREE_MAIN], s->zoomed), width = c->paint->width - left;

	add_box(s, (struct box){ root, TREE_MAIN, top, left, width });
	place_children(s, TREE_MAIN, root, top + 1, left, width);
	draw_boxes(s, c, top, bottom);
}

void flame_draw_sandwich(struct flame_view *s, const struct view_context *c, int top, int bottom, int left)
{
	int middle = top + (bottom - top) / 2, width = c->paint->width - left;

	add_box(s, (struct box){ 0, TREE_MAIN, middle, left, width });
	place_children(s, TREE_MAIN, 0, middle + 1, left, width);
	if (s->flames[TREE_CALLERS].nr)
		place_children(s, TREE_CALLERS, 0, middle - 1, left, width);
	draw_boxes(s, c, top, bottom);
}
