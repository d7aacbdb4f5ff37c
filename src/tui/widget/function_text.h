/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_TUI_WIDGET_FUNCTION_TEXT_H
#define SYSTOP_TUI_WIDGET_FUNCTION_TEXT_H

#include <stddef.h>

#include "tui/term/theme.h"

struct settings;
struct symbol;

/* function_text - a function's name (raw bytes) as the settings want it, fit for a terminal: short, or in full. */
void function_text(char *buf, size_t size, const char *name, const struct settings *settings);

/* Marks that show a function's kind; NULL: not a function.
 * function_marks - the brackets around its name, without colours: "[]" user, "()" kernel, "<>" JIT, "{}" not a function.
 * function_role - the look of its box and name. */
const char *function_marks(const struct symbol *symbol);
enum role function_role(const struct symbol *symbol);

#endif
