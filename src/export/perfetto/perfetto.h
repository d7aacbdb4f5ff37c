/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_EXPORT_PERFETTO_PERFETTO_H
#define SYSTOP_EXPORT_PERFETTO_PERFETTO_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct utsname;

/*
 * Writes a Perfetto trace packet by packet, as data arrives. Host and counter tracks are here, processes and threads in
 * perfetto_tree.h, CPU activity in perfetto_cpu.h, stacks in perfetto_stacks.h.
 *
 * Times are ns of CLOCK_BOOTTIME. Text of any origin is made safe (text_safe()); arguments are not kept after the call.
 * No function returns an error: the first one is kept, nothing is written after it, and perfetto_end() returns it.
 * Memory: some MiB, at most 64 bytes per interned name, frame and stack, and the process tree while it is built.
 */
struct perfetto;

/*
 * perfetto_new - @to: remains the caller's, who closes it; written in large pieces.
 * @start_ns: since when the records of all CPUs are complete: the latest start of any CPU's records, which is where Perfetto
 * begins to show threads. NULL: out of memory.
 */
struct perfetto *perfetto_new(FILE *to, uint64_t start_ns);

/* perfetto_error - the first error, for callers that stop early: 0 or -errno. */
int perfetto_error(const struct perfetto *p);

/* perfetto_end - writes buffered data. @bytes: length of the trace, may be NULL. Returns 0 or -errno, -ENOSPC for a
 * full disk; closing @to can fail, too. */
int perfetto_end(struct perfetto *p, uint64_t *bytes);

/* perfetto_free - discards data that perfetto_end() has not written. */
void perfetto_free(struct perfetto *p);

/* perfetto_clocks - readings of all clocks at one instant: call it at the beginning and at the end. @monotonic_ns 0: it and
 * @monotonic_raw_ns are not known. */
struct perfetto_clocks {
	uint64_t boottime_ns, realtime_ns, monotonic_ns, monotonic_raw_ns;
};
void perfetto_clocks(struct perfetto *p, const struct perfetto_clocks *c);

/* perfetto_system - describes the host. Without it Perfetto misreads thread states, whose numbers depend on the
 * kernel. */
struct perfetto_system {
	const struct utsname *uname;
	const char *host;
	unsigned int hz, page_size, nr_cpus;
	int utc_offset_min;
	uint64_t ram_bytes;
};
void perfetto_system(struct perfetto *p, const struct perfetto_system *s);

/* perfetto_uuid - a unique id of the trace: 128 random bits. */
void perfetto_uuid(struct perfetto *p, uint64_t high, uint64_t low);

/* perfetto_attributes - facts about the trace, stored in its metadata as "trace_attribute.KEY". */
struct perfetto_value {
	const char *key;
	const char *text; /* NULL: use the number */
	int64_t number;
};
void perfetto_attributes(struct perfetto *p, const struct perfetto_value *values, size_t nr);

enum perfetto_unit { PERFETTO_NS = 1, PERFETTO_COUNT, PERFETTO_BYTES };

/* perfetto_group, perfetto_counter - create a track that groups others, which are sorted by name, or a track for
 * numbers. @parent: 0: none. Return the track's id. */
uint64_t perfetto_group(struct perfetto *p, uint64_t parent, const char *name);
uint64_t perfetto_counter(struct perfetto *p, uint64_t parent, const char *name, enum perfetto_unit unit);

/* perfetto_count - sets the value of a counter track from @t on. */
void perfetto_count(struct perfetto *p, uint64_t t, uint64_t track, int64_t value);

/* perfetto_instant - an instant on a group's track. A trace ends with its last event: write one at the end of the
 * window, or whatever still runs is cut off early. */
void perfetto_instant(struct perfetto *p, uint64_t t, uint64_t track, const char *name);

#endif
