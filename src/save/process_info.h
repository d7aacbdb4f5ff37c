/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_SAVE_PROCESS_INFO_H
#define SYSTOP_SAVE_PROCESS_INFO_H

#include <stdbool.h>
#include <stdint.h>

#include "proc/process.h"

struct tick;

/*
 * Command lines and namespace PIDs of processes, read by a helper: inspecting a sick process blocks. The helper fills
 * in a table in shared memory; if it gets stuck, it is replaced, and the process left out.
 */
struct process_info_table;

/* process_info_request - for the processes of @t (no kernel threads, at most 32,768), from a helper of @role, with their
 * arguments or without. NULL: no memory. */
struct process_info_table *process_info_request(int role, const struct tick *t, bool arguments);
void process_info_free(struct process_info_table *w);

/* process_info_done - whether the table is as complete as it will be; call it now and then. */
bool process_info_done(struct process_info_table *w);

/* process_info_at - copies the information on the process at index @i, in order of PID, and its arguments to @text
 * of CMDLINE_MAX bytes. False: there are no more. */
bool process_info_at(const struct process_info_table *w, uint32_t i, struct process_info *who, char *text);

/* process_info_run - runs the helper's role. */
void process_info_run(int socket);

#endif
