/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "proc/scope.h"

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "proc/cgroup.h"
#include "proc/scope_names.h"
#include "util/fail.h"
#include "util/text.h"
#include "util/vec.h"

#define SUGGESTIONS 3
#define AMBIGUOUS_SHOWN 5

/* A hierarchy that a SPEC can refer to: v2, and every v1 hierarchy with a controller. */
struct tree {
	const char *controller; /* NULL: v2; the first one if several are mounted together */
	const struct cgroup_mount *mount;
	struct cgroups *cgroups;
};

struct cgroup_scope {
	const struct cgroup_mounts *mounts;
	struct tree *trees;
	size_t nr_trees, trees_room;
	const char *const *specs;
	size_t nr_specs;
	size_t *glob_trees;  /* of each SPEC: index + 1 of the tree in which a glob first matched; 0: none yet */
	struct cgroup_target *targets;
	size_t nr, room;
	size_t walked, used; /* how many of the first trees were walked in this refresh, and how many were searched for globs */
	uint64_t changes;    /* of these trees when globs were last resolved */
	uint64_t generation;
	cgroups_namer *namer;
	void *namer_arg;
};

static bool is_glob(const char *spec)
{
	return strpbrk(spec, "*?[") != NULL;
}

static int trees_add(struct cgroup_scope *s, const struct cgroup_mount *mount)
{
	struct tree t = { .mount = mount };

	if (mount->controllers) {
		char *list = strdup(mount->controllers);

		if (!list)
			return -ENOMEM;
		list[strcspn(list, ",")] = '\0';
		t.controller = list;
	}
	t.cgroups = cgroups_open(mount->path);
	if (!t.cgroups) {
		free((char *)t.controller);
		return 0; /* unreadable for us: treated as missing */
	}
	return VEC_PUSH(s->trees, s->nr_trees, s->trees_room, t);
}

static void trees_close(struct cgroup_scope *s)
{
	for (size_t i = 0; i < s->nr_trees; i++) {
		cgroups_free(s->trees[i].cgroups);
		free((char *)s->trees[i].controller);
	}
	free(s->trees);
}

/* v2 first, then v1's cpu, then the others in mounting order; hierarchies without a controller cannot be matched. */
static int trees_open(struct cgroup_scope *s)
{
	const struct cgroup_mount *v2 = cgroup_mount_find(s->mounts, NULL);
	const struct cgroup_mount *cpu = cgroup_mount_find(s->mounts, "cpu");
	int err = v2 ? trees_add(s, v2) : 0;

	if (!err && cpu)
		err = trees_add(s, cpu);
	for (size_t i = 0; !err && i < s->mounts->nr; i++) {
		const struct cgroup_mount *m = &s->mounts->mounts[i];

		if (m != v2 && m != cpu && strncmp(m->controllers, "name=", 5))
			err = trees_add(s, m);
	}
	return err;
}

/* @target: how it was given. */
static int target_add(struct cgroup_scope *s, const struct tree *t, const struct cgroup *cgroup, struct cgroup_target target)
{
	target.controller = t->controller;
	target.id = cgroup->id;
	for (size_t i = 0; i < s->nr; i++)
		if (s->targets[i].id == cgroup->id && s->targets[i].controller == t->controller)
			return 0;
	target.path = strdup(cgroup->path);
	if (!target.path)
		return -ENOMEM;
	return VEC_PUSH(s->targets, s->nr, s->room, target);
}

static const struct cgroup *tree_path(const struct tree *t, const char *path)
{
	size_t nr, len = strlen(path);
	struct cgroup *const *list = cgroups_list(t->cgroups, &nr);

	while (len > 1 && path[len - 1] == '/')
		len--;
	for (size_t i = 0; i < nr; i++)
		if (strlen(list[i]->path) == len && !strncmp(list[i]->path, path, len))
			return list[i];
	return NULL;
}

/* A path: of a controller, in the file system, or in the first hierarchy that has it. */
static int resolve_path(struct cgroup_scope *s, const char *spec)
{
	const char *slash = strchr(spec, '/');
	const struct cgroup *found;

	for (size_t i = 0; i < s->nr_trees; i++) {
		const struct tree *t = &s->trees[i];
		size_t len = strlen(t->mount->path);

		if (slash > spec) {
			char *controller = strndup(spec, slash - spec - 1);
			bool ours = controller && t->controller &&
				    cgroup_mount_find(s->mounts, controller) == t->mount;

			free(controller);
			found = ours ? tree_path(t, slash) : NULL;
		} else {
			found = NULL;
			if (!strncmp(spec, t->mount->path, len) && (spec[len] == '/' || !spec[len]))
				found = tree_path(t, spec[len] ? spec + len : "/");
			if (!found)
				found = tree_path(t, spec);
		}
		if (found)
			return target_add(s, t, found, (struct cgroup_target){ 0 });
	}
	return -ENOENT;
}

