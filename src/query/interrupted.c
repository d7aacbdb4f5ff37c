/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "query/interrupted.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/event.h"
#include "query/source.h"
#include "util/hash.h"
#include "util/vec.h"

static struct interrupted_thread *victim_of(struct interrupted *v, pid_t tid)
{
	uintptr_t place = (uintptr_t)map_get(&v->of, (uint64_t)tid + 1);
	const struct interrupted_thread new = { .who = { .tid = tid } };

	if (place)
		return &v->at[place - 1];
	if (VEC_PUSH(v->at, v->nr, v->room, new) || map_put(&v->of, (uint64_t)tid + 1, (void *)(uintptr_t)v->nr))
		return NULL;
	return &v->at[v->nr - 1];
}

/* The time of an interrupt without that of those nested in it, as in a refresh. Nested ones end, and are recorded, before it. */
static uint64_t own_ns(struct interrupted_past *p, int cpu, const struct event *e)
{
	uint64_t began = e->at - e->off_ns, nested = 0;

	if (p->cpu != cpu)
		*p = (struct interrupted_past){ .cpu = cpu };
	while (p->next > p->first && p->at[(p->next - 1) % INTERRUPTED_PAST].began >= began)
		nested += p->at[--p->next % INTERRUPTED_PAST].ns;
	p->at[p->next % INTERRUPTED_PAST].began = began;
	p->at[p->next++ % INTERRUPTED_PAST].ns = e->off_ns;
	if (p->next - p->first > INTERRUPTED_PAST)
		p->first++;
	return e->off_ns > nested ? e->off_ns - nested : 0;
}

int interrupted_event(void *victims, int cpu, const struct event *e)
{
	struct interrupted *v = victims;
	struct interrupted_thread *one;
	struct irq_burst burst;
	uint64_t ns;

	if (e->kind != RING_IRQ)
		return 0;
	ns = own_ns(&v->past, cpu, e);
	if (e->source != v->source->index)
		return 0;
	one = victim_of(v, e->tid);
	if (!one)
		return -ENOMEM;
	if (e->at > one->who.at)
		one->who.at = e->at;
	one->ns += ns;
	one->count++;
	if (ns > one->longest_ns)
		one->longest_ns = ns;
	v->ns += ns;
	v->count++;
	if (v->bursts.nr == IRQ_BURSTS && ns <= v->bursts.at[IRQ_BURSTS - 1].ns)
		return 0;
	burst = (struct irq_burst){ v->source, ns, cpu, { .tid = e->tid, .at = e->at - e->off_ns } };
	irq_bursts_add(&v->bursts, &burst);
	return 0;
}

static int victim_order(const void *a, const void *b)
{
	const struct interrupted_thread *x = a, *y = b;

	return cmp_int(y->ns, x->ns) ?: x->who.tid - y->who.tid;
}

static int cgroup_order(const void *a, const void *b)
{
	const struct interrupted_cgroup *x = a, *y = b;

	return cmp_int(y->ns, x->ns) ?: strcmp(x->path, y->path);
}

static int find_names(struct interrupted *v, const struct tick *t)
{
	struct interrupted_who **who = calloc(v->nr + IRQ_BURSTS, sizeof(struct interrupted_who *));
	size_t nr = 0;
	int err;

	if (!who)
		return -ENOMEM;
	for (size_t i = 0; i < v->nr; i++)
		who[nr++] = &v->at[i].who;
	for (int i = 0; i < v->bursts.nr; i++)
		who[nr++] = &v->bursts.at[i].who;
	err = interrupted_who_find(t, who, nr);
	free(who);
	return err;
}

/* @places: hash of a path -> place + 1 */
static int add_to_cgroup(struct interrupted *v, struct map *places, const struct interrupted_thread *one)
{
	uint64_t key = hash_text(0, one->who.cgroup);
	uintptr_t place = (uintptr_t)map_get(places, key);
	struct interrupted_cgroup new = { .ns = one->ns };

	if (place) {
		v->cgroups[place - 1].ns += one->ns;
		return 0;
	}
	memcpy(new.path, one->who.cgroup, sizeof(new.path));
	if (VEC_PUSH(v->cgroups, v->nr_cgroups, v->cgroups_room, new))
		return -ENOMEM;
	return map_put(places, key, (void *)(uintptr_t)v->nr_cgroups);
}

int interrupted_done(struct interrupted *v, const struct tick *t)
{
	struct map places = { 0 };
	int err = find_names(v, t);

	map_fini(&v->of); /* sorting changes all places */
	VEC_SORT(v->at, v->nr, victim_order);
	for (size_t i = 0; i < v->nr && !err; i++)
		if (v->at[i].who.tid)
			err = add_to_cgroup(v, &places, &v->at[i]);
	map_fini(&places);
	VEC_SORT(v->cgroups, v->nr_cgroups, cgroup_order);
	return err;
}

static int read_from(struct interrupted *v, const struct irq_source *irq, const struct source *source, uint64_t from,
		     uint64_t to)
{
	int err;

	interrupted_fini(v);
	v->source = irq;
	v->from = from;
	v->to = to;
	if (from >= to)
		return 0;
	err = source->recorded_events(source->arg, from, to, &v->from, interrupted_event, v);
	return err == -ENOMEM ? err : 0;
}

int interrupted_read(struct interrupted *v, const struct irq_source *irq, const struct source *source,
		     const struct tick *shown, const struct tick *newest)
{
	uint64_t held = source->recorded(source->arg), now = newest->boottime_ns, from = irq_history_since(shown);
	int err;

	if (held == VALUE_NA)
		held = 0;
	if (held < now && now - held > from)
		from = now - held;
	err = read_from(v, irq, source, from, shown->boottime_ns);
	if (!err && v->from > from) /* a CPU's ring reaches back less far: read the same time for all */
		err = read_from(v, irq, source, v->from, shown->boottime_ns);
	return err ? err : interrupted_done(v, shown);
}

void interrupted_fini(struct interrupted *v)
{
	free(v->at);
	free(v->cgroups);
	map_fini(&v->of);
	*v = (struct interrupted){ 0 };
}
