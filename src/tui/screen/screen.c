/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/screen/screen.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "query/calltree.h"
#include "tui/screen/header.h"
#include "tui/screen/screen_state.h"

const struct screen_base screen_bases[NR_BASES] = {
	{ &view_threads, ACTION_THREADS },
	{ &view_cgroups, ACTION_CGROUPS },
	{ &view_latency, ACTION_LATENCY },
	{ &view_blocked, ACTION_BLOCKED },
	{ &view_irq, ACTION_IRQ },
	{ &view_system, ACTION_SYSTEM },
	{ &view_waits, ACTION_WAITS },
};

struct place *screen_here(struct screen *s)
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
		.paint = s->paint,
		.settings = &s->settings,
		.filter = s->filter,
		.search = s->search,
		.within = screen_here(s)->within,
		.host = s->host,
		.now_ns = now_ns,
		.top = HEADER_LINES,
		.height = s->paint->height - HEADER_LINES - FOOTER_LINES,
		.notice = say,
		.notice_arg = s,
	};
}

static int place_open(struct place *p, const struct view *view, const struct subject *within)
{
	*p = (struct place){ .view = view, .within = *within };
	p->state = calloc(1, view->state_size);
	return p->state ? 0 : -ENOMEM;
}

static void place_close(struct place *p)
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

void screen_update(struct screen *s, uint64_t now_ns)
{
	struct view_context c;

	if (!s->changed || !s->shown || !s->paint || screen_too_small(s->paint))
		return;
	s->changed = false;
	s->names = s->host->source.names_generation(s->host->source.arg);
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
	snprintf(s->filter_text, sizeof(s->filter_text), "%.*s", (int)sizeof(s->filter_text) - 1, text);
	return true;
}

/* --- Life */

/* Shows what the settings say should be seen first. */
static void first_view(struct screen *s)
{
	const char *view = s->settings.view;
	enum table table = TABLE_THREADS;

	while (table < TABLE_CGROUPS && strcmp(view, table_names[table]))
		table++;
	if (table < TABLE_CGROUPS)
		view_threads_set(s->base[0].state, table);
	for (int i = 1; i < NR_BASES; i++)
		if (!strcmp(view, actions[screen_bases[i].action].name))
			s->current = i;
}

struct screen *screen_new(const struct host *host, const struct settings *settings,
			  const char *filter)
{
	static const struct subject all = { SUBJECT_ALL, 0, 0 };
	struct screen *s = calloc(1, sizeof(*s));
	struct filter_error error;
	int err = s ? 0 : -ENOMEM;

	for (int i = 0; !err && i < NR_BASES; i++)
		err = place_open(&s->base[i], screen_bases[i].view, &all);
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
	for (int i = 0; i < NR_BASES; i++)
		place_close(&s->base[i]);
	while (s->depth)
		place_close(&s->deeper[--s->depth]);
	filter_free(s->filter);
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
	tick_put(before);
	s->changed = true;
}

void screen_tick(struct screen *s, const struct tick *t)
{
	const struct tick *before = s->newest;

	s->newest = tick_get(t);
	tick_put(before);
	if (!s->paused || !s->shown)
		show(s, t);
	else if (s->names != s->host->source.names_generation(s->host->source.arg)) /* of functions: they come late */
		s->changed = true;
}

void screen_step(struct screen *s, int64_t by)
{
	uint64_t oldest, seq;
	const struct tick *t;

	if (!s->shown)
		return;
	tick_past(s->newest, &oldest);
	seq = by < 0 && s->shown->seq < oldest - by ? oldest : s->shown->seq + by;
	if (seq > s->newest->seq)
		seq = s->newest->seq;
	if (s->shown->seq < oldest && by < 0)
		seq = s->shown->seq; /* paused longer than the past is remembered */
	s->paused = true;
	t = tick_at(s->newest, seq);
	if (!t) {
		screen_notice(s, "that refresh is not remembered");
		return;
	}
	show(s, t);
	tick_put(t);
}

