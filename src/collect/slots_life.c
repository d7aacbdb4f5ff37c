/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Identity of the threads in the slots. */
#include <errno.h>
#include <string.h>

#include "collect/slots_internal.h"
#include "model/model.h"
#include "proc/cgroup.h"

uint64_t slots_cpu_ns(const struct slots *s, uint32_t index, const struct slot *c, uint64_t at)
{
	struct taken taken = slots_taken(s, index, c);
	int64_t since = c->state == SLOT_RUNNING && c->since < at ? at - c->since - taken.irq_ns - taken.steal_ns : 0;
	int64_t ns = c->exec_ns + (since > 0 ? since : 0);

	return ns > 0 ? ns : 0;
}

static struct identity slot_identity(const struct slots *s, uint32_t index, const struct slot *c)
{
	struct identity id = {
		.tid = c->tid,
		.tgid = c->tgid,
		.ppid = c->ppid,
		.uid = c->uid,
		.start_ns = c->start_ns,
		.flags = c->pf_flags,
		.policy = c->policy,
		.priority = c->prio,
		.cpu = c->cpu,
		.cpu_ns = slots_cpu_ns(s, index, c, s->until != UINT64_MAX ? s->until : 0),
	};

	memcpy(id.comm, c->comm, sizeof(id.comm) - 1);
	return id;
}

/* The thread's cgroup in the hierarchy with the CPU limits, if that is not the shown one. */
static struct cgroup *limiter_of(struct slots *s, uint32_t index)
{
	uint64_t id = __atomic_load_n(&s->mem.limit_cgroups[index], __ATOMIC_RELAXED);
	const struct life *life = s->readers[index].life;
	struct cgroup *limiter = life ? life->limiter : NULL;

	if (!limiter || s->shown[index].limit_cgroup_id != id)
		limiter = cgroups_find(s->limits, id);
	s->shown[index].limit_cgroup_id = id;
	return limiter;
}

int slots_identify(struct slots *s, uint32_t index, const struct slot *c)
{
	struct reader *r = &s->readers[index];
	struct shown *shown = &s->shown[index];
	struct identity id = slot_identity(s, index, c);
	struct cgroup *cgroup = r->life ? r->life->cgroup : NULL;

	if (!cgroup || shown->cgroup_id != c->cgroup_id)
		cgroup = cgroups_find(s->cgroups, c->cgroup_id);
	shown->cgroup_id = c->cgroup_id;
	if (s->limits)
		id.limiter = limiter_of(s, index);
	if (r->life) {
		struct life *life = r->life;

		if (r->in_scope && !c->in_scope) {
			slots_gone(s, index, life);
			life = model_life_leave(s->model, life);
		}
		if (life)
			life = model_life_update(s->model, life, &id, cgroup);
		if (!life)
			return -ENOMEM;
		r->life = life;
		r->in_scope = c->in_scope;
		return 0;
	}
	r->life = model_life(s->model, &id, cgroup);
	r->in_scope = c->in_scope;
	r->end = shown->end = c->born_ns;
	if (c->sighted) { /* the kernel's counts predate the slot: use the growth only */
#define _(field, ...) shown->field = c->field;
		SLOT_COUNTS(_)
#undef _
		shown->migrations = c->migrations;
		shown->utime_ns = c->utime_ns;
		shown->stime_ns = c->stime_ns;
		shown->io_begins = true;
	}
	return r->life ? 0 : -ENOMEM;
}

bool slots_elsewhere(const struct slots *s, uint32_t index, const struct slot *c)
{
	const struct reader *r = &s->readers[index];

	return r->life && (s->shown[index].cgroup_id != c->cgroup_id || r->in_scope != c->in_scope ||
			   (s->limits && s->shown[index].limit_cgroup_id !=
						 __atomic_load_n(&s->mem.limit_cgroups[index], __ATOMIC_RELAXED)));
}

struct life *slots_life(void *slots, uint32_t index)
{
	struct slots *s = slots;
	struct slot copy;

	if (!s->readers[index].life && (!slot_read(&s->mem.slots[index], &copy) || copy.state == SLOT_FREE ||
					slots_identify(s, index, &copy)))
		return NULL;
	return s->readers[index].life;
}

struct life *slots_shown_life(void *slots, uint32_t index)
{
	const struct slots *s = slots;

	return s->readers[index].in_scope ? s->readers[index].life : NULL;
}
