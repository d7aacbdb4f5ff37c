/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "query/pairs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/hash.h"
#include "util/text.h"
#include "util/vec.h"

/* Equal for waits that are added up. Processes and cgroups live as long as the ticks that show them. The blocking
 * process counts by its name: a hundred short-lived compilers are one. */
static uint64_t key_of(const struct pair *p)
{
	uint64_t key = hash_add(1 + p->kind, (uintptr_t)p->limit);

	if (p->victim)
		key = hash_add(hash_add(key, (uintptr_t)p->victim->process), (uintptr_t)p->victim->cgroup);
	if (p->by) {
		const char *comm = p->by->process->comm;

		key = hash_add(key, (uintptr_t)p->by->cgroup);
		for (size_t i = 0; i < sizeof(p->by->process->comm) && comm[i]; i++)
			key = hash_add(key, (unsigned char)comm[i]);
	}
	return key;
}

static int add_wait(struct pairs *p, const struct wait *w, bool apart)
{
	struct pair like = { .victim = apart ? w->life : NULL, .kind = w->kind, .by = w->by, .limit = w->limit };
	uint64_t key = like.key = key_of(&like);
	size_t at = (uintptr_t)map_get(&p->index, key);

	if (!at) {
		if (VEC_PUSH(p->at, p->nr, p->room, like) || map_put(&p->index, key, (void *)p->nr))
			return -ENOMEM;
		at = p->nr;
	}
	p->at[at - 1].ns += w->ns;
	p->at[at - 1].count += w->count;
	p->ns += w->ns;
	return 0;
}

static int add_tick(struct pairs *p, const struct tick *t, bool apart, const struct subject *of)
{
	int err = 0;

	p->span_ns += t->interval_ns;
	for (size_t i = 0; i < t->nr_waits && !err; i++)
		if (!of || subject_holds_life(of, t->waits[i].life))
			err = add_wait(p, &t->waits[i], apart);
	return err;
}

static int larger(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;

	return x->ns == y->ns ? 0 : x->ns > y->ns ? -1 : 1;
}

int pairs_find(struct pairs *p, const struct tick *t, bool apart, const struct subject *of)
{
	int err;

	pairs_fini(p);
	err = add_tick(p, t, apart, of);
	for (uint64_t back = 1; back < HISTORY_TICKS && back < t->seq && !err; back++) {
		const struct tick *head = tick_head(t, t->seq - back);

		if (!head)
			break;
		err = add_tick(p, head, apart, of);
	}
	if (p->nr)
		qsort(p->at, p->nr, sizeof(*p->at), larger);
	return err;
}

void pairs_fini(struct pairs *p)
{
	free(p->at);
	map_fini(&p->index);
	*p = (struct pairs){ 0 };
}

void pair_victim_name(const struct pair *p, char *buf, size_t size)
{
	const struct life *l = p->victim;
	char name[80], path[1024];

	text_safe(name, sizeof(name), l->process->comm, sizeof(l->process->comm));
	text_safe(path, sizeof(path), l->cgroup->path, strlen(l->cgroup->path));
	snprintf(buf, size, "%s %d%s%s", name, l->tgid, strcmp(path, "/") ? " in " : "", strcmp(path, "/") ? path : "");
}

void pair_name(const struct pair *p, char *buf, size_t size)
{
	const struct cgroup *cgroup = p->kind == WAIT_LIMIT ? p->limit : p->by ? p->by->cgroup : NULL;
	char name[80], path[1024] = "";

	if (cgroup)
		text_safe(path, sizeof(path), cgroup->path, strlen(cgroup->path));
	switch (p->kind) {
	case WAIT_BEHIND:
		text_safe(name, sizeof(name), p->by->process->comm, sizeof(p->by->process->comm));
		snprintf(buf, size, "%s%s%s", name, strcmp(path, "/") ? " in " : "", strcmp(path, "/") ? path : "");
		break;
	case WAIT_LIMIT:
		snprintf(buf, size, "CPU limit of %s", path);
		break;
	case WAIT_WAKEUP:
		snprintf(buf, size, "wakeup latency");
		break;
	default:
		snprintf(buf, size, "several in turn");
	}
}
