/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_TESTS_TRACE_H
#define SYSTOP_TESTS_TRACE_H

/* For tests of traces: a trace is written to memory, then read. */

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"

#include "export/perfetto/perfetto.h"
#include "perfetto.pb-c.h"

#define PB(message) Perfetto__Protos__##message

/* A host that has been up for a month: large times. */
#define START 2600000000000000ULL

static struct {
	char *data;
	size_t size;
	FILE *to;
	PB(Trace) *read;
} trace;

static inline struct perfetto *begin(void)
{
	struct perfetto *p;

	trace.to = open_memstream(&trace.data, &trace.size);
	assert_non_null(trace.to);
	p = perfetto_new(trace.to, START);
	assert_non_null(p);
	return p;
}

static inline void end(struct perfetto *p)
{
	uint64_t bytes;

	assert_int_equal(perfetto_end(p, &bytes), 0);
	assert_int_equal(perfetto_error(p), 0);
	perfetto_free(p);
	fclose(trace.to);
	assert_int_equal(bytes, trace.size);
	trace.read = perfetto__protos__trace__unpack(NULL, trace.size, (uint8_t *)trace.data);
	assert_non_null(trace.read);
}

static inline void forget(void)
{
	perfetto__protos__trace__free_unpacked(trace.read, NULL);
	free(trace.data);
	memset(&trace, 0, sizeof(trace));
}

#endif
