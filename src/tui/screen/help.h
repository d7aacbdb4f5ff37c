/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_TUI_SCREEN_HELP_H
#define SYSTOP_TUI_SCREEN_HELP_H

#include <stdbool.h>

struct health;
struct keymap;
struct paint;

/* Texts that replace the view, from line 0 of @p on. Both functions return the line after the last one. */

/* help_draw - keys by purpose, those of @places (enum place_kind bits) first; columns and filter language; from
 * their tables. @htop: also the keys of htop that mean something else here. */
int help_draw(const struct paint *p, const struct keymap *keymap, int places, bool htop);

/* health_draw - the state of all parts of systop. */
int health_draw(const struct paint *p, const struct health *h);

#endif
