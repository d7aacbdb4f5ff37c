/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/aggregate.h"

void values_add(struct values *to, const struct values *from)
{
	for (int f = 0; f < FIELD_COUNT; f++) {
		uint64_t v = from->v[f];

		if (v == VALUE_NA && f == FIELD_STEAL) /* of nobody */
			to->v[f] = VALUE_NA;
		if (v == VALUE_NA || to->v[f] == VALUE_NA)
			continue;
		switch (fields[f].kind) {
		case FIELD_KIND_TIME:
		case FIELD_KIND_COUNT:
			to->v[f] += v;
			break;
		case FIELD_KIND_MAX:
			if (v > to->v[f])
				to->v[f] = v;
			break;
		case FIELD_KIND_QUANTILE:
			break;
		}
	}
	hist_add(&to->runq, &from->runq);
}

void values_add_idle(struct values *to, enum thread_state state, uint64_t nr, uint64_t interval_ns)
{
	to->v[state == STATE_STOPPED ? FIELD_STOPPED : FIELD_SLEEP] += nr * interval_ns;
	to->v[FIELD_ALIVE] += nr * interval_ns;
}

uint64_t tick_steal(const struct tick *t)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < t->nr_cpus; i++) {
		if (t->cpus[i].steal_ns == VALUE_NA)
			return VALUE_NA;
		ns += t->cpus[i].steal_ns;
	}
	return ns;
}

void values_split(struct values *v)
{
	uint64_t run = v->v[FIELD_RUN];
	uint64_t known = v->v[FIELD_USER] + v->v[FIELD_KERNEL];

	if (!run) {
		v->v[FIELD_USER] = v->v[FIELD_KERNEL] = 0;
	} else if (!known) {
		v->v[FIELD_USER] = v->v[FIELD_KERNEL] = VALUE_NA;
	} else {
		v->v[FIELD_USER] = (double)run * v->v[FIELD_USER] / known;
		if (v->v[FIELD_USER] > run)
			v->v[FIELD_USER] = run;
		v->v[FIELD_KERNEL] = run - v->v[FIELD_USER];
	}
}
