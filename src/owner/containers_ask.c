/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "owner/containers_internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "helper/link.h"
#include "helper/proto.h"
#include "owner/places.h"
#include "util/clock.h"

/* The helpers end after this long without a request. */
#define IDLE_NS 10000000000ULL

/* The pause after the symbols helper did not take a file. */
#define PAUSE_NS 100000000ULL

/* A runtime writes its files before it starts a container, or soon after: a missing name is requested again after this
 * time, then after twice that and so on, AGAIN_MAX times. A folder that did not answer is left alone for a minute. */
#define AGAIN_NS 500000000ULL
#define AGAIN_MAX 6
#define SICK_NS 60000000000ULL

/* Characters of an id in names that are made of one. */
#define SHORT_ID 12

/* --- Asking */

/* Nothing has a name for the thing, or not yet: requests it again after @after_ns, AGAIN_MAX times. */
static void missing(struct thing *t, uint64_t after_ns)
{
	t->state = THING_MISSING;
	t->again_ns = t->tries++ < AGAIN_MAX ? clock_ns(CLOCK_MONOTONIC) + after_ns : 0;
	t->place = 0;
}

static void not_found(struct thing *t)
{
	missing(t, AGAIN_NS << t->tries);
}

/* The next thing to ask for; NULL: none, for now. */
static struct thing *next_thing(struct containers *c)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	for (size_t i = 0; i < c->nr; i++) {
		struct thing *t = c->things[(c->next + i) % c->nr];

		if (t->state != THING_WANTED && !(t->again_ns && now >= t->again_ns))
			continue;
		c->next = (c->next + i) % c->nr;
		return t;
	}
	return NULL;
}

static void ask_open(struct containers *c, struct thing *t)
{
	struct open_request r = { .what = t->pod ? OPEN_POD : OPEN_CONTAINER, .id = t->number, .attempt = t->place };

	snprintf(r.path, sizeof(r.path), "%s", t->id);
	if (!worker_ask(&c->open, &r, sizeof(r), -1)) {
		worker_failed(&c->open);
		return;
	}
	t->state = THING_WANTED;
	c->asked = t;
}

static void ask_names(struct containers *c, struct thing *t)
{
	struct symbols_request r = { .what = SYMBOLS_CONTAINER, .file = t->number, .debug = owner_format(t->place) };

	_Static_assert(sizeof(r.at) >= ID_SIZE, "an id fits");
	memcpy(r.at, t->id, sizeof(t->id));
	if (worker_ready(&c->symbols) && worker_ask(&c->symbols, &r, sizeof(r), -1))
		return;
	worker_failed(&c->symbols);
	c->asked = NULL; /* the file is opened again */
}

/* Goes on to the next folder of its runtime that answers. Returns whether there is one. */
static bool find_place(const struct containers *c, struct thing *t)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	while (owner_format(t->place) != OWNER_FORMATS &&
	       (c->sick_until[owner_base(t->place)] > now || !owner_suits(t->place, t->runtime)))
		t->place = owner_next(t->place);
	return owner_format(t->place) != OWNER_FORMATS;
}

static bool is_any_sick(const struct containers *c)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	for (int i = 0; i < OWNER_BASES_MAX; i++)
		if (c->sick_until[i] > now)
			return true;
	return false;
}

/* There is no other place to search: takes the names found so far. */
static void looked_everywhere(struct containers *c, struct thing *t)
{
	if (t->name || t->pod_name)
		thing_learnt(c, t);
	else if (is_any_sick(c))
		missing(t, SICK_NS);
	else
		not_found(t);
}

/* The next thing that has a place left to search. */
static struct thing *next_open(struct containers *c)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	struct thing *t;

	while ((t = next_thing(c))) {
		if (t->pod ? c->pods_sick_until <= now : find_place(c, t))
			return t;
		if (t->pod)
			missing(t, SICK_NS);
		else
			looked_everywhere(c, t);
	}
	return NULL;
}

static void ask_next(struct containers *c)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	struct thing *t = c->asked ? NULL : next_open(c);

	if (t) {
		c->used_ns = now;
		if (now >= c->pause_until && worker_ready(&c->open) && worker_ready(&c->symbols) &&
		    link_helpers(&c->open, &c->symbols, c->linked))
			ask_open(c, t);
	} else if (!c->asked && now > c->used_ns + IDLE_NS) {
		worker_stop(&c->open);
		worker_stop(&c->symbols);
	}
}

/* --- Answers */

/* Leaves alone the folder that did not answer. */
static void sick(struct containers *c, const struct thing *t)
{
	uint64_t until = clock_ns(CLOCK_MONOTONIC) + SICK_NS;

	if (t->pod)
		c->pods_sick_until = until;
	else
		c->sick_until[owner_base(t->place)] = until;
}

