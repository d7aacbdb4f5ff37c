/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which cgroups are shown, and which CPU limits apply, on hosts with v1, v2 and both: trees like theirs below /tmp. */
#include "folder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "collect/limits.h"
#include "proc/hierarchy.h"
#include "proc/cgroup.h"
#include "proc/mounts.h"
#include "ticks.h"

/* A directory, or a file if it has a text. */
struct entry {
	const char *path, *text;
};

#define LIMIT(path, quota)                                       \
	{ path, NULL }, { path "/cpu.cfs_quota_us", quota "\n" }, \
	{ path "/cpu.cfs_period_us", "100000\n" },               \
	{ path "/cpu.stat", "nr_periods 10\nnr_throttled 4\nthrottled_time 250000000\n" }

static const struct host {
	const char *name;
	struct entry tree[24];
	const char *mountinfo[4]; /* %s: the top */
	const char *shown, *limits; /* controllers */
	const char *paths;        /* of the shown tree; with a limit: QUOTA/PERIOD in ms */
	const char *aside;        /* cgroups of the other tree that have a limit. NULL: no other tree */
} hosts[] = {
	{
		"v2 only",
		{
			{ "/web", NULL }, { "/web/cpu.max", "20000 100000\n" },
			{ "/web/cpu.stat", "usage_usec 7\nnr_periods 10\nnr_throttled 4\nthrottled_usec 250000\n" },
			{ "/web/api", NULL }, { "/web/api/cpu.max", "max 100000\n" },
		},
		{ "30 20 0:26 / %s rw - cgroup2 cgroup2 rw,nsdelegate\n" },
		NULL, NULL, "/ /web=20/100 /web/api ", NULL,
	},
	{
		"v1 only",
		{
			{ "/cpu", NULL }, { "/memory", NULL }, { "/memory/other", NULL },
			LIMIT("/cpu/web", "20000"), LIMIT("/cpu/web/api", "-1"),
		},
		/* Security modules have options of their own. */
		{ "30 20 0:26 / %s/memory rw - cgroup cgroup rw,seclabel,memory\n",
		  "31 20 0:27 / %s/cpu rw - cgroup cgroup rw,seclabel,favordynmods,cpu,cpuacct\n" },
		"cpu", "cpu", "/ /web=20/100 /web/api ", NULL,
	},
	{
		"v1 and v2",
		{
			{ "/unified", NULL }, { "/unified/app", NULL },
			{ "/cpu", NULL }, LIMIT("/cpu/tenant7", "20000"), { "/cpu/tenant7/job", NULL },
			LIMIT("/cpu/app", "-1"), LIMIT("/cpu/app/inner", "50000"),
		},
		{ "30 20 0:26 / %s/unified rw - cgroup2 cgroup2 rw\n", "31 20 0:27 / %s/cpu rw - cgroup cgroup rw,cpu\n" },
		NULL, "cpu", "/ /app ", "cpu:/app/inner=50/100 cpu:/tenant7=20/100 cpu:/tenant7/job ",
	},
	{
		"v2 without cgroups",
		{ { "/unified", NULL }, { "/cpu", NULL }, LIMIT("/cpu/tenant7", "20000") },
		{ "30 20 0:26 / %s/unified rw - cgroup2 cgroup2 rw\n", "31 20 0:27 / %s/cpu rw - cgroup cgroup rw,cpu\n" },
		"cpu", "cpu", "/ /tenant7=20/100 ", NULL,
	},
};

static void make(const struct entry *e)
{
	if (e->text)
		put_file(e->path, e->text);
	else
		assert_int_equal(mkdir(in_folder(e->path), 0755), 0);
}

static struct cgroup_mounts mounts_of(const struct host *h)
{
	struct cgroup_mounts mounts;
	char text[1024] = "";
	FILE *f;

	for (size_t i = 0; i < ARRAY_SIZE(h->mountinfo) && h->mountinfo[i]; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), h->mountinfo[i], folder);
	f = fmemopen(text, strlen(text), "r");
	assert_non_null(f);
	assert_int_equal(cgroup_mounts_read(&mounts, f), 0);
	fclose(f);
	return mounts;
}

/* The contents of a tree; of one aside, the cgroups with a limit. */
static const char *listed(struct cgroups *c)
{
	static char text[512];
	size_t nr;
	struct cgroup *const *list = cgroups_list(c, &nr);

	*text = '\0';
	for (size_t i = 0; i < nr; i++) {
		struct cgroup_limit limit;
		size_t used = strlen(text);

		if (list[i]->aside && !cgroups_below_limit(list[i]))
			continue;
		cgroups_limit(c, list[i], &limit);
		snprintf(text + used, sizeof(text) - used, "%s", list[i]->path);
		used = strlen(text);
		if (limit.quota_ns)
			snprintf(text + used, sizeof(text) - used, "=%d/%d", (int)(limit.quota_ns / 1000000),
				 (int)(limit.period_ns / 1000000));
		strcat(text, " ");
	}
	return text;
}

