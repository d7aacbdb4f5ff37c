/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_TUI_SCREEN_TUI_H
#define SYSTOP_TUI_SCREEN_TUI_H

#include <stdbool.h>

struct host;
struct sink;
struct settings;
struct theme;
struct tick;
struct tui;

struct tui_options {
	const struct host *host;         /* borrowed for the screen's life */
	const struct settings *settings; /* where it starts from */
	const char *filter;              /* of --filter, checked; NULL: none */
	const struct theme *theme;       /* theirs; others that keys choose are built in */
	struct sink *output;             /* to standard output, the caller's */
	const char *notice;              /* shown until the first key, "": nothing */
};

enum tui_verdict { TUI_GO_ON, TUI_QUIT, TUI_SUSPEND };

/* tui_check - whether there is a terminal to draw on. 0, or -errno after fail(). */
int tui_check(void);

/* tui_open - takes the terminal. NULL after fail(). Signals are the main loop's: it calls
 * tui_resize() for SIGWINCH and the two below for SIGTSTP and SIGCONT. */
struct tui *tui_open(const struct tui_options *o);

/* tui_close - gives the terminal back. Accepts NULL; safe when the terminal is gone. */
void tui_close(struct tui *t);

/* tui_tick - a new tick: shown, unless paused. Held as long as it is shown. */
void tui_tick(struct tui *t, const struct tick *tick);

/* tui_notice - a line in the footer until the next key; @fmt's arguments fit for a terminal. */
void tui_notice(struct tui *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* tui_input - handles all keys that are there; never blocks. */
enum tui_verdict tui_input(struct tui *t);

/* tui_output - the terminal takes more of what was drawn: draws what it missed. */
void tui_output(struct tui *t);

void tui_resize(struct tui *t);
void tui_suspend(struct tui *t);
void tui_resume(struct tui *t);

/* tui_emergency_restore - the terminal as it was, from a handler of a fatal signal. */
void tui_emergency_restore(void);

#endif
