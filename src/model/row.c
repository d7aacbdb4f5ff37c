/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/tick.h"

#include <string.h>

const char *const state_names[STATE_COUNT] = {
	[STATE_RUNNING] = "running", [STATE_RUNQUEUE] = "runqueue", [STATE_D] = "d",
	[STATE_SLEEP] = "sleep",     [STATE_STOPPED] = "stopped",   [STATE_DEAD] = "dead",
};

const char state_letters[STATE_COUNT] = {
	[STATE_RUNNING] = 'R', [STATE_RUNQUEUE] = 'q', [STATE_D] = 'D',
	[STATE_SLEEP] = 'S',   [STATE_STOPPED] = 'T',  [STATE_DEAD] = 'X',
};

uint64_t values_value(const struct values *v, enum field_id f)
{
	switch (f) {
	case FIELD_RUNQ_P50:
		return hist_quantile_upto(&v->runq, 0.50, v->v[FIELD_RUNQ_MAX]);
	case FIELD_RUNQ_P99:
		return hist_quantile_upto(&v->runq, 0.99, v->v[FIELD_RUNQ_MAX]);
	default:
		return v->v[f];
	}
}

uint64_t row_value(const struct row *r, enum field_id f)
{
	return values_value(r->values, f);
}
