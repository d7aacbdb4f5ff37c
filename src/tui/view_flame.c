/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the time of a thread, process, cgroup or everything went, by function: a flamegraph that hangs
 * from its root, and what the selected box is. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "model/sample.h"
#include "sym/names.h"
#include "tui/flame.h"
#include "tui/host.h"
#include "tui/paint.h"
#include "tui/view.h"
#include "util/format.h"
#include "util/text.h"

/* Narrower names are cut: what two dots leave of them tells less. */
#define ELIDE_FROM 8

/* Lines about the selected box; a low screen has more use for boxes. */
static int detail_lines(const struct view_context *c)
{
	return c->height >= 14 ? 4 : c->height >= 8 ? 3 : 1;
}

/* A box that was drawn, for keys and clicks. */
struct box {
	int node; /* -1: several that are too narrow */
	int y, x, width;
};

struct flame_view {
	struct flame flame;
	struct flame_options options;
	uint64_t selected, zoomed; /* keys of nodes; 0: the root */
	struct box *boxes;
	size_t nr_boxes, boxes_room;
};

static int flame_update(void *state, const struct view_context *c)
{
	struct flame_view *s = state;

	s->options.ticks = PAST_TICKS;
	return flame_build(&s->flame, c->tick, &c->within, &s->options, c->host);
}

static int node_or_root(const struct flame *f, uint64_t key)
{
	int at = key ? flame_find(f, key) : -1;

	return at >= 0 ? at : f->nr ? 0 : -1;
}

/* What stands in its box, fit for a terminal. */
static void name_of(const struct view_context *c, const struct flame_node *n, char *buf, size_t size)
{
	const char *name = flame_name(n);

	if (n->depth)
		text_safe(buf, size, name, strlen(name));
	else
		subject_name(&c->within, subject_row(&c->within, c->tick), buf, size);
}

/* --- Boxes */

/* What stands around a name tells what it is, without colours: [user] (kernel) <JIT> {no function}. */
static const char *marks_of(const struct flame_node *n)
{
	if (!n->symbol)
		return n->depth ? "{}" : "[]";
	return n->symbol->kind == SYMBOL_KERNEL ? "()" : n->symbol->kind == SYMBOL_JIT ? "<>" : "[]";
}

static enum role role_of(const struct flame_node *n)
{
	if (!n->symbol)
		return ROLE_TEXT;
	return n->symbol->kind == SYMBOL_KERNEL ? ROLE_KERNEL : ROLE_USER;
}

static bool matches(const struct flame_node *n, const char *search)
{
	return *search && flame_name(n) && strcasestr(flame_name(n), search);
}

static void draw_box(struct flame_view *s, const struct view_context *c, const struct box *b)
{
	const struct flame_node *n = &s->flame.nodes[b->node];
	const char *marks = marks_of(n);
	char name[256], elided[256], text[300];
	enum role role = role_of(n);
	int room = b->width - 2;

	if (n->key == s->selected || (!s->selected && !b->node))
		role = ROLE_SELECTED;
	else if (matches(n, c->search))
		role = ROLE_MATCH;
	if (b->width == 1) {
		paint_text(c->paint, b->y, b->x, 1, role, "|");
		return;
	}
	name_of(c, n, name, sizeof(name));
	if (room >= ELIDE_FROM)
		text_elide(elided, sizeof(elided), name, room);
	else
		text_cut(elided, sizeof(elided), name, room);
	snprintf(text, sizeof(text), "%c%s%*s%c", marks[0], elided, room - text_width(elided), "",
		 marks[1]);
	paint_text(c->paint, b->y, b->x, b->width, role, text);
}

static void keep_box(struct flame_view *s, struct box b)
{
	if (s->nr_boxes == s->boxes_room) {
		size_t room = s->boxes_room ? 2 * s->boxes_room : 256;
		struct box *grown = reallocarray(s->boxes, room, sizeof(*grown));

		if (!grown)
			return;
		s->boxes = grown;
		s->boxes_room = room;
	}
	s->boxes[s->nr_boxes++] = b;
}

/* The boxes of @node's children in @width cells from @x on; those narrower than a cell are one. */
static void place_children(struct flame_view *s, const struct view_context *c, int node, int y, int x,
			   int width, int bottom)
{
	const struct flame_node *n = &s->flame.nodes[node];
	uint64_t done = 0;
	int end = x + width;

	if (y >= bottom || !n->total)
		return;
	for (int child = n->child; child >= 0; child = s->flame.nodes[child].next) {
		uint64_t total = s->flame.nodes[child].total;
		int from = x + (int)((double)done * width / n->total);
		int to = x + (int)((double)(done + total) * width / n->total);

		if (to <= from) {
			/* The lighter ones come after it. */
			if (from < end) {
				paint_text(c->paint, y, from, 1, ROLE_DIM, c->paint->unicode ? "…" : ".");
				keep_box(s, (struct box){ -1, y, from, 1 });
			}
			return;
		}
		keep_box(s, (struct box){ child, y, from, to - from });
		draw_box(s, c, &s->boxes[s->nr_boxes - 1]);
		place_children(s, c, child, y + 1, from, to - from, bottom);
		done += total;
	}
}

