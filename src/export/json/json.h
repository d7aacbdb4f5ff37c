/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_EXPORT_JSON_JSON_H
#define SYSTOP_EXPORT_JSON_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct filter;
struct names;
struct tick;

/* Version of the schema: raised when a property is added, changes its meaning or goes. */
#define JSON_SCHEMA 2

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

/* json_tick - writes a tick as one line of JSON. Always valid UTF-8. Returns 0 or -errno. */
int json_tick(FILE *to, const struct tick *t, const struct json_options *o);

/* json_schema - writes the JSON schema of such a line. Returns 0 or -errno. */
int json_schema(FILE *to);

#endif
