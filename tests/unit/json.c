/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ticks.h"

#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>

#include "export/exporter.h"
#include "export/json/json_text.h"
#include "model/sample.h"
#include "model/wait.h"
#include "query/filter.h"
#include "query/source.h"
#include "util/clock.h"
#include "util/map.h"

#define ROWS 80000

static uint64_t no_names(void *arg)
{
	(void)arg;
	return 0;
}

static void no_name(void *arg, int tid, char *buf, size_t size)
{
	(void)arg, (void)tid, (void)size;
	*buf = '\0';
}

/* A tick in which @nr threads end. */
static const struct tick *threads_end(struct model *m, struct cgroup *cgroup, struct life **lives, int nr)
{
	struct values v = { .v = { [METRIC_RUN] = 123456789, [METRIC_SLEEP] = 876543211, [METRIC_RUNQ_MAX] = 4567 } };
	const struct tick *t;

	v.v[METRIC_USER] = VALUE_NA;
	tick_begin(m);
	for (int i = 0; i < nr; i++)
		assert_int_equal(model_thread(m, lives[i], STATE_DEAD, true, &v), 0);
	tick_cgroup(m, cgroup, NULL);
	t = tick_end(m);
	assert_int_equal(t->nr_active, nr);
	return t;
}

/* Lower bound for the cost of a line of these bytes: the same text as a sequence of strings. */
static uint64_t cost_of_text(FILE *to, const char *text, size_t bytes)
{
	uint64_t from = clock_ns(CLOCK_THREAD_CPUTIME_ID);

	rewind(to);
	for (size_t at = 0; at < bytes; at += 16)
		fprintf(to, "%.*s", bytes - at < 16 ? (int)(bytes - at) : 16, text + at);
	fflush(to);
	return clock_ns(CLOCK_THREAD_CPUTIME_ID) - from;
}

/* Writes a whole line. Returns the number of slices. */
static int write_line(FILE *to, const struct tick *t, struct export *o, uint64_t slice_ns)
{
	int slices = 0, more = export_json.tick(o, to, t);

	for (; more > 0; slices++)
		more = export_json.more(o, slice_ns ? clock_ns(CLOCK_MONOTONIC) + slice_ns : 0);
	assert_int_equal(more, 0);
	assert_null(o->state);
	return slices;
}

static uint64_t cost_of_line(FILE *to, const struct tick *t, struct export *o)
{
	uint64_t from = clock_ns(CLOCK_THREAD_CPUTIME_ID);

	rewind(to);
	assert_int_equal(write_line(to, t, o, 0), 1);
	return clock_ns(CLOCK_THREAD_CPUTIME_ID) - from;
}

/* Callers that come between two slices wait only for one slice. */
TEST(json, a_line_in_slices_is_the_same)
{
	const struct source source = { .thread_name = no_name, .names_generation = no_names };
	struct export o = { .host = "host", .kernel = "6.1", .scope = "all", .source = &source };
	struct model *m = model_new(0);
	struct cgroup cgroup = { .id = 1, .path = "/" };
	struct life **lives = calloc(ROWS, sizeof(*lives));
	const struct tick *t;
	char *text[2], *rest;
	size_t bytes[2];
	FILE *half;

	for (int i = 0; i < ROWS; i++)
		lives[i] = tick_life(m, 1000 + i, "worker", &cgroup);
	t = threads_end(m, &cgroup, lives, ROWS);
	for (int i = 0; i < 2; i++) {
		FILE *to = open_memstream(&text[i], &bytes[i]);
		int slices = write_line(to, t, &o, i ? 2000000 : 0);

		assert_true(i ? slices > 3 : slices == 1);
		fclose(to);
	}
	assert_int_equal(bytes[0], bytes[1]);
	assert_memory_equal(text[0], text[1], bytes[0]);
	half = open_memstream(&rest, &bytes[1]);
	assert_int_equal(export_json.tick(&o, half, t), 1);
	assert_int_equal(export_json.more(&o, 1), 1);
	assert_int_equal(export_json.end(&o, NULL), 0); /* the line stays incomplete */
	assert_null(o.state);
	fclose(half);
	assert_true(bytes[1] < bytes[0]);
	free(rest);
	free(text[0]);
	free(text[1]);
	tick_put(t);
	for (int i = 0; i < ROWS; i++)
		model_life_end(m, lives[i]);
	free(lives);
	model_free(m);
}

