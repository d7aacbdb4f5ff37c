/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_TUI_TERM_TERM_H
#define SYSTOP_TUI_TERM_TERM_H

#include <stdbool.h>

struct sink;

/* The terminal: the one piece of state that a process has only one of. */

/* term_check - whether a screen can be drawn at all. Returns 0, or -errno after fail(): not a
 * terminal or TERM=dumb (exit status 2), no description of any fallback (1). */
int term_check(void);

/* term_open - the screen in curses' hands. An unknown TERM is drawn as xterm-256color, which
 * @notice says. @output: to standard output, the caller's. Returns 0, or -errno after fail(). */
int term_open(struct sink *output, char *notice, int size);

/* term_ready - whether a frame can be drawn now: not as long as one is under way. term_missed - whether it could not
 * since. term_send - what curses has written to the terminal. */
bool term_ready(void);
bool term_missed(void);
void term_send(void);

/* term_close - the terminal as it was. Idempotent, and safe when the terminal is gone. */
void term_close(void);

/* term_suspend, term_resume - lend the terminal to the shell, and take it back. */
void term_suspend(void);
void term_resume(void);

/* term_size - what the terminal says it is now; tells curses. */
void term_size(int *width, int *height);

/* term_emergency - the terminal as it was, from a signal handler: async-signal-safe. */
void term_emergency(void);

#endif
