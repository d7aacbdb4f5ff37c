/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <string.h>

#include "tui/screen/screen_state.h"

#define LEAP 10 /* refreshes at once */

int screen_places(struct screen *s)
{
	if (s->overlay)
		return IN_TEXT;
	if (s->menu.kind)
		return IN_TABLES;
	return screen_here(s)->view->places | (*s->search ? IN_SEARCH : 0);
}

static void sort_by(struct screen *s, enum column_id by)
{
	s->settings.sorting.by = by;
	s->settings.sorting.inverted = false;
}

static enum table table_here(const struct screen *s)
{
	const struct place *p = screen_here((struct screen *)s);

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

static void clear_all(struct screen *s)
{
	struct filter_error error;

	*s->search = '\0';
	screen_filter(s, "", &error);
}

/* Whether there was something in the view to go back from. */
static bool back_within(struct screen *s, uint64_t now_ns)
{
	struct view_context c;

	if (s->overlay || !s->shown)
		return false;
	c = screen_context(s, now_ns);
	return screen_here(s)->view->act(screen_here(s)->state, ACTION_BACK, &c);
}

/* What is selected in time, or everything. */
static void save(struct screen *s, uint64_t now_ns)
{
	const struct place *p = screen_here(s);
	uint64_t from = 0, until = 0;
	struct view_context c;

	if (s->shown && p->view->selected_time) {
		c = screen_context(s, now_ns);
		p->view->selected_time(p->state, &c, &from, &until);
	}
	s->host->save(s->host->arg, from, until, s->notice, sizeof(s->notice));
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
		if (!s->host->save_cancel(s->host->arg, s->notice, sizeof(s->notice)) && !back_within(s, now_ns))
			screen_back(s);
		return true;
	case ACTION_THREADS:
	case ACTION_CGROUPS:
	case ACTION_LATENCY:
	case ACTION_BLOCKED:
	case ACTION_IRQ:
	case ACTION_SYSTEM:
	case ACTION_WAITS:
		for (int i = 0; i < NR_BASES; i++)
			if (screen_bases[i].action == a)
				screen_go_to(s, i, now_ns);
		return true;
	case ACTION_NEXT:
	case ACTION_PREVIOUS:
		screen_go_to(s, s->current + (a == ACTION_NEXT ? 1 : -1), now_ns);
		return true;
	case ACTION_ENTER:
		screen_enter(s, now_ns);
		return true;
	case ACTION_SUBSECOND:
		screen_open(s, a, now_ns);
		return true;
	case ACTION_DETAIL:
		screen_detail(s);
		return true;
	case ACTION_FLAME:
		if (s->shown)
			screen_flame(s, now_ns);
		return true;
	case ACTION_PAUSE:
		screen_pause(s);
		return true;
	case ACTION_STEP_BACK:
		screen_step(s, -1);
		return true;
	case ACTION_STEP_ON:
		screen_step(s, 1);
		return true;
	case ACTION_LEAP_BACK:
		screen_step(s, -LEAP);
		return true;
	case ACTION_LEAP_ON:
		screen_step(s, LEAP);
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
		sort_by(s, (enum column_id)METRIC_RUN);
		return true;
	case ACTION_SORT_MAX:
		sort_by(s, (enum column_id)METRIC_RUNQ_MAX);
		return true;
	case ACTION_SORT_P99:
		sort_by(s, (enum column_id)METRIC_RUNQ_P99);
		return true;
	case ACTION_SORT_D:
		sort_by(s, (enum column_id)METRIC_D);
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
	case ACTION_SAVE:
		save(s, now_ns);
		return true;
	case ACTION_WRITE:
		s->host->write_config(s->host->arg, &s->settings, s->notice, sizeof(s->notice));
		return true;
	default:
		return false;
	}
}

/* Brings the view up to date, as keys can come faster than drawings: rows of a refresh that was shown are gone.
 * Returns whether there is one: what cannot be seen is not acted on. */
static bool ready(struct screen *s, uint64_t now_ns)
{
	if (!s->paint || screen_too_small(s->paint))
		return false;
	screen_update(s, now_ns);
	s->changed = true;
	return true;
}

static void act(struct screen *s, enum action a, uint64_t now_ns)
{
	struct view_context c;

	if ((s->overlay && pager_act(&s->overlay_pager, a)) || !ready(s, now_ns))
		return;
	if (s->menu.kind && menu_act(&s->menu, a))
		return;
	if (!act_everywhere(s, a, now_ns) && s->shown && !s->overlay) {
		c = screen_context(s, now_ns);
		screen_here(s)->view->act(screen_here(s)->state, a, &c);
	}
}

/* --- Keys */

/* What was typed counts at once; the cursor goes to the first match from where it was. */
static void search_typed(struct screen *s, uint64_t now_ns)
{
	struct view_context c;

	snprintf(s->search, sizeof(s->search), "%s", s->prompt.text);
	if (!s->shown)
		return;
	c = screen_context(s, now_ns);
	screen_here(s)->view->act(screen_here(s)->state, ACTION_SEARCH, &c);
}

static void prompt_typed(struct screen *s, wint_t key, bool is_code, uint64_t now_ns)
{
	bool filter = s->prompt.title[0] != '/';
	struct filter_error error;

	if (!ready(s, now_ns))
		return;
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
		if (filter && !screen_filter(s, s->prompt.text, &error)) {
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
	a = keymap_action(&s->settings.keymap, key, screen_places(s));
	switch (a) {
	case ACTION_QUIT:
		return SCREEN_QUIT;
	case ACTION_CLOSE:
		if (s->menu.kind) {
			act(s, a, now_ns);
			return SCREEN_GO_ON;
		}
		s->changed = true;
		return screen_back(s) ? SCREEN_GO_ON : SCREEN_QUIT;
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
	const struct place *p = screen_here(s);
	struct view_context c;

	s->notice[0] = '\0';
	if (what != MOUSE_CLICK) {
		act(s, what == MOUSE_WHEEL_UP ? ACTION_UP : ACTION_DOWN, now_ns);
		return;
	}
	if (!ready(s, now_ns) || !s->shown || s->overlay || s->menu.kind || !p->view->click)
		return;
	c = screen_context(s, now_ns);
	if (y >= c.top && y < c.top + c.height && p->view->click(p->state, &c, y, x))
		screen_enter(s, now_ns);
}
