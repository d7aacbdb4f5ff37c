/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "proc/scope_names.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "model/owner.h"
#include "model/tick.h"
#include "util/text.h"

/* Names of one cgroup. */
#define NAMES_MAX 5

/* What a cgroup is called: the last part of its path, and what it is for people. @names has room for NAMES_MAX. */
static size_t names_of(const struct cgroup *c, const char **names)
{
	const struct owner *o = c->owner;
	const char *slash = o && o->pod ? strchr(o->pod, '/') : NULL;
	size_t nr = 0;

	names[nr++] = basename(c->path);
	if (o && o->unit)
		names[nr++] = o->unit;
	if (o && o->container)
		names[nr++] = o->container;
	if (o && o->pod && o->pod_id)
		names[nr++] = o->pod;
	if (slash && o->pod_id)
		names[nr++] = slash + 1;
	return nr;
}

static enum fit fit_of(const char *base, const char *name)
{
	size_t len = strlen(name), base_len = strlen(base);

	if (!strncmp(base, name, len)) {
		const char *rest = base + len;

		/* "ssh" is ssh.service, "pod1" is pod1.slice */
		if (!*rest || !strcmp(rest, ".service") || !strcmp(rest, ".scope") ||
		    !strcmp(rest, ".slice"))
			return FIT_NAME;
		return FIT_BEGINNING;
	}
	return base_len > len && strstr(base, name) ? FIT_PART : FIT_NONE;
}

static bool has_id(const struct owner *o, const char *name)
{
	return o && ((o->container_id && owner_has_id(o->container_id, name)) || (o->pod_id && owner_has_id(o->pod_id, name)));
}

enum fit scope_fit(const struct cgroup *c, const char *name)
{
	const char *names[NAMES_MAX];
	size_t nr = names_of(c, names);
	enum fit best = has_id(c->owner, name) ? FIT_BEGINNING : strstr(c->path, name) ? FIT_PATH : FIT_NONE;

	for (size_t i = 0; i < nr; i++)
		if (fit_of(names[i], name) < best)
			best = fit_of(names[i], name);
	return best;
}

/* Number of edits (insert, delete, replace) that turn @a into @b; only the beginning of long names is compared. */
static unsigned int edits(const char *a, const char *b)
{
	unsigned int row[64];
	size_t nb = strnlen(b, 63), na = strnlen(a, 63);

	for (size_t j = 0; j <= nb; j++)
		row[j] = j;
	for (size_t i = 1; i <= na; i++) {
		unsigned int corner = row[0];

		row[0] = i;
		for (size_t j = 1; j <= nb; j++) {
			unsigned int best = corner + (a[i - 1] != b[j - 1]);

			corner = row[j];
			if (row[j] + 1 < best)
				best = row[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			row[j] = best;
		}
	}
	return row[nb];
}

unsigned int scope_edits(const char *name, const struct cgroup *c)
{
	const char *names[NAMES_MAX];
	size_t nr = names_of(c, names);
	unsigned int fewest = UINT_MAX;

	for (size_t i = 0; i < nr; i++) {
		unsigned int n = edits(name, names[i]);

		fewest = n < fewest ? n : fewest;
	}
	return fewest;
}

const char *scope_called(const struct cgroup *c, char *buf, size_t size)
{
	const struct owner *o = c->owner;
	bool pod = o && o->kind == OWNER_POD;
	const char *name = !o || o->kind < OWNER_CONTAINER ? NULL : pod ? o->pod : o->container;
	char raw[512], safe[1024];

	*buf = '\0';
	if (name) {
		snprintf(raw, sizeof(raw), "%s%s%.12s", name, o->container_id ? " " : "",
			 o->container_id ? o->container_id : "");
		text_safe(safe, sizeof(safe), raw, strlen(raw));
		snprintf(buf, size, " (%s %s)", pod ? "pod" : "container", safe);
	}
	return buf;
}
