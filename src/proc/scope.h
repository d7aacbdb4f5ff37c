/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_PROC_SCOPE_H
#define SYSTOP_PROC_SCOPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "proc/mounts.h"

/*
 * The cgroups given with -c. A SPEC is
 *   a path       /a/b: in the v2 tree, else in a v1 tree; cpu:/a/b: of that v1 controller; or the
 *                directory itself, /sys/fs/cgroup/a/b
 *   a glob       with * ? [: of the whole path if it begins with /, else of its last part
 *   part of a name   the whole last part of a path, else its beginning, else any part of it, else a part of
 *                the path; it must be unique, except for cgroups below each other. What the cgroup stands for
 *                (model/owner.h) counts as its last part, too: unit, container, pod with or without namespace, and
 *                the beginning of an id
 */
struct cgroup_scope;
struct cgroup;

/* A cgroup in scope with everything below it. */
struct cgroup_target {
	const char *controller; /* v1; NULL: v2 */
	uint64_t id;
	const char *path;
	bool glob;              /* matched by one: in scope only while it exists */
	bool gone;              /* given by path or name, and removed since */
	enum { TARGET_SAME, TARGET_GONE, TARGET_BACK, TARGET_AGAIN } change; /* since the refresh before; AGAIN: gone and back */
	const char *name;       /* the SPEC, if it is the cgroup's whole name; else NULL */
};

/* cgroups_namer - gives cgroups the names of containers and pods. */
typedef void cgroups_namer(void *arg, struct cgroup *const *list, size_t nr);

/*
 * cgroup_scope_new - resolves @specs.
 * @mounts: borrowed for the scope's life
 * @namer: called with @arg for the cgroups of each hierarchy if a part of a name is among them, and at refreshes in which
 *         such a cgroup is gone; may be NULL
 * Returns NULL after fail() (exit status 5: no such cgroup, or ambiguous).
 */
struct cgroup_scope *cgroup_scope_new(const struct cgroup_mounts *mounts, const char *const *specs,
				      size_t nr, cgroups_namer *namer, void *arg);
void cgroup_scope_free(struct cgroup_scope *s);

/* cgroup_scope_targets - the cgroups in scope. Borrowed until cgroup_scope_refresh(). */
const struct cgroup_target *cgroup_scope_targets(const struct cgroup_scope *s, size_t *nr);

/* cgroup_scope_generation - changes whenever they do; never 0. */
uint64_t cgroup_scope_generation(const struct cgroup_scope *s);

/* cgroup_scope_follow - reads on in hierarchies that a refresh had no time to read: call it every 250 ms. */
void cgroup_scope_follow(struct cgroup_scope *s);

/*
 * cgroup_scope_refresh - resolves globs again, which may then match nothing. If a cgroup that was given by path or name is
 * removed and created again, as when a service restarts, the one with its path is in scope. One that was given by its whole
 * name is also found by that, if only one cgroup has it: a container that is created again has another path.
 */
void cgroup_scope_refresh(struct cgroup_scope *s);

/* cgroups_print - prints the list of --list-cgroups: controller, threads, path. 0 or -errno; an error of @to shows in ferror(). */
int cgroups_print(FILE *to, const struct cgroup_mounts *mounts);

#endif
