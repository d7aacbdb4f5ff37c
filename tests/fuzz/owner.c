/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What cgroups belong to: their paths, files of container runtimes, and answers of the helpers that find and read them. */
#include "helpers.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "helper/proto.h"
#include "model/health.h"
#include "model/owner.h"
#include "model/tick.h"
#include "owner/containers.h"
#include "owner/parse.h"
#include "proc/owner_path.h"

/* --- Paths */

static void check_record(const struct owner *o)
{
	const char *texts[] = { o->unit,    o->short_unit, o->container_id, o->container,
				o->runtime, o->image,      o->pod_id,       o->pod };

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		fuzz_check(!texts[i] || strlen(texts[i]) < 256, "text %zu has %zu bytes", i, strlen(texts[i]));
	fuzz_check(o->kind < OWNER_KINDS && (o->unit || o->container || o->pod), "a record of kind %d says nothing", o->kind);
	fuzz_check(!o->unit == !o->short_unit && (!o->unit || !strncmp(o->unit, o->short_unit, strlen(o->short_unit))),
		   "%s is not %s", o->short_unit, o->unit);
	fuzz_check(!o->pod || o->pod_id, "pod %s without an id", o->pod);
	fuzz_outcome(o->unit ? o->unit : o->container ? o->container : o->pod);
}

void fuzz_owner(const uint8_t *bytes, size_t size)
{
	struct cgroup top = { .path = "/" }, below = { .parent = &top };
	char *path = fuzz_text(bytes, size), *end = strrchr(path, '/');

	cgroup_own(&below, owner_of_path(path));
	if (below.owner)
		check_record(below.owner);
	if (end && end > path) {
		*end = '\0';
		cgroup_own(&top, owner_of_path(path));
	}
	fuzz_check(!owner_text(&below) == !(owner_unit(&below) || owner_container(&below) || owner_pod(&below)), "no text");
	cgroup_own(&below, NULL);
	cgroup_own(&top, NULL);
	free(path);
}

/* --- Files of runtimes */

void fuzz_runtime(const uint8_t *bytes, size_t size)
{
	static struct symbols_container a;
	struct feed f = { bytes, size };
	enum owner_format format = feed_number(&f, 1) % (OWNER_FORMATS + 1);
	int fd, err;

	memset(&a, 'x', sizeof(a));
	fd = fuzz_fd(f.at, f.left); /* each is another file: lists are kept until they change */
	err = parse_names(fd, format, "3f2a", &a);
	close(fd);
	fuzz_check(err <= 0, "%d", err);
	fuzz_check(memchr(a.name, 0, sizeof(a.name)) && memchr(a.image, 0, sizeof(a.image)) &&
		   memchr(a.pod, 0, sizeof(a.pod)) && memchr(a.name_space, 0, sizeof(a.name_space)) && memchr(a.pod_uid, 0, sizeof(a.pod_uid)) &&
		   memchr(a.host, 0, sizeof(a.host)), "a text without an end");
	fuzz_check(!err || (!*a.name && !*a.pod), "a name of a file that cannot be read");
	fuzz_outcome(err ? strerror(-err) : a.name);
}

/* --- Answers of the helpers */

#define OPEN 0
#define SYMBOLS 1
#define ID "3f2a91c04b7e5d6c8f9012ab34cd56ef78901234567890abcdef0123456789ab"
#define UID "0f3c1b9e-6d9b-4c63-8a3f-2f6b3f4f1a77"

/* The last requests: valid answers begin like them. */
static struct open_request asked_open;
static struct symbols_request asked;

static void take_requests(void)
{
	int fd;

	while (helpers_other(OPEN) >= 0 && helper_receive(helpers_other(OPEN), &asked_open, sizeof(asked_open), &fd) > 0)
		if (fd >= 0)
			close(fd);
	while (helpers_other(SYMBOLS) >= 0 && helper_receive(helpers_other(SYMBOLS), &asked, sizeof(asked), &fd) > 0)
		if (fd >= 0)
			close(fd);
}