void screen_pause(struct screen *s)
{
	s->paused = !s->paused;
	if (!s->paused && s->newest)
		show(s, s->newest);
}

/* --- Places */

static void go_into(struct screen *s, const struct view *view, enum table table, const struct row *r)
{
	struct subject within = subject_of(r);
	struct place *p = &s->deeper[s->depth];

	if (s->depth == DEPTH_MAX || place_open(p, view, &within))
		return;
	subject_name(&within, r, p->name, sizeof(p->name));
	if (view == &view_threads)
		view_threads_set(p->state, table);
	s->depth++;
}

bool screen_open(struct screen *s, enum action a, uint64_t now_ns)
{
	struct place *from = screen_here(s), *p = &s->deeper[s->depth];
	struct view_context c = screen_context(s, now_ns);
	struct opening o = { 0 };

	if (!from->view->open || !s->shown || !from->view->open(from->state, a, &c, &o))
		return false;
	if (!o.view) /* there is nothing to open: it said why */
		return true;
	if (s->depth == DEPTH_MAX || place_open(p, o.view, &o.within)) {
		free(o.arg);
		return true;
	}
	snprintf(p->name, sizeof(p->name), "%s", o.name);
	if (o.init)
		o.init(p->state, o.arg);
	s->depth++;
	return true;
}

const struct row *screen_selected(struct screen *s)
{
	const struct place *p = screen_here(s);

	return p->view->selected && s->shown ? p->view->selected(p->state) : NULL;
}

/* cgroup -> its processes -> their threads -> everything about one -> its flamegraph */
void screen_enter(struct screen *s, uint64_t now_ns)
{
	const struct row *r = screen_selected(s);

	if (screen_open(s, ACTION_ENTER, now_ns) || !r)
		return;
	if (screen_here(s)->view == &view_detail || screen_here(s)->view == &view_blocked) {
		screen_flame(s, now_ns);
		return;
	}
	switch (r->kind) {
	case ROW_CGROUP:
		go_into(s, &view_threads, TABLE_PROCESSES, r);
		break;
	case ROW_PROCESS:
		go_into(s, &view_threads, TABLE_THREADS, r);
		break;
	case ROW_THREAD:
		go_into(s, &view_detail, 0, r);
		break;
	}
}

void screen_detail(struct screen *s)
{
	if (screen_selected(s))
		go_into(s, &view_detail, 0, screen_selected(s));
}

/* Of what is selected here, or of what this view is about. */
void screen_flame(struct screen *s, uint64_t now_ns)
{
	const struct row *r = screen_selected(s);
	bool blocked = screen_here(s)->view == &view_blocked;
	int depth = s->depth;

	s->overlay = OVERLAY_NONE;
	if (screen_open(s, ACTION_FLAME, now_ns))
		return;
	if (!r && !blocked)
		r = subject_row(&screen_here(s)->within, s->shown);
	go_into(s, &view_flame, 0, r);
	if (blocked && s->depth > depth)
		view_flame_set(screen_here(s)->state, METRIC_D);
}

bool screen_back(struct screen *s)
{
	if (s->overlay) {
		s->overlay = OVERLAY_NONE;
	} else if (*s->search) {
		*s->search = '\0';
	} else if (s->depth) {
		place_close(&s->deeper[--s->depth]);
	} else {
		return false;
	}
	return true;
}

void screen_go_to(struct screen *s, int to, uint64_t now_ns)
{
	const struct row *r = screen_selected(s);
	int depth = s->depth;
	struct view_context c;
	struct place *p;

	s->overlay = OVERLAY_NONE;
	if (to == s->current && !s->depth)
		return;
	s->depth = 0;
	s->current = (to + NR_BASES) % NR_BASES;
	p = screen_here(s);
	c = screen_context(s, now_ns);
	if (r && p->view->select)
		p->view->select(p->state, &c, r);
	while (depth) /* last, as the row may be of one of them */
		place_close(&s->deeper[--depth]);
}
