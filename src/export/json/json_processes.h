/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_EXPORT_JSON_JSON_PROCESSES_H
#define SYSTOP_EXPORT_JSON_JSON_PROCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct export;
struct json;
struct json_object;
struct process;
struct tick;

/* The list of processes, written in slices. Initialise with zeroes. */
struct json_processes {
	bool begun;
	size_t at; /* in the tick's processes */
};

/* json_processes - writes processes until then (CLOCK_MONOTONIC ns; 0: to the end). Returns true when all are written. */
bool json_processes(struct json_processes *p, struct json *j, const struct tick *t, const struct export *e, uint64_t until);

/* json_cmdline - the properties of a process's command line. */
void json_cmdline(struct json *j, const struct process *p, const struct export *e);

#endif
