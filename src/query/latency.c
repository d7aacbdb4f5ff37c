/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "query/latency.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "irq.h"
#include "model/wait.h"
#include "query/subject.h"
#include "util/text.h"
#include "util/vec.h"

bool latency_is_irq(enum latency_kind kind)
{
	return kind == LATENCY_IRQ || kind == LATENCY_SOFTIRQ;
}

bool latency_holds(const struct latency_range *r, uint64_t ns)
{
	return (ns >> r->low || r->low == latency_first(r->kind)) &&
	       (!(ns >> (r->high + 1)) || r->high == latency_last(r->kind));
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

const struct tick *latency_head(const struct tick *shown, uint64_t seq)
{
	return seq == shown->seq ? shown : tick_head(shown, seq);
}

/* --- Whose they are */

static void forget(struct latency_parties *p)
{
	for (size_t i = 0; i < p->nr; i++) {
		free((char *)p->at[i]->cgroup.path);
		free(p->at[i]);
	}
	p->nr = 0;
	p->count = p->ns = 0;
	map_fini(&p->of);
	p->of = (struct map){ 0 };
}

void latency_parties_fini(struct latency_parties *p)
{
	forget(p);
	free(p->at);
	*p = (struct latency_parties){ 0 };
}

static struct latency_party *party_new(struct latency_parties *p, uint64_t key)
{
	struct latency_party *party = calloc(1, sizeof(*party));

	if (!party || VEC_PUSH(p->at, p->nr, p->room, party)) {
		free(party);
		return NULL;
	}
	party->row = (struct row){ .kind = ROW_THREAD, .state = STATE_SLEEP, .thread = &party->life,
				   .process = &party->process, .cgroup = &party->cgroup };
	return map_put(&p->of, key, party) ? NULL : party; /* it is freed with the others */
}

/* The thread is copied: a range outlives the memory of its refreshes. */
static struct latency_party *thread_party(struct latency_parties *p, const struct life *l)
{
	struct latency_party *party = map_get(&p->of, latency_thread_key(l));

	if (party)
		return party;
	party = party_new(p, latency_thread_key(l));
	if (!party)
		return NULL;
	party->life = *l;
	party->life.block = NULL;
	party->life.process = &party->process;
	party->life.cgroup = &party->cgroup;
	party->process = *l->process;
	party->process.cgroup = &party->cgroup;
	party->life.limiter = party->process.limiter = &party->cgroup;
	party->cgroup.id = l->cgroup->id;
	party->cgroup.path = strdup(l->cgroup->path);
	party->row.number = l->tid;
	return party->cgroup.path ? party : NULL;
}

static struct latency_party *source_party(struct latency_parties *p, const struct irq_source *s)
{
	struct latency_party *party = map_get(&p->of, latency_source_key(s->index));

	if (party)
		return party;
	party = party_new(p, latency_source_key(s->index));
	if (!party)
		return NULL;
	party->row.number = party->life.tid = s->index;
	snprintf(party->life.comm, sizeof(party->life.comm), "%.*s", (int)sizeof(party->life.comm) - 1, s->name);
	party->cgroup.path = strdup(s->device);
	return party->cgroup.path ? party : NULL;
}

static void add(struct latency_party *party, int slot, uint64_t count, uint64_t ns)
{
	party->count += count;
	party->ns += ns;
	party->n.n[slot] += count;
}

/* @count waits of a slot, each taken for its middle; if @max lies in it, one takes that and the others the middle below it. */
static uint64_t about_ns(enum latency_kind kind, int slot, uint64_t count, uint64_t max)
{
	const struct latency_range one = { kind, 0, 0, slot, slot };
	uint64_t low = slot == latency_first(kind) ? 0 : 1ULL << slot;

	if (!latency_holds(&one, max))
		return 3 * count * (1ULL << slot) / 2;
	return max + (count - 1) * (low + max) / 2;
}

uint64_t latency_party_quantile(const struct latency_party *party, enum latency_kind kind, double q)
{
	return latency_quantile(&party->n, kind, q, party->most_ns < party->ns ? party->most_ns : party->ns);
}

static void at_most(struct latency_party *party, uint64_t ns)
{
	party->most_ns = ns > party->most_ns ? ns : party->most_ns;
}

/* Those of a histogram whose first slot is @shift. Returns whether there are any. */
static bool has_some(const uint32_t *n, int nr, int shift, const struct latency_range *r)
{
	for (int i = 0; i < nr; i++)
		if (n[i] && i + shift >= r->low && i + shift <= r->high)
			return true;
	return false;
}

/* @max: the longest of the whole histogram. */
static void add_some(struct latency_party *party, const uint32_t *n, int nr, int shift, const struct latency_range *r,
		     uint64_t max)
{
	int top = 0;

	for (int i = 0; i < nr; i++) {
		if (!n[i] || i + shift < r->low || i + shift > r->high)
			continue;
		top = i + shift;
		add(party, top, n[i], about_ns(r->kind, top, n[i], max));
	}
	at_most(party, max >> top || top == latency_first(r->kind) ? max : 2ULL << top);
}

static int add_waits(void *arg, const struct life *l, const struct values *v)
{
	struct latency_parties *p = arg;
	struct latency_party *party;

	if (!has_some(v->runq.n, HIST_SLOTS, HIST_SHIFT, &p->range))
		return 0;
	party = thread_party(p, l);
	if (!party)
		return -ENOMEM;
	add_some(party, v->runq.n, HIST_SLOTS, HIST_SHIFT, &p->range, v->v[FIELD_RUNQ_MAX]);
	return 0;
}

/* What all but the longest of them took at least. */
static uint64_t least_of_others(const struct away *a)
{
	uint64_t least = a->count ? (a->count - 1) * (1ULL << a->slot) : 0;

	return least < a->ns ? least : 0;
}

static int add_aways(struct latency_parties *p, const struct tick *t)
{
	for (size_t i = 0; i < t->nr_aways; i++) {
		const struct away *a = &t->aways[i];
		int slot = a->slot < latency_last(a->kind) ? a->slot : latency_last(a->kind);
		struct latency_party *party;

		if (a->kind != p->range.kind || slot < p->range.low || slot > p->range.high)
			continue;
		party = thread_party(p, a->life);
		if (!party)
			return -ENOMEM;
		add(party, slot, a->count, a->ns);
		at_most(party, a->ns - least_of_others(a));
	}
	return 0;
}

static int add_sources(struct latency_parties *p, const struct tick *t)
{
	for (size_t i = 0; i < t->nr_irqs; i++) {
		const struct irq_values *v = &t->irqs[i];
		struct latency_party *party;

		if ((v->source->kind == IRQ_SOFT) != (p->range.kind == LATENCY_SOFTIRQ) ||
		    !has_some(v->hist, IRQ_HIST_SLOTS, IRQ_HIST_SHIFT, &p->range))
			continue;
		party = source_party(p, v->source);
		if (!party)
			return -ENOMEM;
		add_some(party, v->hist, IRQ_HIST_SLOTS, IRQ_HIST_SHIFT, &p->range, v->max_ns);
		if (!latency_holds(&p->range, v->max_ns))
			party->hidden = true;
		if (v->max_ns > party->max_ns) {
			party->max_ns = v->max_ns;
			party->max_cpu = v->max_cpu;
			party->max_tid = v->max_tid;
		}
	}
	return 0;
}

/* --- Who ran instead */

static void behind_name(const struct wait *w, char *buf, size_t size)
{
	if (w->kind == WAIT_BEHIND)
		text_safe(buf, size, w->by->comm, sizeof(w->by->comm));
	else
		snprintf(buf, size, "[%s]", wait_kind_names[w->kind]);
}

static void add_behind(struct latency_party *party, const struct wait *w)
{
	struct latency_behind *at = NULL;
	char name[sizeof(at->name)];

	behind_name(w, name, sizeof(name));
	party->behind_ns += w->ns;
	for (int i = 0; i < party->nr_behind && !at; i++)
		if (!strcmp(party->behind[i].name, name))
			at = &party->behind[i];
	if (!at && party->nr_behind < LATENCY_BEHINDS) {
		at = &party->behind[party->nr_behind++];
		memcpy(at->name, name, sizeof(name));
		at->ns = 0;
	}
	if (at)
		at->ns += w->ns;
}

static void add_behinds(struct latency_parties *p, const struct tick *t)
{
	for (size_t i = 0; i < t->nr_waits; i++) {
		struct latency_party *party = map_get(&p->of, latency_thread_key(t->waits[i].life));

		if (party)
			add_behind(party, &t->waits[i]);
	}
}

static int more_behind(const void *a, const void *b)
{
	const struct latency_behind *x = a, *y = b;

	return x->ns == y->ns ? strcmp(x->name, y->name) : x->ns > y->ns ? -1 : 1;
}

static int longer(const void *a, const void *b)
{
	const struct latency_party *x = *(struct latency_party *const *)a, *y = *(struct latency_party *const *)b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return x->row.number - y->row.number;
}

/* --- All of it */

static int find_in(struct latency_parties *p, const struct tick *any, uint64_t seq)
{
	const struct tick *t = latency_head(any, seq);

	if (!t)
		return 0;
	switch (p->range.kind) {
	case LATENCY_RUNQ:
		return tick_threads(any, seq, add_waits, p);
	case LATENCY_SLEEP:
	case LATENCY_D:
		return add_aways(p, t);
	default:
		return add_sources(p, t);
	}
}

/* Whether @r is what there is, and more refreshes. */
static bool goes_on(const struct latency_parties *p, const struct latency_range *r)
{
	const struct latency_range *had = &p->range;

	return had->last && had->kind == r->kind && had->low == r->low && had->high == r->high &&
	       had->first >= r->first && had->last <= r->last;
}

/* Anew, also of refreshes in which one that came with others waited for less. */
static void find_behinds(struct latency_parties *p, const struct tick *any)
{
	for (size_t i = 0; i < p->nr; i++)
		p->at[i]->nr_behind = p->at[i]->behind_ns = 0;
	for (uint64_t seq = p->range.first; seq <= p->range.last; seq++) {
		const struct tick *t = latency_head(any, seq);

		if (t)
			add_behinds(p, t);
	}
	for (size_t i = 0; i < p->nr; i++)
		qsort(p->at[i]->behind, p->at[i]->nr_behind, sizeof(p->at[i]->behind[0]), more_behind);
}

int latency_parties_find(struct latency_parties *p, const struct tick *any, const struct latency_range *r)
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
	if (r->kind == LATENCY_RUNQ)
		find_behinds(p, any);
	p->count = p->ns = 0;
	for (size_t i = 0; i < p->nr; i++) {
		p->count += p->at[i]->count;
		p->ns += p->at[i]->ns;
	}
	if (p->nr)
		qsort(p->at, p->nr, sizeof(*p->at), longer);
	if (err)
		p->range.last = 0; /* it is not all there: the next time from the start */
	return err;
}
