/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Cgroups are directories with numbers: any file system will do. */
#include "folder.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "proc/cgroup.h"
#include "proc/scope.h"

static void make(const char *path)
{
	assert_int_equal(mkdir(in_folder(path), 0755), 0);
}

static void drop(const char *path)
{
	assert_int_equal(rmdir(in_folder(path)), 0);
}

static uint64_t id_of(const char *path)
{
	struct stat st;

	assert_int_equal(stat(in_folder(path), &st), 0);
	return st.st_ino;
}

/* The paths of the list, with a space behind each. */
static const char *listed(struct cgroups *c)
{
	static char text[512];
	size_t nr;
	struct cgroup *const *list = cgroups_list(c, &nr);

	*text = '\0';
	for (size_t i = 0; i < nr; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s ", list[i]->path);
	return text;
}

static struct cgroups *open_tree(void)
{
	struct cgroups *c;

	make("/b");
	make("/a");
	make("/a/z");
	make("/a-");
	make("/a/.y"); /* as lxc-attach makes them */
	c = cgroups_open(folder);
	assert_non_null(c);
	assert_string_equal(listed(c), "/ /a /a/.y /a/z /a- /b ");
	drop("/a/.y");
	cgroups_free(c);
	c = cgroups_open(folder);
	assert_non_null(c);
	assert_string_equal(listed(c), "/ /a /a/z /a- /b ");
	return c;
}

struct told {
	struct cgroups *cgroups;
	uint64_t id, child;
	int asked;
};

/* Reports the child first, as the programs do. */
static void report(void *arg)
{
	struct told *t = arg;

	if (t->asked++)
		return;
	cgroups_report(t->cgroups, t->child, t->id, "child");
	cgroups_report(t->cgroups, t->id, id_of("/b"), "new");
}

static void names_are_asked_for(void **state)
{
	struct cgroups *c = open_tree();
	struct told told = { c, 1000001, 1000002, 0 };
	struct cgroup *child;

	(void)state;
	cgroups_ask_with(c, report, &told);
	child = cgroups_find(c, told.child);
	assert_string_equal(child->path, "/b/new/child");
	assert_string_equal(child->parent->path, "/b/new");
	assert_int_equal(child->depth, 3);
	assert_string_equal(listed(c), "/ /a /a/z /a- /b /b/new /b/new/child ");
	assert_ptr_equal(cgroups_find(c, told.child), child);
	assert_int_equal(told.asked, 1);
	cgroups_free(c);
}

static void no_more(void *arg)
{
	(void)arg;
}

static void name_that_comes_late(void **state)
{
	struct cgroups *c = open_tree();
	struct cgroup *late = cgroups_find(c, 77);

	(void)state;
	assert_string_equal(late->path, "/?77");
	cgroups_report(c, 77, id_of("/a"), "late");
	cgroups_ask_with(c, no_more, NULL);
	assert_ptr_equal(cgroups_find(c, 77), late);
	assert_string_equal(late->path, "/a/late");
	assert_string_equal(late->parent->path, "/a");
	assert_string_equal(listed(c), "/ /a /a/late /a/z /a- /b ");
	cgroups_free(c);
}

/* A cgroup of which only the id is known has no files: one with the name that is shown for it is another. */
static void name_that_another_has(void **state)
{
	struct cgroups *c = open_tree();
	struct cgroup *unknown = cgroups_find(c, 77), *other;
	struct cgroup_limit limit;

	(void)state;
	make("/?77");
	put_file("?77/cpu.max", "50000 100000\n");
	put_file("?77/cgroup.threads", "1\n2\n");
	cgroups_suspect(c, unknown);
	cgroups_limit(c, unknown, &limit);
	assert_int_equal(limit.quota_ns, 0);
	assert_int_equal(cgroups_threads(c, unknown), 0);
	cgroups_work(c, true);
	other = cgroups_find(c, id_of("/?77"));
	cgroups_suspect(c, other);
	cgroups_limit(c, other, &limit);
	assert_int_equal(limit.quota_ns, 50000000);
	assert_int_equal(cgroups_threads(c, other), 2);
	put_file("?77/cpu.max", NULL);
	put_file("?77/cgroup.threads", NULL);
	cgroups_free(c);
}

static void what_comes_and_goes(void **state)
{
	struct cgroups *c = open_tree();
	uint64_t changes = cgroups_changes(c);
	struct cgroup *gone;

	(void)state;
	cgroups_work(c, true);
	assert_int_equal(cgroups_changes(c), changes);
	make("/a/new");
	cgroups_work(c, true);
	assert_string_equal(listed(c), "/ /a /a/new /a/z /a- /b ");
	assert_int_not_equal(cgroups_changes(c), changes);

	/* It still has threads; then only what is remembered of it; then nothing. */
	gone = cgroups_find(c, id_of("/a/new"));
	gone->living = gone->refs = 1;
	drop("/a/new");
	cgroups_work(c, true);
	assert_string_equal(listed(c), "/ /a /a/new /a/z /a- /b ");
	gone->living = 0;
	cgroups_work(c, true);
	assert_string_equal(listed(c), "/ /a /a/z /a- /b ");
	assert_string_equal(gone->path, "/a/new");
	assert_ptr_equal(cgroups_find(c, gone->id), gone);
	assert_string_equal(listed(c), "/ /a /a/new /a/z /a- /b ");
	gone->refs = 0;
	cgroups_work(c, true);
	assert_string_equal(listed(c), "/ /a /a/z /a- /b ");
	cgroups_free(c);
}

static const struct cgroup_target *refreshed(struct cgroup_scope *s, size_t *nr)
{
	cgroup_scope_refresh(s);
	return cgroup_scope_targets(s, nr);
}

/* The paths of the cgroups in scope now. */
static const char *in_scope(struct cgroup_scope *s)
{
	static char text[512];
	size_t nr;
	const struct cgroup_target *targets = refreshed(s, &nr);

	*text = '\0';
	for (size_t i = 0; i < nr; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s ", targets[i].path,
			 targets[i].gone ? " (gone)" : "");
	return text;
}

/* What has changed in the scope since the last refresh. */
static const char *changed(struct cgroup_scope *s)
{
	static const char *const changes[] = { [TARGET_GONE] = "gone", [TARGET_BACK] = "back", [TARGET_AGAIN] = "again" };
	static char text[512];
	size_t nr;
	const struct cgroup_target *targets = refreshed(s, &nr);

	*text = '\0';
	for (size_t i = 0; i < nr; i++)
		if (targets[i].change != TARGET_SAME)
			snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s %s, ", targets[i].path,
				 changes[targets[i].change]);
	return text;
}

