/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/facts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "helper/helper.h"
#include "helper/proto.h"
#include "helper/worker.h"
#include "model/health.h"
#include "proc/cgroup.h"
#include "proc/memory_facts.h"
#include "proc/package.h"
#include "util/clock.h"

/* A process whose tables take longer is left alone: systop does not wait for the answer. */
#define TIMEOUT_NS 2000000000ULL
#define AGAIN_NS 5000000000ULL
#define OLD_NS (2 * AGAIN_NS)

/* Time to look for a package: what was read so far is cached at the next request. */
#define PACKAGE_NS 1000000000ULL

struct facts {
	const struct cgroups *cgroups;
	struct worker worker;
	struct facts_request wanted, asked; /* about what the screen shows; the helper's last request */
	uint64_t asked_at;                  /* CLOCK_MONOTONIC ns; 0: not yet */
	bool known;                         /* the answer is to the request in wanted */
	bool unasked;                       /* the helper was not ready for it */
	struct facts_answer answer;
	uint64_t failed;
};

struct facts *facts_new(int role, const struct cgroups *cgroups)
{
	struct facts *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->cgroups = cgroups;
	worker_init(&f->worker, role, TIMEOUT_NS);
	return f;
}

void facts_free(struct facts *f)
{
	if (!f)
		return;
	worker_stop(&f->worker);
	free(f);
}

static bool is_same(const struct facts_request *a, const struct facts_request *b)
{
	return a->what == b->what && a->tgid == b->tgid && !memcmp(&a->key, &b->key, sizeof(a->key)) &&
	       !strcmp(a->path, b->path) && !strcmp(a->pressure, b->pressure);
}

/* Whether to request it again: facts that change, or that were not found in time. */
static bool is_due(const struct facts *f, uint64_t now)
{
	if (f->known && f->wanted.what == FACTS_PACKAGE && f->answer.err != -EAGAIN)
		return false;
	return !is_same(&f->wanted, &f->asked) || !f->asked_at || now - f->asked_at >= AGAIN_NS;
}

static void ask(struct facts *f)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	bool ready;

	if (worker_busy(&f->worker) || !is_due(f, now))
		return;
	if (now - f->asked_at > OLD_NS)
		f->known = false;
	ready = worker_ready(&f->worker);
	f->unasked = !ready && !f->worker.off;
	if (!ready)
		return;
	f->asked = f->wanted;
	f->asked_at = now;
	if (!worker_ask(&f->worker, &f->asked, sizeof(f->asked), -1))
		worker_failed(&f->worker);
}

/* NULL: not known yet. */
static const struct facts_answer *want(struct facts *f, const struct facts_request *r)
{
	if (!is_same(r, &f->wanted)) {
		f->wanted = *r;
		f->known = false;
	}
	ask(f);
	return f->known ? &f->answer : NULL;
}

const struct memory_facts *facts_of(struct facts *f, pid_t tgid, const struct cgroup *cgroup)
{
	struct facts_request r = { .what = tgid ? FACTS_PROCESS : FACTS_CGROUP, .tgid = tgid };
	const struct facts_answer *a;

	if (!tgid)
		cgroups_folders(f->cgroups, cgroup, r.path, r.pressure, sizeof(r.path));
	a = want(f, &r);
	return a ? &a->memory : NULL;
}

const char *facts_package(struct facts *f, const char *path, const struct file_key *key)
{
	struct facts_request r = { .what = FACTS_PACKAGE, .key = *key };
	const struct facts_answer *a;

	if (snprintf(r.path, sizeof(r.path), "%s", path) >= (int)sizeof(r.path))
		return "";
	a = want(f, &r);
	if (!a || a->err == -EAGAIN)
		return NULL;
	return a->err ? "" : a->package;
}

bool facts_work(struct facts *f)
{
	struct facts_answer answer;
	int got = worker_answer(&f->worker, &answer, sizeof(answer), NULL);
	bool unasked = f->unasked;

	f->unasked = false;
	if (got == (int)sizeof(answer) && worker_busy(&f->worker)) {
		worker_done(&f->worker);
		if (is_same(&f->wanted, &f->asked)) {
			f->answer = answer;
			f->answer.package[sizeof(answer.package) - 1] = '\0';
			f->known = true;
		}
	} else if (got != -EAGAIN || worker_late(&f->worker)) {
		f->failed += worker_busy(&f->worker);
		worker_failed(&f->worker); /* also when it ends without a request: the next one starts another */
	} else {
		return unasked;
	}
	return true;
}

void facts_health(const struct facts *f, struct health *h)
{
	if (f->worker.off)
		health_add(h, "Helpers", "facts", HEALTH_OFF, "%d are stuck in the kernel: no more are started",
			   f->worker.nr_stuck);
	else if (f->failed)
		health_add(h, "Helpers", "facts", HEALTH_DEGRADED, "reads page tables and lists of packages; answers that came too late: %llu",
			   (unsigned long long)f->failed);
	else
		health_add(h, "Helpers", "facts", HEALTH_ON, "reads page tables and packages of what the screen shows");
}

/* --- The role */

static void read_facts(const struct facts_request *r, struct facts_answer *a)
{
	switch (r->what) {
	case FACTS_PROCESS:
		memory_facts_process(r->tgid, &a->memory);
		break;
	case FACTS_CGROUP:
		memory_facts_cgroup(r->path, r->pressure, &a->memory);
		break;
	case FACTS_PACKAGE:
		a->err = package_debug("", r->path, &r->key, PACKAGE_NS, a->package, sizeof(a->package));
		break;
	}
}

void facts_run(int socket)
{
	struct facts_request r;

	while (helper_receive(socket, &r, sizeof(r), NULL) == sizeof(r)) {
		struct facts_answer answer = { 0 };

		r.path[sizeof(r.path) - 1] = r.pressure[sizeof(r.pressure) - 1] = '\0';
		read_facts(&r, &answer);
		helper_send(socket, &answer, sizeof(answer), -1);
	}
}
