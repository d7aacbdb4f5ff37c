/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_SAVE_PROCESS_INFO_H
#define SYSTOP_SAVE_PROCESS_INFO_H

#include <stdbool.h>
#include <stdint.h>

#include "proc/process.h"

struct tick;

/*
 * Command lines and namespace pids of processes, read by a helper: a sick process hangs whoever looks at it. The
 * helper fills in a table in memory that both have, and is replaced, and the process left out, if it stops.
 */
struct who_table;

/* who_ask - of all processes of @t, the helper is of @role. NULL: no memory. */
struct who_table *who_ask(int role, const struct tick *t);
void who_free(struct who_table *w);

/* who_done - call it once in a while. Whether all is there that will be. */
bool who_done(struct who_table *w);

/* Bytes of a process's arguments, at most. */
#define WHO_TEXT_MAX 1024

/* who_at - copies what is known of the process at place @i, by number, and its arguments to @text of WHO_TEXT_MAX bytes.
 * False: there are no more. */
bool who_at(const struct who_table *w, uint32_t i, struct who *who, char *text);

/* who_run - the role. */
void who_run(int socket);

#endif
