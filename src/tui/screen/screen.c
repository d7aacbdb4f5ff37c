/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/screen/screen.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "tui/screen/header.h"
#include "tui/screen/screen_state.h"

/* Longer than the usual interval, after which the next refresh shows what came late anyway. */
#define LATE_NS 1250000000ULL

const struct screen_view screen_views[VIEW_COUNT] = {
#define BASE(arg, id, view, traits, tab, ...) { &view_##view, ACTION_##id, tab, "" },
#define INNER(arg, id, view, traits, crumb) { &view_##view, ACTION_NONE, "", crumb },
	BASE_VIEWS(BASE, ) INNER_VIEWS(INNER, )
};

struct open_view *screen_here(struct screen *s)
{
	return s->depth ? &s->deeper[s->depth - 1] : &s->base[s->current];
}

static void say(void *arg, const char *text)
{
	screen_notice(arg, text);
}

struct view_context screen_context(struct screen *s, uint64_t now_ns)
{
	return (struct view_context){
		.tick = s->shown,
		.newest = s->newest,
		.nr_shown = s->nr_shown,
		.paint = s->paint,
		.settings = &s->settings,
		.filter = s->filter,
		.search = s->search,
		.within = screen_here(s)->within,
		.within_name = screen_here(s)->name,
		.host = s->host,
		.now_ns = now_ns,
		.top = HEADER_LINES,
		.height = s->paint->height - HEADER_LINES - FOOTER_LINES,
		.notice = say,
		.notice_arg = s,
	};
}

static int view_open(struct open_view *p, enum view_id id, const struct subject *within)
{
	*p = (struct open_view){ .id = id, .view = screen_views[id].view, .within = *within };
	p->state = calloc(1, p->view->state_size);
	return p->state ? 0 : -ENOMEM;
}

static void view_close(struct open_view *p)
{
	if (p->state)
		p->view->fini(p->state);
	free(p->state);
	p->state = NULL;
}

bool screen_too_small(const struct paint *p)
{
	return p->width < SCREEN_WIDTH_MIN || p->height < SCREEN_HEIGHT_MIN;
}

static int add_quality(void *arg, const struct stack_sample *sample)
{
	struct screen *s = arg;

	if (sample->metric == metric_weight(0))
		stack_quality_add(&s->stacks, sample);
	return 0;
}

void screen_update(struct screen *s, uint64_t now_ns)
{
	struct view_context c;

	if (!s->changed || !s->shown || !s->paint || screen_too_small(s->paint))
		return;
	s->changed = false;
	s->updated_ns = now_ns;
	s->names = s->host->source.names_generation(s->host->source.arg);
	stack_quality_begin(&s->stacks, &s->host->source);
	tick_samples(s->shown, 1, add_quality, s);
	c = screen_context(s, now_ns);
	if (screen_here(s)->view->update(screen_here(s)->state, &c))
		screen_notice(s, "out of memory: not all rows are shown");
}

bool screen_filter(struct screen *s, const char *text, struct filter_error *error)
{
	struct filter *f = filter_parse(text, s->host->user_find, error);

	if (!f)
		return false;
	filter_free(s->filter);
	s->filter = f;
	snprintf(s->filter_text, sizeof(s->filter_text), "%s", text);
	return true;
}

/* --- Life */

/* Opens the view that the settings name. */
static void first_view(struct screen *s)
{
	int way;
	enum view_id id = view_named(s->settings.view, &way);

	if (id == VIEW_COUNT)
		return;
	s->current = id;
	if (way && s->base[id].view->show_as)
		s->base[id].view->show_as(s->base[id].state, way);
}

struct screen *screen_new(const struct host *host, const struct settings *settings,
			  const char *filter)
{
	static const struct subject all = { SUBJECT_ALL, 0, 0 };
	struct screen *s = calloc(1, sizeof(*s));
	struct filter_error error;
	int err = s ? 0 : -ENOMEM;

	for (int i = 0; !err && i < VIEW_BASES; i++)
		err = view_open(&s->base[i], i, &all);
	if (err) {
		screen_free(s);
		return NULL;
	}
	s->host = host;
	s->settings = *settings;
	s->menu.settings = &s->settings;
	if (filter)
		screen_filter(s, filter, &error);
	first_view(s);
	return s;
}

void screen_free(struct screen *s)
{
	if (!s)
		return;
	for (int i = 0; i < VIEW_BASES; i++)
		view_close(&s->base[i]);
	while (s->depth)
		view_close(&s->deeper[--s->depth]);
	filter_free(s->filter);
	menu_fini(&s->menu);
	tick_put(s->shown);
	tick_put(s->newest);
	free(s);
}

const struct settings *screen_settings(const struct screen *s)
{
	return &s->settings;
}

void screen_notice(struct screen *s, const char *text)
{
	snprintf(s->notice, sizeof(s->notice), "%s", text);
}

/* --- Time */

static void show(struct screen *s, const struct tick *t)
{
	const struct tick *before = s->shown;

	s->shown = tick_get(t);
	s->nr_shown += t != before;
	tick_put(before);
	s->changed = true;
	s->late = false;
}

