/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_TUI_SCREEN_SCREEN_H
#define SYSTOP_TUI_SCREEN_SCREEN_H

#include <stdbool.h>
#include <stdint.h>
#include <wchar.h>

#include "tui/input/settings.h"
#include "tui/screen/host.h"

struct paint;
struct tick;

/*
 * The contents of the screen and the effects of keys. It knows no terminal, so that a test can draw it into any window.
 */
struct screen;

enum screen_verdict { SCREEN_GO_ON, SCREEN_QUIT, SCREEN_SUSPEND, SCREEN_REDRAW };

enum screen_mouse { MOUSE_CLICK, MOUSE_WHEEL_UP, MOUSE_WHEEL_DOWN };

/* screen_new - @host: borrowed; @settings: copied; @filter: checked text of --filter, NULL: none. Returns NULL when
 * out of memory. */
struct screen *screen_new(const struct host *host, const struct settings *settings,
			  const char *filter);
void screen_free(struct screen *s);

/* screen_settings - the settings with the user's changes. */
const struct settings *screen_settings(const struct screen *s);

/* screen_tick - shows a new tick, unless paused. Holds the tick while it is shown. */
void screen_tick(struct screen *s, const struct tick *t);

/* screen_late - whether to draw the same tick again, as stacks of blocked threads and names of functions arrive late: once,
 * and then whenever there are new names, but never within a second of the last time. */
bool screen_late(struct screen *s, uint64_t now_ns);

/* screen_notice - shows a line, fit for a terminal, in the footer until the next key that no prompt takes. */
void screen_notice(struct screen *s, const char *text);

/* screen_key - a key as curses gives it: a KEY_ code if @is_code, else a character. @now_ns:
 * CLOCK_MONOTONIC, here and below. */
enum screen_verdict screen_key(struct screen *s, wint_t key, bool is_code, uint64_t now_ns);
void screen_mouse(struct screen *s, enum screen_mouse what, int y, int x, uint64_t now_ns);

/* screen_draw - draws everything, for a window of any size. */
void screen_draw(struct screen *s, const struct paint *p, uint64_t now_ns);

#endif
