/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/sample_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/tick.h"
#include "util/vec.h"

/* A thread with all that it refers to. */
struct copy {
	struct life life; /* first: what samples point to */
	struct process process;
	struct cgroup cgroup, limiter, process_cgroup, process_limiter;
};

static void copy_free(struct copy *c)
{
	free((char *)c->cgroup.path);
	free((char *)c->limiter.path);
	free((char *)c->process_cgroup.path);
	free((char *)c->process_limiter.path);
	free(c);
}

static int copy_cgroup(struct cgroup *to, const struct cgroup *from)
{
	*to = (struct cgroup){ .id = from->id, .depth = from->depth, .aside = from->aside, .path = strdup(from->path) };
	return to->path ? 0 : -ENOMEM;
}

static const struct life *life_of(struct sample_list *l, const struct life *from)
{
	uint64_t key = (from->start_ns << 22 ^ (uint32_t)from->tid) | 1ULL << 63;
	struct copy *c = map_get(&l->lives, key);

	if (c)
		return &c->life;
	c = calloc(1, sizeof(*c));
	if (!c)
		return NULL;
	c->life = *from;
	c->process = *from->process;
	c->life.process = &c->process;
	c->life.cgroup = &c->cgroup;
	c->life.limiter = &c->limiter;
	c->life.block = NULL;
	c->process.cgroup = &c->process_cgroup;
	c->process.limiter = &c->process_limiter;
	if (copy_cgroup(&c->cgroup, from->cgroup) || copy_cgroup(&c->limiter, from->limiter) ||
	    copy_cgroup(&c->process_cgroup, from->process->cgroup) ||
	    copy_cgroup(&c->process_limiter, from->process->limiter) ||
	    map_put(&l->lives, key, c)) {
		copy_free(c);
		return NULL;
	}
	return &c->life;
}

static const struct stack *stack_of(struct sample_list *l, const struct stack *from)
{
	uint64_t key = (from->hash ^ (uint64_t)from->check << 32) | 1;
	size_t bytes = sizeof(*from) + from->nr * sizeof(from->frames[0]);
	struct stack *s = map_get(&l->stacks, key);

	if (s)
		return s;
	s = malloc(bytes);
	if (!s)
		return NULL;
	memcpy(s, from, bytes);
	if (map_put(&l->stacks, key, s)) {
		free(s);
		return NULL;
	}
	return s;
}

int sample_list_add(struct sample_list *l, const struct stack_sample *s)
{
	struct stack_sample copy = *s;

	copy.life = life_of(l, s->life);
	copy.user = s->user ? stack_of(l, s->user) : NULL;
	copy.kernel = s->kernel ? stack_of(l, s->kernel) : NULL;
	if (!copy.life || !copy.user != !s->user || !copy.kernel != !s->kernel)
		return -ENOMEM;
	return VEC_PUSH(l->at, l->nr, l->room, copy);
}

void sample_list_fini(struct sample_list *l)
{
	for (size_t i = 0; i < l->stacks.room; i++)
		free(l->stacks.entries[i].value);
	for (size_t i = 0; i < l->lives.room; i++)
		if (l->lives.entries[i].value)
			copy_free(l->lives.entries[i].value);
	map_fini(&l->stacks);
	map_fini(&l->lives);
	free(l->at);
	*l = (struct sample_list){ 0 };
}
