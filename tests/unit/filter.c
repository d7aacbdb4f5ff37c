/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include <errno.h>
#include <locale.h>
#include <stdbool.h>
#include <string.h>

#include "model/owner.h"
#include "query/filter.h"

#define SEC 1000000000ULL

static const struct owner node = { OWNER_UNIT, .unit = "kubelet.service", .short_unit = "kubelet" };
static const struct owner pod = { OWNER_POD, .pod_id = "0f3c1b9e-6d9b", .pod = "shop/api-7f9c" };
static const struct owner container = { OWNER_CONTAINER, .container_id = "3f2a91c04b7e5d6c", .container = "api" };
static struct cgroup top = { .id = 1, .path = "/", .owner = &node };
static struct cgroup pods = { .id = 2, .path = "/kubepods", .parent = &top, .owner = &pod };
static struct cgroup cgroup = { .id = 3, .path = "/kubepods/api-7f9c", .parent = &pods, .owner = &container };
static struct process process = { .tgid = 4711, .ppid = 1, .comm = "api", .cgroup = &cgroup };
static struct life life = { .tid = 4712, .tgid = 4711, .ppid = 1, .uid = 33, .comm = "API worker",
			    .process = &process, .cgroup = &cgroup };
static struct values values; /* RUN 5 %, RUNQ 20 ms, RUNQ_MAX 3 ms, 100 wakeups, USER unknown */
static struct row row = { .kind = ROW_THREAD, .state = STATE_D, .thread = &life,
			  .process = &process, .cgroup = &cgroup, .nr_threads = 1,
			  .values = &values, .own = &values, .number = 4712 };

static const struct tick tick = { .seq = 1, .interval_ns = SEC };

static int user(const char *name, uint32_t *uid)
{
	if (strcmp(name, "www-data"))
		return -ENOENT;
	*uid = 33;
	return 0;
}

static int setup(void **state)
{
	(void)state;
	values.v[METRIC_RUN] = 50000000;
	values.v[METRIC_RUNQ] = 20000000;
	values.v[METRIC_RUNQ_MAX] = 3000000;
	values.v[METRIC_WAKEUPS] = 100;
	values.v[METRIC_USER] = VALUE_NA;
	return 0;
}

static bool passes(const char *text, const struct row *r)
{
	struct filter_error error;
	struct filter *f = filter_parse(text, user, &error);
	bool match;

	if (!f)
		fail_msg("\"%s\": %s at %d", text, error.what, error.column);
	match = filter_match(f, r, &tick);
	filter_free(f);
	return match;
}

TEST(filter, threads)
{
	static const struct {
		const char *text;
		bool want;
	} cases[] = {
		{ "", true },
		{ "  \t ", true },
		{ "worker", true },
		{ "WORKER", true },
		{ "kworker", false },
		{ "!kworker", true },
		{ "api worker", true },
		{ "api kworker", false },
		{ "4712", true },
		{ "4711", true },
		{ "471", false },
		{ "cg:api", true },
		{ "cg:kubepods", true },
		{ "cg:*/api-*", true },
		{ "cg:api-*", false },
		{ "cg=/kubepods/api-7f9c", true },
		{ "cgroup=api", false },
		{ "cg:web,api", true },
		{ "cg!=/kubepods/api-7f9c", false },
		{ "unit:kube", true },
		{ "unit=kubelet", true },
		{ "unit=kubelet.service", true },
		{ "unit=kube", false },
		{ "unit!=ssh", true },
		{ "container:API", true },
		{ "container=api,web", true },
		{ "container:3f2a9", true },
		{ "container:3f2", false },
		{ "container:2a91", false },
		{ "container:web", false },
		{ "!container:web", true },
		{ "pod:shop/", true },
		{ "pod=api-7f9c", true },
		{ "pod=shop/api-7f9c", true },
		{ "pod:shop/*", true },
		{ "pod:0f3c1b9e", true },
		{ "pod=shop", false },
		{ "comm!=sh,bash", true },
		{ "user:www-data", true },
		{ "!user=www-data", false },
		{ "state=D", true },
		{ "state=R,D", true },
		{ "state=runqueue", false },
		{ "is:kthread", false },
		{ "is:exited", false },
		{ "pid=4711 tid=4712 ppid=1", true },
		{ "tid>4712", false },
		{ "tid!=4712", false },
		{ "cpu>4", true },
		{ "cpu>5", false },
		{ "cpu>=5", true },
		{ "cpu>=5%", true },
		{ "run>49ms", true },
		{ "runq>=20ms runq<2.1", true },
		{ "runq.max>1ms", true },
		{ "runq.max>3ms", false },
		{ "wakeups=100", true },
		{ "wake>=0.1K", true },
		{ "wakeups<100/s", false },
		{ "runq.p99>1ms", false }, /* no waits: unknown */
		{ "usr<50", false },       /* unknown */
		{ "usr!=50", false },
		{ "!usr<50", true },
		{ "threads=1", true },
	};

	FOR_EACH (c, cases)
		if (passes(c->text, &row) != c->want)
			fail_msg("\"%s\" is not %d", c->text, c->want);
}

