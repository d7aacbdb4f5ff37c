/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_EXPORT_PERFETTO_PERFETTO_H
#define SYSTOP_EXPORT_PERFETTO_PERFETTO_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct utsname;

/*
 * A trace as Perfetto reads it, written packet by packet as it is told: the host and tracks of numbers
 * here, who is there in perfetto_tree.h, what a CPU did in perfetto_cpu.h, stacks in perfetto_stacks.h.
 *
 * Times are ns of CLOCK_BOOTTIME. Text of any origin is made safe (text_safe()); nothing that is given
 * has to stay. Nothing returns an error: the first one is kept, nothing is written after it, and
 * perfetto_end() returns it. Memory: some MiB; for what is interned 64 bytes at most for each name,
 * frame and stack; the process tree while it is told.
 */
struct perfetto;

/*
 * perfetto_new - @to: stays the caller's, who closes it; written in large pieces.
 * @start_ns: since when nothing is missing on any CPU, which is the latest time that one of their
 * records begins. What threads did is shown from then on. NULL: out of memory.
 */
struct perfetto *perfetto_new(FILE *to, uint64_t start_ns);

/* perfetto_error - the first error, to stop early: 0 or -errno. */
int perfetto_error(const struct perfetto *p);

/* perfetto_end - writes what is not written yet. @bytes: length of the trace, may be NULL. Returns 0 or
 * -errno, -ENOSPC for a full disk; closing @to can fail, too. */
int perfetto_end(struct perfetto *p, uint64_t *bytes);

/* perfetto_free - without perfetto_end() what was not written yet is lost. */
void perfetto_free(struct perfetto *p);

/* perfetto_clocks - what the clocks show at one time: at the beginning and at the end. */
struct perfetto_clocks {
	uint64_t boottime_ns, realtime_ns, monotonic_ns, monotonic_raw_ns;
};
void perfetto_clocks(struct perfetto *p, const struct perfetto_clocks *c);

/* perfetto_system - the host, without which states are misread: their numbers depend on the kernel. */
struct perfetto_system {
	const struct utsname *uname;
	const char *host;
	unsigned int hz, page_size, nr_cpus;
	int utc_offset_min;
	uint64_t ram_bytes;
};
void perfetto_system(struct perfetto *p, const struct perfetto_system *s);

/* perfetto_uuid - a name for the trace that no other has: 128 random bits. */
void perfetto_uuid(struct perfetto *p, uint64_t high, uint64_t low);

/* perfetto_attributes - facts about the trace, in its metadata as "trace_attribute.KEY". */
struct perfetto_value {
	const char *key;
	const char *text; /* NULL: it is the number */
	int64_t number;
};
void perfetto_attributes(struct perfetto *p, const struct perfetto_value *values, size_t nr);

enum perfetto_unit { PERFETTO_NS = 1, PERFETTO_COUNT, PERFETTO_BYTES };

/* perfetto_group, perfetto_counter - a track for others to be under, in the order of their names, or
 * for numbers. @parent: 0: none. Return what it is called in the trace. */
uint64_t perfetto_group(struct perfetto *p, uint64_t parent, const char *name);
uint64_t perfetto_counter(struct perfetto *p, uint64_t parent, const char *name, enum perfetto_unit unit);

/* perfetto_count - the number on a counter's track from @t on. */
void perfetto_count(struct perfetto *p, uint64_t t, uint64_t track, int64_t value);

/* perfetto_instant - something at a time, on a group's track. The trace ends with its last event: one at
 * the end of the window is needed, or what still runs is cut off early. */
void perfetto_instant(struct perfetto *p, uint64_t t, uint64_t track, const char *name);

#endif
