/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/tick.h"

const char *const state_names[STATE_COUNT] = {
	[STATE_RUNNING] = "running", [STATE_RUNQUEUE] = "runqueue", [STATE_D] = "d",
	[STATE_SLEEP] = "sleep",     [STATE_STOPPED] = "stopped",   [STATE_DEAD] = "dead",
};

const char state_letters[STATE_COUNT] = {
	[STATE_RUNNING] = 'R', [STATE_RUNQUEUE] = 'q', [STATE_D] = 'D',
	[STATE_SLEEP] = 'S',   [STATE_STOPPED] = 'T',  [STATE_DEAD] = 'X',
};

uint64_t values_value(const struct values *v, enum metric_id m)
{
	enum hist_id h = metrics[m].hist;

	if (metrics[m].kind != KIND_QUANTILE)
		return v->v[m];
	return hist_quantile(&v->hist[h], h, metrics[m].q, v->v[hists[h].longest]);
}

bool values_acted(const struct values *v)
{
	return v->v[METRIC_RUN] || v->v[METRIC_RUNQ] || v->v[METRIC_D] || v->v[METRIC_WAKEUPS];
}

uint64_t row_value_of(const struct row *r, enum metric_id m, bool own)
{
	if (metrics[m].kind == KIND_LEVEL && r->kind != ROW_CGROUP)
		return r->levels ? r->levels->v[m - METRIC_LEVELS] : VALUE_NA;
	return values_value(own && metric_of_threads(m) ? r->own : r->values, m);
}

uint64_t row_value(const struct row *r, enum metric_id m)
{
	return row_value_of(r, m, false);
}