/* The effect of a limit is the growth of its cpu.stat. */
static void check_growth(struct cgroups *with, const char *path, const char *stat, const char *text)
{
	size_t nr;
	struct cgroup *const *list = cgroups_list(with, &nr);
	struct cgroup_limit limit;

	put_file(stat, text);
	for (size_t i = 0; i < nr; i++) {
		if (strcmp(list[i]->path, path))
			continue;
		list[i]->acted = true;
		cgroups_limit(with, list[i], &limit);
		assert_int_equal(limit.nr_throttled, 3);
		assert_int_equal(limit.throttled_ns, 50000000);
		return;
	}
	print_error("no %s\n", path);
	assert_true(false);
}

static void check_host(const struct host *h)
{
	const char *shown = "?", *limits = "?";
	struct cgroup_mounts mounts;
	struct cgroups *c;

	print_message("%s\n", h->name);
	assert_int_equal(folder_new(NULL), 0);
	for (size_t i = 0; i < ARRAY_SIZE(h->tree) && h->tree[i].path; i++)
		make(&h->tree[i]);
	mounts = mounts_of(h);
	c = hierarchy_open(&mounts, NULL, &shown, &limits);
	assert_non_null(c);
	assert_string_equal(shown ? shown : "v2", h->shown ? h->shown : "v2");
	assert_string_equal(limits ? limits : "v2", h->limits ? h->limits : "v2");
	assert_string_equal(listed(c), h->paths);
	if (h->aside) {
		assert_non_null(cgroups_limits(c));
		assert_string_equal(listed(cgroups_limits(c)), h->aside);
		check_growth(cgroups_limits(c), "cpu:/tenant7", "/cpu/tenant7/cpu.stat",
			     "nr_periods 20\nnr_throttled 7\nthrottled_time 300000000\n");
	} else {
		assert_null(cgroups_limits(c));
	}
	if (!h->shown && !h->aside)
		check_growth(c, "/web", "/web/cpu.stat", "nr_throttled 7\nthrottled_usec 300000\n");
	cgroups_free(c);
	cgroup_mounts_fini(&mounts);
	assert_int_equal(folder_drop(NULL), 0);
}

TEST(hierarchy, shown_and_limiting)
{
	FOR_EACH(h, hosts)
		check_host(h);
}

/* A container with a cgroup namespace has a mount of its own, and may have the host's beside it, in either order. */
TEST(hierarchy, host_beside_own)
{
	static const char *const lines[] = { "30 20 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
					     "31 20 0:26 /.. /slice rw - cgroup2 cgroup2 rw\n",
					     "32 20 0:26 /../.. /host rw - cgroup2 cgroup2 rw\n",
					     "33 20 0:26 /..own /own rw - cgroup2 cgroup2 rw\n" };

	for (size_t first = 0; first < ARRAY_SIZE(lines); first++) {
		struct host h = { .name = "" };
		struct cgroup_mounts mounts;

		for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
			h.mountinfo[i] = lines[(first + i) % ARRAY_SIZE(lines)];
		mounts = mounts_of(&h);
		assert_string_equal(cgroup_mount_find(&mounts, NULL)->path, "/host");
		cgroup_mounts_fini(&mounts);
	}
}

/* A limited cgroup is removed and made again: what the new one did is not the old one's, and no count falls below 0. */
TEST(hierarchy, limit_of_one_that_is_made_again)
{
	static const struct entry one[] = { LIMIT("/x", "20000") }, other[] = { LIMIT("/z", "20000") };
	char path[128], to[128];
	struct cgroup_limit limit;
	struct cgroup *const *list;
	struct cgroups *c;
	size_t nr;

	FOR_EACH(e, one)
		make(e);
	c = cgroups_open(folder);
	assert_non_null(c);
	list = cgroups_list(c, &nr);
	assert_int_equal(nr, 2);
	list[1]->acted = true;
	cgroups_limit(c, list[1], &limit);
	put_file("/x/cpu.stat", "nr_throttled 2\nthrottled_time 1000\n");
	cgroups_limit(c, list[1], &limit);
	assert_true(limit.nr_throttled == VALUE_NA);
	cgroups_limit(c, list[1], &limit);
	assert_int_equal(limit.nr_throttled, 0);
	FOR_EACH(e, other)
		make(e);
	snprintf(path, sizeof(path), "%s/x", folder);
	snprintf(to, sizeof(to), "%s/y", folder);
	assert_int_equal(rename(path, to), 0); /* its folder's number stays in use */
	snprintf(to, sizeof(to), "%s/z", folder);
	assert_int_equal(rename(to, path), 0);
	cgroups_limit(c, list[1], &limit);
	assert_true(limit.nr_throttled == VALUE_NA);
	assert_true(limit.throttled_ns == VALUE_NA);
	cgroups_free(c);
}

