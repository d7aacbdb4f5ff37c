/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The time of a thread, process, cgroup or the host by function: a flamegraph that hangs from its root, a table of
 * functions, or the callers and callees of one function. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/sample.h"
#include "sym/names.h"
#include "tui/screen/host.h"
#include "tui/term/paint.h"
#include "tui/view/flame/flame_view.h"
#include "util/format.h"
#include "util/text.h"

/* Selectable samples per second: no multiples of timer frequencies. */
static const int frequencies[] = { 19, 49, 99, 199, 499, 997 };

/* Minimum width with room for the legend beside a status in whole words. */
#define WIDE 100

#define NR_FREQUENCIES (int)(sizeof(frequencies) / sizeof(frequencies[0]))

int flame_at(const struct calltree *f, uint64_t key)
{
	int at = key ? calltree_find(f, key) : -1;

	return at >= 0 && f->nodes[at].total ? at : f->nr ? 0 : -1;
}

const struct calltree_node *flame_selected(const struct flame_view *s)
{
	const struct calltree *f = &s->flames[s->tree];
	int at = flame_at(f, s->selected);

	return at < 0 ? NULL : &f->nodes[at];
}

const struct calltree_function *flame_function_selected(const struct flame_view *s)
{
	return table_selected(&s->functions);
}

bool flame_matches(const char *name, const char *search)
{
	return *search && name && strcasestr(name, search);
}

double flame_change(struct flame_view *s, const struct view_context *c, const struct calltree_node *n)
{
	uint64_t all = s->flames[TREE_MAIN].nodes[0].total;

	return (all ? (double)n->total / all : 0) - calltree_base_share(&s->base, n->key, &c->host->source);
}

/* --- Contents */

/* A box or function whose name arrives stays selected: its frames are the same. */
static void follow_names(struct flame_view *s, const struct view_context *c)
{
	const struct source *source = &c->host->source;
	const struct calltree_function *fn = flame_function_selected(s);
	const struct calltree *f = &s->flames[s->tree];

	if (!f->nr || f->generation == source->names_generation(source->arg))
		return;
	s->selected = calltree_key_now(f, s->selected, source);
	s->zoomed = calltree_key_now(&s->flames[TREE_MAIN], s->zoomed, source);
	for (size_t i = 0; i < s->nr_boxes; i++)
		s->boxes[i].key = calltree_key_now(&s->flames[s->boxes[i].tree], s->boxes[i].key, source);
	if (fn && s->functions.list.sticks)
		list_select(&s->functions.list, flame_function_key(source->symbol(source->arg, fn->at.frame, fn->at.tgid)));
}

/* Builds a tree, again at each key, as stacks of blocked threads arrive late; but not if refreshes that are in it were forgotten
 * during a pause. Until it is drawn, keys move among the old boxes that are still in it; there are none if it is another
 * tree. */
static int build(struct flame_view *s, enum flame_tree tree, const struct view_context *c, const struct calltree_options *o)
{
	struct calltree *f = &s->flames[tree];
	uint64_t before = f->nr_options, oldest;
	int err;

	tick_past(c->tick, &oldest);
	if (s->built[tree] == c->nr_shown && oldest > s->oldest && calltree_is_built(f, o, &c->host->source))
		return 0;
	err = calltree_build(f, c->tick, &c->within, o, &c->host->source);
	s->built[tree] = err ? 0 : c->nr_shown;
	s->oldest = oldest;
	if (f->nr_options != before)
		s->nr_boxes = 0;
	for (size_t i = 0; i < s->nr_boxes; i++)
		if (s->boxes[i].tree == tree && s->boxes[i].key)
			s->boxes[i].node = calltree_find(f, s->boxes[i].key);
	return err;
}