/* Cgroups that match a glob come and go; a cgroup given by name is in scope by its path, and by its name. */
static void globs_follow(void **state)
{
	static const char *const specs[] = { "b", "a*" };
	struct cgroups *c = open_tree();
	struct cgroup_mount mount = { folder, "/", NULL };
	const struct cgroup_mounts mounts = { &mount, 1, 1 };
	struct cgroup_scope *s = cgroup_scope_new(&mounts, specs, 2, NULL, NULL);

	(void)state;
	assert_non_null(s);
	assert_string_equal(in_scope(s), "/b /a /a- ");
	make("/a/a2");
	make("/a/a3");
	assert_string_equal(in_scope(s), "/b /a /a/a2 /a/a3 /a- ");
	drop("/a/a2");
	assert_string_equal(in_scope(s), "/b /a /a/a3 /a- ");
	drop("/a/a3");
	drop("/b");
	assert_string_equal(in_scope(s), "/b (gone) /a /a- ");
	make("/a-/bc");
	assert_string_equal(in_scope(s), "/b (gone) /a /a- ");
	make("/a-/b");
	assert_string_equal(in_scope(s), "/a-/b /a /a- ");
	drop("/a-/b");
	assert_string_equal(in_scope(s), "/a-/b (gone) /a /a- ");
	drop("/a-/bc");
	make("/b");
	assert_string_equal(in_scope(s), "/b /a /a- ");
	cgroup_scope_free(s);
	cgroups_free(c);
}