/* A glob stays in the hierarchy in which it matched at the start, as the programs look only at the hierarchies of the start. */
static int resolve_glob(struct cgroup_scope *s, size_t at)
{
	const char *spec = s->specs[at];
	int err = -ENOENT;

	for (size_t i = 0; i < s->nr_trees && err == -ENOENT; i++) {
		struct cgroup *const *list;
		size_t nr;

		if (s->glob_trees[at] && s->glob_trees[at] != i + 1)
			continue;
		if (i >= s->walked) {
			cgroups_work(s->trees[i].cgroups, true);
			s->walked = i + 1;
		}
		if (i >= s->used)
			s->used = i + 1;
		list = cgroups_list(s->trees[i].cgroups, &nr);
		for (size_t j = 0; j < nr && (!err || err == -ENOENT); j++) {
			const char *path = list[j]->path;
			bool whole = spec[0] == '/';

			if (!fnmatch(spec, whole ? path : basename(path), whole ? FNM_PATHNAME : 0))
				err = target_add(s, &s->trees[i], list[j], (struct cgroup_target){ .glob = true });
		}
		if (!err)
			s->glob_trees[at] = i + 1;
	}
	return err;
}

static bool is_below(const struct cgroup *c, const struct cgroup *top)
{
	for (; c; c = c->parent)
		if (c == top)
			return true;
	return false;
}

static int fail_ambiguous(const char *spec, const struct cgroup **found, size_t nr)
{
	char safe[256], list[1024] = "", path[128];

	text_safe(safe, sizeof(safe), spec, strlen(spec));
	fail(-EINVAL, EXIT_STATUS_TARGET, "%zu cgroups match \"%s\"", nr, safe);
	for (size_t i = 0; i < nr && i < AMBIGUOUS_SHOWN; i++) {
		char whole[4096];
		size_t used = strlen(list);

		text_safe(whole, sizeof(whole), found[i]->path, strlen(found[i]->path));
		text_elide(path, sizeof(path), whole, 48);
		snprintf(list + used, sizeof(list) - used, "\n       %s%s", path, scope_called(found[i], whole, sizeof(whole)));
	}
	fail_why("a part of a name must be unique:%s%s", list,
		 nr > AMBIGUOUS_SHOWN ? "\n       ..." : "");
	fail_fix("systop -c PATH, an id or NAMESPACE/POD, or a glob for all of them");
	return -EINVAL;
}

/* Finds the cgroups that @name fits best, and at least as well as @fit, which is set to how well. The caller frees @found. */
static int find_fitting(const struct tree *t, const char *name, enum fit *fit, const struct cgroup ***found, size_t *nr_found)
{
	size_t nr, room = 0;
	struct cgroup *const *list = cgroups_list(t->cgroups, &nr);

	*found = NULL;
	*nr_found = 0;
	for (size_t i = 0; i < nr; i++) {
		enum fit this = scope_fit(list[i], name);

		if (this > *fit)
			continue;
		if (this < *fit)
			*nr_found = 0;
		*fit = this;
		/* The list is in tree order: cgroups below the last match are covered by it. */
		if (*nr_found && is_below(list[i], (*found)[*nr_found - 1]))
			continue;
		if (VEC_PUSH(*found, *nr_found, room, (const struct cgroup *)list[i])) {
			free(*found);
			return -ENOMEM;
		}
	}
	return 0;
}

static int resolve_name(struct cgroup_scope *s, const char *spec)
{
	for (size_t i = 0; i < s->nr_trees; i++) {
		struct cgroup_target target = { 0 };
		enum fit fit = FIT_PATH;
		const struct cgroup **found;
		size_t nr;
		int err = find_fitting(&s->trees[i], spec, &fit, &found, &nr);

		if (err)
			return err;
		if (fit == FIT_NAME)
			target.name = spec;
		if (nr)
			err = nr > 1 ? fail_ambiguous(spec, found, nr) : target_add(s, &s->trees[i], found[0], target);
		free(found);
		if (nr)
			return err;
	}
	return -ENOENT;
}

