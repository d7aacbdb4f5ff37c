/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "query/latency.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/wait.h"
#include "query/subject.h"
#include "util/hash.h"
#include "util/text.h"
#include "util/vec.h"

bool latency_is_irq(enum hist_id kind)
{
	return hists[kind].owner == HIST_OF_SOURCES;
}

bool latency_holds(const struct latency_range *r, uint64_t ns)
{
	return (ns >> r->low || r->low == hists[r->kind].first) &&
	       (!(ns >> (r->high + 1)) || r->high == hists[r->kind].last);
}

uint64_t latency_thread_key(const struct life *l)
{
	const struct subject s = { SUBJECT_THREAD, l->tid, l->start_ns };

	return subject_key(&s);
}

uint64_t latency_source_key(uint16_t index)
{
	return index + 1;
}

/* --- Owners of the durations */

static void forget(struct latency_contributors *p)
{
	for (size_t i = 0; i < p->nr; i++) {
		free((char *)p->at[i]->cgroup.path);
		free(p->at[i]->behind);
		free(p->at[i]);
	}
	p->nr = 0;
	p->all = p->count = p->ns = 0;
	map_fini(&p->of);
}

void latency_contributors_fini(struct latency_contributors *p)
{
	forget(p);
	free(p->at);
	*p = (struct latency_contributors){ 0 };
}

static struct latency_contributor *contributor_new(struct latency_contributors *p, uint64_t key)
{
	struct latency_contributor *who = calloc(1, sizeof(*who));

	if (!who || VEC_PUSH(p->at, p->nr, p->room, who)) {
		free(who);
		return NULL;
	}
	who->row = (struct row){ .kind = ROW_THREAD, .state = STATE_SLEEP, .thread = &who->life,
				 .process = &who->process, .cgroup = &who->cgroup };
	return map_put(&p->of, key, who) ? NULL : who; /* freed with the others */
}

/* The thread is copied: a range outlives the history of its refreshes. */
static struct latency_contributor *thread_contributor(struct latency_contributors *p, const struct life *l)
{
	struct latency_contributor *who = map_get(&p->of, latency_thread_key(l));

	if (who)
		return who;
	who = contributor_new(p, latency_thread_key(l));
	if (!who)
		return NULL;
	who->life = *l;
	who->life.block = NULL;
	who->life.process = &who->process;
	who->life.cgroup = &who->cgroup;
	who->process = *l->process;
	who->process.cgroup = &who->cgroup;
	who->life.limiter = who->process.limiter = &who->cgroup;
	who->cgroup.id = l->cgroup->id;
	who->cgroup.path = strdup(l->cgroup->path);
	who->row.number = l->tid;
	return who->cgroup.path ? who : NULL;
}

static struct latency_contributor *source_contributor(struct latency_contributors *p, const struct irq_source *s)
{
	struct latency_contributor *who = map_get(&p->of, latency_source_key(s->index));

	if (who)
		return who;
	who = contributor_new(p, latency_source_key(s->index));
	if (!who)
		return NULL;
	who->row.number = who->life.tid = s->index;
	snprintf(who->life.comm, sizeof(who->life.comm), "%.*s", (int)sizeof(who->life.comm) - 1, s->name);
	who->cgroup.path = strdup(s->device);
	return who->cgroup.path ? who : NULL;
}

static void add(struct latency_contributor *who, int slot, uint64_t count, uint64_t ns)
{
	who->count += count;
	who->ns += ns;
	who->n.n[slot] += count;
}

/* Sum of @count waits of a slot, each taken as the middle of the slot. If @max is in the slot, one wait has it, and
 * the others the middle below it. */
static uint64_t about_ns(enum hist_id kind, int slot, uint64_t count, uint64_t max)
{
	const struct latency_range one = { kind, 0, 0, slot, slot };
	uint64_t low = slot == hists[kind].first ? 0 : 1ULL << slot;

	if (!latency_holds(&one, max))
		return count * (low + (2ULL << slot)) / 2;
	return max + (count - 1) * (low + max) / 2;
}

