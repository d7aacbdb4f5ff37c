/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_APP_SYMBOL_DIRS_H
#define SYSTOP_APP_SYMBOL_DIRS_H

struct options;

/* Directories of --symbol-dir. */
#define SYMBOL_DIRS_MAX 8

/* symbol_dirs_add - an operand of --symbol-dir. 0, or EINVAL after fail() (exit status 2). Within invoker_begin(). */
int symbol_dirs_add(struct options *o, const char *arg);

/* symbol_dirs_find - sets where the open helper looks for debug information: the caches of debuginfod, then the
 * directories of --symbol-dir. Before the helpers start; within invoker_begin(). */
void symbol_dirs_find(const struct options *o);

#endif
