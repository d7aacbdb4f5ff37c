/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/screen.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/filter.h"
#include "model/health.h"
#include "model/tick.h"
#include "tui/header.h"
#include "tui/help.h"
#include "tui/menu.h"
#include "tui/pager.h"
#include "tui/paint.h"
#include "tui/prompt.h"
#include "tui/view.h"
#include "util/text.h"

#define WIDTH_MIN 40
#define HEIGHT_MIN 10
#define LEAP 10 /* refreshes at once */

/* The views that are always there, and the actions that show them. */
static const struct base {
	const struct view *view;
	enum action action;
} bases[] = {
	{ &view_threads, ACTION_THREADS },
	{ &view_cgroups, ACTION_CGROUPS },
	{ &view_system, ACTION_SYSTEM },
};

#define NR_BASES ((int)(sizeof(bases) / sizeof(bases[0])))
#define DEPTH_MAX 8

/* A view that is open, and of what. */
struct place {
	const struct view *view;
	void *state;
	struct subject within;
	char name[256]; /* of it, for the way back */
};

/* What stands in place of the view for a while. */
enum overlay { OVERLAY_NONE, OVERLAY_HELP, OVERLAY_HEALTH };

struct screen {
	const struct host *host;
	struct settings settings;
	struct place base[NR_BASES];
	int current;                   /* base */
	struct place deeper[DEPTH_MAX];
	int depth;
	const struct tick *shown, *newest; /* held */
	bool paused;
	bool changed;                  /* since the view was brought up to date */

	enum overlay overlay;
	struct pager overlay_pager;
	struct menu menu;
	struct prompt prompt;
	char search[256], search_before[256];
	struct filter *filter;
	char filter_text[256];
	char notice[256];

	const struct paint *paint;     /* of the last drawing, and its size */
	int width, height;
};

static struct place *here(struct screen *s)
{
	return s->depth ? &s->deeper[s->depth - 1] : &s->base[s->current];
}

