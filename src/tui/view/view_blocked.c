/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Threads that are in D state now, or were in the refreshes that are remembered: for how long, how often,
 * and in which function of the kernel. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/sample.h"
#include "model/wait.h"
#include "model/wait_functions.h"
#include "query/stack_walk.h"
#include "query/wakers.h"
#include "tui/screen/host.h"
#include "tui/screen/view.h"
#include "tui/term/paint.h"
#include "tui/widget/list.h"
#include "util/format.h"
#include "util/map.h"
#include "util/text.h"
#include "util/vec.h"

/* A thread that waited. */
struct waiter {
	struct row row;        /* first: what the list has */
	int64_t since;         /* of the block that goes on, by tick.awake_ns */
	bool now, at_least;
	uint64_t now_ns, total_ns, longest_ns, count;
	uint64_t ended_ns;     /* of those that count */
	uint64_t at_least_ns, below_ns; /* of the longest one whose length is known by its slot only */
	const struct stack *kernel, *user; /* of the block that goes on, or the longest */
	struct wakers wakers;
};

struct blocked_view {
	struct list list;
	struct waiter **waiters; /* each its own memory: the list points to them */
	size_t nr, room;
	struct map of;           /* life -> waiter */
	uint32_t now;            /* how many are in D */
};

static void forget(struct blocked_view *s)
{
	for (size_t i = 0; i < s->nr; i++)
		free(s->waiters[i]);
	s->nr = s->now = 0;
	map_fini(&s->of);
	s->of = (struct map){ 0 };
}

static struct waiter *waiter_of(struct blocked_view *s, const struct life *life)
{
	struct waiter *w = map_get(&s->of, (uintptr_t)life);

	if (w)
		return w;
	w = calloc(1, sizeof(*w));
	if (!w || VEC_PUSH(s->waiters, s->nr, s->room, w) || map_put(&s->of, (uintptr_t)life, w))
		return NULL; /* what is in waiters is freed there */
	w->row = (struct row){ .kind = ROW_THREAD, .state = STATE_SLEEP, .number = life->tid, .thread = life,
			       .process = life->process, .cgroup = life->cgroup };
	return w;
}

static int add_sample(void *arg, const struct stack_sample *sample)
{
	struct blocked_view *s = arg;
	struct waiter *w;

	if (sample->metric != METRIC_D)
		return 0;
	w = waiter_of(s, sample->life);
	if (!w)
		return -ENOMEM;
	w->total_ns += sample->weight;
	wakers_add(&w->wakers, sample);
	if (sample->whole < w->longest_ns)
		return 0;
	w->longest_ns = sample->whole;
	if (sample->kernel || sample->user) {
		w->kernel = sample->kernel;
		w->user = sample->user;
	}
	return 0;
}

/* All that ended, also those that were too many for a stack of each. */
static int add_ended(struct blocked_view *s, const struct tick *t)
{
	for (size_t i = 0; i < t->nr_aways; i++) {
		const struct away *a = &t->aways[i];
		struct waiter *w;

		if (a->kind != HIST_D)
			continue;
		w = waiter_of(s, a->life);
		if (!w)
			return -ENOMEM;
		w->count += a->count;
		w->ended_ns += a->ns;
		if (1ULL << a->slot < w->at_least_ns)
			continue;
		w->at_least_ns = 1ULL << a->slot;
		w->below_ns = 2ULL << a->slot;
	}
	return 0;
}

static int add_counts(struct blocked_view *s, const struct tick *shown)
{
	uint64_t oldest;
	int err = add_ended(s, shown);

	tick_past(shown, &oldest);
	for (uint64_t seq = oldest; !err && seq < shown->seq; seq++) {
		const struct tick *t = tick_head(shown, seq);

		err = t ? add_ended(s, t) : 0;
	}
	return err;
}

/* Those that are in D at the end of the refresh. */
static int add_now(struct blocked_view *s, const struct tick *t)
{
	for (size_t i = 0; i < t->nr_active; i++) {
		const struct row *r = &t->active[i];
		const struct block *b = r->thread->block;
		struct waiter *w;

		if (r->state != STATE_D)
			continue;
		w = waiter_of(s, r->thread);
		if (!w)
			return -ENOMEM;
		s->now++;
		w->now = true;
		w->row.state = STATE_D;
		while (b && !(b->metric == METRIC_D && b->since < t->awake_ns && t->awake_ns <= b->until))
			b = b->before;
		if (!b)
			continue;
		w->now_ns = t->awake_ns - b->since;
		w->count += w->now_ns >= AWAY_D_NS;
		w->at_least = b->at_least;
		w->kernel = b->kernel;
		w->user = b->user;
		if (w->now_ns > w->longest_ns)
			w->longest_ns = w->now_ns;
	}
	return 0;
}

