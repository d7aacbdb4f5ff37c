/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Moves from box to box of a flamegraph, by keys and by names. */
#include "sym/names.h"
#include "tui/view/flame/flame_view.h"
#include "tui/widget/pager.h"

static const struct box *box_of(const struct flame_view *s, enum flame_tree tree, int node)
{
	for (size_t i = 0; i < s->nr_boxes; i++)
		if (s->boxes[i].node == node && s->boxes[i].tree == tree)
			return &s->boxes[i];
	return NULL;
}

const struct box *flame_box_selected(const struct flame_view *s)
{
	const struct calltree *f = &s->flames[s->tree];

	return f->nr ? box_of(s, s->tree, flame_at(f, s->selected)) : NULL;
}

void flame_lines(const struct flame_view *s, int *first, int *last)
{
	*first = *last = s->nr_boxes ? s->boxes[0].y : 0;
	for (size_t i = 0; i < s->nr_boxes; i++) {
		if (s->boxes[i].y < *first)
			*first = s->boxes[i].y;
		if (s->boxes[i].y > *last)
			*last = s->boxes[i].y;
	}
}

/* The neighbour in the same line. */
static const struct box *beside(const struct flame_view *s, const struct box *b, int direction)
{
	const struct box *best = NULL;

	for (size_t i = 0; i < s->nr_boxes; i++) {
		const struct box *o = &s->boxes[i];

		if (o->y != b->y || o->node < 0 || (o->x - b->x) * direction <= 0)
			continue;
		if (!best || (o->x - best->x) * direction < 0)
			best = o;
	}
	return best ? best : b;
}

/* The widest child in the line below, or the parent in the line above. */
static const struct box *across(const struct flame_view *s, const struct box *b, int direction)
{
	const struct box *best = NULL;

	for (size_t i = 0; i < s->nr_boxes; i++) {
		const struct box *o = &s->boxes[i];

		if (o->y != b->y + direction || o->node < 0 || o->x >= b->x + b->width || o->x + o->width <= b->x)
			continue;
		if (!best || o->width > best->width)
			best = o;
	}
	return best ? best : b;
}

/* The box in the line that the action goes to, or as near to it as boxes lead. */
static const struct box *along(const struct flame_view *s, const struct box *b, enum action a, int page)
{
	const struct box *next;
	int first, last, to;

	flame_lines(s, &first, &last);
	to = b->y - first;
	pager_move(a, page, last - first, &to);
	to += first;
	while (b->y != to && (next = across(s, b, to > b->y ? 1 : -1)) != b)
		b = next;
	return b;
}

void flame_select(struct flame_view *s, const struct box *b)
{
	s->tree = b->tree;
	s->selected = b->key;
}

void flame_move(struct flame_view *s, enum action a, int page)
{
	const struct box *b = flame_box_selected(s);

	if (!b && s->nr_boxes)
		b = &s->boxes[0];
	else if (b && (a == ACTION_FLAME_LEFT || a == ACTION_FLAME_RIGHT))
		b = beside(s, b, a == ACTION_FLAME_LEFT ? -1 : 1);
	else if (b)
		b = along(s, b, a, page);
	if (b && b->node >= 0)
		flame_select(s, b);
}

/* --- Searching */

static void find_box(struct flame_view *s, const char *search, int direction, bool stay)
{
	const struct calltree_node *selected = flame_selected(s);
	int nr = s->nr_boxes, at = 0;

	for (int i = 0; selected && i < nr; i++)
		if (s->boxes[i].tree == s->tree && s->boxes[i].node == selected - s->flames[s->tree].nodes)
			at = i;
	for (int i = !stay; i < nr + !stay; i++) {
		const struct box *b = &s->boxes[((at + i * direction) % nr + nr) % nr];

		if (b->node >= 0 && flame_matches(calltree_name(&s->flames[b->tree].nodes[b->node]), search)) {
			flame_select(s, b);
			return;
		}
	}
}

void flame_search(void *state, int direction, const struct view_context *c)
{
	struct flame_view *s = state;

	if (s->mode == MODE_FUNCTIONS)
		table_search(&s->functions, direction, c);
	else
		find_box(s, c->search, direction ? direction : 1, !direction);
}
