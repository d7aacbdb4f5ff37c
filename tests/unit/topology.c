/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "model/metric.h"
#include "proc/topology.h"
#include "util/online.h"

static void make_file(const char *name, const char *content)
{
	char path[512];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	for (char *slash = path + strlen(folder) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		mkdir(path, 0755);
		*slash = '/';
	}
	f = fopen(path, "w");
	assert_non_null(f);
	fprintf(f, "%s\n", content);
	fclose(f);
}

/* Creates a file for each number in brackets. */
static void make_files(const char *name, const char *content)
{
	const char *open = strchr(name, '['), *at = open + 1;
	int first, last;

	if (!open) {
		make_file(name, content);
		return;
	}
	while (cpulist_next(&at, &first, &last)) {
		for (int number = first; number <= last; number++) {
			char one[256];

			snprintf(one, sizeof(one), "%.*s%d%s", (int)(open - name), name, number, strchr(name, ']') + 1);
			make_files(one, content);
		}
	}
}

/* Unpacks a tree of tests/unit/sysfs. */
static struct topology_reader unpack(const char *tree)
{
	const char *srcdir = getenv("srcdir");
	char path[4096], line[512];
	FILE *f;

	snprintf(path, sizeof(path), "%s/tests/unit/sysfs/%s", srcdir ? srcdir : ".", tree);
	f = fopen(path, "r");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		char *content = strstr(line, ": ");

		if (*line == '#' || !content)
			continue;
		*content = '\0';
		content[strcspn(content + 2, "\n") + 2] = '\0';
		make_files(line, content + 2);
	}
	fclose(f);
	return (struct topology_reader){ .sys = folder };
}

static void check(const struct topology *t, int cpu, int node, int llc, int core, int package)
{
	assert_within(cpu, 0, t->nr - 1);
	assert_true(t->cpus[cpu].online);
	assert_int_equal(t->cpus[cpu].in[TOPOLOGY_NODE], node);
	assert_int_equal(t->cpus[cpu].in[TOPOLOGY_LLC], llc);
	assert_int_equal(t->cpus[cpu].in[TOPOLOGY_CORE], core);
	assert_int_equal(t->cpus[cpu].in[TOPOLOGY_PACKAGE], package);
}

TEST(topology, two_sockets)
{
	struct topology_reader r = unpack("two-sockets");
	const struct topology *t = topology_read(&r);

	assert_int_equal(t->nr, 256);
	for (int cpu = 0; cpu < 256; cpu++)
		check(t, cpu, cpu % 128 / 64, cpu % 128 / 8, cpu % 128, cpu % 128 / 64);
	assert_int_equal(topology_hz(&r, 17), 2900000000);
	assert_int_equal(topology_hz(&r, 145), 1500123000);
	topology_fini(&r);
}

/* Four small cores share a level 2 cache, and all but the last two have a level 3. */
TEST(topology, hybrid_with_holes)
{
	static const int offline[] = { 3, 4, 5, 12, 19 };
	struct topology_reader r = unpack("hybrid");
	const struct topology *t = topology_read(&r);

	assert_int_equal(t->nr, 22);
	check(t, 0, 0, 0, 0, 0);
	check(t, 1, 0, 0, 0, 0);
	check(t, 2, 0, 0, 1, 0);
	check(t, 6, 0, 0, 2, 0);
	check(t, 7, 0, 0, 2, 0);
	check(t, 8, 0, 0, 3, 0);
	check(t, 11, 0, 0, 6, 0);
	check(t, 20, 0, 1, 7, 0);
	check(t, 21, 0, 1, 8, 0);
	FOR_EACH(cpu, offline)
		assert_false(t->cpus[*cpu].online);
	assert_true(topology_hz(&r, 8) == VALUE_NA);
	assert_true(topology_hz(&r, 3) == VALUE_NA);
	topology_fini(&r);
}

TEST(topology, vm_that_tells_nothing)
{
	struct topology_reader r = unpack("vm");
	const struct topology *t = topology_read(&r);

	assert_int_equal(t->nr, 4);
	for (int cpu = 0; cpu < 4; cpu++)
		check(t, cpu, -1, -1, -1, -1);
	assert_true(topology_hz(&r, 0) == VALUE_NA);
	topology_fini(&r);
}

TEST(topology, no_sysfs)
{
	struct topology_reader r = unpack("vm");

	r.sys = "/nonexistent";
	assert_int_equal(topology_read(&r)->nr, 0);
	topology_fini(&r);
}

TEST(topology, read_again_when_cpus_come_and_go)
{
	struct topology_reader r = unpack("hybrid");

	assert_int_equal(topology_read(&r)->nr, 22);
	make_file("node/node0/cpulist", "");
	check(topology_read(&r), 0, 0, 0, 0, 0);
	make_file("cpu/online", "0-2,8");
	assert_int_equal(topology_read(&r)->nr, 9);
	check(topology_read(&r), 8, -1, 0, 2, 0);
	assert_false(topology_read(&r)->cpus[6].online);
	topology_fini(&r);
}

TEST(cpulist, what_the_kernel_writes)
{
	static const struct {
		const char *list;
		int ranges, sum; /* of first and last */
	} cases[] = {
		{ "", 0, 0 },     { "\n", 0, 0 },        { "(null)\n", 0, 0 },
		{ "7\n", 1, 14 }, { "0-3,7\n", 2, 17 }, { "1-2,4-", 2, 11 },
	};

	FOR_EACH(c, cases) {
		const char *at = c->list;
		int first, last, ranges = 0, sum = 0;

		for (; cpulist_next(&at, &first, &last); ranges++)
			sum += first + last;
		assert_int_equal(ranges, c->ranges);
		assert_int_equal(sum, c->sum);
	}
}

int main(void)
{
	RUN_TESTS(cmocka_unit_test_setup_teardown(topology_two_sockets, folder_new, folder_drop),
		  cmocka_unit_test_setup_teardown(topology_hybrid_with_holes, folder_new, folder_drop),
		  cmocka_unit_test_setup_teardown(topology_vm_that_tells_nothing, folder_new, folder_drop),
		  cmocka_unit_test_setup_teardown(topology_no_sysfs, folder_new, folder_drop),
		  cmocka_unit_test_setup_teardown(topology_read_again_when_cpus_come_and_go, folder_new, folder_drop),
		  cmocka_unit_test(cpulist_what_the_kernel_writes));
}
