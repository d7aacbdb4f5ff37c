/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_TUI_TERM_TERM_H
#define SYSTOP_TUI_TERM_TERM_H

#include <stdbool.h>

struct sink;

/* The terminal: state that a process has only once. */

/* term_check - whether a screen can be drawn at all. Returns 0, or -errno after fail(): not a
 * terminal or TERM=dumb (exit status 2), no description of any fallback (1). */
int term_check(void);

/* term_open - opens the screen with curses. An unknown TERM is treated as xterm-256color, which @notice reports.
 * @output: to standard output; the caller owns it. Returns 0, or -errno after fail(). */
int term_open(struct sink *output, char *notice, int size);

/* term_ready - whether a frame can be drawn now: not while the previous one is being written.
 * term_missed - whether a frame was dropped since.
 * term_send - writes the output of curses to the terminal. */
bool term_ready(void);
bool term_missed(void);
void term_send(void);

/* term_close - restores the terminal. Idempotent, and safe if the terminal is gone. */
void term_close(void);

/* term_suspend, term_resume - give the terminal to the shell, and take it back. */
void term_suspend(void);
void term_resume(void);

/* term_size - reads the terminal's present size and passes it to curses. */
void term_size(int *width, int *height);

/* term_emergency - restores the terminal from a signal handler: async-signal-safe. */
void term_emergency(void);

#endif
