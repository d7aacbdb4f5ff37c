/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/sample_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/tick.h"
#include "util/vec.h"

/* A thread with everything it refers to. */
struct copy {
	struct life life; /* first: the part that samples point to */
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

static int hold_stack(struct sample_list *l, const struct stack *s)
{
	uint64_t key = (uintptr_t)s;

	if (!s || map_get(&l->stacks, key))
		return 0;
	if (map_put(&l->stacks, key, (void *)s))
		return -ENOMEM;
	model_stack_hold(s);
	return 0;
}

int sample_list_add(struct sample_list *l, const struct stack_sample *s)
{
	struct stack_sample copy = *s;

	copy.life = life_of(l, s->life);
	if (!copy.life || hold_stack(l, s->user) || hold_stack(l, s->kernel))
		return -ENOMEM;
	return VEC_PUSH(l->at, l->nr, l->room, copy);
}

void sample_list_fini(struct sample_list *l)
{
	const struct stack *s;
	struct copy *c;

	MAP_EACH (&l->stacks, s)
		model_stack_release(s);
	MAP_EACH (&l->lives, c)
		copy_free(c);
	map_fini(&l->stacks);
	map_fini(&l->lives);
	free(l->at);
	*l = (struct sample_list){ 0 };
}