/* Those that began before the oldest refresh, and those without a stack, are told as a whole when they end. */
static uint64_t total_of(const struct waiter *w)
{
	uint64_t least = w->ended_ns > w->longest_ns ? w->ended_ns : w->longest_ns;

	return w->total_ns > least ? w->total_ns : least;
}

/* Those that wait now before those that waited; the longest first. */
static bool waiter_before(const struct row *a, const struct row *b, const void *arg)
{
	const struct waiter *x = (const struct waiter *)a, *y = (const struct waiter *)b;

	(void)arg;
	if (x->now != y->now)
		return x->now;
	if (x->now_ns != y->now_ns)
		return x->now_ns > y->now_ns;
	return x->total_ns > y->total_ns;
}

static struct list_order order_of(const struct view_context *c)
{
	return (struct list_order){ waiter_before, NULL, c->now_ns };
}

/* --- Where */

/* The innermost function that tells something. */
static void where_text(const struct view_context *c, const struct waiter *w, char *buf, size_t size)
{
	const struct stack_sample at = { .kernel = w->kernel };
	const char *name = NULL;
	struct stack_walk walk;

	stack_walk(&walk, &c->host->source, &at, WALK_INNERMOST);
	while (stack_walk_next(&walk)) {
		name = stack_walk_name(&walk);
		if (!wait_functions_has(name))
			break;
	}
	if (name)
		text_safe(buf, size, name, strlen(name));
	else
		snprintf(buf, size, "-");
}

/* As exact as it is known. */
static void longest_text(const struct waiter *w, char *buf, size_t size)
{
	bool exact = w->longest_ns && w->longest_ns >= w->at_least_ns;
	char text[12];

	format_value(text, sizeof(text), UNIT_NS, exact ? w->longest_ns : w->below_ns ? w->below_ns : AWAY_D_NS, 0);
	snprintf(buf, size, "%s%s", exact ? "" : "<", text);
}

/* Of one that was looked at while it lasted it may be lost that it ended. */
static uint64_t count_of(const struct waiter *w)
{
	if (!w->count)
		return w->longest_ns >= AWAY_D_NS ? 1 : VALUE_NA;
	return w->count;
}

/* --- The view */

static int blocked_update(void *state, const struct view_context *c)
{
	struct blocked_view *s = state;
	struct list_order order = order_of(c);
	int err;

	list_clear(&s->list);
	forget(s);
	err = tick_samples(c->tick, HISTORY_TICKS, add_sample, s);
	if (!err)
		err = add_counts(s, c->tick);
	if (!err)
		err = add_now(s, c->tick);
	for (size_t i = 0; !err && i < s->nr; i++) {
		wakers_sort(&s->waiters[i]->wakers);
		s->waiters[i]->total_ns = total_of(s->waiters[i]);
		err = list_add(&s->list, &s->waiters[i]->row);
	}
	list_sort(&s->list, c->height > 2 ? c->height - 1 : 1, &order);
	return err;
}

/* A low screen has more use for threads. */
static int about_lines(const struct view_context *c)
{
	return c->height >= 30 ? 16 : c->height >= 14 ? 6 : 0;
}

/* Of the cgroup's column; a narrow screen has more use for functions. */
static int cgroup_width(const struct view_context *c)
{
	return c->paint->width >= 140 ? 40 : c->paint->width >= 100 ? 16 : 0;
}

static void draw_waiter(const struct blocked_view *s, const struct view_context *c, const struct waiter *w, int y)
{
	bool selected = list_selected(&s->list) == &w->row;
	char name[80], cut[80], now[16] = "-", total[16], longest[16], count[16], where[200], path[1024], cgroup[64];
	enum role role = selected ? ROLE_SELECTED : w->now ? ROLE_D : ROLE_TEXT;
	char line[1024];

	text_safe(name, sizeof(name), w->row.thread->comm, 16);
	text_cut(cut, sizeof(cut), name, 15);
	if (w->now && w->now_ns)
		format_value(now, sizeof(now), UNIT_NS, w->now_ns, 0);
	format_value(total, sizeof(total), UNIT_NS, w->total_ns, 0);
	longest_text(w, longest, sizeof(longest));
	format_value(count, sizeof(count), UNIT_COUNT, count_of(w), 0);
	where_text(c, w, where, sizeof(where));
	text_safe(path, sizeof(path), w->row.cgroup->path, strlen(w->row.cgroup->path));
	*cgroup = '\0';
	if (cgroup_width(c))
		text_elide(cgroup, sizeof(cgroup), path, cgroup_width(c));
	snprintf(line, sizeof(line), "%c%7d %2s%6s %7s %7s %6s  %s%*s %-15s  %s", selected ? '>' : ' ', w->row.number,
		 w->at_least && w->now ? ">=" : "", now, total, longest, count, cgroup,
		 cgroup_width(c) - text_width(cgroup), "", cut, where);
	paint_text(c->paint, y, 0, c->paint->width, role, line);
}

