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
struct process_info_table;

/* process_info_request - of all processes of @t, the helper is of @role. NULL: no memory. */
struct process_info_table *process_info_request(int role, const struct tick *t);
void process_info_free(struct process_info_table *w);

/* process_info_done - call it once in a while. Whether all is there that will be. */
bool process_info_done(struct process_info_table *w);

/* Bytes of a process's arguments, at most. */
#define PROCESS_INFO_TEXT_MAX 1024

/* process_info_at - copies what is known of the process at place @i, by number, and its arguments to @text of
 * PROCESS_INFO_TEXT_MAX bytes. False: there are no more. */
bool process_info_at(const struct process_info_table *w, uint32_t i, struct process_info *who, char *text);

/* process_info_run - the role. */
void process_info_run(int socket);

#endif