static int flame_update(void *state, const struct view_context *c)
{
	struct flame_view *s = state;
	struct calltree_options o = s->options;
	int err;

	follow_names(s, c);
	table_begin(&s->functions, &flame_functions, s);
	c->host->want_sleepers(c->host->arg);
	o.ticks = flame_ticks(s, c);
	if (s->source) {
		o.samples = flame_source_samples;
		o.samples_arg = s;
		s->context = c;
	}
	o.inverted = flame_inverted(s);
	if (s->mode == MODE_SANDWICH) {
		o.focus = s->focus;
		o.part = CALLTREE_CALLERS;
		err = build(s, TREE_CALLERS, c, &o);
		if (err)
			return err;
		o.part = CALLTREE_CALLEES;
	}
	err = build(s, TREE_MAIN, c, &o);
	return err || s->mode != MODE_FUNCTIONS ? err : flame_functions_update(s, c);
}

static bool is_empty(const struct flame_view *s)
{
	return !s->flames[TREE_MAIN].nr || !s->flames[TREE_MAIN].nodes[0].total;
}

/* The line below the graph. */
static int bottom_of(const struct view_context *c)
{
	return c->top + c->height - flame_about_lines(c);
}

static void flame_draw(void *state, const struct view_context *c)
{
	struct flame_view *s = state;
	int left = flame_threads_width(c), bottom = bottom_of(c);

	paint_clear_lines(c->paint, c->top, c->top + c->height);
	flame_draw_head(s, c);
	s->nr_boxes = s->hidden = 0;
	if (is_empty(s)) {
		paint_text(c->paint, c->top + 2, 1, c->paint->width, ROLE_TEXT,
			   "nothing of this kind in these refreshes");
		return;
	}
	if (left)
		flame_draw_threads(s, c, bottom);
	if (s->mode == MODE_FUNCTIONS)
		table_draw(&s->functions, c, c->top + 1, left, bottom - c->top - 1);
	else if (s->mode == MODE_SANDWICH)
		flame_draw_sandwich(s, c, c->top + 1, bottom, left);
	else
		flame_draw_tree(s, c, c->top + 1, bottom, left);
	flame_draw_about(s, c, bottom);
}

/* --- Keys */

static void show_mode(struct flame_view *s, enum flame_mode mode)
{
	s->mode = mode;
	s->tree = TREE_MAIN;
	s->selected = s->zoomed = 0;
	s->scrolled = 0;
}

/* The callers and callees of the selected function. */
static void show_sandwich(struct flame_view *s, const struct view_context *c)
{
	const struct calltree_node *n = flame_selected(s);
	const struct calltree_function *fn = flame_function_selected(s);

	if (s->mode == MODE_FUNCTIONS ? !fn : !n || !n->symbol) {
		c->notice(c->notice_arg, "select a function first");
		return;
	}
	s->focus = s->mode == MODE_FUNCTIONS ? fn->at : n->at;
	show_mode(s, MODE_SANDWICH);
}

static void go_in(struct flame_view *s, const struct view_context *c)
{
	if (s->mode == MODE_TREE)
		s->zoomed = s->selected;
	else
		show_sandwich(s, c);
}

static void go_out(struct flame_view *s)
{
	const struct calltree *f = &s->flames[TREE_MAIN];
	int at = flame_at(f, s->zoomed);

	if (s->mode != MODE_TREE)
		show_mode(s, MODE_TREE);
	else if (at > 0)
		s->zoomed = f->nodes[f->nodes[at].parent].key;
}

static bool refuse_parts(const struct flame_view *s, const struct view_context *c)
{
	if (s->mode != MODE_TREE)
		c->notice(c->notice_arg, "only the whole graph is compared: go back to it first");
	return s->mode != MODE_TREE;
}

static void set_base(struct flame_view *s, const struct view_context *c)
{
	if (refuse_parts(s, c))
		return;
	if (is_empty(s) || calltree_base_set(&s->base, &s->flames[TREE_MAIN], &c->host->source)) {
		c->notice(c->notice_arg, "nothing to compare with later");
		return;
	}
	s->base_seq = c->tick->seq;
	c->notice(c->notice_arg, "to compare with: X shows what changed since");
}