static void answer_open(struct feed *f, bool right)
{
	struct open_answer a = { .id = right ? asked_open.id : feed_number(f, 1), .err = -(int)feed_number(f, 1),
				 .attempt = feed_number(f, 2) };

	feed_copy(f, a.path, feed_number(f, 1));
	a.found = right ? 0 : feed_number(f, 1);
	helpers_answer(OPEN, &a, right ? sizeof(a) : feed_number(f, 2) % (sizeof(a) + 1), -1);
}

static void answer_names(struct feed *f, bool right)
{
	static struct symbols_container a;

	a = (struct symbols_container){ .what = right ? SYMBOLS_CONTAINER : feed_number(f, 1),
					.file = right ? asked.file : feed_number(f, 1), .err = -(int)feed_number(f, 1) };
	feed_copy(f, a.name, right ? feed_number(f, 1) : sizeof(a.name));
	feed_copy(f, a.pod, feed_number(f, 1) & 31);
	feed_copy(f, a.name_space, feed_number(f, 1) & 31);
	helpers_answer(SYMBOLS, &a, sizeof(a), -1);
}

static void answer_late(void)
{
	struct symbols_loaded a = { .what = SYMBOLS_CONTAINER, .file = asked.file, .err = -ETIME };

	helpers_answer(SYMBOLS, &a, sizeof(a), -1);
}

static void step(struct feed *f, struct containers *c, struct cgroup *const *list, size_t nr)
{
	uint8_t what = feed_number(f, 1);

	if (what & 0x40)
		fuzz_clock_pass(feed_number(f, 1) * 100000000, what & 0x20 ? 10000000000 : 0);
	if (what & 0x10)
		helpers_stick(what & 0x80 ? OPEN : SYMBOLS);
	take_requests();
	switch (what % 8) {
	case 0:
	case 1:
		answer_open(f, !(what & 0x80));
		break;
	case 2:
	case 3:
		answer_names(f, !(what & 0x80));
		break;
	case 4:
		answer_late();
		break;
	case 5:
		containers_update(c, list, what & 0x80 ? nr : 0);
		break;
	case 6:
		for (int i = 0; i < 70; i++) /* what is not met is forgotten */
			containers_update(c, list, 0);
		break;
	default:
		helpers_close(what & 0x80 ? OPEN : SYMBOLS);
	}
	containers_work(c);
}

void fuzz_containers(const uint8_t *bytes, size_t size)
{
	struct cgroup cgroups[] = { { .path = "/kubepods/pod" UID },
				    { .path = "/kubepods/pod" UID "/" ID, .parent = &cgroups[0] },
				    { .path = "/docker/b7e5" }, { .path = "/a.service" },
				    { .path = "/kubepods-pod8b2f0c4d6e8a1b3c5d7e9f0a1b2c3d4e.slice:cri:x" } };
	struct cgroup *list[sizeof(cgroups) / sizeof(cgroups[0])];
	size_t nr = sizeof(cgroups) / sizeof(cgroups[0]);
	struct feed f = { bytes, size };
	struct health h = { 0 };
	struct containers *c;

	fuzz_clock_begin();
	c = containers_new(OPEN, SYMBOLS);
	fuzz_check(c, "no memory");
	for (size_t i = 0; i < nr; i++) {
		list[i] = &cgroups[i];
		cgroup_own(list[i], owner_of_path(list[i]->path));
	}
	containers_update(c, list, nr);
	while (f.left)
		step(&f, c, list, nr);
	containers_update(c, list, nr);
	containers_health(c, &h);
	for (size_t i = 0; i < h.nr; i++)
		fuzz_safe(h.lines[i].text, "a line of the health page");
	for (size_t i = 0; i < nr; i++) {
		if (owner_text(list[i]))
			fuzz_outcome(owner_text(list[i]));
		cgroup_own(list[i], NULL);
	}
	health_fini(&h);
	containers_free(c);
	helpers_forget();
	fuzz_clock_end();
}
