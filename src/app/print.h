/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_APP_PRINT_H
#define SYSTOP_APP_PRINT_H

struct options;
struct settings;

/* print_asked - what an option asks to be printed in place of a run: --version, --check, ...
 * Returns the exit status, -1: no option did. */
int print_asked(const struct options *o, const struct settings *s);

#endif
