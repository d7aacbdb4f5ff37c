/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_UTIL_FORMAT_H
#define SYSTOP_UTIL_FORMAT_H

#include <stddef.h>
#include <stdint.h>

enum unit {
	UNIT_NONE,  /* a plain number: "20411" */
	UNIT_COUNT, /* "999", "1.2K", "34M" */
	UNIT_NS,    /* a duration: "0", "610ns", "18us", "2.4ms", "41ms", "1.2s", "3m20s", "5h07m",
		     * "1d05h", "12d", "3y" */
	UNIT_BYTES, /* "512B", "38K", "1.2M", "4.0G" (powers of 1024) */
	UNIT_SHARE, /* @v in ns of @interval_ns, as percent: "70.2", "0.0", "100" */
	UNIT_RATE,  /* events in @interval_ns, per second: "0", "0.5", "12", "18.2K" */
	UNIT_BYTE_RATE, /* bytes in @interval_ns, per second, as UNIT_BYTES: "0", "512B", "1.2M" */
};

/*
 * format_value - the only place that turns a value into text.
 * @buf, @size: output; 16 bytes are always enough
 * @v: the value in the base unit (ns, bytes, events); UINT64_MAX means unknown: "-"
 * @interval_ns: length of the interval in which @v was measured, for shares and rates; 0: "-"
 * Returns @buf. At most 6 characters for any value (UNIT_SHARE: 5, UNIT_NONE: its digits), always with its unit, except
 * for shares and rates, whose unit is in the column's title.
 */
const char *format_value(char *buf, size_t size, enum unit unit, uint64_t v, uint64_t interval_ns);

/* format_about - an estimated duration: "~18us"; UINT64_MAX: "-". Returns @buf; 16 bytes are enough. */
const char *format_about(char *buf, size_t size, uint64_t ns);

/* These texts as arguments, in a buffer that lives as long as the block. */
#define VALUE_TEXT(unit, v, interval_ns) format_value((char[16]){ 0 }, 16, unit, v, interval_ns)
#define NS_TEXT(ns) VALUE_TEXT(UNIT_NS, ns, 0)
#define BYTES_TEXT(bytes) VALUE_TEXT(UNIT_BYTES, bytes, 0)
#define COUNT_TEXT(count) VALUE_TEXT(UNIT_COUNT, count, 0)
#define SHARE_TEXT(ns, of_ns) VALUE_TEXT(UNIT_SHARE, ns, of_ns)
#define ABOUT_TEXT(ns) format_about((char[16]){ 0 }, 16, ns)

/*
 * parse_duration - converts "1", "0.5", "18us", "500ms", "2s", "1m", "3h" to ns; a bare number is in seconds. Returns 0, or
 * -EINVAL (not a duration), -ERANGE (not in @min_ns..@max_ns).
 */
int parse_duration(const char *s, uint64_t min_ns, uint64_t max_ns, uint64_t *ns);

#endif
