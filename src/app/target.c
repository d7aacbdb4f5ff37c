/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "app/target.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "app/options.h"
#include "collect/collect.h"
#include "model/tick.h"
#include "owner/containers.h"
#include "proc/cgroup.h"
#include "proc/pid.h"
#include "proc/scope.h"
#include "proc/user.h"
#include "util/clock.h"
#include "util/fail.h"
#include "util/file.h"
#include "util/text.h"

static int describe(struct target *t, const struct options *o)
{
	char *raw;
	size_t size;
	FILE *f = open_memstream(&raw, &size);

	if (!f)
		return -ENOMEM;
	for (size_t i = 0; i < o->nr_cgroups; i++)
		fprintf(f, "%s%s", i ? "," : " cgroup ", o->cgroups[i]);
	for (size_t i = 0; i < o->nr_pids; i++)
		fprintf(f, "%s%d", i ? "," : " pid ", o->pids[i]);
	for (size_t i = 0; i < o->nr_tids; i++)
		fprintf(f, "%s%d", i ? "," : " thread ", o->tids[i]);
	for (size_t i = 0; i < o->nr_users; i++)
		fprintf(f, "%s%s", i ? "," : " user ", o->users[i]);
	if (o->command)
		fprintf(f, " command %s", o->command[0]);
	if (!ftell(f))
		fputs(" all", f);
	if (fclose(f))
		return -ENOMEM;
	text_safe(t->text, sizeof(t->text), raw + 1, size - 1);
	free(raw);
	return 0;
}

/* Time for the names of all containers and pods of the host. */
#define NAMES_NS 2000000000ULL

static void name_cgroups(void *arg, struct cgroup *const *list, size_t nr)
{
	const struct target *t = arg;
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	containers_wait(t->containers, list, nr, now < t->names_until ? t->names_until - now : 0);
}

int target_resolve(struct target *t, const struct options *o, const struct cgroup_mounts *mounts,
		   struct containers *containers)
{
	t->containers = containers;
	t->names_until = clock_ns(CLOCK_MONOTONIC) + NAMES_NS;
	if (o->nr_cgroups) {
		t->cgroups = cgroup_scope_new(mounts, o->cgroups, o->nr_cgroups, name_cgroups, t);
		if (!t->cgroups)
			return -ENOENT;
	}
	t->pids = calloc(o->nr_pids + 1, sizeof(*t->pids));
	t->watched = calloc(o->nr_pids + o->nr_tids + 1, sizeof(*t->watched));
	t->uids = calloc(o->nr_users + 1, sizeof(*t->uids));
	if (!t->pids || !t->watched || !t->uids || describe(t, o))
		return fail(-ENOMEM, EXIT_STATUS_RUNTIME, "out of memory");
	for (size_t i = 0; i < o->nr_pids; i++) {
		pid_t pid = pid_process(o->pids[i], t->last, sizeof(t->last));
		int fd = pid < 0 ? -1 : syscall(SYS_pidfd_open, pid, 0);

		if (pid > 0 && fd < 0) /* it has just ended, or pidfds are not supported */
			pid = pid_process(o->pids[i], t->last, sizeof(t->last));
		if (pid < 0)
			return pid;
		t->pids[t->nr_pids++] = pid;
		t->watched[t->nr_watched++] = (struct watched){ .id = pid, .pidfd = fd };
	}
	t->tids = o->tids;
	for (; t->nr_tids < o->nr_tids; t->nr_tids++) {
		int err = pid_thread(t->tids[t->nr_tids], t->last, sizeof(t->last));

		if (err)
			return err;
		t->watched[t->nr_watched++] = (struct watched){ .id = t->tids[t->nr_tids], .thread = true, .pidfd = -1 };
	}
	for (; t->nr_uids < o->nr_users; t->nr_uids++) {
		int err = user_find(o->users[t->nr_uids], &t->uids[t->nr_uids]);

		if (err)
			return err;
	}
	return 0;
}

void target_add(struct target *t, pid_t pid)
{
	t->pids[t->nr_pids++] = pid;
}

/* The cgroups in the collector's form; the caller frees them. NULL: out of memory. */
static struct collect_cgroup *target_cgroups(const struct target *t, size_t *nr)
{
	const struct cgroup_target *targets = cgroup_scope_targets(t->cgroups, nr);
	struct collect_cgroup *list = calloc(*nr + 1, sizeof(*list));

