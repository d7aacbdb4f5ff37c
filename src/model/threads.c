/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

#include "model/internal.h"
#include "util/vec.h"

/* Makes *@at refer to @cgroup, which lives as long as anything refers to it. */
static void cgroup_show(struct cgroup **at, struct cgroup *cgroup)
{
	if (cgroup)
		cgroup->refs++;
	if (*at)
		(*at)->refs--;
	*at = cgroup;
}

/*
 * Lives come from slabs of a huge page's size: a tick reads all of them, and most of its cost would be finding the
 * pages of 50,000 separate places.
 */
#define BLOCK_BYTES (2 << 20)

struct life_slab {
	struct life_slab *next;
	struct life_node nodes[(BLOCK_BYTES - sizeof(void *)) / sizeof(struct life_node)];
};

static struct life_node *life_new(struct model *m)
{
	struct life_node *n = m->unused;

	if (!n) {
		struct life_slab *slab = aligned_alloc(BLOCK_BYTES, BLOCK_BYTES);

		if (!slab)
			return NULL;
		madvise(slab, BLOCK_BYTES, MADV_HUGEPAGE); /* works without huge pages, too */
		slab->next = m->slabs;
		m->slabs = slab;
		for (size_t i = sizeof(slab->nodes) / sizeof(slab->nodes[0]); i-- > 0;) {
			slab->nodes[i].next = m->unused;
			m->unused = &slab->nodes[i];
		}
		n = m->unused;
	}
	m->unused = n->next;
	*n = (struct life_node){ 0 };
	return n;
}

static void life_free(struct model *m, struct life_node *n)
{
#ifdef __SANITIZE_ADDRESS__ /* any later use is reported */
	ASAN_POISON_MEMORY_REGION(&n->life, sizeof(n->life));
	(void)m;
#else
	n->next = m->unused;
	m->unused = n;
#endif
}

/* The idle threads' tgid is 0, which is no key. */
static uint64_t process_key(pid_t tgid)
{
	return (uint64_t)tgid + 1;
}

static struct process_node *process_of(struct model *m, const struct identity *id)
{
	struct process_node *p = map_get(&m->processes, process_key(id->tgid));
	bool leader = id->tid == id->tgid;

	if (p && !(leader && p->leader_start && p->leader_start != id->start_ns)) {
		if (leader)
			p->leader_start = id->start_ns;
		return p;
	}
	p = calloc(1, sizeof(*p));
	if (!p || map_put(&m->processes, process_key(id->tgid), p)) {
		free(p);
		return NULL;
	}
	p->place = m->nr_places ? m->places[--m->nr_places] : m->nr_placed++;
	p->process.tgid = id->tgid;
	p->process.start_ns = id->start_ns;
	levels_unknown(&p->levels);
	if (leader)
		p->leader_start = id->start_ns;
	cmdline_inherit(&p->process, map_get(&m->processes, process_key(id->ppid)), id);
	/* Without memory its command line is read when it is on the screen. */
	VEC_PUSH(m->new_processes, m->nr_new_processes, m->new_processes_room,
		 ((struct process_new){ id->tgid, id->start_ns }));
	return p;
}

static void process_put(struct model *m, struct process_node *p)
{
	if (--p->lives)
		return;
	cmdline_drop(m, &p->process);
	cgroup_show(&p->process.cgroup, NULL);
	cgroup_show(&p->process.limiter, NULL);
	VEC_PUSH(m->places, m->nr_places, m->places_room, p->place); /* without memory it is not used again */
	free(p);
}

/* Counts a process in or out of its parent's children. Without memory it is found when another one loses its parent. */
static void child_of(struct model *m, pid_t parent, int change)
{
	uintptr_t nr = (uintptr_t)map_get(&m->children, process_key(parent));

	if (!parent || (!nr && change < 0))
		return;
	if (nr + change)
		map_put(&m->children, process_key(parent), (void *)(nr + change));
	else
		map_del(&m->children, process_key(parent));
}

