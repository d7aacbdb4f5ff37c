/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <fnmatch.h>
#include <string.h>

#include "model/owner.h"
#include "query/filter_terms.h"

static bool compare(enum op op, double v, double with)
{
	switch (op) {
	case OP_GT:
		return v > with;
	case OP_GE:
		return v >= with;
	case OP_LT:
		return v < with;
	case OP_LE:
		return v <= with;
	case OP_NE:
		return v != with;
	default:
		return v == with;
	}
}

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? c + 32 : c;
}

/* The setup of strcasestr() costs more than it saves for texts this short. */
static bool contains(const char *text, const char *with)
{
	for (; *text; text++) {
		size_t i = 0;

		while (with[i] && lower(text[i]) == lower(with[i]))
			i++;
		if (!with[i])
			return true;
	}
	return !*with;
}

static bool text_match(enum op op, const char *text, const struct alternative *a)
{
	if (op != OP_HAS)
		return !strcmp(text, a->text) == (op == OP_EQ);
	return a->pattern ? !fnmatch(a->text, text, FNM_CASEFOLD) : contains(text, a->text);
}

/* A process without a command line has its name. */
static bool cmdline_match(enum op op, const struct row *r, const struct alternative *a)
{
	const struct cmdline *c = r->process ? cmdline_shown(r->process) : NULL;
	char words[CMDLINE_MAX + 1];

	if (!c)
		return r->process && text_match(op, row_comm(r), a);
	if (op == OP_HAS && !a->pattern)
		return cmdline_has(c, a->text);
	cmdline_words(c, words, sizeof(words));
	return text_match(op, words, a);
}

static bool metric_match(const struct term *t, const struct alternative *a, const struct row *r,
			uint64_t interval_ns)
{
	uint64_t value = row_value(r, t->metric);
	double v = value;

	if (!interval_ns)
		return false;
	if (metric_shown(t->metric) == UNIT_SHARE && a->scale != SCALE_TIME)
		v = 100 * v / interval_ns;
	else if (metric_shown(t->metric) == UNIT_RATE || metric_shown(t->metric) == UNIT_BYTE_RATE)
		v = 1e9 * v / interval_ns;
	return compare(t->op, v, a->number);
}

static bool flag_match(enum flag flag, const struct row *r)
{
	switch (flag) {
	case FLAG_KTHREAD:
		return row_is_kthread(r);
	case FLAG_EXITED:
		return r->exited;
	default:
		return r->values->v[METRIC_THROTTLED] ||
		       (r->kind == ROW_CGROUP && r->limit->nr_throttled != VALUE_NA && r->limit->nr_throttled);
	}
}

static bool word_match(const struct alternative *a, const struct row *r)
{
	if (r->kind == ROW_CGROUP)
		return text_match(OP_HAS, r->cgroup->path, a);
	return text_match(OP_HAS, row_comm(r), a) || (cmdline_shown(r->process) && cmdline_match(OP_HAS, r, a)) ||
	       a->number == r->process->tgid || (r->thread && a->number == r->thread->tid);
}

/* The unit's name matches with or without ".service". */
static bool unit_match(enum op op, const struct cgroup *c, const struct alternative *a)
{
	const struct owner *o = owners_of(c).unit;

	return o && (text_match(op, o->unit, a) || text_match(op, o->short_unit, a));
}

/* A container matches by its name, or by the beginning of its id. */
static bool container_match(enum op op, const struct cgroup *c, const struct alternative *a)
{
	const struct owner *o = owners_of(c).container;

	return o && (text_match(op, o->container, a) || (o->container_id && owner_has_id(o->container_id, a->text)));
}

/* The pod's name matches with or without its namespace; or the beginning of its id matches. */
static bool pod_match(enum op op, const struct cgroup *c, const struct alternative *a)
{
	const struct owner *o = owners_of(c).pod;
	const char *name = o ? strchr(o->pod, '/') : NULL;

	return o && (text_match(op, o->pod, a) || (name && text_match(op, name + 1, a)) ||
		     (o->pod_id && owner_has_id(o->pod_id, a->text)));
}