/* --- The lines around them */

static void percent(char *buf, size_t size, uint64_t part, uint64_t whole)
{
	snprintf(buf, size, "%.1f%%", whole ? 100.0 * part / whole : 0);
}

/* "[On-CPU] Runqueue Sleep ..." and how good the stacks are. */
static void draw_head(struct flame_view *s, const struct view_context *c)
{
	const struct flame *f = &s->flame;
	uint64_t all = f->complete + f->truncated + f->without;
	char complete[16], truncated[16], without[16];
	int x = 0;

	paint_clear(c->paint, c->top, 0);
	for (int m = 0; m < FLAME_METRICS; m++)
		x = paint_format(c->paint, c->top, x, m == (int)s->options.metric ? ROLE_SORTED : ROLE_DIM,
				 m == (int)s->options.metric ? "[%s]" : " %s ", flame_metric_names[m]);
	percent(complete, sizeof(complete), f->complete, all);
	percent(truncated, sizeof(truncated), f->truncated, all);
	percent(without, sizeof(without), f->without, all);
	paint_format(c->paint, c->top, x, ROLE_TEXT, "  whole %s cut %s none %s%s", complete,
		     truncated, without, s->options.inverted ? "  callers below" : "");
}

static void draw_selected(struct flame_view *s, const struct view_context *c, int y)
{
	int at = node_or_root(&s->flame, s->selected);
	const struct flame_node *n = &s->flame.nodes[at], *root = &s->flame.nodes[0];
	char name[256], module[256], total[16], self[16], part[16], self_part[16], callees[256] = "";
	size_t used = 0;
	int x;

	name_of(c, n, name, sizeof(name));
	format_value(total, sizeof(total), UNIT_NS, n->total, 0);
	format_value(self, sizeof(self), UNIT_NS, n->self, 0);
	percent(part, sizeof(part), n->total, root->total);
	percent(self_part, sizeof(self_part), n->self, root->total);
	x = paint_text(c->paint, y, 0, c->paint->width, ROLE_SORTED, name);
	paint_format(c->paint, y, x, ROLE_TEXT, "  total %s (%s)  self %s (%s)  %" PRIu64 " %s", total,
		     part, self, self_part, n->count,
		     s->options.metric == FLAME_CPU ? "samples" : "samples and blocks");
	if (detail_lines(c) == 1)
		return;
	if (n->symbol) /* a file can have any name */
		text_safe(module, sizeof(module), n->symbol->module, strlen(n->symbol->module));
	if (n->symbol && !(n->frame & (FRAME_KERNEL | FRAME_ANONYMOUS)))
		paint_format(c->paint, y + 1, 1, ROLE_TEXT, "user, %s +0x%llx", module,
			     n->frame & FRAME_OFFSET_MASK);
	else if (n->symbol)
		paint_format(c->paint, y + 1, 1, ROLE_TEXT, "%s 0x%llx",
			     n->symbol->kind == SYMBOL_KERNEL ? module : "anonymous memory",
			     n->frame & ~FRAME_ANONYMOUS);
	for (int child = n->child; child >= 0 && used < sizeof(callees) - 1;
	     child = s->flame.nodes[child].next) {
		char callee[80], share[16];
		const char *text = flame_name(&s->flame.nodes[child]);

		text_safe(callee, sizeof(callee), text, strlen(text));
		percent(share, sizeof(share), s->flame.nodes[child].total, n->total);
		used += snprintf(callees + used, sizeof(callees) - used, "  %s %s", callee, share);
	}
	if (*callees)
		paint_format(c->paint, y + 2, 1, ROLE_TEXT, "%s%s", s->options.inverted ? "callers:" : "calls:",
			     callees);
}

/* Time of stacks that have a match, each once: below a match nothing is counted again. */
static uint64_t count_matched(const struct flame *f, int node, const char *search)
{
	uint64_t sum = 0;

	if (matches(&f->nodes[node], search))
		return f->nodes[node].total;
	for (int child = f->nodes[node].child; child >= 0; child = f->nodes[child].next)
		sum += count_matched(f, child, search);
	return sum;
}

static void flame_draw(void *state, const struct view_context *c)
{
	struct flame_view *s = state;
	int bottom = c->top + c->height - detail_lines(c), root = node_or_root(&s->flame, s->zoomed);

	for (int y = c->top; y < c->top + c->height; y++)
		paint_clear(c->paint, y, 0);
	draw_head(s, c);
	s->nr_boxes = 0;
	if (root < 0) {
		paint_text(c->paint, c->top + 2, 1, c->paint->width, ROLE_TEXT,
			   "nothing of this kind in these refreshes");
		return;
	}
	keep_box(s, (struct box){ root, c->top + 1, 0, c->paint->width });
	draw_box(s, c, &s->boxes[0]);
	place_children(s, c, root, c->top + 2, 0, c->paint->width, bottom);
	draw_selected(s, c, bottom);
}