static bool is_path(const char *spec)
{
	return strchr(spec, '/') && (spec[0] == '/' || strchr(spec, ':'));
}

static bool is_name(const char *spec)
{
	return !is_glob(spec) && !is_path(spec);
}

static int resolve(struct cgroup_scope *s, size_t at)
{
	const char *spec = s->specs[at];

	return is_glob(spec) ? resolve_glob(s, at) : is_path(spec) ? resolve_path(s, spec) : resolve_name(s, spec);
}

static uint64_t threads_below(const struct tree *t, const struct cgroup *top)
{
	size_t nr;
	struct cgroup *const *list = cgroups_list(t->cgroups, &nr);
	uint64_t threads = 0;

	for (size_t i = 0; i < nr; i++)
		if (is_below(list[i], top))
			threads += cgroups_threads(t->cgroups, list[i]);
	return threads;
}

/* Lists the cgroups whose last part is most similar to the SPEC. */
static void suggest(const struct cgroup_scope *s, const char *spec, char *text, size_t size)
{
	const char *name = basename(spec);
	unsigned int limit = strlen(name) / 2 + 1;
	size_t shown = 0;

	*text = '\0';
	for (unsigned int want = 0; want <= limit && shown < SUGGESTIONS; want++) {
		for (size_t i = 0; i < s->nr_trees && i < 2 && shown < SUGGESTIONS; i++) {
			size_t nr;
			struct cgroup *const *list = cgroups_list(s->trees[i].cgroups, &nr);

			for (size_t j = 1; j < nr && shown < SUGGESTIONS; j++) {
				char whole[4096], path[128];
				size_t used = strlen(text);

				if (scope_edits(name, list[j]) != want)
					continue;
				text_safe(whole, sizeof(whole), list[j]->path,
					  strlen(list[j]->path));
				text_elide(path, sizeof(path), whole, 46);
				snprintf(text + used, size - used, "%s%s%s (%" PRIu64 " threads)",
					 shown ? "\n       " : "", path, scope_called(list[j], whole, sizeof(whole)),
					 threads_below(&s->trees[i], list[j]));
				shown++;
			}
		}
	}
}

static void fail_unknown(const struct cgroup_scope *s, const char *spec)
{
	char safe[256], suggestions[1024];

	text_safe(safe, sizeof(safe), spec, strlen(spec));
	suggest(s, spec, suggestions, sizeof(suggestions));
	fail(-ENOENT, EXIT_STATUS_TARGET, "no cgroup matches \"%s\"", safe);
	if (*suggestions)
		fail_why("did you mean: %s", suggestions);
	else
		fail_why("no hierarchy has a cgroup with a similar name");
	fail_fix("systop --list-cgroups");
}

static void name_all(const struct cgroup_scope *s, const struct tree *t)
{
	size_t nr;
	struct cgroup *const *list = cgroups_list(t->cgroups, &nr);

	if (s->namer)
		s->namer(s->namer_arg, list, nr);
}

struct cgroup_scope *cgroup_scope_new(const struct cgroup_mounts *mounts, const char *const *specs,
				      size_t nr, cgroups_namer *namer, void *arg)
{
	struct cgroup_scope *s = calloc(1, sizeof(*s));
	int err = s ? 0 : -ENOMEM;
	bool named = false;

	if (s) {
		s->namer = namer;
		s->namer_arg = arg;
		s->mounts = mounts;
		s->specs = specs;
		s->nr_specs = nr;
		s->generation = 1;
		s->glob_trees = calloc(nr + 1, sizeof(*s->glob_trees));
		err = s->glob_trees ? trees_open(s) : -ENOMEM;
	}
	for (size_t i = 0; i < nr; i++)
		named |= is_name(specs[i]);
	for (size_t i = 0; !err && named && i < s->nr_trees; i++)
		name_all(s, &s->trees[i]);
	for (size_t i = 0; !err && i < nr; i++) {
		err = resolve(s, i);
		if (err == -ENOENT)
			fail_unknown(s, specs[i]);
	}
	if (!err)
		return s;
	fail(err, EXIT_STATUS_RUNTIME, "cannot read the cgroups: %s", strerror(-err));
	cgroup_scope_free(s);
	return NULL;
}

