/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/metric.h"

#include <ctype.h>
#include <string.h>

#define SUFFIX_NS "_ns"
#define SUFFIX_COUNT ""
#define SUFFIX_BYTES "_bytes"

#define SUM .kind = KIND_SUM, .hist = HIST_NONE
#define SPAN .kind = KIND_SPAN, .hist = HIST_NONE
#define MAX(of) .kind = KIND_MAX, .hist = HIST_##of
#define QUANTILE(of, part) .kind = KIND_QUANTILE, .hist = HIST_##of, .q = part
#define LEVEL(whose) .kind = KIND_LEVEL, .hist = HIST_NONE, .level = LEVEL_OF_##whose
#define WALL true
#define PART false
#define NONE { NULL }
#define WEIGHT(at, ...) { __VA_ARGS__, .place = at }
#define SAMPLED(at, ...) { __VA_ARGS__, .place = at, .sampled = true }

const struct metric metrics[METRIC_COUNT + 1] = {
#define _(id, text, head, of, how, is_wall, stacks, track, role, cells, dropped, about)                                      \
	[METRIC_##id] = { .stem = text, .name = text SUFFIX_##of, .title = head, .unit = UNIT_##of, how, .wall = is_wall,    \
			  .weight = stacks, .counter = track, .width = cells, .drop = dropped, .help = about },
	METRICS(_)
#undef _
	[METRIC_WALL] = { .stem = "wall", .name = "wall" SUFFIX_NS, .title = "Wall", .unit = UNIT_NS, SUM,
			  .weight = { "wall", "Wall", "wall", .place = METRIC_COUNT } },
};

#undef NONE

const struct hist_row hists[HIST_COUNT] = {
#define _(id, text, single, several, of, shift, nr, weighs, max, known, lacks)                                               \
	[HIST_##id] = { text, single, several, HIST_OF_##of, shift, shift + nr - 1, METRIC_##weighs, METRIC_##max, known, lacks },
	THREAD_HISTS(_)
	TICK_HISTS(_)
#undef _
};

enum unit metric_shown(enum metric_id m)
{
	if (metrics[m].kind != KIND_SUM)
		return metrics[m].unit;
	return metrics[m].unit == UNIT_NS ? UNIT_SHARE : metrics[m].unit == UNIT_BYTES ? UNIT_BYTE_RATE : UNIT_RATE;
}

static int plain(char c)
{
	return c == '_' || c == '-' ? '.' : tolower((unsigned char)c);
}

/* Whether @asked is @name, in any case and with any separators, with or without the unit at its end. */
static bool is_name(const char *asked, const char *name, const char *unit)
{
	size_t i = 0;

	while (asked[i] && name[i] && plain(asked[i]) == plain(name[i]))
		i++;
	return !asked[i] && (!name[i] || !strcmp(name + i, unit));
}

/* Voluntary and involuntary switches are also found without "switches" in the name. */
static const char *short_stem(enum metric_id m)
{
	const char *stem = metrics[m].stem;

	return !strncmp(stem, "switches_", 9) ? stem + 9 : stem;
}

enum metric_id metric_find(const char *name)
{
	enum metric_id m;

	for (m = 0; m < METRIC_COUNT; m++) {
		if (is_name(name, metrics[m].name, metric_suffix(m)) || is_name(name, short_stem(m), "") ||
		    (metrics[m].weight.name && is_name(name, metrics[m].weight.name, "")) ||
		    is_name(name, metrics[m].title, "%") || is_name(name, metrics[m].title, "/s"))
			break;
	}
	return *name ? m : METRIC_COUNT;
}

enum metric_id metric_weight(int place)
{
	int nr = 0;

	for (enum metric_id m = 0; m < METRIC_COUNT; m++) {
		if (metrics[m].weight.name && metrics[m].weight.place == place)
			return m;
		nr += metrics[m].weight.name != NULL;
	}
	return place == nr ? METRIC_WALL : METRIC_NONE;
}

enum metric_id metric_weight_next(enum metric_id m)
{
	enum metric_id next = metric_weight(metrics[m].weight.place + 1);

	return next == METRIC_NONE ? metric_weight(0) : next;
}

bool metric_weighs(enum metric_id shown, enum metric_id sample)
{
	return shown == sample || (shown == METRIC_WALL && metrics[sample].wall);
}
