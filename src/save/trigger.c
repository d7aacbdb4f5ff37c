/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "save/trigger.h"

#include <stdio.h>
#include <string.h>

#include "model/sample.h"
#include "model/tick.h"
#include "query/filter.h"
#include "util/text.h"

#define HOUR_NS 3600000000000ULL

/* How long the longest block in D has taken that the thread was in at the beginning or the end of the tick. If the block ended
 * in the tick, this is an upper limit: all time in D in the tick is added to the time before. 0: there is none. */
static uint64_t in_d_for(const struct row *r, const struct tick *t)
{
	int64_t began = t->awake_ns - (int64_t)t->interval_ns, longest = 0;

	for (const struct block *b = r->thread->block; b && b->until >= began; b = b->before) {
		int64_t ns = b->until == BLOCK_ON ? t->awake_ns - b->since : began - b->since + (int64_t)r->values->v[METRIC_D];

		if (b->metric == METRIC_D && ns > longest)
			longest = ns;
	}
	return longest;
}

static bool matches(const struct trigger *t, const struct row *r, const struct tick *tick)
{
	uint64_t d = in_d_for(r, tick);
	struct values values;
	struct row row = *r;

	if (d <= r->values->v[METRIC_D])
		return filter_match(t->filter, r, tick);
	values = *r->values;
	values.v[METRIC_D] = d;
	row.values = &values;
	return filter_match_changed(t->filter, &row, tick);
}

static const struct row *find(const struct trigger *t, const struct tick *tick)
{
	for (size_t i = 0; i < tick->nr_active; i++)
		if (matches(t, &tick->active[i], tick))
			return &tick->active[i];
	return NULL;
}

/* Whether the limit allows another save now. */
static bool allowed(const struct trigger *t, uint64_t now_ns)
{
	uint64_t quiet_ns = t->failed < 20 ? t->quiet_ns << t->failed : HOUR_NS;

	if (t->began_ns && now_ns - t->began_ns < (t->failed && quiet_ns > HOUR_NS ? HOUR_NS : quiet_ns))
		return false;
	return t->saved < t->limit || now_ns - t->saves_ns[t->saved % t->limit] >= HOUR_NS;
}

bool trigger_fires(const struct trigger *t, const struct tick *tick, uint64_t now_ns, char *why, size_t size)
{
	const struct row *r = t->filter && allowed(t, now_ns) ? find(t, tick) : NULL;
	char comm[80], cgroup[256];

	if (!r)
		return false;
	text_safe(comm, sizeof(comm), r->thread->comm, sizeof(r->thread->comm));
	text_safe(cgroup, sizeof(cgroup), r->cgroup ? r->cgroup->path : "-", r->cgroup ? strlen(r->cgroup->path) : 1);
	snprintf(why, size, "%s: %s %d in %s", t->text, comm, r->thread->tid, cgroup);
	return true;
}

void trigger_saves(struct trigger *t, uint64_t now_ns)
{
	t->began_ns = now_ns;
	t->failed++; /* until its file is complete */
}

void trigger_cancelled(struct trigger *t)
{
	t->failed -= t->failed > 0;
}

void trigger_saved(struct trigger *t)
{
	t->saves_ns[t->saved++ % t->limit] = t->began_ns;
	t->failed = 0;
}