/* The periods in which threads of /x were throttled in the next refresh. */
static uint64_t throttled_periods(struct model *m, struct limits *l)
{
	const struct tick *t;
	uint64_t nr = VALUE_NA;

	tick_begin(m);
	assert_int_equal(limits_tick(l, SEC), 0);
	t = tick_end(m);
	for (size_t i = 0; i < t->nr_cgroups; i++)
		if (!strcmp(t->cgroups[i].cgroup->path, "/x"))
			nr = t->cgroups[i].limit->nr_throttled;
	return nr;
}

/* The effect of a limit is read only where threads did something, and all of it then. */
TEST(hierarchy, limit_of_one_that_rests)
{
	static const struct entry tree[] = { LIMIT("/x", "20000"), { "/x/y", NULL } };
	struct cgroup *const *list;
	struct model *m = model_new(0);
	struct cgroups *c;
	struct limits *l;
	size_t nr;

	FOR_EACH(e, tree)
		make(e);
	c = cgroups_open(folder);
	assert_non_null(c);
	l = limits_new(m, c);
	assert_non_null(l);
	limits_first(l);
	put_file("/x/cpu.stat", "nr_throttled 7\nthrottled_time 300000000\n");
	assert_int_equal(throttled_periods(m, l), 0);
	list = cgroups_list(c, &nr);
	assert_int_equal(nr, 3);
	list[2]->acted = true;
	assert_int_equal(throttled_periods(m, l), 3);
	put_file("/x/cpu.stat", "nr_throttled 8\nthrottled_time 300000000\n");
	assert_int_equal(throttled_periods(m, l), 0);
	limits_free(l);
	model_free(m);
	cgroups_free(c);
}

/* Threads were throttled by a limit that the walk has not seen: it is read at once, with those above it. */
TEST(hierarchy, limit_that_came_later)
{
	static const struct entry later[] = { LIMIT("/x", "-1"), { "/x/y", NULL }, { "/x/y/cpu.cfs_quota_us", "-1\n" } };
	static const struct entry now = { "/x/cpu.cfs_quota_us", "30000\n" };
	struct cgroup *const *list;
	struct cgroups *c;
	size_t nr;

	FOR_EACH(e, later)
		make(e);
	c = cgroups_open(folder);
	assert_non_null(c);
	assert_string_equal(listed(c), "/ /x /x/y ");
	make(&now);
	list = cgroups_list(c, &nr);
	cgroups_suspect(c, list[2]);
	assert_string_equal(listed(c), "/ /x=30/100 /x/y ");
	assert_true(cgroups_below_limit(list[2]));
	cgroups_free(c);
}

/* Time that passes with each look at the clock; 0: it is the real one. */
static uint64_t step_ns, now_ns;

int __real_clock_gettime(clockid_t id, struct timespec *ts);
int __wrap_clock_gettime(clockid_t id, struct timespec *ts);
int __wrap_clock_gettime(clockid_t id, struct timespec *ts)
{
	if (!step_ns)
		return __real_clock_gettime(id, ts);
	now_ns += step_ns;
	*ts = (struct timespec){ now_ns / SEC, now_ns % SEC };
	return 0;
}

/* How many cgroups have a known memory after a refresh of @interval, each of which takes 20 us to read. */
static size_t charged(struct model *m, struct limits *l, struct cgroups *c, uint64_t interval)
{
	struct cgroup *const *list;
	size_t nr, known = 0;

	tick_begin(m);
	step_ns = 20000;
	assert_int_equal(limits_tick(l, interval), 0);
	step_ns = 0;
	tick_put(tick_end(m));
	list = cgroups_list(c, &nr);
	for (size_t i = 0; i < nr; i++) {
		struct levels levels;

		cgroups_charges(list[i], &levels);
		known += levels.v[METRIC_MEMORY - METRIC_LEVELS] != VALUE_NA;
	}
	return known;
}