static struct view_context context_of(struct screen *s, uint64_t now_ns)
{
	return (struct view_context){
		.tick = s->shown,
		.paint = s->paint,
		.settings = &s->settings,
		.filter = s->filter,
		.search = s->search,
		.within = here(s)->within,
		.host = s->host,
		.now_ns = now_ns,
		.top = HEADER_LINES,
		.height = s->paint->height - HEADER_LINES - FOOTER_LINES,
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

static bool too_small(const struct paint *p)
{
	return p->width < WIDTH_MIN || p->height < HEIGHT_MIN;
}

/* Brings the view up to date, if anything changed since. */
static void update(struct screen *s, uint64_t now_ns)
{
	struct view_context c;

	if (!s->changed || !s->shown || !s->paint || too_small(s->paint))
		return;
	s->changed = false;
	c = context_of(s, now_ns);
	if (here(s)->view->update(here(s)->state, &c))
		screen_notice(s, "out of memory: not all rows are shown");
}

/* --- Filter */

static bool set_filter(struct screen *s, const char *text, struct filter_error *error)
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
	s->current = !strcmp(view, "cgroups") ? 1 : !strcmp(view, "system") ? 2 : 0;
}

struct screen *screen_new(const struct host *host, const struct settings *settings,
			  const char *filter)
{
	static const struct subject all = { SUBJECT_ALL, 0, 0 };
	struct screen *s = calloc(1, sizeof(*s));
	struct filter_error error;
	int err = s ? 0 : -ENOMEM;

	for (int i = 0; !err && i < NR_BASES; i++)
		err = place_open(&s->base[i], bases[i].view, &all);
	if (err) {
		screen_free(s);
		return NULL;
	}
	s->host = host;
	s->settings = *settings;
	s->menu.settings = &s->settings;
	if (filter)
		set_filter(s, filter, &error);
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
}

static void step(struct screen *s, int64_t by)
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

static const struct row *selected(struct screen *s)
{
	const struct place *p = here(s);

	return p->view->selected && s->shown ? p->view->selected(p->state) : NULL;
}

/* cgroup -> its processes -> their threads -> everything about one */
static void enter(struct screen *s)
{
	const struct row *r = selected(s);

	if (!r)
		return;
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

/* Returns whether there was something to go back from. */
static bool back(struct screen *s)
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

/* Another of the views that are always there, with the selection on what was selected here. */
static void go_to(struct screen *s, int to, uint64_t now_ns)
{
	const struct row *r = selected(s);
	struct view_context c;
	struct place *p;

	s->overlay = OVERLAY_NONE;
	if (to == s->current && !s->depth)
		return;
	while (s->depth)
		place_close(&s->deeper[--s->depth]);
	s->current = (to + NR_BASES) % NR_BASES;
	p = here(s);
	c = context_of(s, now_ns);
	if (r && p->view->select)
		p->view->select(p->state, &c, r);
}

/* --- Actions */

static int places_here(struct screen *s)
{
	if (s->overlay)
		return IN_TEXT;
	if (s->menu.kind)
		return IN_TABLES;
	return here(s)->view->places | (*s->search ? IN_SEARCH : 0);
}

static void sort_by(struct screen *s, enum column_id by)
{
	s->settings.sorting.by = by;
	s->settings.sorting.inverted = false;
}

static enum table table_here(const struct screen *s)
{
	const struct place *p = here((struct screen *)s);

	return p->view == &view_cgroups   ? TABLE_CGROUPS
	       : p->view == &view_threads ? view_threads_get(p->state)
					  : TABLE_THREADS;
}

static void open_menu(struct screen *s, const struct menu_kind *kind)
{
	s->overlay = OVERLAY_NONE;
	s->menu.table = table_here(s);
	menu_open(&s->menu, kind);
}

static void toggle_overlay(struct screen *s, enum overlay overlay)
{
	s->overlay = s->overlay == overlay ? OVERLAY_NONE : overlay;
	s->overlay_pager = (struct pager){ 0 };
	s->menu.kind = NULL;
}

static void pause_or_not(struct screen *s)
{
	s->paused = !s->paused;
	if (!s->paused && s->newest)
		show(s, s->newest);
}

static void clear_all(struct screen *s)
{
	struct filter_error error;

	*s->search = '\0';
	set_filter(s, "", &error);
}

/* Actions that are the same in every view. Returns whether @a was one. */
static bool act_everywhere(struct screen *s, enum action a, uint64_t now_ns)
{
	switch (a) {
	case ACTION_HELP:
		toggle_overlay(s, OVERLAY_HELP);
		return true;
	case ACTION_HEALTH:
		toggle_overlay(s, OVERLAY_HEALTH);
		return true;
	case ACTION_BACK:
		back(s);
		return true;
	case ACTION_THREADS:
	case ACTION_CGROUPS:
	case ACTION_SYSTEM:
		for (int i = 0; i < NR_BASES; i++)
			if (bases[i].action == a)
				go_to(s, i, now_ns);
		return true;
	case ACTION_NEXT:
	case ACTION_PREVIOUS:
		go_to(s, s->current + (a == ACTION_NEXT ? 1 : -1), now_ns);
		return true;
	case ACTION_ENTER:
		enter(s);
		return true;
	case ACTION_DETAIL:
		if (selected(s))
			go_into(s, &view_detail, 0, selected(s));
		return true;
	case ACTION_PAUSE:
		pause_or_not(s);
		return true;
	case ACTION_STEP_BACK:
		step(s, -1);
		return true;
	case ACTION_STEP_ON:
		step(s, 1);
		return true;
	case ACTION_LEAP_BACK:
		step(s, -LEAP);
		return true;
	case ACTION_LEAP_ON:
		step(s, LEAP);
		return true;
	case ACTION_SEARCH:
		snprintf(s->search_before, sizeof(s->search_before), "%s", s->search);
		prompt_open(&s->prompt, "/", "");
		return true;
	case ACTION_FILTER:
		prompt_open(&s->prompt, "filter: ", s->filter_text);
		return true;
	case ACTION_CLEAR:
		clear_all(s);
		return true;
	case ACTION_KTHREADS:
		s->settings.hide_kthreads = !s->settings.hide_kthreads;
		return true;
	case ACTION_IDLE:
		s->settings.hide_idle = !s->settings.hide_idle;
		return true;
	case ACTION_SORT_MENU:
		open_menu(s, &menu_sort);
		return true;
	case ACTION_OPTIONS:
		open_menu(s, &menu_options);
		return true;
	case ACTION_SORT_RUN:
		sort_by(s, (enum column_id)FIELD_RUN);
		return true;
	case ACTION_SORT_MAX:
		sort_by(s, (enum column_id)FIELD_RUNQ_MAX);
		return true;
	case ACTION_SORT_P99:
		sort_by(s, (enum column_id)FIELD_RUNQ_P99);
		return true;
	case ACTION_SORT_D:
		sort_by(s, (enum column_id)FIELD_D);
		return true;
	case ACTION_SORT_ID:
		sort_by(s, COLUMN_ID);
		return true;
	case ACTION_UNITS:
		s->settings.units = (s->settings.units + 1) % UNITS_COUNT;
		return true;
	case ACTION_MOUSE:
		s->settings.mouse = !s->settings.mouse;
		screen_notice(s, s->settings.mouse ? "mouse on: click selects, again opens; titles sort"
						   : "mouse off: the terminal selects text");
		return true;
	case ACTION_WRITE:
		s->host->write_config(s->host->arg, &s->settings, s->notice, sizeof(s->notice));
		return true;
	default:
		return false;
	}
}

static void act(struct screen *s, enum action a, uint64_t now_ns)
{
	struct view_context c;

	if (s->overlay && pager_act(&s->overlay_pager, a))
		return;
	update(s, now_ns); /* keys can come faster than drawings */
	s->changed = true;
	if (s->menu.kind && menu_act(&s->menu, a))
		return;
	if (!act_everywhere(s, a, now_ns) && s->shown && s->paint && !s->overlay) {
		c = context_of(s, now_ns);
		here(s)->view->act(here(s)->state, a, &c);
	}
}

/* --- Keys */

/* What was typed counts at once; the cursor goes to the first match from where it was. */
static void search_typed(struct screen *s, uint64_t now_ns)
{
	struct view_context c;

	snprintf(s->search, sizeof(s->search), "%s", s->prompt.text);
	if (!s->shown || !s->paint)
		return;
	c = context_of(s, now_ns);
	here(s)->view->act(here(s)->state, ACTION_SEARCH, &c);
}

static void prompt_typed(struct screen *s, wint_t key, bool is_code, uint64_t now_ns)
{
	bool filter = s->prompt.title[0] != '/';
	struct filter_error error;

	s->changed = true;
	switch (prompt_key(&s->prompt, key, is_code)) {
	case PROMPT_TYPING:
		if (!filter)
			search_typed(s, now_ns);
		return;
	case PROMPT_CANCELLED:
		if (!filter)
			snprintf(s->search, sizeof(s->search), "%s", s->search_before);
		s->prompt.title = NULL;
		break;
	case PROMPT_DONE:
		if (filter && !set_filter(s, s->prompt.text, &error)) {
			snprintf(s->prompt.error, sizeof(s->prompt.error), "%s", error.what);
			s->prompt.error_column = error.column;
			return;
		}
		if (!filter && !*s->prompt.text) /* as in less: the last one again */
			snprintf(s->search, sizeof(s->search), "%s", s->search_before);
		s->prompt.title = NULL;
	}
}

enum screen_verdict screen_key(struct screen *s, wint_t key, bool is_code, uint64_t now_ns)
{
	enum action a;

	s->notice[0] = '\0';
	if (s->prompt.title) {
		prompt_typed(s, key, is_code, now_ns);
		return SCREEN_GO_ON;
	}
	if (!is_code && key > 127)
		return SCREEN_GO_ON;
	a = keymap_action(&s->settings.keymap, key, places_here(s));
	switch (a) {
	case ACTION_QUIT:
		return SCREEN_QUIT;
	case ACTION_CLOSE:
		if (s->menu.kind) {
			act(s, a, now_ns);
			return SCREEN_GO_ON;
		}
		s->changed = true;
		return back(s) ? SCREEN_GO_ON : SCREEN_QUIT;
	case ACTION_SUSPEND:
		return SCREEN_SUSPEND;
	case ACTION_REDRAW:
		return SCREEN_REDRAW;
	default:
		act(s, a, now_ns);
		return SCREEN_GO_ON;
	}
}

void screen_mouse(struct screen *s, enum screen_mouse what, int y, int x, uint64_t now_ns)
{
	const struct place *p = here(s);
	struct view_context c;

	s->notice[0] = '\0';
	if (what != MOUSE_CLICK) {
		act(s, what == MOUSE_WHEEL_UP ? ACTION_UP : ACTION_DOWN, now_ns);
		return;
	}
	if (!s->shown || !s->paint || s->overlay || s->menu.kind || !p->view->click)
		return;
	c = context_of(s, now_ns);
	if (y >= c.top && y < c.top + c.height && p->view->click(p->state, &c, y, x))
		enter(s);
	s->changed = true;
}

/* --- Drawing */

static void draw_too_small(const struct screen *s, const struct paint *p)
{
	char text[64];
	int x, y = p->height / 2;

	snprintf(text, sizeof(text), "%dx%d needed, have %dx%d", WIDTH_MIN, HEIGHT_MIN, p->width,
		 p->height);
	x = (p->width - (int)strlen(text)) / 2;
	for (int line = 0; line < p->height; line++)
		paint_clear(p, line, 0);
	if (y) /* whose terminal it is can be told even then */
		paint_format(p, 0, 0, ROLE_TEXT, "systop %s", s->host->name);
	paint_text(p, y, x > 0 ? x : 0, p->width, ROLE_TEXT, text);
}

/* "[1:Threads] 2:Cgroups 7:System", short where there is a way back to show. */
static void views_text(struct screen *s, char *buf, size_t size)
{
	size_t used = 0;

	for (int i = 0; i < NR_BASES && used < size; i++) {
		const char *keys = s->settings.keymap.keys[bases[i].action];
		const char *fmt = i == s->current ? "[%.*s%s%s]" : " %.*s%s%s ";

		if (s->depth && i != s->current)
			continue;
		used += snprintf(buf + used, size - used, fmt, (int)strcspn(keys, " "), keys,
				 *keys ? ":" : "", bases[i].view->name);
	}
}

static void crumbs_text(struct screen *s, char *buf, size_t size)
{
	size_t used = 0;

	*buf = '\0';
	for (int i = 0; i < s->depth && used < size; i++)
		used += snprintf(buf + used, size - used, "> %s%s ", s->deeper[i].name,
				 s->deeper[i].view == &view_detail ? " detail" : "");
}

static void sorted_text(const struct screen *s, char *buf, size_t size)
{
	const struct sorting *o = &s->settings.sorting;
	bool text = o->by >= COLUMN_FIELDS && o->by != COLUMN_THREADS;

	snprintf(buf, size, "%s %s", column_info(o->by).title, text != o->inverted ? "asc" : "desc");
}

static void draw_overlay(struct screen *s, const struct paint *p, int top, int height)
{
	struct paint page = pager_begin(&s->overlay_pager, p, top, height);
	struct health health = { 0 };

	if (s->overlay == OVERLAY_HELP) {
		pager_end(&s->overlay_pager, help_draw(&page, &s->settings.keymap));
		return;
	}
	s->host->health(s->host->arg, &health);
	pager_end(&s->overlay_pager, health_draw(&page, &health));
	health_fini(&health);
}

static void draw_footer(struct screen *s, const struct paint *p, const struct view_context *c)
{
	const struct place *place = here(s);
	char status[256], sorted[32] = "";
	struct footer f = {
		.status = status,
		.sorted = sorted,
		.filter = place->view->places & IN_TABLES ? s->filter_text : "",
		.notice = s->notice,
		.keymap = &s->settings.keymap,
		.places = places_here(s),
	};

	if (s->prompt.title) {
		prompt_draw(&s->prompt, p, p->height - FOOTER_LINES);
		return;
	}
	place->view->status(place->state, c, status, sizeof(status));
	if (place->view->places & IN_TABLES)
		sorted_text(s, sorted, sizeof(sorted));
	footer_draw(&f, p);
}

static void draw_all(struct screen *s, const struct paint *p, uint64_t now_ns)
{
	struct view_context c = context_of(s, now_ns);
	const char *help_keys = s->settings.keymap.keys[ACTION_HELP];
	char views[128], crumbs[2048], help_key[16];
	struct header h = {
		.host = s->host,
		.tick = s->shown,
		.newest = s->newest,
		.interval_ns = s->settings.delay_ns,
		.paused = s->paused,
		.views = views,
		.crumbs = crumbs,
		.help_key = help_key,
	};

	views_text(s, views, sizeof(views));
	crumbs_text(s, crumbs, sizeof(crumbs));
	snprintf(help_key, sizeof(help_key), "%.*s", (int)strcspn(help_keys, " "), help_keys);
	header_draw(&h, p);
	if (s->overlay)
		draw_overlay(s, p, c.top, c.height);
	else if (s->menu.kind)
		menu_draw(&s->menu, p, c.top, c.height);
	else
		here(s)->view->draw(here(s)->state, &c);
	draw_footer(s, p, &c);
}

void screen_draw(struct screen *s, const struct paint *p, uint64_t now_ns)
{
	s->changed |= s->paint != p || s->width != p->width || s->height != p->height;
	s->paint = p;
	s->width = p->width;
	s->height = p->height;
	if (too_small(p)) {
		draw_too_small(s, p);
		return;
	}
	if (!s->shown)
		return;
	update(s, now_ns);
	draw_all(s, p, now_ns);
}
