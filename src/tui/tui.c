/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/tui.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/tick.h"
#include "tui/header.h"
#include "tui/help.h"
#include "tui/term.h"
#include "tui/view.h"
#include "util/fail.h"
#include "util/text.h"

#define WIDTH_MIN 40
#define HEIGHT_MIN 10

/* All views, in the order of their numbers. */
static const struct view *const views[] = { &view_threads, &view_cgroups };

#define NR_VIEWS ((int)(sizeof(views) / sizeof(views[0])))

struct tui {
	struct tui_options options;
	struct paint paint;
	void *states[NR_VIEWS];
	int current;
	struct sorting sorting;
	bool paused, help_shown;
	struct help help;
	const struct tick *shown, *newest; /* held */
	char notice[128];                  /* shown until the next key */
};

int tui_check(void)
{
	return term_check();
}

static struct view_context context_of(struct tui *t)
{
	return (struct view_context){
		.tick = t->shown,
		.paint = &t->paint,
		.sorting = &t->sorting,
		.top = HEADER_LINES,
		.height = t->paint.height - HEADER_LINES - FOOTER_LINES,
	};
}

static bool too_small(const struct tui *t)
{
	return t->paint.width < WIDTH_MIN || t->paint.height < HEIGHT_MIN;
}

static void draw_too_small(struct tui *t)
{
	char text[64];
	int x, y = t->paint.height / 2;

	snprintf(text, sizeof(text), "%dx%d needed, have %dx%d", WIDTH_MIN, HEIGHT_MIN,
		 t->paint.width, t->paint.height);
	x = (t->paint.width - (int)strlen(text)) / 2;
	for (int line = 0; line < t->paint.height; line++)
		paint_clear(&t->paint, line, 0);
	if (y) /* whose terminal it is can be told even then */
		paint_format(&t->paint, 0, 0, ROLE_TEXT, "systop %s", t->options.host);
	paint_text(&t->paint, y, x > 0 ? x : 0, t->paint.width, ROLE_TEXT, text);
}

static void draw_view(struct tui *t)
{
	struct view_context c = context_of(t);
	struct header h = { &t->options, t->shown, t->newest, t->paused };
	const struct view *v = views[t->current];
	char status[128], sorted[32];

	header_draw(&h, &t->paint, views, NR_VIEWS, t->current);
	if (t->help_shown)
		help_draw(&t->help, &t->paint, c.top, c.height);
	else
		v->draw(t->states[t->current], &c);
	v->status(t->states[t->current], &c, status, sizeof(status));
	snprintf(sorted, sizeof(sorted), "%s %s",
		 t->sorting.by == SORT_NUMBER ? "number" : fields[t->sorting.by].title,
		 (t->sorting.by == SORT_NUMBER) != t->sorting.inverted ? "asc" : "desc");
	footer_draw(&t->paint, status, sorted, t->notice);
}

static void draw(struct tui *t)
{
	if (too_small(t))
		draw_too_small(t);
	else if (t->shown)
		draw_view(t);
	wnoutrefresh(t->paint.win);
	doupdate();
}

static void update(struct tui *t)
{
	struct view_context c = context_of(t);

	if (!t->shown || too_small(t))
		return;
	if (views[t->current]->update(t->states[t->current], &c))
		snprintf(t->notice, sizeof(t->notice), "out of memory: not all rows are shown");
}

struct tui *tui_open(const struct tui_options *o)
{
	struct tui *t = calloc(1, sizeof(*t));

	for (int i = 0; t && i < NR_VIEWS; i++) {
		t->states[i] = calloc(1, views[i]->state_size);
		if (!t->states[i]) {
			tui_close(t);
			t = NULL;
		}
	}
	if (!t) {
		fail(-ENOMEM, EXIT_STATUS_RUNTIME, "out of memory");
		return NULL;
	}
	t->options = *o;
	t->sorting.by = o->sort;
	if (term_open(t->notice, sizeof(t->notice))) {
		tui_close(t);
		return NULL;
	}
	t->paint.win = stdscr;
	t->paint.unicode = !o->ascii && text_is_utf8();
	paint_roles(&t->paint, o->color && has_colors());
	term_size(&t->paint.width, &t->paint.height);
	return t;
}

