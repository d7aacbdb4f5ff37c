/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "owner/containers.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "helper/link.h"
#include "helper/proto.h"
#include "helper/worker.h"
#include "model/health.h"
#include "model/owner.h"
#include "model/tick.h"
#include "owner/parse.h"
#include "owner/places.h"
#include "util/clock.h"
#include "util/hash.h"
#include "util/map.h"
#include "util/vec.h"

#define OPEN_TIMEOUT_NS 500000000ULL
#define READ_TIMEOUT_NS 1000000000ULL

/* The helpers end after this long without a request. */
#define IDLE_NS 10000000000ULL

/* The pause after the symbols helper did not take a file. */
#define PAUSE_NS 100000000ULL

/* A runtime writes its files before it starts a container, or soon after: what is not there is asked for again after this
 * time, then after twice that, this often; and where a file system did not answer, after a minute. */
#define AGAIN_NS 500000000ULL
#define AGAIN_MAX 6
#define SICK_NS 60000000000ULL

/* Updates after which what no cgroup had any more is forgotten. */
#define UNSEEN_MAX 64

/* Characters of an id in names that are made of one. */
#define SHORT_ID 12

/* The longest id that is asked for, and its NUL. */
#define ID_SIZE 128

enum thing_state { THING_WANTED, THING_KNOWN, THING_MISSING };

/* A container or pod. */
struct thing {
	char id[ID_SIZE];
	bool pod;
	enum thing_state state;
	uint32_t number;   /* of its requests */
	uint32_t place;    /* owner/places.h: where to look next */
	uint32_t version;  /* of its names; 0: none */
	int tries;
	uint64_t again_ns; /* CLOCK_MONOTONIC; 0: it is not asked for again */
	uint64_t seen;     /* the last update that met it */
	char *name, *image;
	char *pod_name;    /* "namespace/name" */
	char *host;        /* of a container: its own host name */
};

struct containers {
	struct worker open, symbols;
	bool started;
	int roles[2];
	uint32_t linked[2];
	int epoll_fd;
	struct map by_id; /* hash -> struct thing */
	struct thing **things;
	size_t nr, room;
	size_t next;          /* where to look for something to ask for */
	struct thing *asked;  /* what the helpers work on; NULL: nothing */
	uint32_t numbers;
	uint64_t updates, generation;
	uint64_t used_ns, pause_until;
};

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

static void replace(char **text, const char *by)
{
	char *copy = by && *by ? strdup(by) : NULL;

	if (!copy)
		return;
	free(*text);
	*text = copy;
}

static void learnt(struct containers *c, struct thing *t)
{
	t->state = THING_KNOWN;
	t->again_ns = 0;
	t->version++;
	c->generation++;
}

/* --- Cgroups */

/* A container's own pod, where kubelet's folder does not say, or not yet. */
static void name_pod(struct containers *c, const struct cgroup *of, const char *name)
{
	const struct owner *o = of->owner->pod_id ? of->owner : of->parent ? of->parent->owner : NULL;
	struct thing *t = o && o->pod_id ? thing_of(c, o->pod_id, true) : NULL;

	if (!t || t->pod_name || t == c->asked)
		return;
	replace(&t->pod_name, name);
	learnt(c, t);
}

/* Its record with the names that are known. */
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

static struct thing *see(struct containers *c, const char *id, bool pod)
{
	struct thing *t = id ? thing_of(c, id, pod) : NULL;

	if (t)
		t->seen = c->updates;
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

			if (o && (o->container_id || o->pod_id))
				give(c, list[i], see(c, o->container_id, false), see(c, o->pod_id, true));
		}
	} while (c->generation != before);
	forget_unseen(c);
	containers_work(c);
}

uint64_t containers_generation(const struct containers *c)
{
	return c->generation;
}

/* --- Asking */

/* It is not there, or not yet. */
static void missing(struct containers *c, struct thing *t, uint64_t after_ns)
{
	(void)c;
	t->state = THING_MISSING;
	t->again_ns = t->tries++ < AGAIN_MAX ? clock_ns(CLOCK_MONOTONIC) + after_ns : 0;
	t->place = 0;
}

static void not_found(struct containers *c, struct thing *t)
{
	missing(c, t, AGAIN_NS << t->tries);
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
	c->asked = NULL; /* opened again */
}

static void start(struct containers *c)
{
	if (c->started)
		return;
	worker_start(&c->open, c->roles[0], OPEN_TIMEOUT_NS, c->epoll_fd);
	worker_start(&c->symbols, c->roles[1], READ_TIMEOUT_NS, c->epoll_fd);
	c->symbols.cpu_max_ns = 1500000ULL * OWNER_CPU_MS; /* it exits by itself before that */
	c->started = true;
}

static void ask_next(struct containers *c)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	struct thing *t = c->asked ? NULL : next_thing(c);

	if (t) {
		start(c);
		c->used_ns = now;
		if (now >= c->pause_until && worker_ready(&c->open) && worker_ready(&c->symbols) &&
		    link_helpers(&c->open, &c->symbols, c->linked))
			ask_open(c, t);
	} else if (c->started && !c->asked && now > c->used_ns + IDLE_NS) {
		worker_stop(&c->open);
		worker_stop(&c->symbols);
	}
}

/* --- Answers */

