/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/aggregate.h"

void values_add(struct values *to, const struct values *from)
{
	for (int f = 0; f < METRIC_COUNT; f++) {
		uint64_t v = from->v[f];

		if (metrics[f].kind == KIND_LEVEL)
			continue;
		/* Unknown for every thread; the split is not, until the kernel's tick has seen the thread. */
		if (v == VALUE_NA && f != METRIC_USER && f != METRIC_KERNEL)
			to->v[f] = VALUE_NA;
		if (v == VALUE_NA || to->v[f] == VALUE_NA)
			continue;
		switch (metrics[f].kind) {
		case KIND_SUM:
		case KIND_SPAN:
			to->v[f] += v;
			break;
		case KIND_MAX:
			if (v > to->v[f])
				to->v[f] = v;
			break;
		case KIND_QUANTILE:
		case KIND_LEVEL:
			break;
		}
	}
	for (int h = 0; h < HISTS_OF_THREADS; h++)
		hist_add(&to->hist[h], &from->hist[h]);
	to->ticked.user += from->ticked.user;
	to->ticked.kernel += from->ticked.kernel;
}

void values_add_thread(struct values *to, const struct values *thread)
{
	uint64_t user = to->v[METRIC_USER], kernel = to->v[METRIC_KERNEL];

	values_add(to, thread);
	if (thread->ticked.user + thread->ticked.kernel) {
		to->v[METRIC_USER] = user;
		to->v[METRIC_KERNEL] = kernel;
	}
}

void values_add_idle(struct values *to, enum thread_state state, uint64_t nr, uint64_t interval_ns)
{
	to->v[state == STATE_STOPPED ? METRIC_STOPPED : METRIC_SLEEP] += nr * interval_ns;
	to->v[METRIC_ALIVE] += nr * interval_ns;
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

void values_split_by(struct values *v, double user, double known)
{
	uint64_t run = v->v[METRIC_RUN];

	if (run && !known) {
		v->v[METRIC_USER] = v->v[METRIC_KERNEL] = VALUE_NA;
		return;
	}
	v->v[METRIC_USER] = run ? (double)run * user / known : 0;
	if (v->v[METRIC_USER] > run)
		v->v[METRIC_USER] = run;
	v->v[METRIC_KERNEL] = run - v->v[METRIC_USER];
}

void values_split(struct values *v)
{
	uint64_t known = v->v[METRIC_USER] + v->v[METRIC_KERNEL], ticks = v->ticked.user + v->ticked.kernel;
	double user = v->v[METRIC_USER];

	if (ticks && v->v[METRIC_RUN] > known) {
		user += (double)(v->v[METRIC_RUN] - known) * v->ticked.user / ticks;
		known = v->v[METRIC_RUN];
	}
	values_split_by(v, user, known);
}