/* Its stack, innermost first, and who woke it. */
static void draw_about(const struct blocked_view *s, const struct view_context *c, int y)
{
	const struct waiter *w = (const struct waiter *)list_selected(&s->list);
	const struct stack_sample at = { .kernel = w->kernel, .user = w->user };
	int end = y + about_lines(c), x = 0;
	struct stack_walk walk;
	char text[512];

	paint_format(c->paint, y++, 0, ROLE_TITLE, "%-*s", c->paint->width,
		     w->now ? "where it is, innermost first: (kernel) [user]" : "where it was the longest time");
	wakers_text(&w->wakers, c->tick, &c->host->source, text, sizeof(text));
	paint_format(c->paint, --end, 0, ROLE_DIM, "woken by  %s", text);
	stack_walk(&walk, &c->host->source, &at, WALK_INNERMOST);
	while (y < end && stack_walk_next(&walk)) {
		const char *raw = stack_walk_name(&walk);
		char name[200];

		text_safe(name, sizeof(name), raw, strlen(raw));
		snprintf(text, sizeof(text), walk.kernel ? "(%s)" : "[%s]", name);
		if (x && x + text_width(text) + 1 > c->paint->width) {
			x = 0;
			y++;
		}
		if (y < end)
			x = paint_text(c->paint, y, x, c->paint->width - x, walk.kernel ? ROLE_KERNEL : ROLE_USER, text) + 1;
	}
}

static void blocked_draw(void *state, const struct view_context *c)
{
	struct blocked_view *s = state;
	int y = c->top, bottom = c->top + c->height - about_lines(c);

	for (int line = c->top; line < c->top + c->height; line++)
		paint_clear(c->paint, line, 0);
	paint_format(c->paint, y++, 0, ROLE_TITLE, "%8s %8s %7s %7s %6s  %-*s %-15s  %-*s", "TID", "NOW", "TOTAL",
		     "LONGEST", "COUNT", cgroup_width(c), cgroup_width(c) ? "CGROUP" : "", "COMM", c->paint->width,
		     "WHERE");
	if (!s->list.nr) {
		paint_text(c->paint, y + 1, 1, c->paint->width, ROLE_TEXT, "no thread was in D state in these refreshes");
		return;
	}
	for (size_t i = s->list.top; i < s->list.nr && y < bottom; i++)
		draw_waiter(s, c, (const struct waiter *)s->list.rows[i], y++);
	if (about_lines(c) && list_selected(&s->list))
		draw_about(s, c, bottom);
}

static bool blocked_act(void *state, enum action a, const struct view_context *c)
{
	struct blocked_view *s = state;
	struct list_order order = order_of(c);

	return list_search(&s->list, a, list_match_thread, c->search, &order) || list_act(&s->list, a, &order);
}

static bool blocked_click(void *state, const struct view_context *c, int y, int x)
{
	struct blocked_view *s = state;

	(void)x;
	return y > c->top && y < c->top + c->height - about_lines(c) && list_click(&s->list, y - c->top - 1);
}

static void blocked_status(void *state, const struct view_context *c, char *buf, size_t size)
{
	struct blocked_view *s = state;
	uint64_t oldest;

	tick_past(c->tick, &oldest);
	snprintf(buf, size, "%u thread%s in D state now, %zu in %" PRIu64 " refreshes; COUNT: of 100 us or more", s->now,
		 s->now == 1 ? "" : "s", s->nr, c->tick->seq >= oldest ? c->tick->seq - oldest + 1 : 1);
}

static const struct row *blocked_selected(void *state)
{
	return list_selected(&((struct blocked_view *)state)->list);
}

static void blocked_fini(void *state)
{
	struct blocked_view *s = state;

	forget(s);
	free(s->waiters);
	list_fini(&s->list);
}

const struct view view_blocked = {
	.name = "D-state",
	.legend = ">= began before systop",
	.places = IN_BLOCKED,
	.state_size = sizeof(struct blocked_view),
	.update = blocked_update,
	.draw = blocked_draw,
	.act = blocked_act,
	.click = blocked_click,
	.status = blocked_status,
	.selected = blocked_selected,
	.fini = blocked_fini,
};
