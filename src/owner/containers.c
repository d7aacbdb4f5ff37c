/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "owner/containers_internal.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/health.h"
#include "model/owner.h"
#include "model/tick.h"
#include "owner/parse.h"
#include "util/clock.h"
#include "util/hash.h"
#include "util/vec.h"

#define OPEN_TIMEOUT_NS 500000000ULL
#define READ_TIMEOUT_NS 1000000000ULL

/* Number of updates after which things without a cgroup are forgotten. */
#define UNSEEN_MAX 64

/* --- What is known */

static uint64_t key_of(const char *id, bool pod)
{
	return hash_add(hash_text(0, id), pod);
}

static void thing_free(struct thing *t)
{
	free(t->name);
	free(t->image);
	free(t->pod_name);
	free(t->host);
	free(t);
}

/* The thing with this id, NULL: no memory, or the id is too long. */
static struct thing *thing_of(struct containers *c, const char *id, bool pod)
{
	struct thing *t = map_get(&c->by_id, key_of(id, pod));

	if (t || strlen(id) >= ID_SIZE)
		return t;
	t = calloc(1, sizeof(*t));
	if (!t)
		return NULL;
	snprintf(t->id, sizeof(t->id), "%s", id);
	t->pod = pod;
	t->number = ++c->numbers;
	t->seen = c->updates;
	if (VEC_PUSH(c->things, c->nr, c->room, t)) {
		free(t);
		return NULL;
	}
	if (map_put(&c->by_id, key_of(id, pod), t)) {
		c->nr--;
		free(t);
		return NULL;
	}
	return t;
}

static void forget_unseen(struct containers *c)
{
	size_t kept = 0;

	for (size_t i = 0; i < c->nr; i++) {
		struct thing *t = c->things[i];

		if (t == c->asked || t->seen + UNSEEN_MAX > c->updates) {
			c->things[kept++] = t;
			continue;
		}
		map_del(&c->by_id, key_of(t->id, t->pod));
		thing_free(t);
	}
	c->nr = kept;
}

void thing_replace(char **text, const char *by)
{
	char *copy = by && *by ? strdup(by) : NULL;

	if (!copy)
		return;
	free(*text);
	*text = copy;
}

void thing_learnt(struct containers *c, struct thing *t)
{
	t->state = THING_KNOWN;
	t->again_ns = 0;
	t->version++;
	c->generation++;
}

/* --- Cgroups */

/* Names the container's pod, if kubelet's folder does not have that name, or not yet. */
static void name_pod(struct containers *c, const struct cgroup *of, const char *name)
{
	const struct owner *o = of->owner->pod_id ? of->owner : of->parent ? of->parent->owner : NULL;
	struct thing *t = o && o->pod_id ? thing_of(c, o->pod_id, true) : NULL;

	if (!t || t->pod_name || t == c->asked)
		return;
	thing_replace(&t->pod_name, name);
	thing_learnt(c, t);
}

/* Gives a cgroup its record with the names that are known. */
static void give(struct containers *c, struct cgroup *cgroup, const struct thing *container, const struct thing *pod)
{
	struct owner with = *cgroup->owner;
	uint32_t version = (container ? container->version : 0) + (pod ? pod->version : 0);
	struct owner *o;

	if (version == with.version)
		return;
	with.version = version;
	if (container && container->name)
		with.container = container->name;
	if (container && container->image)
		with.image = container->image;
	if (container && container->pod_name)
		with.pod = container->pod_name;
	if (pod && pod->pod_name)
		with.pod = pod->pod_name;
	o = owner_new(&with);
	if (!o)
		return;
	cgroup_own(cgroup, o);
	if (container && container->pod_name)
		name_pod(c, cgroup, container->pod_name);
}

/* Whether the id in its path can be the host's: users, and what runs in a container, make cgroups of any name below their own. */
static bool is_hosts(const struct cgroup *cgroup)
{
	const char *id = cgroup->owner->container_id;

	for (const struct cgroup *above = cgroup->parent; above; above = above->parent) {
		const struct owner *o = above->owner;

		if (o && o->container && (!id || !o->container_id || strcmp(o->container_id, id)))
			return false;
	}
	return cgroup->owner->user == OWNER_SYSTEM;
}

static struct thing *see(struct containers *c, const char *id, const char *runtime, bool pod)
{
	struct thing *t = id ? thing_of(c, id, pod) : NULL;

	if (!t)
		return NULL;
	t->seen = c->updates;
	if (runtime && !*t->runtime)
		snprintf(t->runtime, sizeof(t->runtime), "%s", runtime);
	return t;
}

void containers_update(struct containers *c, struct cgroup *const *list, size_t nr)
{
	uint64_t before;

	c->updates++;
	do {
		before = c->generation; /* a container can name its pod */
		for (size_t i = 0; i < nr; i++) {
			const struct owner *o = list[i]->owner;

			if (o && (o->container_id || o->pod_id) && is_hosts(list[i]))
				give(c, list[i], see(c, o->container_id, o->runtime, false), see(c, o->pod_id, NULL, true));
		}
	} while (c->generation != before);
	forget_unseen(c);
	containers_work(c);
}

uint64_t containers_generation(const struct containers *c)
{
	return c->generation;
}

/* --- Life */

static bool is_pending(const struct containers *c)
{
	for (size_t i = 0; i < c->nr; i++)
		if (c->things[i]->state == THING_WANTED)
			return true;
	return false;
}

void containers_wait(struct containers *c, struct cgroup *const *list, size_t nr, uint64_t ns)
{
	uint64_t end = clock_ns(CLOCK_MONOTONIC) + ns, now;

	containers_update(c, list, nr);
	while (is_pending(c) && !c->open.off && !c->symbols.off && (now = clock_ns(CLOCK_MONOTONIC)) < end) {
		struct pollfd p = { .fd = worker_events(), .events = POLLIN };

		poll(&p, 1, 1 + (end - now) / 1000000 < 50 ? 1 + (end - now) / 1000000 : 50);
		containers_work(c);
	}
	containers_update(c, list, nr);
}

void containers_health(const struct containers *c, struct health *h)
{
	size_t known = 0, pods = 0;
	bool off = c->open.off || c->symbols.off;

	for (size_t i = 0; i < c->nr; i++) {
		known += c->things[i]->version > 0;
		pods += c->things[i]->pod;
	}
	health_add(h, "Helpers", "containers", off ? HEALTH_OFF : HEALTH_ON,
		   "%zu containers, %zu pods; names of %zu found in their runtimes' files", c->nr - pods, pods, known);
}

struct containers *containers_new(int open_role, int symbols_role)
{
	struct containers *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	worker_init(&c->open, open_role, OPEN_TIMEOUT_NS);
	worker_init(&c->symbols, symbols_role, READ_TIMEOUT_NS);
	c->symbols.cpu_max_ns = 1500000ULL * OWNER_CPU_MS; /* it exits by itself before that */
	return c;
}

void containers_free(struct containers *c)
{
	if (!c)
		return;
	worker_stop(&c->open);
	worker_stop(&c->symbols);
	for (size_t i = 0; i < c->nr; i++)
		thing_free(c->things[i]);
	free(c->things);
	map_fini(&c->by_id);
	free(c);
}