/* Whether @a matches; for != the caller asks for equality. */
static bool alternative_match(const struct term *t, enum op op, const struct alternative *a,
			      const struct row *r, uint64_t interval_ns)
{
	bool cgroup = r->kind == ROW_CGROUP;

	switch (t->key) {
	case KEY_WORD:
		return word_match(a, r);
	case KEY_COMM:
		return !cgroup && text_match(op, row_comm(r), a);
	case KEY_CMD:
		return !cgroup && cmdline_match(op, r, a);
	case KEY_CGROUP:
		return r->cgroup && (text_match(op, r->cgroup->path, a) || text_match(op, row_limiter(r)->path, a));
	case KEY_UNIT:
		return unit_match(op, r->cgroup, a);
	case KEY_CONTAINER:
		return container_match(op, r->cgroup, a);
	case KEY_POD:
		return pod_match(op, r->cgroup, a);
	case KEY_USER:
		return !cgroup && row_uid(r) == a->number;
	case KEY_STATE:
		return r->state == a->number;
	case KEY_IS:
		return flag_match(a->number, r);
	case KEY_TID:
		return r->thread && compare(op, r->thread->tid, a->number);
	case KEY_PID:
		return !cgroup && compare(op, r->process->tgid, a->number);
	case KEY_PPID:
		return !cgroup && compare(op, r->thread ? r->thread->ppid : r->process->ppid,
					  a->number);
	case KEY_THREADS:
		return compare(op, r->nr_threads, a->number);
	default:
		return metric_match(t, a, r, interval_ns);
	}
}

static bool term_ask(const struct term *t, const struct row *r, uint64_t interval_ns)
{
	/* "not one of the list", not "differs from one of the list" */
	enum op op = t->op == OP_NE ? OP_EQ : t->op;

	if (t->key == KEY_METRIC && row_value(r, t->metric) == VALUE_NA)
		return false;
	for (size_t i = 0; i < t->nr_any; i++)
		if (alternative_match(t, op, &t->any[i], r, interval_ns))
			return t->op != OP_NE;
	return t->op == OP_NE;
}

/* What the result depends on, if rows share it; NULL: the name. A word depends on the name, too. */
static const void *shared_by(const struct term *t, const struct row *r)
{
	if (t->key == KEY_METRIC) /* threads and processes that slept share their values, but not their levels */
		return metrics[t->metric].kind == KIND_LEVEL && r->kind != ROW_CGROUP ? (const void *)r->levels : r->values;
	if (key_of_cgroup(t->key) || r->kind == ROW_CGROUP)
		return r->cgroup;
	if (t->key == KEY_COMM || !cmdline_shown(r->process))
		return NULL;
	return (void *)(uintptr_t)cmdline_shown(r->process)->id;
}

static bool term_match(const struct term *t, const struct row *r, const struct tick *tick)
{
	struct memo *m = t->memo;
	const void *of;
	const char *comm;

	if (!m || (t->key == KEY_CGROUP && row_limiter(r) != r->cgroup)) /* it depends on two cgroups */
		return term_ask(t, r, tick->interval_ns);
	of = shared_by(t, r);
	comm = of && (t->key != KEY_WORD || r->kind == ROW_CGROUP) ? m->comm : row_comm(r);
	if (m->of == of && m->seq == tick->seq && !memcmp(m->comm, comm, sizeof(m->comm)))
		return m->result;
	m->of = of;
	m->seq = tick->seq;
	memmove(m->comm, comm, sizeof(m->comm));
	m->result = term_ask(t, r, tick->interval_ns);
	return m->result;
}

bool filter_suits_threads(const struct filter *f)
{
	for (size_t i = 0; i < f->nr; i++)
		if (f->terms[i].key == KEY_THREADS ||
		    (f->terms[i].key == KEY_METRIC && metrics[f->terms[i].metric].level == LEVEL_OF_CGROUPS))
			return false;
	return true;
}

bool filter_match(const struct filter *f, const struct row *r, const struct tick *tick)
{
	for (size_t i = 0; f && i < f->nr; i++)
		if (term_match(&f->terms[i], r, tick) == f->terms[i].negated)
			return false;
	return true;
}

bool filter_match_changed(const struct filter *f, const struct row *r, const struct tick *tick)
{
	for (size_t i = 0; i < f->nr; i++)
		if (term_ask(&f->terms[i], r, tick->interval_ns) == f->terms[i].negated)
			return false;
	return true;
}