uint64_t latency_contributor_quantile(const struct latency_contributor *who, enum hist_id kind, double q)
{
	return hist_quantile(&who->n, kind, q, who->most_ns < who->ns ? who->most_ns : who->ns);
}

static void at_most(struct latency_contributor *who, uint64_t ns)
{
	who->most_ns = ns > who->most_ns ? ns : who->most_ns;
}

/* Whether a histogram has counts in the range. */
static bool has_some(const struct hist *h, const struct latency_range *r)
{
	for (int slot = r->low; slot <= r->high; slot++)
		if (h->n[slot])
			return true;
	return false;
}

/* @max: the longest of the whole histogram. */
static void add_some(struct latency_contributor *who, const struct hist *h, const struct latency_range *r, uint64_t max)
{
	int top = 0;

	for (int slot = r->low; slot <= r->high; slot++) {
		if (!h->n[slot])
			continue;
		top = slot;
		add(who, slot, h->n[slot], about_ns(r->kind, slot, h->n[slot], max));
	}
	at_most(who, max >> top || top == hists[r->kind].first ? max : 2ULL << top);
}

static int add_threads(void *arg, const struct life *l, const struct values *v)
{
	struct latency_contributors *p = arg;
	const struct hist *h = &v->hist[p->range.kind];
	struct latency_contributor *who;

	if (!has_some(h, &p->range))
		return 0;
	who = thread_contributor(p, l);
	if (!who)
		return -ENOMEM;
	add_some(who, h, &p->range, v->v[hists[p->range.kind].longest]);
	return 0;
}

/* Lower bound for the sum of all but the longest. */
static uint64_t least_of_others(const struct away *a)
{
	uint64_t least = a->count ? (a->count - 1) * (1ULL << a->slot) : 0;

	return least < a->ns ? least : 0;
}

static int add_aways(struct latency_contributors *p, const struct tick *t)
{
	for (size_t i = 0; i < t->nr_aways; i++) {
		const struct away *a = &t->aways[i];
		int slot = a->slot < hists[a->kind].last ? a->slot : hists[a->kind].last;
		struct latency_contributor *who;

		if (a->kind != p->range.kind || slot < p->range.low || slot > p->range.high)
			continue;
		who = thread_contributor(p, a->life);
		if (!who)
			return -ENOMEM;
		add(who, slot, a->count, a->ns);
		at_most(who, a->ns - least_of_others(a));
	}
	return 0;
}

static int add_sources(struct latency_contributors *p, const struct tick *t)
{
	for (size_t i = 0; i < t->nr_irqs; i++) {
		const struct irq_values *v = &t->irqs[i];
		struct latency_contributor *who;

		if (irq_hist(v->source->kind) != p->range.kind || !has_some(&v->hist, &p->range))
			continue;
		who = source_contributor(p, v->source);
		if (!who)
			return -ENOMEM;
		add_some(who, &v->hist, &p->range, v->max_ns);
		if (!latency_holds(&p->range, v->max_ns))
			who->hidden = true;
		if (v->max_ns > who->max_ns) {
			who->max_ns = v->max_ns;
			who->max_cpu = v->max_cpu;
			who->max_tid = v->max_tid;
		}
	}
	return 0;
}

/* --- What ran instead */

static void behind_name(const struct wait *w, char *buf, size_t size)
{
	if (w->kind == WAIT_BEHIND)
		text_safe(buf, size, w->by->comm, sizeof(w->by->comm));
	else
		snprintf(buf, size, "[%s]", wait_kind_names[w->kind]);
}