/* 80,000 threads that end in one refresh fit in one turn of the main loop. */
TEST(json, a_line_takes_no_longer_than_its_text)
{
	const struct source source = { .thread_name = no_name, .names_generation = no_names };
	struct export o = { .host = "host", .kernel = "6.1", .scope = "all", .source = &source };
	struct model *m = model_new(0);
	struct cgroup cgroup = { .id = 1, .path = "/system.slice/containerd.service" };
	struct life **lives = calloc(ROWS, sizeof(*lives));
	uint64_t text = UINT64_MAX, line = UINT64_MAX, cost;
	const struct tick *t;
	size_t bytes;
	char *to_text;
	FILE *to;

	for (int i = 0; i < ROWS; i++)
		lives[i] = tick_life(m, 1000 + i, "worker", &cgroup);
	t = threads_end(m, &cgroup, lives, ROWS);
	to = open_memstream(&to_text, &bytes);
	for (int i = 0; i < 3; i++) {
		cost = cost_of_line(to, t, &o);
		line = cost < line ? cost : line;
	}
	fflush(to);
	for (int i = 0; i < 3; i++) {
		char *copy = strdup(to_text);

		cost = cost_of_text(to, copy, strlen(copy));
		text = cost < text ? cost : text;
		free(copy);
	}
	print_message("%.0f ns a row, %.0f ns as mere text; %zu bytes\n", (double)line / ROWS, (double)text / ROWS,
		      strlen(to_text) / ROWS);
	if (line > text)
		fail_msg("a row takes %.0f ns, its text %.0f ns", (double)line / ROWS, (double)text / ROWS);
	fclose(to);
	free(to_text);
	tick_put(t);
	for (int i = 0; i < ROWS; i++)
		model_life_end(m, lives[i]);
	free(lives);
	model_free(m);
}

static struct json *begin_text(char **text, size_t *bytes)
{
	struct json *j = calloc(1, sizeof(*j));

	assert_non_null(j);
	j->to = open_memstream(text, bytes);
	assert_non_null(j->to);
	return j;
}

static void end_text(struct json *j)
{
	assert_int_equal(json_end(j), 0);
	fclose(j->to);
	free(j);
}

TEST(json, values_of_all_kinds)
{
	size_t bytes;
	char *text;
	struct json *j = begin_text(&text, &bytes);

	json_open(j, NULL, '{');
	json_number(j, "none", VALUE_NA);
	json_number(j, "zero", 0);
	json_number(j, "most", UINT64_MAX - 1);
	json_int(j, "less", INT64_MIN);
	json_open(j, "list", '[');
	json_int(j, NULL, -1);
	json_int(j, NULL, 2);
	json_close(j, ']');
	json_open(j, "empty", '{');
	json_close(j, '}');
	json_boolean(j, "is", true);
	json_string(j, "text", "a\"b\\c/d");
	json_text(j, "bytes", "e\x1b\xc3\xa9\xff", 5);
	json_close(j, '}');
	end_text(j);
	assert_string_equal(text, "{\"none\":null,\"zero\":0,\"most\":18446744073709551614,\"less\":-9223372036854775808,"
				  "\"list\":[-1,2],\"empty\":{},\"is\":true,\"text\":\"a\\\"b\\\\c/d\","
				  "\"bytes\":\"e\\\\x1b\xc3\xa9\\\\xff\"}\n");
	free(text);
}

/* Each byte of the longest argument takes four characters. */
TEST(json, a_text_that_grows)
{
	char raw[JSON_TEXT_MAX], *text;
	size_t bytes;
	struct json *j = begin_text(&text, &bytes);

	memset(raw, '\n', sizeof(raw));
	raw[sizeof(raw) - 1] = 'z';
	json_text(j, NULL, raw, sizeof(raw));
	end_text(j);
	assert_int_equal(bytes, strlen("\"\"\n") + (sizeof(raw) - 1) * strlen("\\\\x0a") + 1);
	assert_string_equal(text + bytes - strlen("\\\\x0az\"\n"), "\\\\x0az\"\n");
	free(text);
}

/* The numbers of a list of objects, as in "1 2". */
static const char *numbers(struct json_object *line, const char *list, const char *name)
{
	struct json_object *rows, *number;
	static char text[80];

	*text = '\0';
	assert_true(json_object_object_get_ex(line, list, &rows));
	for (size_t i = 0; i < json_object_array_length(rows); i++) {
		assert_true(json_object_object_get_ex(json_object_array_get_idx(rows, i), name, &number));
		sprintf(text + strlen(text), "%s%d", i ? " " : "", json_object_get_int(number));
	}
	return text;
}

