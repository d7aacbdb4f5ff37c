/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_EXPORT_JSON_H
#define SYSTOP_EXPORT_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct filter;
struct json_line;
struct names;
struct tick;

/* Version of the schema: raised when a property is added, changes its meaning or goes. */
#define JSON_SCHEMA 3

struct json_options {
	const char *host, *kernel, *scope;
	bool all; /* threads that did nothing, too */
	const struct filter *filter; /* threads that pass, NULL: all; sums are of all */
	void (*thread_name)(void *arg, int tid, char *buf, size_t size); /* fit for a terminal; "": not known */
	void *thread_name_arg;
	uint64_t turn_ns, turn_work_ns; /* longest turn of the main loop, also without its waits for a CPU */
	struct names *names; /* of frames, as far as they are known: for the quality of stacks */
	uint64_t dropped; /* refreshes that were not written, as the reader was late */
};

/*
 * A tick as one line of JSON, always valid UTF-8, in slices.
 * json_line_new - begins a line, up to its list of threads. @t is held until json_line_free(), @o is copied, what it points
 * to is borrowed. NULL: no memory.
 * json_line_go_on - writes threads until @until (CLOCK_MONOTONIC ns), 0: all of them. 1: there is more; 0: the line is
 * whole; or -errno. json_line_free accepts NULL.
 */
struct json_line *json_line_new(FILE *to, const struct tick *t, const struct json_options *o);
int json_line_go_on(struct json_line *l, uint64_t until);
void json_line_free(struct json_line *l);

/* json_schema - writes the JSON schema of such a line. Returns 0 or -errno. */
int json_schema(FILE *to);

#endif