/* @globs: only what globs matched. */
static void targets_clear(struct cgroup_scope *s, bool globs)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->nr; i++) {
		if (globs && !s->targets[i].glob)
			s->targets[kept++] = s->targets[i];
		else
			free((char *)s->targets[i].path);
	}
	s->nr = kept;
}

void cgroup_scope_free(struct cgroup_scope *s)
{
	if (!s)
		return;
	trees_close(s);
	targets_clear(s, false);
	free(s->targets);
	free(s->glob_trees);
	free(s);
}

const struct cgroup_target *cgroup_scope_targets(const struct cgroup_scope *s, size_t *nr)
{
	*nr = s->nr;
	return s->targets;
}

uint64_t cgroup_scope_generation(const struct cgroup_scope *s)
{
	return s->generation;
}

/* A number that changes with the trees that were searched for globs. */
static uint64_t changes(const struct cgroup_scope *s)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < s->used; i++)
		sum += cgroups_changes(s->trees[i].cgroups);
	return sum;
}

void cgroup_scope_follow(struct cgroup_scope *s)
{
	for (size_t i = 0; i < s->nr_trees; i++)
		if (cgroups_walking(s->trees[i].cgroups))
			cgroups_work(s->trees[i].cgroups, false);
}

static void globs_again(struct cgroup_scope *s)
{
	for (s->walked = 0; s->walked < s->used; s->walked++)
		cgroups_work(s->trees[s->walked].cgroups, true);
	if (changes(s) == s->changes)
		return;
	s->generation++;
	s->used = 0;
	targets_clear(s, true);
	for (size_t i = 0; i < s->nr_specs; i++)
		if (is_glob(s->specs[i]))
			resolve_glob(s, i);
	s->changes = changes(s);
}

/* A container that is made anew has the same name, and another id in its path. */
static void find_again(const struct cgroup_scope *s, struct cgroup_target *target)
{
	const struct cgroup **found;
	enum fit fit = FIT_NAME;
	size_t at = 0, nr;
	char *path;

	while (s->trees[at].controller != target->controller)
		at++;
	cgroups_work(s->trees[at].cgroups, true);
	name_all(s, &s->trees[at]);
	if (find_fitting(&s->trees[at], target->name, &fit, &found, &nr))
		return;
	path = nr == 1 ? strdup(found[0]->path) : NULL;
	if (path) {
		free((char *)target->path);
		target->path = path;
	}
	free(found);
}

/* Finds out whether the cgroup has been removed or made again since the last time. */
static void look_at(const struct cgroup_scope *s, struct cgroup_target *t)
{
	const struct cgroup_target before = *t;
	char path[2 * PATH_MAX];
	struct stat st;

	snprintf(path, sizeof(path), "%s%s", cgroup_mount_find(s->mounts, t->controller)->path, t->path);
	if (!stat(path, &st)) {
		t->gone = false;
		t->id = st.st_ino;
	} else if (errno == ENOENT) {
		t->gone = true;
	}
	if (t->gone != before.gone)
		t->change = t->gone ? TARGET_GONE : TARGET_BACK;
	else
		t->change = t->id != before.id ? TARGET_AGAIN : TARGET_SAME;
}

void cgroup_scope_refresh(struct cgroup_scope *s)
{
	globs_again(s);
	for (size_t i = 0; i < s->nr; i++) {
		struct cgroup_target *t = &s->targets[i];

		if (t->gone && t->name)
			find_again(s, t);
		if (!t->glob)
			look_at(s, t);
		s->generation += t->change != TARGET_SAME;
	}
}

int cgroups_print(FILE *to, const struct cgroup_mounts *mounts)
{
	struct cgroup_scope s = { .mounts = mounts };
	int err = trees_open(&s);

	fprintf(to, "%-12s %8s  %s\n", "HIERARCHY", "THREADS", "PATH");
	for (size_t i = 0; !err && i < s.nr_trees; i++) {
		size_t nr;
		struct cgroup *const *list = cgroups_list(s.trees[i].cgroups, &nr);

		for (size_t j = 0; j < nr; j++) {
			char path[4096];

			text_safe(path, sizeof(path), list[j]->path, strlen(list[j]->path));
			fprintf(to, "%-12s %8" PRIu64 "  %s\n",
				s.trees[i].controller ? s.trees[i].controller : "v2",
				cgroups_threads(s.trees[i].cgroups, list[j]), path);
		}
	}
	trees_close(&s);
	return err;
}