/* The time of all threads that a weight's stacks are a part of. */
static int64_t total_of(struct json_object *line, const char *weight)
{
	struct json_object *stacks, *of, *total;

	assert_true(json_object_object_get_ex(line, "stacks", &stacks));
	assert_true(json_object_object_get_ex(stacks, weight, &of));
	assert_true(json_object_object_get_ex(of, "total_ns", &total));
	return json_object_get_int64(total);
}

/* A filter that matches a thread lists its process, too. */
TEST(json, processes_of_what_a_filter_matches)
{
	static const struct {
		const char *filter, *threads, *processes;
		bool all;
	} cases[] = {
		{ "", "2 10 11", "2 10", false },
		{ "comm=worker", "11", "10", false },
		{ "comm=sleeper", "", "", false },
		{ "comm=sleeper", "3", "3", true },
		{ "threads=2", "", "10", false },
		{ "cpu>60", "", "10", false },
		{ "cpu>60", "", "10", true },
	};
	const struct values busy = { .v = { [METRIC_RUN] = SEC / 2 } };
	const struct source source = { .thread_name = no_name, .names_generation = no_names };
	struct model *m = model_new(0);
	struct cgroup cgroup = { .id = 1, .path = "/" };
	const struct identity worker = { .tid = 11, .tgid = 10, .start_ns = 2000, .comm = "worker" };
	struct life *lives[] = { tick_life(m, 2, "other", &cgroup), tick_life(m, 10, "server", &cgroup),
				 model_life(m, &worker, &cgroup), tick_life(m, 3, "sleeper", &cgroup) };
	const struct tick *t;

	tick_begin(m);
	for (int i = 0; i < 3; i++)
		assert_int_equal(model_thread(m, lives[i], STATE_SLEEP, false, &busy), 0);
	assert_int_equal(model_idle(m, lives[3], STATE_SLEEP), 0);
	tick_cgroup(m, &cgroup, NULL);
	t = tick_end(m);
	FOR_EACH(c, cases) {
		struct filter_error error;
		struct filter *filter = filter_parse(c->filter, NULL, &error);
		struct export o = { .host = "host", .kernel = "6.1", .scope = "all", .source = &source, .filter = filter,
				    .all = c->all };
		struct json_object *line;
		char *text;
		size_t bytes;
		FILE *to = open_memstream(&text, &bytes);

		assert_non_null(filter);
		write_line(to, t, &o, 0);
		fclose(to);
		line = json_tokener_parse(text);
		assert_string_equal(numbers(line, "threads", "tid"), c->threads);
		assert_string_equal(numbers(line, "processes", "tgid"), c->processes);
		assert_int_equal(total_of(line, "cpu"), 3 * (SEC / 2));
		assert_int_equal(total_of(line, "sleep"), SEC); /* it has no sample */
		json_object_put(line);
		free(text);
		filter_free(filter);
	}
	tick_put(t);
	for (size_t i = 0; i < ARRAY_SIZE(lives); i++)
		model_life_end(m, lives[i]);
	model_free(m);
}

/* Names of the searched threads: 5000 lives. Counts the searches. */
static void name_5000(void *searches, const struct map *names)
{
	char *name = map_get(names, 5000);

	++*(int *)searches;
	assert_int_equal(names->nr, 2);
	assert_non_null(name);
	memcpy(name, "client\n", sizeof("client\n"));
}

/* The names of a thread's wakers, as in "a - ". */
static void waker_names(struct json_object *line, size_t thread, char *text)
{
	struct json_object *rows, *wakers, *comm;

	*text = '\0';
	assert_true(json_object_object_get_ex(line, "threads", &rows));
	assert_true(json_object_object_get_ex(json_object_array_get_idx(rows, thread), "wakers", &wakers));
	for (size_t i = 0; i < json_object_array_length(wakers); i++) {
		assert_true(json_object_object_get_ex(json_object_array_get_idx(wakers, i), "comm", &comm));
		sprintf(text + strlen(text), "%s ", comm ? json_object_get_string(comm) : "-");
	}
}

