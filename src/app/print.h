/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_APP_PRINT_H
#define SYSTOP_APP_PRINT_H

struct options;
struct settings;

/* print_asked - prints what an option requests instead of a run: --version, --check, ... Returns the exit status,
 * -1: no such option. */
int print_asked(const struct options *o, const struct settings *s);

#endif
