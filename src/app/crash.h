/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_APP_CRASH_H
#define SYSTOP_APP_CRASH_H

/*
 * crash_catch - makes a crash of systop leave a usable terminal, and a report on it and in the log: version, build-id,
 * backtrace, and the last crash_note(). Call it once all libraries are loaded.
 */
void crash_catch(const char *version);

/* crash_note - stores one line about the present state, until the next call. */
void crash_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