static void compare(struct flame_view *s, const struct view_context *c)
{
	if (refuse_parts(s, c))
		return;
	if (!s->base_seq)
		c->notice(c->notice_arg, "press x first: it stores the graph to compare with");
	else
		s->compares = !s->compares;
}

/* The next frequency above (@by 1) or below (-1) the present one, which can be any. */
static void change_frequency(const struct view_context *c, int by)
{
	int now = c->host->frequency(c->host->arg, 0), at = by > 0 ? 0 : NR_FREQUENCIES - 1, samples;
	char text[128];

	while (at >= 0 && at < NR_FREQUENCIES && (frequencies[at] - now) * by <= 0)
		at += by;
	if (at >= 0 && at < NR_FREQUENCIES)
		now = c->host->frequency(c->host->arg, frequencies[at]);
	snprintf(text, sizeof(text), "%d samples a second on each CPU", now);
	samples = c->host->samples(c->host->arg);
	if (samples != now)
		text_add(text, sizeof(text), ", %d while --max-cpu leaves out others", samples);
	c->notice(c->notice_arg, text);
}

/* After a change of metric, merging or direction the boxes have nothing in common with the old ones. */
static void start_over(struct flame_view *s)
{
	show_mode(s, s->mode);
	s->compares = false;
	s->base_seq = 0;
}

static bool act_on_options(struct flame_view *s, enum action a)
{
	switch (a) {
	case ACTION_FLAME_METRIC:
		s->options.metric = metric_weight_next(s->options.metric);
		break;
	case ACTION_FLAME_INVERT:
		s->options.inverted = !s->options.inverted;
		s->mode = MODE_TREE;
		break;
	case ACTION_FLAME_MERGE:
		s->options.merge = (s->options.merge + 1) % CALLTREE_MERGES;
		break;
	case ACTION_FLAME_KERNEL:
		s->options.hide_kernel = !s->options.hide_kernel;
		break;
	case ACTION_FLAME_USER:
		s->options.hide_user = !s->options.hide_user;
		break;
	default:
		return false;
	}
	start_over(s);
	return true;
}

static bool flame_act(void *state, enum action a, const struct view_context *c)
{
	struct flame_view *s = state;
	int page = bottom_of(c) - c->top - 2;

	if (act_on_options(s, a) || (s->mode == MODE_FUNCTIONS && table_act(&s->functions, a, c)))
		return true;
	switch (a) {
	case ACTION_DOWN ... ACTION_LAST:
	case ACTION_FLAME_LEFT:
	case ACTION_FLAME_RIGHT:
		if (s->mode != MODE_FUNCTIONS)
			flame_move(s, a, page > 0 ? page : 1);
		return true;
	case ACTION_FLAME_ZOOM:
		go_in(s, c);
		return true;
	case ACTION_FLAME_OUT:
		go_out(s);
		return true;
	case ACTION_FLAME_RESET:
		show_mode(s, MODE_TREE);
		return true;
	case ACTION_FLAME_SANDWICH:
		if (s->mode == MODE_SANDWICH)
			show_mode(s, MODE_TREE);
		else
			show_sandwich(s, c);
		return true;
	case ACTION_FLAME_TABLE:
		show_mode(s, s->mode == MODE_FUNCTIONS ? MODE_TREE : MODE_FUNCTIONS);
		return true;
	case ACTION_FLAME_SAME:
		s->marks = !s->marks;
		return true;
	case ACTION_FLAME_BASE:
		set_base(s, c);
		return true;
	case ACTION_FLAME_COMPARE:
		compare(s, c);
		return true;
	case ACTION_FLAME_EXPORT:
		flame_export(s, c);
		return true;
	case ACTION_FLAME_FASTER:
	case ACTION_FLAME_SLOWER:
		change_frequency(c, a == ACTION_FLAME_FASTER ? 1 : -1);
		return true;
	default:
		return false;
	}
}