static void open_failed(struct containers *c, bool late)
{
	struct thing *t = worker_busy(&c->open) ? c->asked : NULL;

	worker_failed(&c->open);
	c->asked = NULL;
	if (t && late)
		sick(c, t);
	else if (t)
		not_found(t);
}

/* "NAMESPACE_NAME": neither has an underscore. */
static void pod_answered(struct containers *c, struct thing *t, const struct open_answer *a)
{
	char name[sizeof(a->path)];
	char *joint;

	snprintf(name, sizeof(name), "%s", a->path);
	joint = strchr(name, '_');
	if (a->err || !joint) {
		not_found(t);
		return;
	}
	*joint = '/';
	thing_replace(&t->pod_name, name);
	thing_learnt(c, t);
}

static void opened(struct containers *c, struct thing *t, const struct open_answer *a)
{
	if (t->pod) {
		c->asked = NULL;
		pod_answered(c, t, a);
	} else if (!a->err) {
		t->place = a->attempt;
		ask_names(c, t);
	} else if (link_lost(&c->symbols, c->linked, a->err)) {
		c->asked = NULL;
		c->pause_until = clock_ns(CLOCK_MONOTONIC) + PAUSE_NS;
	} else {
		c->asked = NULL;
		t->place = a->attempt > t->place ? a->attempt : owner_next(t->place);
	}
}

static bool open_answered(struct containers *c)
{
	struct open_answer a;
	int got = worker_answer(&c->open, &a, sizeof(a), NULL);

	if (got == -EAGAIN)
		return false;
	if (got != sizeof(a) || !worker_busy(&c->open) || !c->asked || a.id != c->asked->number || a.found ||
	    !memchr(a.path, '\0', sizeof(a.path))) {
		open_failed(c, false);
		return true;
	}
	worker_done(&c->open);
	opened(c, c->asked, &a);
	return true;
}

/* A file that ended the helper is not tried again. The folder of a file that did not answer in time is left alone for a while. */
static void names_failed(struct containers *c, bool late)
{
	struct thing *t = worker_busy(&c->symbols) ? c->asked : NULL;

	worker_failed(&c->symbols);
	if (t && late)
		sick(c, t);
	else if (t)
		t->place++;
	c->asked = NULL;
}

static bool is_text(const char *text, size_t size)
{
	return memchr(text, '\0', size);
}

static bool is_whole(const struct symbols_container *a)
{
	return is_text(a->name, sizeof(a->name)) && is_text(a->image, sizeof(a->image)) && is_text(a->pod, sizeof(a->pod)) &&
	       is_text(a->name_space, sizeof(a->name_space)) && is_text(a->pod_uid, sizeof(a->pod_uid)) &&
	       is_text(a->host, sizeof(a->host));
}

/* podman keeps the name of a pod in no file that can be read, but gives it as host name to the container that holds the
 * pod's namespaces, which is called by the pod's id. */
static void name_podmans_pod(struct thing *t)
{
	const char *infra = t->name ? strstr(t->name, "-infra") : NULL;

	if (infra && !infra[strlen("-infra")] && infra - t->name == SHORT_ID && !t->pod_name)
		thing_replace(&t->pod_name, t->host);
}

/* A file can have no name, or only the pod's: then the next one is read. */
static void take(struct containers *c, struct thing *t, const struct symbols_container *a)
{
	char pod[sizeof(a->name_space) + sizeof(a->pod) + 1];

	c->asked = NULL;
	t->place++;
	if (a->err)
		return;
	snprintf(pod, sizeof(pod), "%s%s%s", a->name_space, *a->name_space ? "/" : "", a->pod);
	thing_replace(&t->name, a->name);
	thing_replace(&t->image, a->image);
	thing_replace(&t->host, a->host);
	if (*a->pod)
		thing_replace(&t->pod_name, pod);
	if (!*a->name)
		return;
	name_podmans_pod(t);
	thing_learnt(c, t);
}

static bool names_answered(struct containers *c)
{
	union {
		struct symbols_container names;
		struct symbols_loaded loaded; /* reading took too much CPU time */
	} a;
	int got = worker_answer(&c->symbols, &a, sizeof(a), NULL);

	if (got == -EAGAIN)
		return false;
	if (got != sizeof(a.names) || !worker_busy(&c->symbols) || !c->asked || a.names.what != SYMBOLS_CONTAINER ||
	    a.names.file != c->asked->number || !is_whole(&a.names)) {
		names_failed(c, false);
		return true;
	}
	worker_done(&c->symbols);
	take(c, c->asked, &a.names);
	return true;
}

void containers_work(struct containers *c)
{
	bool more = true;

	while (more) {
		more = open_answered(c);
		more |= names_answered(c);
	}
	if (worker_late(&c->open))
		open_failed(c, true);
	if (worker_late(&c->symbols))
		names_failed(c, !worker_spent(&c->symbols));
	ask_next(c);
}