static void make_charged(const char *path)
{
	char file[64];

	snprintf(file, sizeof(file), "%s/memory.current", path);
	make(&(struct entry){ path, NULL });
	make(&(struct entry){ file, "4096\n" });
}

/* 300 cgroups with memory below the root. */
static struct cgroups *open_charged(void)
{
	struct cgroup_mount v2 = { folder, "/", NULL };
	struct cgroups *c;

	put_file("/cgroup.controllers", "cpu memory\n");
	for (int i = 0; i < 300; i++) {
		char path[32];

		snprintf(path, sizeof(path), "/%d", i);
		make_charged(path);
	}
	c = cgroups_open(folder);
	assert_non_null(c);
	assert_int_equal(cgroups_charged_by(c, &(struct cgroup_mounts){ &v2, 1, 1 }), 0);
	return c;
}

/* A longer interval has more time for reading what cgroups are charged for. */
TEST(hierarchy, memory_of_many)
{
	struct model *m = model_new(0);
	struct cgroups *c = open_charged();
	struct limits *l = limits_new(m, c);

	assert_non_null(l);
	assert_in_range(charged(m, l, c, SEC / 2), 40, 50);
	assert_in_range(charged(m, l, c, 4 * SEC), 230, 250);
	limits_free(l);
	model_free(m);
	cgroups_free(c);
}

/* A table that cannot be read is not one without cgroups. */
TEST(hierarchy, unread)
{
	FILE *f = fopen("/", "r");
	struct cgroup_mounts mounts;

	assert_non_null(f);
	assert_int_equal(cgroup_mounts_read(&mounts, f), -EISDIR);
	cgroup_mounts_fini(&mounts);
	fclose(f);
}

/* Of two cgroups of one path the one that was removed has no memory, even if its turn to be read is far: @nr more are new then. */
static void made_again(int nr)
{
	struct model *m = model_new(0);
	struct cgroups *c = open_charged();
	struct limits *l = limits_new(m, c);
	struct cgroup *const *list;
	char from[160], to[128];
	struct levels levels;
	size_t nr_listed;

	assert_non_null(l);
	assert_int_equal(charged(m, l, c, 8 * SEC), 300);
	list = cgroups_list(c, &nr_listed);
	assert_int_equal(nr_listed, 301);
	assert_string_equal(list[300]->path, "/99");
	list[300]->living = 1;
	snprintf(from, sizeof(from), "%s/99", folder);
	snprintf(to, sizeof(to), "%s.old", folder);
	assert_int_equal(rename(from, to), 0); /* its folder's number stays in use */
	make_charged("/99");
	for (int i = 0; i < nr; i++) {
		snprintf(from, sizeof(from), "/%d", 1000 + i);
		make(&(struct entry){ from, NULL });
	}
	for (int i = 0; nr_listed < 302U + nr && i < 1000; i++) {
		cgroups_work(c, true);
		list = cgroups_list(c, &nr_listed);
	}
	assert_int_equal(nr_listed, 302 + nr);
	for (size_t i = 0; i < nr_listed; i++)
		if (!strcmp(list[i]->path, "/99")) {
			cgroups_charges(list[i], &levels);
			assert_true(levels.v[METRIC_MEMORY - METRIC_LEVELS] == VALUE_NA);
		}
	snprintf(from, sizeof(from), "rm -r %s", to);
	assert_int_equal(system(from), 0);
	limits_free(l);
	model_free(m);
	cgroups_free(c);
}

TEST(hierarchy, memory_of_one_that_is_made_again)
{
	made_again(0);
}

TEST(hierarchy, memory_of_one_that_is_made_again_with_many)
{
	made_again(400);
}

int main(void)
{
	RUN_TESTS(cmocka_unit_test(hierarchy_shown_and_limiting),
		  cmocka_unit_test(hierarchy_host_beside_own),
		  cmocka_unit_test_setup_teardown(hierarchy_limit_of_one_that_is_made_again, folder_new, folder_drop),
		  cmocka_unit_test_setup_teardown(hierarchy_limit_of_one_that_rests, folder_new, folder_drop),
		  cmocka_unit_test_setup_teardown(hierarchy_limit_that_came_later, folder_new, folder_drop),
		  cmocka_unit_test_setup_teardown(hierarchy_memory_of_many, folder_new, folder_drop),
		  cmocka_unit_test_setup_teardown(hierarchy_memory_of_one_that_is_made_again, folder_new, folder_drop),
		  cmocka_unit_test_setup_teardown(hierarchy_memory_of_one_that_is_made_again_with_many, folder_new, folder_drop),
		  cmocka_unit_test(hierarchy_unread));
}
