/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_TUI_SCREEN_TUI_H
#define SYSTOP_TUI_SCREEN_TUI_H

#include <stdint.h>

#include "tui/screen/screen.h"

struct sink;
struct theme;
struct tui;

struct tui_options {
	const struct host *host;         /* borrowed for the screen's life */
	const struct settings *settings; /* initial settings */
	const char *filter;              /* checked text of --filter; NULL: none */
	const struct theme *theme;       /* of the settings; others, chosen by keys, are built in */
	struct sink *output;             /* to standard output; the caller owns it */
	const char *notice;              /* shown until the first key, "": none */
};

/* tui_open - takes over the terminal. NULL after fail(). The main loop handles signals: it calls tui_resize() for
 * SIGWINCH, tui_suspend() for SIGTSTP and tui_resume() for SIGCONT. */
struct tui *tui_open(const struct tui_options *o);

/* tui_close - restores the terminal. Accepts NULL; safe if the terminal is gone. */
void tui_close(struct tui *t);

/* tui_tick - shows a new tick, unless paused. Holds the tick while it is shown. */
void tui_tick(struct tui *t, const struct tick *tick);

/* tui_draw - draws the same tick again: command lines have changed. */
void tui_draw(struct tui *t);

/* tui_late - now and then: draws the same tick again if stacks or names have arrived late. */
void tui_late(struct tui *t);

/* tui_notice - shows a line in the footer until the next key; @fmt's arguments are fit for a terminal. */
void tui_notice(struct tui *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* tui_input - handles all pending keys; never blocks. Returns SCREEN_QUIT, SCREEN_SUSPEND or SCREEN_GO_ON. */
enum screen_verdict tui_input(struct tui *t);

/* tui_delay - ns between refreshes, by the settings as they are now. */
uint64_t tui_delay(const struct tui *t);

/* tui_output - the terminal accepts output again: draws what it missed. */
void tui_output(struct tui *t);

void tui_resize(struct tui *t);
void tui_suspend(struct tui *t);
void tui_resume(struct tui *t);

#endif
