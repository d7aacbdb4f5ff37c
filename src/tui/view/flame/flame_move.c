/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Moves from box to box of a flamegraph, by keys and by names. */
#include "sym/names.h"
#include "tui/view/flame/flame_view.h"

static const struct box *box_of(const struct flame_view *s, enum flame_tree tree, int node)
{
	for (size_t i = 0; i < s->nr_boxes; i++)
		if (s->boxes[i].node == node && s->boxes[i].tree == tree)
			return &s->boxes[i];
	return NULL;
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

void flame_select(struct flame_view *s, const struct box *b)
{
	s->tree = b->tree;
	s->selected = b->key;
}

void flame_move(struct flame_view *s, enum action a)
{
	const struct calltree *f = &s->flames[s->tree];
	const struct box *b = f->nr ? box_of(s, s->tree, flame_at(f, s->selected)) : NULL;

	if (!b && s->nr_boxes)
		b = &s->boxes[0];
	else if (b && (a == ACTION_DOWN || a == ACTION_UP))
		b = across(s, b, a == ACTION_DOWN ? 1 : -1);
	else if (b)
		b = beside(s, b, a == ACTION_FLAME_LEFT ? -1 : 1);
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
