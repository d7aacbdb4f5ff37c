/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_APP_COMPLETIONS_H
#define SYSTOP_APP_COMPLETIONS_H

#include <stdio.h>

/*
 * completions_print - prints a shell's completions of systop's command line, from the table of options.
 * @to: NULL: only checks whether the shell is known
 * Returns 0, or -ENOENT if @shell is not bash, zsh or fish.
 */
int completions_print(FILE *to, const char *shell);

#endif