/* Sets the parent of a process; one that is not there has ended, or is not known yet. */
static void parent_set(struct model *m, struct process *p, pid_t parent)
{
	if (p->ppid == parent)
		return;
	child_of(m, p->ppid, -1);
	child_of(m, parent, 1);
	p->ppid = parent;
	if (parent && !map_get(&m->processes, process_key(parent)))
		m->bereaved = true;
}

/* Counts a living thread in or out of its cgroups. */
static void live_in(const struct life *l, int change)
{
	if (l->cgroup)
		l->cgroup->living += change;
	if (l->limiter)
		l->limiter->living += change;
}

static void living_add(struct model *m, struct life_node *n)
{
	live_in(&n->life, 1);
	n->last = LIFE_ON;
	n->prev = NULL;
	n->next = m->living;
	if (n->next)
		n->next->prev = n;
	m->living = n;
}

static void list_add(struct life_list *list, struct life_node *n)
{
	n->next = NULL;
	*list->end = n;
	list->end = &n->next;
}

/* Moves a life to the ended ones; @last: the last tick that shows it. */
static void living_end(struct model *m, struct life_node *n, uint64_t last)
{
	resting_remove(m, n);
	live_in(&n->life, -1);
	*(n->prev ? &n->prev->next : &m->living) = n->next;
	if (n->next)
		n->next->prev = n->prev;
	n->last = last;
	list_add(n->first ? &m->ended : &m->unshown, n);
	m->nr_ended += !!n->first;
}

static struct life_node *node_of(struct life *l)
{
	return (struct life_node *)l;
}

static void life_move(struct life *l, struct cgroup *cgroup, struct cgroup *limiter)
{
	bool lives = node_of(l)->last == LIFE_ON;

	if (lives)
		live_in(l, -1);
	cgroup_show(&l->cgroup, cgroup);
	cgroup_show(&l->limiter, limiter);
	if (lives)
		live_in(l, 1);
}

static void life_ran(struct life *l, uint64_t cpu_ns)
{
	l->process->cpu_ns += cpu_ns - l->cpu_ns;
	l->cpu_ns = cpu_ns;
}

static bool leads(const struct life *l)
{
	return l->tid && l->tid == l->tgid;
}

static void life_set(struct model *m, struct life *l, const struct identity *id, struct cgroup *cgroup)
{
	struct cgroup *limiter = id->limiter ? id->limiter : cgroup;
	struct process *p = l->process;
	struct process_node *node = (struct process_node *)p;
	bool leader = id->tid == id->tgid;

	node->led += leader - leads(l);
	l->tid = id->tid;
	l->tgid = id->tgid;
	l->ppid = id->ppid;
	l->uid = id->uid;
	memcpy(l->comm, id->comm, sizeof(l->comm));
	l->start_ns = id->start_ns;
	l->flags = id->flags;
	l->policy = id->policy;
	l->priority = id->priority;
	l->cpu = id->cpu;
	life_ran(l, id->cpu_ns);
	life_move(l, cgroup, limiter);
	if (leader || !p->comm[0]) { /* the leader's, until then the first thread's */
		memcpy(p->comm, id->comm, sizeof(p->comm));
		p->flags = id->flags;
	}
	if (leader || !node->led) { /* without a leader all threads share them */
		parent_set(m, p, id->ppid);
		p->uid = id->uid;
		cgroup_show(&p->cgroup, cgroup);
		cgroup_show(&p->limiter, limiter);
	}
}

struct life *model_life(struct model *m, const struct identity *id, struct cgroup *cgroup)
{
	struct life_node *n = life_new(m);
	struct process_node *p = n ? process_of(m, id) : NULL;

	if (!p) {
		if (n)
			life_free(m, n);
		return NULL;
	}
	p->lives++;
	p->living++;
	n->life.process = &p->process;
	life_set(m, &n->life, id, cgroup);
	living_add(m, n);
	return &n->life;
}

/* Makes @n another life of the same thread, from @after_ns after the last tick's end on. */
static void life_copy(struct model *m, struct life_node *n, struct life_node *old, uint64_t after_ns)
{
	n->life = old->life;
	n->life.cgroup = n->life.limiter = NULL;
	cgroup_show(&n->life.cgroup, old->life.cgroup);
	cgroup_show(&n->life.limiter, old->life.limiter);
	((struct process_node *)n->life.process)->lives++;
	blocks_move(m, &old->life, &n->life, after_ns);
}

