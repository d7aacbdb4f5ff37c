/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_PROC_PROCESS_H
#define SYSTOP_PROC_PROCESS_H

#include <stddef.h>
#include <stdint.h>

/* PID namespaces below the host's that a process is in. */
#define PROCESS_INFO_LEVELS 4

/* What /proc says of a process that the slots do not. */
struct process_info {
	int32_t tgid;
	uint32_t nr_nspids;
	int32_t nspids[PROCESS_INFO_LEVELS]; /* its pids in PID namespaces below the host's, outer ones first */
	uint32_t text, len;         /* where its arguments are, each ended by NUL; @len 0: it has none */
};

/* process_info_read - of w->tgid; its arguments, as far as there is room, to @text. Can hang on a process that is sick.
 * Sets w->len. */
void process_info_read(struct process_info *w, char *text, size_t room);

#endif