/* A search looks at all threads of the host, so there is only one for all wakers that the tick does not show. */
TEST(json, wakers_out_of_scope_are_searched_once)
{
	static const struct {
		int thread;
		uint32_t number;
		uint8_t context;
	} wokens[] = {
		{ 0, 10, WAKE_THREAD }, { 0, 5000, WAKE_THREAD }, { 0, 5001, WAKE_THREAD }, { 0, 0, WAKE_THREAD },
		{ 1, 5000, WAKE_THREAD }, { 1, 5002, WAKE_TIMER },
	};
	const struct values busy = { .v = { [METRIC_RUN] = SEC / 2 } };
	int searches = 0;
	const struct source source = { .arg = &searches, .thread_names = name_5000, .names_generation = no_names };
	struct export o = { .host = "host", .kernel = "6.1", .scope = "-p 2", .source = &source };
	struct model *m = model_new(0);
	struct cgroup cgroup = { .id = 1, .path = "/" };
	struct life *lives[] = { tick_life(m, 2, "other", &cgroup), tick_life(m, 10, "server", &cgroup) };
	struct json_object *line;
	const struct tick *t;
	size_t bytes;
	char *text, names[80];
	FILE *to = open_memstream(&text, &bytes);

	tick_begin(m);
	for (int i = 0; i < 2; i++)
		assert_int_equal(model_thread(m, lives[i], STATE_SLEEP, false, &busy), 0);
	for (size_t i = 0; i < ARRAY_SIZE(wokens); i++) {
		const struct woken k = { lives[wokens[i].thread], 100 - i, wokens[i].number, wokens[i].context };

		assert_int_equal(model_woken(m, &k), 0);
	}
	tick_cgroup(m, &cgroup, NULL);
	t = tick_end(m);
	write_line(to, t, &o, 0);
	fclose(to);
	assert_int_equal(searches, 1);
	line = json_tokener_parse(text);
	waker_names(line, 0, names);
	assert_string_equal(names, "server client\\x0a - - ");
	waker_names(line, 1, names);
	assert_string_equal(names, "client\\x0a timer ");
	json_object_put(line);
	free(text);
	tick_put(t);
	for (size_t i = 0; i < ARRAY_SIZE(lives); i++)
		model_life_end(m, lives[i]);
	model_free(m);
}

/* The samples of idle CPUs are no thread's: their time is added to that of the threads, though that has no stack. */
TEST(json, total_of_threads_and_idle_cpus)
{
	const struct values interrupted = { .v = { [METRIC_IRQ] = 40 } };
	const struct source source = { .thread_name = no_name, .names_generation = no_names };
	const struct stack kernel = { .hash = 7, .check = 7 };
	struct export o = { .host = "host", .kernel = "6.1", .scope = "all", .source = &source };
	struct model *m = model_new(0);
	struct cgroup cgroup = { .id = 1, .path = "/" };
	struct life *lives[] = { tick_life(m, 0, "idle", &cgroup), tick_life(m, 10, "server", &cgroup) };
	struct stack_sample idle = { .life = lives[0], .metric = METRIC_IRQ, .weight = 60, .count = 1 };
	const struct stack_sample rest = { .life = lives[1], .metric = METRIC_IRQ, .weight = 40, .flags = NOTE_NO_STACK };
	struct json_object *line;
	const struct tick *t;
	size_t bytes;
	char *text;
	FILE *to = open_memstream(&text, &bytes);

	tick_begin(m);
	assert_int_equal(model_thread(m, lives[1], STATE_SLEEP, false, &interrupted), 0);
	idle.kernel = tick_stack(m, &kernel);
	assert_int_equal(model_sample(m, &idle), 0);
	assert_int_equal(model_sample(m, &rest), 0);
	tick_cgroup(m, &cgroup, NULL);
	t = tick_end(m);
	((struct tick *)t)->wall = (struct timespec){ 1700000000, 42999 };
	setenv("TZ", "UTC+3", 1);
	tzset();
	write_line(to, t, &o, 0);
	fclose(to);
	assert_non_null(strstr(text, "\"time\":\"2023-11-14T22:13:20.000042Z\""));
	assert_non_null(strstr(text, "\"load\":[null,null,null]"));
	line = json_tokener_parse(text);
	assert_int_equal(total_of(line, "irq"), 100);
	json_object_put(line);
	free(text);
	tick_put(t);
	for (size_t i = 0; i < ARRAY_SIZE(lives); i++)
		model_life_end(m, lives[i]);
	model_free(m);
}

/* The element of a list. */
static struct json_object *element(struct json_object *line, const char *list, size_t at)
{
	struct json_object *rows;

	assert_true(json_object_object_get_ex(line, list, &rows));
	return json_object_array_get_idx(rows, at);
}

/* A number, -1: null. */
static int64_t number(struct json_object *row, const char *name)
{
	struct json_object *value;

	assert_true(json_object_object_get_ex(row, name, &value));
	return json_object_is_type(value, json_type_null) ? -1 : json_object_get_int64(value);
}