/* Starts a new life of the same thread: ticks up to now keep showing the old one. NULL: out of memory. */
static struct life_node *life_renew(struct model *m, struct life_node *old)
{
	struct life_node *n;

	if (!old->first) /* no tick shows it yet */
		return old;
	n = life_new(m);
	if (!n)
		return NULL;
	life_copy(m, n, old, 0);
	living_end(m, old, m->now ? m->seq - 1 : m->seq);
	living_add(m, n);
	return n;
}

struct life *model_life_update(struct model *m, struct life *l, const struct identity *id,
			       struct cgroup *cgroup)
{
	struct life_node *n = node_of(l);
	bool same = l->tid == id->tid && l->uid == id->uid && l->cgroup == cgroup &&
		    l->limiter == (id->limiter ? id->limiter : cgroup) && !strncmp(l->comm, id->comm, sizeof(l->comm));

	if (!same)
		n = life_renew(m, n);
	if (n)
		life_set(m, &n->life, id, cgroup);
	return n ? &n->life : NULL;
}

struct life *model_life_leave(struct model *m, struct life *l)
{
	struct life_node *n = life_renew(m, node_of(l));

	return n ? &n->life : NULL;
}

struct life *model_life_part(struct model *m, struct life *l, uint64_t after_ns, uint64_t cpu_ns)
{
	struct life_node *n = life_new(m);

	if (!n)
		return NULL;
	life_ran(l, cpu_ns);
	life_copy(m, n, node_of(l), after_ns);
	n->from_us = node_of(l)->to_us = after_ns / 1000;
	((struct process_node *)n->life.process)->living++;
	((struct process_node *)n->life.process)->led += leads(l);
	living_add(m, n);
	return &n->life;
}

void model_life_end(struct model *m, struct life *l)
{
	struct process_node *p = (struct process_node *)l->process;

	p->led -= leads(l);
	if (!--p->living && map_get(&m->processes, process_key(p->process.tgid)) == p) {
		map_del(&m->processes, process_key(p->process.tgid));
		m->bereaved |= map_get(&m->children, process_key(p->process.tgid)) != NULL;
	}
	if (!p->living) {
		child_of(m, p->process.ppid, -1);
		if (p->shown)
			cmdline_ended(m, &p->process);
	}
	living_end(m, node_of(l), m->seq);
}

void model_levels(const struct life *l, const struct levels *levels, uint64_t at, uint32_t by)
{
	struct process_node *p = (struct process_node *)l->process;

	if (levels)
		p->levels = *levels;
	p->levels_at = at;
	p->levels_by = by;
}

uint32_t model_levels_by(const struct process *p)
{
	return ((const struct process_node *)p)->levels_by;
}

uint64_t model_levels_at(const struct life *l)
{
	return ((const struct process_node *)l->process)->levels_at;
}

bool model_lives_alone(const struct life *l)
{
	return ((const struct process_node *)l->process)->living == 1;
}

/* Orphans reported at once. */
#define ORPHANS_MAX 32

void model_orphans(struct model *m, orphan_fn *fn, void *arg)
{
	int nr = 0;

	if (!m->bereaved)
		return;
	m->bereaved = false;
	for (size_t i = 0; i < m->processes.room && !m->bereaved; i++) {
		struct process_node *p = m->processes.entries[i].key ? m->processes.entries[i].value : NULL;
		pid_t parent = p ? p->process.ppid : 0;

		if (!parent || parent == p->orphan_of || map_get(&m->processes, process_key(parent)))
			continue;
		m->bereaved = ++nr > ORPHANS_MAX;
		if (m->bereaved)
			continue;
		p->orphan_of = parent;
		fn(arg, p->process.tgid);
	}
}

static void life_end(struct model *m, struct life_node *n)
{
	blocks_forget(&n->life);
	cgroup_show(&n->life.cgroup, NULL);
	cgroup_show(&n->life.limiter, NULL);
	process_put(m, (struct process_node *)n->life.process);
	life_free(m, n);
}