	for (size_t i = 0; list && i < *nr; i++)
		list[i] = (struct collect_cgroup){ targets[i].controller, targets[i].id };
	return list;
}

struct collect *target_collect(struct target *t, const struct collect_options *options,
			       struct model *model, struct cgroups *cgroups)
{
	struct collect_cgroup *list = NULL;
	struct collect_options o = *options;
	struct collect *c = NULL;

	t->shown = o.shown_controller;
	o.pids = t->pids;
	o.nr_pids = t->nr_pids;
	o.tids = t->tids;
	o.nr_tids = t->nr_tids;
	o.uids = t->uids;
	o.nr_uids = t->nr_uids;

	if (t->cgroups) {
		list = target_cgroups(t, &o.nr_cgroups);
		o.cgroups = list;
	}
	if (list || !t->cgroups)
		c = collect_new(&o, model, cgroups);
	else
		fail(-ENOMEM, EXIT_STATUS_RUNTIME, "out of memory");
	free(list);
	return c;
}

static bool is_target(const struct target *t, const struct cgroup *c)
{
	size_t nr;
	const struct cgroup_target *targets = cgroup_scope_targets(t->cgroups, &nr);

	for (size_t i = 0; i < nr; i++)
		if (targets[i].id == c->id && targets[i].controller == t->shown)
			return true;
	return false;
}

/* Marks the cgroups all of whose threads are in scope. */
static void mark(struct target *t, struct cgroups *cgroups)
{
	uint64_t changes = cgroups_changes(cgroups) + cgroup_scope_generation(t->cgroups);
	struct cgroup *const *list;
	size_t nr;

	if (t->nr_pids || t->nr_tids || t->nr_uids || t->marked == changes)
		return;
	t->marked = changes;
	list = cgroups_list(cgroups, &nr);
	for (size_t i = 0; i < nr; i++)
		list[i]->in_scope = (list[i]->parent && list[i]->parent->in_scope) || is_target(t, list[i]);
}

void target_refresh(struct target *t, struct collect *collect, struct cgroups *cgroups)
{
	struct collect_cgroup *list;
	size_t nr;

	if (!t->cgroups)
		return;
	cgroup_scope_refresh(t->cgroups);
	mark(t, cgroups);
	list = target_cgroups(t, &nr);
	if (list)
		collect_scope_cgroups(collect, list, nr);
	free(list);
}

/* Whether a thread has ended, though its number may still be in use: its parent has not waited for it. The first thread of a
 * process has not ended while other threads run, one of which gets its number when it executes a program. pidfds of threads are
 * newer than some kernels that systop runs on. Where /proc hides the thread, the scheduler is asked, which needs no rights. */
static bool thread_ended(pid_t tid)
{
	char line[512], state, *end;
	long threads;

	file_line(line, sizeof(line), "/proc/%d/stat", tid);
	end = strrchr(line, ')');
	if (end && sscanf(end, ") %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %ld", &state, &threads) == 2)
		return strchr("ZXx", state) && threads <= 1;
	return sched_getscheduler(tid) < 0 && errno == ESRCH;
}

static bool has_ended(const struct watched *w)
{
	return w->ended || (w->thread ? thread_ended(w->id) : file_readable(w->pidfd));
}

void target_follow(struct target *t, struct collect *collect)
{
	if (t->cgroups)
		cgroup_scope_follow(t->cgroups);
	for (size_t i = 0; i < t->nr_watched; i++) {
		struct watched *w = &t->watched[i];

		if (w->ended || !has_ended(w))
			continue;
		w->ended = true;
		collect_scope_ended(collect, w->id, w->thread);
	}
}

bool target_ended(const struct target *t)
{
	for (size_t i = 0; i < t->nr_watched; i++)
		if (!has_ended(&t->watched[i]))
			return false;
	return t->nr_watched;
}

bool target_gone(const struct target *t, const struct tick *tick)
{
	if (!target_ended(t))
		return false;
	for (size_t i = 0; i < tick->nr_processes; i++)
		if (!tick->processes[i].exited)
			return false;
	return true;
}

void target_fini(struct target *t)
{
	cgroup_scope_free(t->cgroups);
	for (size_t i = 0; i < t->nr_watched; i++)
		if (t->watched[i].pidfd >= 0)
			close(t->watched[i].pidfd);
	free(t->pids);
	free(t->watched);
	free(t->uids);
}
