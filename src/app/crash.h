/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_APP_CRASH_H
#define SYSTOP_APP_CRASH_H

/*
 * crash_catch - a crash of our own leaves a usable terminal, and a report on it and in the log: version, build-id,
 * backtrace, and what crash_note() said last. Call it once all libraries are loaded.
 */
void crash_catch(const char *version);

/* crash_note - one line about how things are; kept until the next. */
void crash_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