static void open_failed(struct containers *c)
{
	struct thing *t = worker_busy(&c->open) ? c->asked : NULL;

	worker_failed(&c->open);
	if (t)
		missing(c, t, SICK_NS);
	c->asked = NULL;
}

/* "NAMESPACE_NAME": neither has an underscore. */
static void pod_answered(struct containers *c, struct thing *t, const struct open_answer *a)
{
	char name[sizeof(a->path)];
	char *joint;

	snprintf(name, sizeof(name), "%s", a->path);
	joint = strchr(name, '_');
	if (a->err || !joint) {
		not_found(c, t);
		return;
	}
	*joint = '/';
	replace(&t->pod_name, name);
	learnt(c, t);
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
		if (t->name || t->pod_name)
			learnt(c, t); /* as much as there is */
		else
			not_found(c, t);
	}
}

static bool open_answered(struct containers *c)
{
	struct open_answer a;
	int fd, got = worker_answer(&c->open, &a, sizeof(a), &fd);

	if (got == -EAGAIN)
		return false;
	if (fd >= 0)
		close(fd);
	if (got != sizeof(a) || !worker_busy(&c->open) || !c->asked || a.id != c->asked->number || a.found ||
	    !memchr(a.path, '\0', sizeof(a.path))) {
		open_failed(c);
		return true;
	}
	worker_done(&c->open);
	opened(c, c->asked, &a);
	return true;
}

/* What a file ended the helper for, or took too long, costs that file. */
static void names_failed(struct containers *c)
{
	struct thing *t = worker_busy(&c->symbols) ? c->asked : NULL;

	worker_failed(&c->symbols);
	if (t)
		t->place++;
	c->asked = NULL;
}

static bool is_text(const char *text, size_t size)
{
	return memchr(text, '\0', size);
}

static bool is_whole(const struct symbols_container *a)
{
	return is_text(a->host, sizeof(a->host)) && is_text(a->name, sizeof(a->name)) && is_text(a->image, sizeof(a->image)) && is_text(a->pod, sizeof(a->pod)) &&
	       is_text(a->name_space, sizeof(a->name_space)) && is_text(a->pod_uid, sizeof(a->pod_uid));
}

/* podman keeps the name of a pod in no file that can be read, but gives it as host name to the container that holds the
 * pod's namespaces, which is called by the pod's id. */
static void name_podmans_pod(struct thing *t)
{
	const char *infra = t->name ? strstr(t->name, "-infra") : NULL;

	if (infra && !infra[strlen("-infra")] && infra - t->name == SHORT_ID && !t->pod_name)
		replace(&t->pod_name, t->host);
}

/* A file can have no name, or only the pod's: the next one is asked then. */
static void take(struct containers *c, struct thing *t, const struct symbols_container *a)
{
	char pod[sizeof(a->name_space) + sizeof(a->pod) + 1];

	c->asked = NULL;
	t->place++;
	if (a->err)
		return;
	snprintf(pod, sizeof(pod), "%s%s%s", a->name_space, *a->name_space ? "/" : "", a->pod);
	replace(&t->name, a->name);
	replace(&t->image, a->image);
	replace(&t->host, a->host);
	if (*a->pod)
		replace(&t->pod_name, pod);
	if (!*a->name)
		return;
	name_podmans_pod(t);
	learnt(c, t);
}

static bool names_answered(struct containers *c)
{
	union {
		struct symbols_container names;
		struct symbols_loaded loaded; /* it took too much */
	} a;
	int fd, got = worker_answer(&c->symbols, &a, sizeof(a), &fd);

	if (got == -EAGAIN)
		return false;
	if (fd >= 0)
		close(fd);
	if (got != sizeof(a.names) || !worker_busy(&c->symbols) || !c->asked || a.names.what != SYMBOLS_CONTAINER ||
	    a.names.file != c->asked->number || !is_whole(&a.names)) {
		names_failed(c);
		return true;
	}
	worker_done(&c->symbols);
	take(c, c->asked, &a.names);
	return true;
}

void containers_work(struct containers *c)
{
	bool more = true;

	while (c->started && more) {
		more = open_answered(c);
		more |= names_answered(c);
	}
	if (c->started && worker_late(&c->open))
		open_failed(c);
	if (c->started && worker_late(&c->symbols))
		names_failed(c);
	ask_next(c);
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
		struct pollfd p = { .fd = c->epoll_fd, .events = POLLIN };

		poll(&p, 1, 1 + (end - now) / 1000000 < 50 ? 1 + (end - now) / 1000000 : 50);
		containers_work(c);
	}
	containers_update(c, list, nr);
}

int containers_fd(const struct containers *c)
{
	return c->epoll_fd;
}

void containers_health(const struct containers *c, struct health *h)
{
	size_t known = 0, pods = 0;
	bool off = c->started && (c->open.off || c->symbols.off);

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
	c->roles[0] = open_role;
	c->roles[1] = symbols_role;
	c->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	return c;
}

void containers_free(struct containers *c)
{
	if (!c)
		return;
	if (c->started) {
		worker_stop(&c->open);
		worker_stop(&c->symbols);
	}
	for (size_t i = 0; i < c->nr; i++)
		thing_free(c->things[i]);
	free(c->things);
	map_fini(&c->by_id);
	if (c->epoll_fd >= 0)
		close(c->epoll_fd);
	free(c);
}