/* @places: contributor and name -> index in its list, plus 1 */
static int add_behind(struct latency_contributor *who, const struct wait *w, struct map *places)
{
	struct latency_behind new = { .ns = 0 };
	uint64_t key;
	size_t at;

	behind_name(w, new.name, sizeof(new.name));
	key = hash_add(hash_text(0, new.name), (uintptr_t)who);
	at = (uintptr_t)map_get(places, key);
	if (!at) {
		if (VEC_PUSH(who->behind, who->nr_behind, who->behind_room, new) ||
		    map_put(places, key, (void *)who->nr_behind))
			return -ENOMEM;
		at = who->nr_behind;
	}
	who->behind[at - 1].ns += w->ns;
	who->behind_ns += w->ns;
	return 0;
}

static int add_behinds(struct latency_contributors *p, const struct tick *t, struct map *places)
{
	int err = 0;

	for (size_t i = 0; i < t->nr_waits && !err; i++) {
		struct latency_contributor *who = map_get(&p->of, latency_thread_key(t->waits[i].life));

		if (who)
			err = add_behind(who, &t->waits[i], places);
	}
	return err;
}

static int more_behind(const void *a, const void *b)
{
	const struct latency_behind *x = a, *y = b;

	return cmp_int(y->ns, x->ns) ?: strcmp(x->name, y->name);
}

static int longer(const void *a, const void *b)
{
	const struct latency_contributor *x = *(struct latency_contributor *const *)a,
					 *y = *(struct latency_contributor *const *)b;

	return cmp_int(y->ns, x->ns) ?: x->row.number - y->row.number;
}

/* --- The search */

static int find_in(struct latency_contributors *p, const struct tick *any, uint64_t seq)
{
	const struct tick *t = tick_head(any, seq);

	if (!t)
		return 0;
	for (int slot = p->range.low; slot <= p->range.high; slot++)
		p->all += t->hist[p->range.kind].n[slot];
	switch (hists[p->range.kind].owner) {
	case HIST_OF_THREADS:
		return tick_threads(any, seq, add_threads, p);
	case HIST_OF_BLOCKS:
		return add_aways(p, t);
	default:
		return add_sources(p, t);
	}
}

/* Whether @r is the present range, with more refreshes. */
static bool goes_on(const struct latency_contributors *p, const struct latency_range *r)
{
	const struct latency_range *had = &p->range;

	return had->last && had->kind == r->kind && had->low == r->low && had->high == r->high &&
	       had->first >= r->first && had->last <= r->last;
}

/* Recomputed for all refreshes: a contributor that a new refresh added has waits, out of the range, in earlier ones. */
static int find_behinds(struct latency_contributors *p, const struct tick *any)
{
	struct map places = { 0 };
	int err = 0;

	for (size_t i = 0; i < p->nr; i++)
		p->at[i]->nr_behind = p->at[i]->behind_ns = 0;
	for (uint64_t seq = p->range.first; seq <= p->range.last && !err; seq++) {
		const struct tick *t = tick_head(any, seq);

		if (t)
			err = add_behinds(p, t, &places);
	}
	map_fini(&places);
	for (size_t i = 0; i < p->nr; i++)
		VEC_SORT(p->at[i]->behind, p->at[i]->nr_behind, more_behind);
	return err;
}

int latency_contributors_find(struct latency_contributors *p, const struct tick *any, const struct latency_range *r)
{
	struct latency_range had = p->range;
	int err = 0;

	if (!goes_on(p, r)) {
		forget(p);
		had.first = UINT64_MAX;
	}
	p->range = *r;
	for (uint64_t seq = r->first; !err && seq <= r->last; seq++)
		if (seq < had.first || seq > had.last)
			err = find_in(p, any, seq);
	if (!err && r->kind == HIST_RUNQ)
		err = find_behinds(p, any);
	p->count = p->ns = 0;
	for (size_t i = 0; i < p->nr; i++) {
		p->count += p->at[i]->count;
		p->ns += p->at[i]->ns;
	}
	VEC_SORT(p->at, p->nr, longer);
	if (err)
		p->range.last = 0; /* incomplete: start over the next time */
	return err;
}
