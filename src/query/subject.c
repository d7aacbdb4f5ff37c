/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "query/subject.h"

#include <stdio.h>
#include <string.h>

#include "model/owner.h"
#include "util/text.h"

struct subject subject_of(const struct row *r)
{
	if (!r)
		return (struct subject){ SUBJECT_ALL, 0, 0 };
	switch (r->kind) {
	case ROW_THREAD:
		return (struct subject){ SUBJECT_THREAD, r->thread->tid, r->thread->start_ns, cgroup_key(r->cgroup) };
	case ROW_PROCESS:
		return (struct subject){ SUBJECT_PROCESS, r->process->tgid, r->process->start_ns };
	default:
		return (struct subject){ SUBJECT_CGROUP, cgroup_key(r->cgroup), 0 };
	}
}

/* Whether the row is that of the subject. */
static bool is_its_row(const struct subject *s, const struct row *r)
{
	switch (s->kind) {
	case SUBJECT_THREAD:
		return r->kind == ROW_THREAD && (uint64_t)r->number == s->id &&
		       r->thread->start_ns == s->start_ns;
	case SUBJECT_PROCESS:
		return r->kind == ROW_PROCESS && (uint64_t)r->number == s->id &&
		       r->process->start_ns == s->start_ns;
	case SUBJECT_CGROUP:
		return r->kind == ROW_CGROUP && cgroup_key(r->cgroup) == s->id;
	default:
		return false;
	}
}

/* The subject's cgroup, if @c is it or is below it; else NULL. */
static const struct cgroup *is_in(const struct cgroup *c, const struct subject *s)
{
	while (c && cgroup_key(c) != s->id)
		c = c->parent;
	return c;
}

bool subject_holds(const struct subject *s, const struct row *r)
{
	switch (s->kind) {
	case SUBJECT_ALL:
		return true;
	case SUBJECT_CGROUP:
		return is_in(r->cgroup, s) || (row_limiter(r) != r->cgroup && is_in(row_limiter(r), s));
	case SUBJECT_PROCESS:
		return r->process && (uint64_t)r->process->tgid == s->id && r->process->start_ns == s->start_ns;
	default:
		return is_its_row(s, r);
	}
}

static struct row thread_row(const struct life *l)
{
	return (struct row){ .kind = ROW_THREAD, .number = l->tid, .thread = l, .process = l->process,
			     .cgroup = l->cgroup };
}

bool subject_holds_life(const struct subject *s, const struct life *l)
{
	const struct row row = thread_row(l);

	return subject_holds(s, &row);
}

struct row subject_life_row(const struct subject *s, const struct life *l)
{
	const struct cgroup *c;

	switch (s->kind) {
	case SUBJECT_CGROUP:
		c = is_in(l->cgroup, s);
		return (struct row){ .kind = ROW_CGROUP, .cgroup = c ? c : is_in(l->limiter, s) };
	case SUBJECT_PROCESS:
		return (struct row){ .kind = ROW_PROCESS, .number = l->process->tgid, .process = l->process };
	default:
		return thread_row(l);
	}
}

/* Whether its row is the one in the subject's cgroup. */
static bool is_that_part(const struct subject *s, const struct row *r)
{
	return !s->cgroup || cgroup_key(r->cgroup) == s->cgroup;
}

/* @other: its row in another cgroup, NULL: none was found so far. */
static const struct row *find(const struct subject *s, const struct row *rows, size_t nr, const struct row *other)
{
	for (size_t i = 0; i < nr; i++) {
		if (!is_its_row(s, &rows[i]))
			continue;
		if (is_that_part(s, &rows[i]))
			return &rows[i];
		other = &rows[i];
	}
	return other;
}

const struct row *subject_row(const struct subject *s, const struct tick *t)
{
	const struct row *r;

	switch (s->kind) {
	case SUBJECT_CGROUP:
		return find(s, t->cgroups, t->nr_cgroups, NULL);
	case SUBJECT_PROCESS:
		return find(s, t->processes, t->nr_processes, NULL);
	case SUBJECT_THREAD:
		r = find(s, t->active, t->nr_active, NULL);
		return r && is_that_part(s, r) ? r : find(s, t->idle, t->nr_idle, r);
	default:
		return NULL;
	}
}

void subject_name(const struct subject *s, const struct row *r, char *buf, size_t size)
{
	char name[256] = "?";

	if (s->kind == SUBJECT_ALL) {
		snprintf(buf, size, "all");
		return;
	}
	if (r && s->kind == SUBJECT_CGROUP) {
		const char *said = owner_name(r->cgroup) ? owner_name(r->cgroup) : r->cgroup->path;

		text_safe(buf, size, said, strlen(said));
		return;
	}
	if (r)
		text_safe(name, sizeof(name), row_comm(r), 16);
	snprintf(buf, size, "%s %llu", name, (unsigned long long)s->id);
}

uint64_t subject_key(const struct subject *s)
{
	/* The highest bit of a cgroup's id is the hierarchy. */
	return (((s->start_ns << 20 ^ s->id) * 4 + s->kind) ^ s->id >> 63 << 62) | 1ULL << 63;
}

uint64_t row_key(const void *row)
{
	const struct subject s = subject_of(row);

	return subject_key(&s);
}
