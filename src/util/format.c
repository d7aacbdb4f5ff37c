/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "util/format.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NS_PER_SEC 1000000000ULL

struct scale {
	uint64_t unit;
	const char *suffix;
};

/* The last scale of each table takes all larger values, too. */
static const struct scale decimal[] = {
	{ 1, "" },
	{ 1000, "K" },
	{ 1000000, "M" },
	{ 1000000000, "G" },
	{ 1000000000000, "T" },
	{ 1000000000000000, "P" },
	{ 1000000000000000000, "E" },
	{ 0, NULL },
};

static const struct scale binary[] = {
	{ 1, "B" },	     { 1ULL << 10, "K" }, { 1ULL << 20, "M" }, { 1ULL << 30, "G" },
	{ 1ULL << 40, "T" }, { 1ULL << 50, "P" }, { 1ULL << 60, "E" }, { 0, NULL },
};

static const struct scale below_minute[] = {
	{ 1, "ns" }, { 1000, "us" }, { 1000000, "ms" }, { NS_PER_SEC, "s" }, { 0, NULL },
};

/* @v / @unit, rounded; does not overflow for any @v. */
static uint64_t divide(uint64_t v, uint64_t unit)
{
	return v / unit + (v % unit >= unit - unit / 2);
}

/* Formats @v with at most three digits, in the first scale where it fits, with one decimal if it is below @decimals. Rounds
 * before choosing the scale, so that 999.6K becomes 1.0M. */
static void format_scaled(char *buf, size_t size, const struct scale *s, uint64_t v,
			  uint64_t decimals)
{
	while (s[1].suffix && divide(v, s->unit) >= 1000)
		s++;
	if (s->unit > 1) {
		uint64_t tenths = v / s->unit * 10 + divide(v % s->unit * 10, s->unit);

		if (tenths < decimals * 10) {
			snprintf(buf, size, "%" PRIu64 ".%" PRIu64 "%s", tenths / 10, tenths % 10,
				 s->suffix);
			return;
		}
	}
	snprintf(buf, size, "%" PRIu64 "%s", divide(v, s->unit), s->suffix);
}

static void format_ns(char *buf, size_t size, uint64_t v)
{
	uint64_t sec = divide(v, NS_PER_SEC), min = sec / 60, hours = min / 60, days = hours / 24;

	if (!v)
		snprintf(buf, size, "0");
	else if (sec < 60)
		format_scaled(buf, size, below_minute, v, 10);
	else if (min < 60)
		snprintf(buf, size, "%" PRIu64 "m%02" PRIu64 "s", min, sec % 60);
	else if (hours < 24)
		snprintf(buf, size, "%" PRIu64 "h%02" PRIu64 "m", hours, min % 60);
	else if (days < 10)
		snprintf(buf, size, "%" PRIu64 "d%02" PRIu64 "h", days, hours % 24);
	else if (days < 1000)
		snprintf(buf, size, "%" PRIu64 "d", days);
	else
		snprintf(buf, size, "%" PRIu64 "y", days / 365);
}

static void format_share(char *buf, size_t size, double share_pct)
{
	if (share_pct < 99.95)
		snprintf(buf, size, "%.1f", share_pct);
	else if (share_pct < 99999.5)
		snprintf(buf, size, "%.0f", share_pct);
	else
		format_scaled(buf, size, decimal, share_pct, 10);
}

static void format_rate(char *buf, size_t size, double per_sec)
{
	if (per_sec > 0 && per_sec < 9.95)
		snprintf(buf, size, "%.1f", per_sec);
	else
		format_scaled(buf, size, decimal, per_sec + 0.5, 100);
}

const char *format_value(char *buf, size_t size, enum unit unit, uint64_t v, uint64_t interval_ns)
{
	snprintf(buf, size, "-");
	if (v == UINT64_MAX)
		return buf;
	switch (unit) {
	case UNIT_NONE:
		if (v < 1000000000000000)
			snprintf(buf, size, "%" PRIu64, v);
		else
			format_scaled(buf, size, decimal, v, 10);
		break;
	case UNIT_COUNT:
		format_scaled(buf, size, decimal, v, 10);
		break;
	case UNIT_NS:
		format_ns(buf, size, v);
		break;
	case UNIT_BYTES:
		format_scaled(buf, size, binary, v, 10);
		break;
	case UNIT_SHARE:
		if (interval_ns)
			format_share(buf, size, 100.0 * v / interval_ns);
		break;
	case UNIT_RATE:
		if (interval_ns)
			format_rate(buf, size, (double)NS_PER_SEC * v / interval_ns);
		break;
	case UNIT_BYTE_RATE:
		if (interval_ns && v)
			format_scaled(buf, size, binary, (double)NS_PER_SEC * v / interval_ns + 0.5, 10);
		else if (interval_ns)
			snprintf(buf, size, "0");
		break;
	}
	return buf;
}

const char *format_about(char *buf, size_t size, uint64_t ns)
{
	if (ns == UINT64_MAX)
		return format_value(buf, size, UNIT_NS, ns, 0);
	*buf = '~';
	format_value(buf + 1, size - 1, UNIT_NS, ns, 0);
	return buf;
}

static const struct scale durations[] = {
	{ NS_PER_SEC, "" },	  { NS_PER_SEC, "s" },	      { 1000000, "ms" }, { 1000, "us" },
	{ 60 * NS_PER_SEC, "m" }, { 3600 * NS_PER_SEC, "h" }, { 0, NULL },
};

/* By hand: strtod() also accepts hex, "inf" and exponents. */
int parse_duration(const char *s, uint64_t min_ns, uint64_t max_ns, uint64_t *ns)
{
	uint64_t whole = 0, fraction = 0, fraction_unit = 1, sum;
	const struct scale *d;
	int digits = 0, overflow = 0;

	for (; *s >= '0' && *s <= '9'; s++, digits++)
		overflow |= __builtin_mul_overflow(whole, 10, &whole) |
			    __builtin_add_overflow(whole, *s - '0', &whole);
	if (*s == '.') {
		for (s++; *s >= '0' && *s <= '9'; s++, digits++) {
			if (fraction_unit < NS_PER_SEC) {
				fraction = fraction * 10 + (*s - '0');
				fraction_unit *= 10;
			}
		}
	}
	for (d = durations; d->suffix && strcmp(d->suffix, s); d++)
		;
	if (!digits || !d->suffix)
		return -EINVAL;
	overflow |= __builtin_mul_overflow(whole, d->unit, &sum);
	overflow |= __builtin_add_overflow(
		sum, (uint64_t)((double)fraction / fraction_unit * d->unit + 0.5), &sum);
	if (overflow || sum < min_ns || sum > max_ns)
		return -ERANGE;
	*ns = sum;
	return 0;
}
