/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/owner.h"

#include <stdlib.h>
#include <string.h>

#include "model/tick.h"

/* The shortest beginning of an id that stands for it. */
#define ID_MIN 4

/* The texts of a record. */
static const size_t texts[] = {
	offsetof(struct owner, unit),    offsetof(struct owner, short_unit), offsetof(struct owner, container_id),
	offsetof(struct owner, container), offsetof(struct owner, runtime),  offsetof(struct owner, image),
	offsetof(struct owner, pod_id),  offsetof(struct owner, pod),
};

#define TEXTS (sizeof(texts) / sizeof(texts[0]))

static const char **text_at(struct owner *o, size_t i)
{
	return (const char **)((char *)o + texts[i]);
}

struct owner *owner_new(const struct owner *o)
{
	struct owner *copy, from = *o;
	size_t bytes = sizeof(*copy);
	char *to;

	for (size_t i = 0; i < TEXTS; i++)
		bytes += *text_at(&from, i) ? strlen(*text_at(&from, i)) + 1 : 0;
	copy = malloc(bytes);
	if (!copy)
		return NULL;
	*copy = from;
	to = (char *)(copy + 1);
	for (size_t i = 0; i < TEXTS; i++) {
		const char **text = text_at(copy, i);

		if (!*text)
			continue;
		bytes = strlen(*text) + 1;
		memcpy(to, *text, bytes);
		*text = to;
		to += bytes;
	}
	return copy;
}

bool owner_has_id(const char *id, const char *begin)
{
	size_t len = strlen(begin);

	return len >= ID_MIN && !strncmp(id, begin, len);
}

void cgroup_own(struct cgroup *c, struct owner *o)
{
	free((struct owner *)c->owner);
	c->owner = o;
}

struct owners owners_of(const struct cgroup *c)
{
	struct owners of = { NULL, NULL, NULL };

	for (; c; c = c->parent) {
		const struct owner *o = c->owner;

		if (!o)
			continue;
		if (!of.unit && o->unit && (o->kind != OWNER_SLICE || !(of.container || of.pod)))
			of.unit = o;
		if (!of.container && o->container)
			of.container = o;
		if (!of.pod && o->pod)
			of.pod = o;
	}
	return of;
}

const char *owner_unit(const struct cgroup *c)
{
	const struct owner *o = owners_of(c).unit;

	return o ? o->unit : NULL;
}

const char *owner_container(const struct cgroup *c)
{
	const struct owner *o = owners_of(c).container;

	return o ? o->container : NULL;
}

const char *owner_pod(const struct cgroup *c)
{
	const struct owner *o = owners_of(c).pod;

	return o ? o->pod : NULL;
}

const char *owner_text(const struct cgroup *c)
{
	struct owners of = owners_of(c);

	return of.pod ? of.pod->pod : of.container ? of.container->container : of.unit ? of.unit->short_unit : NULL;
}

const char *owner_name(const struct cgroup *c)
{
	const struct owner *o = c->owner;
	const char *name = !o ? NULL : o->container ? o->container : o->pod;
	const char *id = !o ? NULL : o->container ? o->container_id : o->pod_id;

	return name && id && !strncmp(id, name, strlen(name)) ? NULL : name;
}