/* A cgroup has its own threads' values beside all below it, and a period only with a limit; a thread has as many samples as
 * were taken of it, whatever time has none; a CPU's interrupts are unknown if its timer is not seen. */
TEST(json, numbers_of_rows)
{
	static const struct cgroup_limit none = { 0 }, limit = { 3, 7, 20, 100 };
	const struct values ran[] = { { .v = { [METRIC_RUN] = 30 } }, { .v = { [METRIC_RUN] = 12 } } };
	const struct cpu_values cpu = { .cpu = 0, .run_ns = 42, .hardirq_ns = 1, .softirq_ns = 2 };
	const struct source source = { .thread_name = no_name, .names_generation = no_names };
	struct export o = { .host = "host", .kernel = "6.1", .scope = "all", .source = &source };
	struct cgroup cgroups[] = { { .id = 1, .path = "/" }, { .id = 2, .path = "/a", .parent = &cgroups[0], .depth = 1 } };
	struct model *m = model_new(0);
	struct life *lives[] = { tick_life(m, 10, "above", &cgroups[0]), tick_life(m, 11, "below", &cgroups[1]) };
	struct stack_sample s = { .life = lives[0], .metric = METRIC_RUN, .weight = 10 };

	for (int unseen = 0; unseen < 2; unseen++) {
		struct json_object *line, *own;
		const struct tick *t;
		size_t bytes;
		char *text;
		FILE *to = open_memstream(&text, &bytes);

		tick_begin(m);
		for (int i = 0; i < 2; i++)
			assert_int_equal(model_thread(m, lives[i], STATE_SLEEP, false, &ran[i]), 0);
		for (s.count = 0; s.count < 4; s.count++)
			assert_int_equal(model_sample(m, &s), 0);
		assert_int_equal(model_cpu(m, &cpu), 0);
		if (unseen)
			model_timers_unseen(m);
		tick_cgroup(m, &cgroups[0], &none);
		tick_cgroup(m, &cgroups[1], &limit);
		t = tick_end(m);
		write_line(to, t, &o, 0);
		fclose(to);
		line = json_tokener_parse(text);
		assert_int_equal(number(element(line, "threads", 0), "samples"), 6);
		assert_int_equal(number(element(line, "threads", 1), "samples"), 0);
		assert_int_equal(number(element(line, "cpus", 0), "irq_ns"), unseen ? -1 : 3);
		assert_int_equal(number(element(line, "cgroups", 0), "run_ns"), 42);
		assert_true(json_object_object_get_ex(element(line, "cgroups", 0), "own", &own));
		assert_int_equal(number(own, "run_ns"), 30);
		assert_int_equal(number(element(line, "cgroups", 0), "quota_ns"), -1);
		assert_int_equal(number(element(line, "cgroups", 0), "period_ns"), -1);
		assert_int_equal(number(element(line, "cgroups", 1), "quota_ns"), 20);
		assert_int_equal(number(element(line, "cgroups", 1), "period_ns"), 100);
		json_object_put(line);
		free(text);
		tick_put(t);
	}
	for (size_t i = 0; i < ARRAY_SIZE(lives); i++)
		model_life_end(m, lives[i]);
	model_free(m);
}

/* Text written in pieces stays one text. */
TEST(json, more_than_what_is_kept)
{
	const char *long_one = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
	struct json_object *read;
	size_t bytes;
	char *text;
	struct json *j = begin_text(&text, &bytes);

	json_open(j, NULL, '[');
	for (int i = 0; i < 20000; i++)
		json_string(j, NULL, long_one + i % 64);
	json_close(j, ']');
	end_text(j);
	read = json_tokener_parse(text);
	assert_non_null(read);
	assert_int_equal(json_object_array_length(read), 20000);
	for (int i = 0; i < 20000; i++)
		assert_string_equal(json_object_get_string(json_object_array_get_idx(read, i)), long_one + i % 64);
	json_object_put(read);
	free(text);
}

int main(void)
{
	RUN_TESTS(cmocka_unit_test(json_a_line_in_slices_is_the_same), cmocka_unit_test(json_a_line_takes_no_longer_than_its_text),
		  cmocka_unit_test(json_values_of_all_kinds), cmocka_unit_test(json_processes_of_what_a_filter_matches),
		  cmocka_unit_test(json_total_of_threads_and_idle_cpus),
		  cmocka_unit_test(json_numbers_of_rows),
		  cmocka_unit_test(json_wakers_out_of_scope_are_searched_once),
		  cmocka_unit_test(json_a_text_that_grows), cmocka_unit_test(json_more_than_what_is_kept));
}
