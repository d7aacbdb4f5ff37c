/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_PROC_PROCESS_H
#define SYSTOP_PROC_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* PID namespaces below the host's that are recorded for a process. */
#define PROCESS_INFO_LEVELS 4

/* What /proc knows about a process and its slots do not. */
struct process_info {
	int32_t tgid;
	uint32_t nr_nspids;
	int32_t nspids[PROCESS_INFO_LEVELS]; /* its PIDs in PID namespaces below the host's, outer ones first */
	uint32_t text, len;         /* place of its arguments, each ended by NUL; @len 0: it has none */
};

/* process_info_read - reads process w->tgid; its arguments go to @text; if they do not fit, the last one is "..". May block on
 * a sick process. Sets w->len. */
void process_info_read(struct process_info *w, char *text, size_t room);

/* process_command_read - the command line of @tgid, or, with @worker, the name of a kernel worker and what it works on.
 * @text: of @room bytes; @cut: set if there was more. May block on a sick process. Returns the bytes, or -errno. */
int process_command_read(int32_t tgid, bool worker, char *text, size_t room, bool *cut);

#endif