static bool flame_click(void *state, const struct view_context *c, int y, int x)
{
	struct flame_view *s = state;

	if (s->mode == MODE_FUNCTIONS && table_click(&s->functions, c, y, x))
		go_in(s, c);
	for (size_t i = 0; i < s->nr_boxes && y > c->top && y < bottom_of(c); i++) {
		const struct box *b = &s->boxes[i];
		uint64_t before = s->selected;

		if (b->y != y + s->scrolled || x < b->x || x >= b->x + b->width || b->node < 0)
			continue;
		flame_select(s, b);
		if (s->selected == before)
			go_in(s, c);
		break;
	}
	return false;
}

/* Time of stacks with a match, each counted once: the search stops at the first match. */
static uint64_t count_matched(const struct calltree *f, int node, const char *search)
{
	uint64_t sum = 0;

	if (flame_matches(calltree_name(&f->nodes[node]), search))
		return f->nodes[node].total;
	for (int child = f->nodes[node].child; child >= 0; child = f->nodes[child].next)
		sum += count_matched(f, child, search);
	return sum;
}

/* ", compared with another build of nginx" */
static void add_compared(const struct flame_view *s, const struct view_context *c, char *buf, size_t size)
{
	char file[64], name[80];

	if (calltree_base_changed(&s->base, &s->flames[TREE_MAIN], &c->host->source, file, sizeof(file))) {
		text_safe(name, sizeof(name), file, strlen(file));
		text_add(buf, size, ", compared with another build of %s", name);
	} else {
		text_add(buf, size, ", compared");
	}
}

static void flame_status(void *state, const struct view_context *c, char *buf, size_t size)
{
	static const char *const merges[CALLTREE_MERGES] = { "", ", by process", ", by thread", ", by cgroup" };
	struct flame_view *s = state;
	const struct calltree *f = &s->flames[TREE_MAIN];
	uint64_t total = f->nr ? f->nodes[0].total : 0, oldest = s->oldest, refreshes;
	const char *time = VALUE_TEXT(metrics[s->options.metric].unit, total, 0);

	if (s->compares && c->tick->seq > s->base_seq && oldest <= s->base_seq)
		oldest = s->base_seq + 1;
	refreshes = c->tick->seq >= oldest ? c->tick->seq - oldest + 1 : 1;
	if (s->source)
		snprintf(buf, size, "%s of %s: %s", time, metrics[s->options.metric].weight.title, s->what);
	else
		snprintf(buf, size, c->paint->width < WIDE ? "%s %s, %" PRIu64 " refresh%s, %d Hz" :
			 "%s of %s in %" PRIu64 " refresh%s at %d Hz", time, metrics[s->options.metric].weight.title,
			 refreshes, refreshes == 1 ? "" : "es", c->host->samples(c->host->arg));
	text_add(buf, size, "%s%s", merges[s->options.merge], flame_inverted(s) ? ", callers below" : "");
	if (s->hidden)
		text_add(buf, size, ", %d line%s off screen", s->hidden, s->hidden == 1 ? "" : "s");
	if (flame_compares(s))
		add_compared(s, c, buf, size);
	if (*c->search && f->nr && total)
		text_add(buf, size, "  /%s: %.1f%% of it", c->search, 100.0 * count_matched(f, 0, c->search) / total);
	if (f->by_fp && total)
		text_add(buf, size, ", %.0f%% by frame pointers", 100.0 * f->by_fp / total);
}

static void flame_view_fini(void *state)
{
	struct flame_view *s = state;

	(s->free_by ? s->free_by : free)(s->source_arg);
	for (int t = 0; t < TREES; t++)
		calltree_fini(&s->flames[t]);
	calltree_base_fini(&s->base);
	table_fini(&s->functions);
	free(s->past);
	free(s->boxes);
}

const struct view view_flame = {
	.legend = "[user]  (kernel)  <JIT>  {other}",
	.state_size = sizeof(struct flame_view),
	.update = flame_update,
	.draw = flame_draw,
	.act = flame_act,
	.search = flame_search,
	.click = flame_click,
	.status = flame_status,
	.fini = flame_view_fini,
};
