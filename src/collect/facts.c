/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/facts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "helper/helper.h"
#include "helper/proto.h"
#include "helper/worker.h"
#include "model/health.h"
#include "proc/cgroup.h"
#include "proc/memory_facts.h"
#include "util/clock.h"

/* A process whose tables take longer is left alone: its answer is not waited for. */
#define TIMEOUT_NS 2000000000ULL
#define AGAIN_NS 5000000000ULL

struct facts {
	int role, epoll_fd;
	const struct cgroups *cgroups;
	struct worker worker;
	bool started;
	struct facts_request wanted, asked; /* what is looked at, and what the helper was asked for */
	uint64_t asked_at;                  /* CLOCK_MONOTONIC ns; 0: not yet */
	bool known;                         /* of what is looked at */
	struct memory_facts facts;
	uint64_t failed;
};

struct facts *facts_new(int role, const struct cgroups *cgroups)
{
	struct facts *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->role = role;
	f->cgroups = cgroups;
	f->worker.helper.socket = -1;
	f->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (f->epoll_fd >= 0)
		return f;
	free(f);
	return NULL;
}

void facts_free(struct facts *f)
{
	if (!f)
		return;
	worker_stop(&f->worker);
	close(f->epoll_fd);
	free(f);
}

static bool is_same(const struct facts_request *a, const struct facts_request *b)
{
	return a->tgid == b->tgid && !strcmp(a->memory, b->memory) && !strcmp(a->pressure, b->pressure);
}

static void ask(struct facts *f)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	if (worker_busy(&f->worker) || (is_same(&f->wanted, &f->asked) && f->asked_at && now - f->asked_at < AGAIN_NS))
		return;
	if (!f->started)
		worker_start(&f->worker, f->role, TIMEOUT_NS, f->epoll_fd);
	f->started = true;
	if (!worker_ready(&f->worker))
		return;
	f->asked = f->wanted;
	f->asked_at = now;
	if (!worker_ask(&f->worker, &f->asked, sizeof(f->asked), -1))
		worker_failed(&f->worker);
}

const struct memory_facts *facts_of(struct facts *f, pid_t tgid, const struct cgroup *cgroup)
{
	struct facts_request r = { .tgid = tgid };

	if (!tgid)
		cgroups_folders(f->cgroups, cgroup, r.memory, r.pressure, sizeof(r.memory));
	if (!is_same(&r, &f->wanted)) {
		f->wanted = r;
		f->known = false;
	}
	ask(f);
	return f->known ? &f->facts : NULL;
}

void facts_work(struct facts *f)
{
	struct memory_facts answer;
	int fd, got;

	if (!f->started || !worker_busy(&f->worker))
		return;
	got = worker_answer(&f->worker, &answer, sizeof(answer), &fd);
	if (got >= 0 && fd >= 0)
		close(fd);
	if (got == (int)sizeof(answer)) {
		worker_done(&f->worker);
		if (is_same(&f->wanted, &f->asked)) {
			f->facts = answer;
			f->known = true;
		}
	} else if (got != -EAGAIN || worker_late(&f->worker)) {
		f->failed++;
		worker_failed(&f->worker);
	}
}

void facts_health(const struct facts *f, struct health *h)
{
	if (f->worker.off)
		health_add(h, "Helpers", "memory", HEALTH_OFF, "%d are stuck in the kernel: no more are started", f->worker.nr_stuck);
	else if (f->failed)
		health_add(h, "Helpers", "memory", HEALTH_DEGRADED, "reads page tables; not in time, times: %llu",
			   (unsigned long long)f->failed);
	else
		health_add(h, "Helpers", "memory", HEALTH_ON, "reads page tables of what is looked at");
}

/* --- The role */

void facts_run(int socket)
{
	struct facts_request r;
	struct memory_facts answer;
	int passed;

	while (helper_receive(socket, &r, sizeof(r), &passed) == sizeof(r)) {
		if (passed >= 0)
			close(passed);
		r.memory[sizeof(r.memory) - 1] = r.pressure[sizeof(r.pressure) - 1] = '\0';
		if (r.tgid)
			memory_facts_process("/proc", r.tgid, &answer);
		else
			memory_facts_cgroup(r.memory, r.pressure, &answer);
		helper_send(socket, &answer, sizeof(answer), -1);
	}
}