void screen_tick(struct screen *s, const struct tick *t)
{
	const struct tick *before = s->newest;

	s->newest = tick_get(t);
	tick_put(before);
	if (!s->paused || !s->shown)
		show(s, t);
}

bool screen_late(struct screen *s, uint64_t now_ns)
{
	bool names = s->names != s->host->source.names_generation(s->host->source.arg);

	if (!s->shown || now_ns < s->updated_ns + LATE_NS || (s->late && !names))
		return false;
	s->late = s->changed = true;
	return true;
}

static void set_paused(struct screen *s, bool paused)
{
	s->paused = paused;
	s->host->freeze_commands(s->host->arg, paused);
}

void screen_step(struct screen *s, int64_t by)
{
	const struct tick *t;
	uint64_t oldest, seq;

	if (!s->shown || (by > 0 && !s->paused)) /* the newest is shown */
		return;
	tick_past(s->newest, &oldest);
	seq = s->shown->seq + by;
	if ((int64_t)seq < (int64_t)oldest) /* after a long pause, the shown refresh is older than all that are remembered */
		seq = by > 0 || s->shown->seq >= oldest ? oldest : s->shown->seq;
	if (seq > s->newest->seq)
		seq = s->newest->seq;
	set_paused(s, true);
	if (by < 0 && seq == s->shown->seq)
		screen_notice(s, tick_past_short(s->newest) ? "the past has no room for an earlier refresh, see !" :
							      "no earlier refresh is remembered");
	t = tick_at(s->newest, seq);
	if (!t) {
		screen_notice(s, "out of memory: that refresh cannot be shown");
		return;
	}
	show(s, t);
	tick_put(t);
}

void screen_pause(struct screen *s)
{
	set_paused(s, !s->paused);
	if (!s->paused && s->newest)
		show(s, s->newest);
}

/* --- Open views */

/* The selected row, NULL: none. */
static const struct row *selected(struct screen *s)
{
	const struct open_view *p = screen_here(s);

	return p->view->selected && s->shown ? p->view->selected(p->state) : NULL;
}

/* cgroup -> its processes -> their threads -> the detail of one -> its flamegraph */
bool open_row(enum action a, const struct row *r, struct opening *o)
{
	if (a == ACTION_FLAME)
		o->view = VIEW_FLAME;
	else if (!r || (a != ACTION_ENTER && a != ACTION_DETAIL))
		return false;
	else if (a == ACTION_DETAIL || r->kind == ROW_THREAD)
		o->view = VIEW_DETAIL;
	else
		o->view = VIEW_THREADS;
	if (o->view == VIEW_THREADS && r->kind == ROW_CGROUP)
		o->init = view_threads_processes;
	o->within = subject_of(r);
	subject_name(&o->within, r, o->name, sizeof(o->name));
	return true;
}

/* Without a selected row, a flamegraph is that of the open view's subject, which may be gone. */
static bool open_here(const struct open_view *from, enum action a, const struct row *r, struct opening *o)
{
	if (!open_row(a, r, o))
		return false;
	if (r || from->within.kind == SUBJECT_ALL)
		return true;
	o->within = from->within;
	snprintf(o->name, sizeof(o->name), "%s", from->name);
	return true;
}

bool screen_open(struct screen *s, enum action a, uint64_t now_ns)
{
	struct open_view *from = screen_here(s), *p = &s->deeper[s->depth];
	struct view_context c = screen_context(s, now_ns);
	struct opening o = { .view = VIEW_COUNT };
	const struct row *r = selected(s);

	if (a == ACTION_ENTER && from->view->enter && r)
		a = from->view->enter;
	if (!(from->view->open && from->view->open(from->state, a, &c, &o)) && !open_here(from, a, r, &o))
		return false;
	if (o.view == VIEW_COUNT) /* nothing to open: the view gave the reason */
		return true;
	if (s->depth == DEPTH_MAX || view_open(p, o.view, &o.within)) {
		free(o.arg);
		return true;
	}
	snprintf(p->name, sizeof(p->name), "%s", o.name);
	if (o.init)
		o.init(p->state, o.arg);
	else if (o.view == VIEW_FLAME)
		view_flame_metric(p->state, from->view->flame);
	s->depth++;
	return true;
}

bool screen_back(struct screen *s)
{
	if (s->overlay) {
		s->overlay = OVERLAY_NONE;
	} else if (screen_searching(s)) {
		*s->search = '\0';
	} else if (s->depth) {
		view_close(&s->deeper[--s->depth]);
	} else {
		return false;
	}
	return true;
}

void screen_go_to(struct screen *s, int to, uint64_t now_ns)
{
	const struct row *r = selected(s);
	int depth = s->depth;
	struct view_context c;
	struct open_view *p;

	s->overlay = OVERLAY_NONE;
	menu_close(&s->menu);
	if (to == s->current && !s->depth)
		return;
	s->depth = 0;
	s->current = (to + VIEW_BASES) % VIEW_BASES;
	p = screen_here(s);
	c = screen_context(s, now_ns);
	if (r && p->view->select)
		p->view->select(p->state, &c, r);
	while (depth) /* last, as the row may belong to one of them */
		view_close(&s->deeper[--depth]);
}