/* Whether the life is shown by a held tick, or by one that was remembered when the held one was built: a paused screen may have
 * lists made from all of them. */
static bool is_held(const struct model *m, const struct life_node *n)
{
	for (const struct tick_node *t = m->held; t; t = t->next)
		if (n->first <= t->tick.seq && t->oldest <= n->last + 1)
			return true;
	return false;
}

/* A life that no tick shows is only needed if the tick after its end names it. */
static void unshown_forget(struct model *m)
{
	struct life_node *n;

	while ((n = m->unshown.first) && n->last + 1 < m->seq) {
		m->unshown.first = n->next;
		if (n->named) {
			list_add(&m->ended, n);
			m->nr_ended++;
		} else {
			life_end(m, n);
		}
	}
	if (!m->unshown.first)
		m->unshown.end = &m->unshown.first;
}

/* A tick's lists also name lives that ended since the tick before: the threads that others waited behind. */
size_t threads_forget(struct model *m)
{
	uint64_t oldest = history_kept(m->history);
	struct life_node **at = &m->ended.first, *n;
	size_t nr = 0;

	if (m->seq < oldest)
		oldest = m->seq;
	unshown_forget(m);
	m->nr_held = m->cmdline_bytes_held = 0;
	/* Stops at the first one still shown. Unneeded ones after it (renamed in a tick that shows others which
	 * ended) are freed next time. */
	m->walks++;
	while ((n = *at) && n->last + 1 < oldest) {
		struct process_node *p = (struct process_node *)n->life.process;
		bool held = is_held(m, n);
		size_t lives = p->lives - !held;

		p->nr_held = (p->walk == m->walks ? p->nr_held : 0) + held;
		p->walk = m->walks;
		if (lives && p->nr_held == lives)
			m->cmdline_bytes_held += p->ended_bytes;
		if (held) {
			at = &n->next;
			m->nr_held++;
		} else {
			*at = n->next;
			m->nr_ended--;
			life_end(m, n);
			nr++;
		}
	}
	if (!*at)
		m->ended.end = at;
	return nr;
}

void threads_free(struct model *m)
{
	free(m->new_processes);
	free(m->resting.threads);
	free(m->resting.processes);
	*m->ended.end = m->unshown.first;
	while (m->ended.first) {
		struct life_node *next = m->ended.first->next;

		life_end(m, m->ended.first);
		m->ended.first = next;
	}
	while (m->slabs) {
		struct life_slab *next = m->slabs->next;

		free(m->slabs);
		m->slabs = next;
	}
}

struct lives_asked {
	const struct model *m;
	life_fn *fn;
	void *arg;
};

/* The time @us after the tick's start, or its end if @us is 0; 0: unknown. */
static uint64_t time_in(const struct model *m, uint64_t seq, uint32_t us)
{
	uint64_t began = us && seq > 1 ? history_end(m->history, seq - 1) : 0;

	return began ? began + us * 1000ULL : history_end(m->history, seq);
}

static int report_life(const struct lives_asked *asked, const struct life_node *n)
{
	uint64_t from = n->first > 1 ? history_end(asked->m->history, n->first - 1) : 0;
	uint64_t to = n->last == LIFE_ON ? UINT64_MAX : time_in(asked->m, n->last, n->to_us);
	uint64_t kept = history_kept(asked->m->history);

	if (!n->first || (kept != UINT64_MAX && n->last < kept))
		return 0;
	return asked->fn(asked->arg, &n->life, from ? from + n->from_us * 1000ULL : 0, to ? to : UINT64_MAX);
}

int tick_lives(const struct tick *any, life_fn *fn, void *arg)
{
	const struct model *m = ((const struct tick_node *)any)->model;
	struct lives_asked asked = { m, fn, arg };
	int err = 0;

	for (const struct life_node *n = m->living; n && !err; n = n->next)
		err = report_life(&asked, n);
	for (const struct life_node *n = m->ended.first; n && !err; n = n->next)
		err = report_life(&asked, n);
	return err;
}
