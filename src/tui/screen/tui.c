/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/screen/tui.h"

#include <errno.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/term/paint.h"
#include "tui/term/term.h"
#include "util/clock.h"
#include "util/fail.h"
#include "util/text.h"

/* Draws the screen on a terminal. */
struct tui {
	struct screen *screen;
	struct paint paint;
	struct theme first, theme; /* the initial theme, and the present one */
	bool color, mouse;
};

/* NO_COLOR is respected unless the user's settings override it (no-color.org). */
static bool wants_color(enum when color)
{
	const char *no_color = getenv("NO_COLOR");

	return color == WHEN_ALWAYS || (color == WHEN_AUTO && !(no_color && *no_color));
}

/* Applies changed settings of the appearance. */
static void follow_settings(struct tui *t)
{
	const struct settings *s = screen_settings(t->screen);
	char error[256];

	if (strcmp(t->theme.name, s->theme)) {
		if (!strcmp(t->first.name, s->theme))
			t->theme = t->first;
		else if (theme_load(&t->theme, s->theme, NULL, error, sizeof(error)))
			screen_notice(t->screen, error);
		snprintf(t->theme.name, sizeof(t->theme.name), "%s", s->theme);
		paint_theme(&t->paint, &t->theme, t->color);
		clearok(curscr, TRUE);
	}
	if (t->mouse != s->mouse) {
		t->mouse = s->mouse;
		mousemask(t->mouse ? BUTTON1_PRESSED | BUTTON4_PRESSED | BUTTON5_PRESSED : 0, NULL);
	}
}

void tui_draw(struct tui *t)
{
	if (!term_ready())
		return;
	follow_settings(t);
	screen_draw(t->screen, &t->paint, clock_ns(CLOCK_MONOTONIC));
	wnoutrefresh(t->paint.win);
	doupdate();
	term_send();
}

static void open_paint(struct tui *t, bool unicode, const struct settings *s)
{
	int width, height;

	term_size(&width, &height);
	paint_init(&t->paint, stdscr, width, height, unicode);
	t->color = wants_color(s->color);
	keymap_define();
	mouseinterval(0);
}

struct tui *tui_open(const struct tui_options *o)
{
	bool unicode = o->settings->ascii == WHEN_NEVER || (o->settings->ascii == WHEN_AUTO && text_is_utf8());
	struct tui *t = calloc(1, sizeof(*t));
	char notice[128] = "", both[512];

	if (t)
		t->screen = screen_new(o->host, o->settings, o->filter);
	if (!t || !t->screen) {
		free(t);
		fail(-ENOMEM, EXIT_STATUS_RUNTIME, "out of memory");
		return NULL;
	}
	t->first = *o->theme;
	/* Names are UTF-8, and a terminal sends UTF-8 even in the C locale, in which curses would drop it. */
	if (!text_is_utf8())
		setlocale(LC_CTYPE, "C.UTF-8");
	if (term_open(o->output, notice, sizeof(notice))) {
		tui_close(t);
		return NULL;
	}
	open_paint(t, unicode, o->settings);
	snprintf(both, sizeof(both), "%s%s%s", o->notice, *o->notice && *notice ? "; " : "", notice);
	screen_notice(t->screen, both);
	tui_draw(t);
	return t;
}

void tui_close(struct tui *t)
{
	if (!t)
		return;
	if (t->mouse)
		mousemask(0, NULL);
	term_close();
	screen_free(t->screen);
	free(t);
}

void tui_tick(struct tui *t, const struct tick *tick)
{
	screen_tick(t->screen, tick);
	tui_draw(t);
}

void tui_late(struct tui *t)
{
	if (screen_late(t->screen, clock_ns(CLOCK_MONOTONIC)))
		tui_draw(t);
}

void tui_notice(struct tui *t, const char *fmt, ...)
{
	char text[256];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	screen_notice(t->screen, text);
	tui_draw(t);
}

static void mouse_event(struct tui *t)
{
	MEVENT e;

	if (getmouse(&e) != OK)
		return;
	screen_mouse(t->screen,
		     e.bstate & BUTTON4_PRESSED   ? MOUSE_WHEEL_UP
		     : e.bstate & BUTTON5_PRESSED ? MOUSE_WHEEL_DOWN
						  : MOUSE_CLICK,
		     e.y, e.x, clock_ns(CLOCK_MONOTONIC));
}

enum screen_verdict tui_input(struct tui *t)
{
	enum screen_verdict verdict;
	bool acted = false;
	wint_t key;
	int kind;

	while ((kind = wget_wch(t->paint.win, &key)) != ERR) {
		bool is_code = kind == KEY_CODE_YES;

		if (is_code && key == KEY_RESIZE)
			continue; /* SIGWINCH reports it, too */
		acted = true;
		if (is_code && key == KEY_MOUSE) {
			mouse_event(t);
			continue;
		}
		verdict = screen_key(t->screen, key, is_code, clock_ns(CLOCK_MONOTONIC));
		if (verdict == SCREEN_REDRAW)
			clearok(curscr, TRUE);
		else if (verdict != SCREEN_GO_ON)
			return verdict;
	}
	if (acted) /* else nothing changed: tui_resize() draws a new size */
		tui_draw(t);
	return SCREEN_GO_ON;
}

void tui_resize(struct tui *t)
{
	term_size(&t->paint.width, &t->paint.height);
	t->paint.to = t->paint.height;
	tui_draw(t);
}

uint64_t tui_delay(const struct tui *t)
{
	return screen_settings(t->screen)->delay_ns;
}

void tui_output(struct tui *t)
{
	if (term_missed())
		tui_draw(t);
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
