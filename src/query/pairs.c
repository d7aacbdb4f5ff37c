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

	return cmp_int(y->ns, x->ns);
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
	VEC_SORT(p->at, p->nr, larger);
	return err;
}

void pairs_fini(struct pairs *p)
{
	free(p->at);
	map_fini(&p->index);
	*p = (struct pairs){ 0 };
}

/* Fewer cells of a path do not distinguish cgroups. */
#define PATH_CELLS_MIN 8

#define LIMIT_OF "CPU limit of "

/* @cgroup: NULL: it is not known; @width: 0: no limit */
static void path_text(const struct cgroup *cgroup, int width, char *buf, size_t size)
{
	char path[1024] = "";

	if (cgroup)
		text_safe(path, sizeof(path), cgroup->path, strlen(cgroup->path));
	if (width)
		text_elide(buf, size, path, width);
	else
		snprintf(buf, size, "%s", path);
}

static void name_in(const char *name, const struct cgroup *cgroup, int width, char *buf, size_t size)
{
	int room = width - text_width(name) - (int)strlen(" in ");
	char path[1024];

	path_text(cgroup, width && room >= PATH_CELLS_MIN ? room : 0, path, sizeof(path));
	if (!strcmp(path, "/") || (width && room < text_width(path)))
		snprintf(buf, size, "%s", name);
	else
		snprintf(buf, size, "%s in %s", name, path);
}

void pair_victim_name(const struct pair *p, int width, char *buf, size_t size)
{
	const struct life *l = p->victim;
	char name[80], with_pid[96];

	text_safe(name, sizeof(name), l->process->comm, sizeof(l->process->comm));
	snprintf(with_pid, sizeof(with_pid), "%s %d", name, l->tgid);
	name_in(with_pid, l->cgroup, width, buf, size);
}

void pair_name(const struct pair *p, int width, char *buf, size_t size)
{
	int room = width - (int)strlen(LIMIT_OF);
	char text[1024];

	switch (p->kind) {
	case WAIT_BEHIND:
		text_safe(text, sizeof(text), p->by->process->comm, sizeof(p->by->process->comm));
		name_in(text, p->by->cgroup, width, buf, size);
		break;
	case WAIT_LIMIT:
		path_text(p->limit, !width ? 0 : room < PATH_CELLS_MIN ? PATH_CELLS_MIN : room, text, sizeof(text));
		snprintf(buf, size, LIMIT_OF "%s", text);
		break;
	case WAIT_WAKEUP:
		snprintf(buf, size, "wakeup latency");
		break;
	default:
		snprintf(buf, size, "several in turn");
	}
}

bool pair_match(const void *pair, const char *search)
{
	char who[1200], what[1200];

	pair_victim_name(pair, 0, who, sizeof(who));
	pair_name(pair, 0, what, sizeof(what));
	return strcasestr(who, search) || strcasestr(what, search);
}