/* --- Keys */

static const struct box *box_of(const struct flame_view *s, int node)
{
	for (size_t i = 0; i < s->nr_boxes; i++)
		if (s->boxes[i].node == node)
			return &s->boxes[i];
	return NULL;
}

/* The box beside this one, in its line. */
static int beside(const struct flame_view *s, const struct box *b, int direction)
{
	const struct box *best = NULL;

	for (size_t i = 0; i < s->nr_boxes; i++) {
		const struct box *o = &s->boxes[i];

		if (o->y != b->y || o->node < 0 || (o->x - b->x) * direction <= 0)
			continue;
		if (!best || (o->x - best->x) * direction < 0)
			best = o;
	}
	return best ? best->node : b->node;
}

static void select_node(struct flame_view *s, int node)
{
	if (node >= 0)
		s->selected = s->flame.nodes[node].key;
}

static void move_selection(struct flame_view *s, enum action a)
{
	int at = node_or_root(&s->flame, s->selected), zoomed = node_or_root(&s->flame, s->zoomed);
	const struct box *b = at < 0 ? NULL : box_of(s, at);

	if (at < 0)
		return;
	if (!b)
		at = zoomed;
	else if (a == ACTION_DOWN && s->flame.nodes[at].child >= 0 && box_of(s, s->flame.nodes[at].child))
		at = s->flame.nodes[at].child;
	else if (a == ACTION_UP && at != zoomed)
		at = s->flame.nodes[at].parent;
	else if (a == ACTION_FLAME_LEFT || a == ACTION_FLAME_RIGHT)
		at = beside(s, b, a == ACTION_FLAME_LEFT ? -1 : 1);
	select_node(s, at);
}

static void find_match(struct flame_view *s, const char *search, int direction)
{
	int at = node_or_root(&s->flame, s->selected), nr = s->flame.nr;

	for (int i = 1; i <= nr && *search; i++) {
		int node = ((at + i * direction) % nr + nr) % nr;

		if (matches(&s->flame.nodes[node], search) && box_of(s, node)) {
			select_node(s, node);
			return;
		}
	}
}

static bool flame_act(void *state, enum action a, const struct view_context *c)
{
	struct flame_view *s = state;

	switch (a) {
	case ACTION_DOWN:
	case ACTION_UP:
	case ACTION_FLAME_LEFT:
	case ACTION_FLAME_RIGHT:
		move_selection(s, a);
		return true;
	case ACTION_FLAME_ZOOM:
		s->zoomed = s->selected;
		return true;
	case ACTION_FLAME_RESET:
		s->zoomed = s->selected = 0;
		return true;
	case ACTION_FLAME_METRIC:
		s->options.metric = (s->options.metric + 1) % FLAME_METRICS;
		return true;
	case ACTION_FLAME_INVERT:
		s->options.inverted = !s->options.inverted;
		s->zoomed = s->selected = 0;
		return true;
	case ACTION_FLAME_MERGE:
		s->options.merge = (s->options.merge + 1) % FLAME_MERGES;
		s->zoomed = s->selected = 0;
		return true;
	case ACTION_FLAME_KERNEL:
		s->options.hide_kernel = !s->options.hide_kernel;
		return true;
	case ACTION_FLAME_USER:
		s->options.hide_user = !s->options.hide_user;
		return true;
	case ACTION_SEARCH:
	case ACTION_MATCH_NEXT:
		find_match(s, c->search, 1);
		return true;
	case ACTION_MATCH_PREV:
		find_match(s, c->search, -1);
		return true;
	default:
		return false;
	}
}

static void flame_status(void *state, const struct view_context *c, char *buf, size_t size)
{
	struct flame_view *s = state;
	uint64_t total = s->flame.nr ? s->flame.nodes[0].total : 0, oldest;
	char time[16], share[16];
	int used;

	format_value(time, sizeof(time), UNIT_NS, total, 0);
	tick_past(c->tick, &oldest);
	used = snprintf(buf, size, "%s of %s in %" PRIu64 " refreshes", time,
			flame_metric_names[s->options.metric],
			c->tick->seq >= oldest ? c->tick->seq - oldest + 1 : 1);
	if (*c->search && s->flame.nr && used < (int)size) {
		percent(share, sizeof(share), count_matched(&s->flame, 0, c->search), total);
		snprintf(buf + used, size - used, "  /%s: %s of it", c->search, share);
	}
}

static void flame_view_fini(void *state)
{
	struct flame_view *s = state;

	flame_fini(&s->flame);
	free(s->boxes);
}

const struct view view_flame = {
	.name = "Flame",
	.legend = "[user] (kernel) <JIT> {other}",
	.places = IN_FLAME,
	.state_size = sizeof(struct flame_view),
	.update = flame_update,
	.draw = flame_draw,
	.act = flame_act,
	.status = flame_status,
	.fini = flame_view_fini,
};
