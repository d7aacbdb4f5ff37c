/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_TUI_TERM_TERMINFO_H
#define SYSTOP_TUI_TERM_TERMINFO_H

/*
 * terminfo_builtin - the compiled description of a common terminal, for hosts whose terminfo database is missing or
 * lacks it (a static binary brings no database of its own).
 * @term: as in $TERM
 * Returns the value of the environment variable TERMINFO with which setupterm(@term) succeeds, in static storage, or
 * NULL if there is none.
 */
const char *terminfo_builtin(const char *term);

#endif