/* If something happens to several cgroups between two refreshes, each change is known. */
static void all_changes_are_known(void **state)
{
	static const char *const specs[] = { "/a-", "/b", "/a/z" };
	struct cgroup_mount mount = { folder, "/", NULL };
	const struct cgroup_mounts mounts = { &mount, 1, 1 };
	struct cgroups *c = open_tree();
	struct cgroup_scope *s = cgroup_scope_new(&mounts, specs, 3, NULL, NULL);
	char from[sizeof(folder) + 64];

	(void)state;
	assert_non_null(s);
	assert_string_equal(changed(s), "");
	drop("/a-");
	drop("/b");
	assert_string_equal(changed(s), "/a- gone, /b gone, ");
	assert_string_equal(changed(s), "");
	make("/b");
	make("/a/z2");
	drop("/a/z");
	snprintf(from, sizeof(from), "%s", in_folder("/a/z2"));
	assert_int_equal(rename(from, in_folder("/a/z")), 0);
	assert_string_equal(changed(s), "/b back, /a/z again, ");
	assert_string_equal(changed(s), "");
	cgroup_scope_free(s);
	cgroups_free(c);
}

/* A cgroup whose name begins like that of one that is gone is not the same one. */
static void parts_of_names_are_no_names(void **state)
{
	static const char *const specs[] = { "bc" };
	struct cgroups *c = open_tree();
	struct cgroup_mount mount = { folder, "/", NULL };
	const struct cgroup_mounts mounts = { &mount, 1, 1 };
	struct cgroup_scope *s;

	(void)state;
	make("/bcd");
	s = cgroup_scope_new(&mounts, specs, 1, NULL, NULL);
	assert_non_null(s);
	assert_string_equal(in_scope(s), "/bcd ");
	drop("/bcd");
	make("/a/bce");
	assert_string_equal(in_scope(s), "/bcd (gone) ");
	assert_string_equal(in_scope(s), "/bcd (gone) ");
	drop("/a/bce");
	cgroup_scope_free(s);
	cgroups_free(c);
}

#define MANY 200

/* Time that passes with each reading of the clock: a walk that takes none is complete, on a busy machine, too. */
static uint64_t step_ns, now_ns;

int __wrap_clock_gettime(clockid_t id, struct timespec *ts);
int __wrap_clock_gettime(clockid_t id, struct timespec *ts)
{
	(void)id;
	now_ns += step_ns;
	*ts = (struct timespec){ now_ns / 1000000000, now_ns % 1000000000 };
	return 0;
}

/* Reading all cgroups takes longer than a refresh has time for, and continues until the next one. */
static void globs_follow_many(void **state)
{
	static const char *const specs[] = { "later*" };
	struct cgroup_mount mount = { folder, "/", NULL };
	const struct cgroup_mounts mounts = { &mount, 1, 1 };
	struct cgroup_scope *s;
	char path[32];
	size_t nr;

	(void)state;
	make("/later");
	for (int i = 0; i < MANY; i++) {
		snprintf(path, sizeof(path), "/%d", i);
		make(path);
	}
	s = cgroup_scope_new(&mounts, specs, 1, NULL, NULL);
	assert_non_null(s);
	for (int i = 0; i < MANY; i++) {
		snprintf(path, sizeof(path), "/%d/later", i);
		make(path);
	}
	step_ns = 1000000;
	cgroup_scope_refresh(s);
	for (int i = 0; i < 100; i++)
		cgroup_scope_follow(s);
	cgroup_scope_refresh(s);
	step_ns = 0;
	cgroup_scope_targets(s, &nr);
	assert_int_equal(nr, 1 + MANY);
	cgroup_scope_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(names_are_asked_for, folder_new, folder_drop),
		cmocka_unit_test_setup_teardown(name_that_comes_late, folder_new, folder_drop),
		cmocka_unit_test_setup_teardown(name_that_another_has, folder_new, folder_drop),
		cmocka_unit_test_setup_teardown(what_comes_and_goes, folder_new, folder_drop),
		cmocka_unit_test_setup_teardown(globs_follow, folder_new, folder_drop),
		cmocka_unit_test_setup_teardown(globs_follow_many, folder_new, folder_drop),
		cmocka_unit_test_setup_teardown(all_changes_are_known, folder_new, folder_drop),
		cmocka_unit_test_setup_teardown(parts_of_names_are_no_names, folder_new, folder_drop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