/* Threads and processes that slept share their values. */
TEST(filter, memory_of_each)
{
	const uint64_t megabytes[] = { 2000, 1, 500 };
	struct levels levels[ARRAY_SIZE(megabytes)];
	struct filter_error error;
	struct filter *f = filter_parse("rss>100M", user, &error);

	assert_non_null(f);
	for (size_t i = 0; i < ARRAY_SIZE(megabytes); i++) {
		struct row one = row;

		levels_unknown(&levels[i]);
		levels[i].v[METRIC_RSS - METRIC_LEVELS] = megabytes[i] << 20;
		one.levels = &levels[i];
		assert_int_equal(filter_match(f, &one, &tick), megabytes[i] > 100);
	}
	filter_free(f);
}

TEST(filter, other_rows)
{
	struct row p = row, c = row;

	p.kind = ROW_PROCESS;
	p.thread = NULL;
	c.kind = ROW_CGROUP;
	c.thread = NULL;
	c.process = NULL;
	assert_true(passes("pid=4711 api cg:api cpu>4", &p));
	assert_false(passes("tid=4712", &p));
	assert_false(passes("is:kthread", &p));
	assert_false(passes("user:www-data", &p)); /* its leader belongs to another user */
	assert_true(passes("api cpu>4", &c));
	assert_true(passes("cg:api", &c));
	assert_false(passes("comm:api", &c));
	assert_false(passes("pid=4711", &c));
	assert_false(passes("user:www-data", &c));
	assert_false(passes("is:kthread", &c));
	process.flags = PF_KTHREAD;
	assert_true(passes("is:kthread", &p));
	process.flags = 0;
}

TEST(filter, errors_point_at_the_column)
{
	static const struct {
		const char *text;
		int column;
		const char *what;
	} cases[] = {
		{ "api foo>5", 4, "no column foo" },
		{ "cpu>", 4, "a value is missing" },
		{ "cpu>x", 4, "not a number" },
		{ "cpu>1e3", 4, "not a number" },
		{ "cpu>5K", 4, "RUN% is in %" },
		{ "runq.max>5", 9, "RQ-MAX is in time" },
		{ "wakeups>5ms", 8, "events a second" },
		{ "comm>5", 0, "comm is text" },
		{ "state=Z", 6, "state is one of" },
		{ "state=D,,R", 8, "a value is missing" },
		{ "is:tall", 3, "is: kthread" },
		{ "!", 1, "! must be followed by a term" },
		{ ">5", 0, "a name is missing" },
		{ "user:nobody", 5, "no user nobody" },
		{ "a\xc3\xa4\xe4\xb8\x96 tid>x", 9, "not a number" }, /* wide: two cells */
		{ "tid>x\x1b[2J", 4, "not a number: x\\x1b[2J" },
	};
	struct filter_error error;

	FOR_EACH (c, cases) {
		assert_null(filter_parse(c->text, user, &error));
		if (error.column != c->column || !strstr(error.what, c->what))
			fail_msg("\"%s\": %s at %d", c->text, error.what, error.column);
	}
}

/* A filter is asked about the same rows at each refresh, which have other values then. */
TEST(filter, rows_that_change)
{
	struct filter_error error;
	struct filter *f = filter_parse("cpu>5", user, &error);
	struct tick at = { .interval_ns = SEC };

	assert_non_null(f);
	for (at.seq = 1; at.seq < 5; at.seq++) {
		values.v[METRIC_RUN] = at.seq % 2 ? 60000000 : 40000000;
		for (int times = 0; times < 2; times++)
			assert_int_equal(filter_match(f, &row, &at), at.seq % 2);
	}
	values.v[METRIC_RUN] = 50000000;
	filter_free(f);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(filter_threads),
		cmocka_unit_test(filter_rows_that_change),
		cmocka_unit_test(filter_memory_of_each),
		cmocka_unit_test(filter_other_rows),
		cmocka_unit_test(filter_errors_point_at_the_column),
	};

	setlocale(LC_ALL, "C.UTF-8");
	return cmocka_run_group_tests(cases, setup, NULL);
}