void tui_close(struct tui *t)
{
	if (!t)
		return;
	term_close();
	for (int i = 0; i < NR_VIEWS; i++) {
		if (t->states[i])
			views[i]->fini(t->states[i]);
		free(t->states[i]);
	}
	tick_put(t->shown);
	tick_put(t->newest);
	free(t);
}

static void show(struct tui *t, const struct tick *tick)
{
	tick_put(t->shown);
	t->shown = tick_get(tick);
	update(t);
}

void tui_tick(struct tui *t, const struct tick *tick)
{
	tick_put(t->newest);
	t->newest = tick_get(tick);
	if (!t->paused || !t->shown)
		show(t, tick);
	draw(t);
}

void tui_notice(struct tui *t, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(t->notice, sizeof(t->notice), fmt, args);
	va_end(args);
	draw(t);
}

static void set_view(struct tui *t, int view)
{
	t->current = (view + NR_VIEWS) % NR_VIEWS;
	t->help_shown = false;
}

static void sort_by(struct tui *t, int by)
{
	t->sorting.by = by;
	t->sorting.inverted = false;
}

/* Actions that are the same in every view. Returns whether @a was one. */
static bool act_everywhere(struct tui *t, enum action a)
{
	switch (a) {
	case ACTION_HELP:
		t->help_shown = !t->help_shown;
		return true;
	case ACTION_BACK:
		t->help_shown = false;
		return true;
	case ACTION_THREADS:
		set_view(t, 0);
		return true;
	case ACTION_CGROUPS:
		set_view(t, 1);
		return true;
	case ACTION_NEXT:
		set_view(t, t->current + 1);
		return true;
	case ACTION_PREVIOUS:
		set_view(t, t->current - 1);
		return true;
	case ACTION_PAUSE:
		t->paused = !t->paused;
		if (!t->paused && t->newest)
			show(t, t->newest);
		return true;
	case ACTION_INVERT:
		t->sorting.inverted = !t->sorting.inverted;
		return true;
	case ACTION_SORT_RUN:
		sort_by(t, FIELD_RUN);
		return true;
	case ACTION_SORT_MAX:
		sort_by(t, FIELD_RUNQ_MAX);
		return true;
	case ACTION_SORT_P99:
		sort_by(t, FIELD_RUNQ_P99);
		return true;
	case ACTION_SORT_D:
		sort_by(t, FIELD_D);
		return true;
	case ACTION_SORT_TID:
		sort_by(t, SORT_NUMBER);
		return true;
	case ACTION_REDRAW:
		clearok(curscr, TRUE);
		return true;
	default:
		return false;
	}
}

static void act(struct tui *t, enum action a)
{
	struct view_context c = context_of(t);

	if (t->help_shown && help_act(&t->help, a))
		return;
	if (!act_everywhere(t, a) && t->shown && !t->help_shown)
		views[t->current]->act(t->states[t->current], a, &c);
	update(t);
}

enum tui_verdict tui_input(struct tui *t)
{
	enum tui_verdict verdict = TUI_GO_ON;
	int key;

	while (verdict == TUI_GO_ON && (key = wgetch(t->paint.win)) != ERR) {
		enum action a = action_of_key(key);

		t->notice[0] = '\0';
		if (a == ACTION_QUIT && key == 'q' && t->help_shown)
			t->help_shown = false;
		else if (a == ACTION_QUIT)
			verdict = TUI_QUIT;
		else if (a == ACTION_SUSPEND)
			verdict = TUI_SUSPEND;
		else
			act(t, a);
	}
	if (verdict == TUI_GO_ON)
		draw(t);
	return verdict;
}

void tui_resize(struct tui *t)
{
	term_size(&t->paint.width, &t->paint.height);
	update(t);
	draw(t);
}

void tui_suspend(struct tui *t)
{
	(void)t;
	term_suspend();
}

void tui_resume(struct tui *t)
{
	term_resume();
	tui_resize(t);
}

void tui_emergency_restore(void)
{
	term_emergency();
}
