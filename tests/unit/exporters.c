/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ticks.h"

#include <stdlib.h>
#include <string.h>

#include "app/options.h"
#include "export/exporter.h"
#include "model/sample.h"
#include "query/source.h"
#include "sym/names.h"

/* --- The rows */

TEST(exporters, each_has_what_it_needs)
{
	const struct exporter *e, *other;

	for (unsigned int i = 0; (e = exporter_at(i)); i++) {
		assert_int_equal(exporter_index(e), i);
		assert_true(*e->name && *e->help);
		assert_int_equal(!!(e->needs & EXPORT_TICKS), !!e->tick);
		assert_int_equal(!!(e->needs & EXPORT_WINDOW), !!e->window);
		assert_true(!e->window || (e->suffix && *e->suffix));
		assert_true(!(e->suffix || e->others_read) || (e->operand && !e->word));
		assert_true(!e->suffix || *e->suffix);
		assert_true(e->tick || e->window);
		assert_true(!(e->needs & EXPORT_SAMPLES) || e->tick);
		assert_true(!e->more || (e->tick && e->end));
		assert_true(!e->word || e->operand);
		assert_true(!e->samples || (e->begin && e->end));
		for (unsigned int k = 0; k < i && (other = exporter_at(k)); k++)
			assert_true(strcmp(e->name, other->name) && (!e->letter || e->letter != other->letter));
	}
	assert_null(exporter_at(exporter_index(NULL)));
}

TEST(exporters, each_is_an_option)
{
	const struct exporter *e;

	for (unsigned int i = 0; (e = exporter_at(i)); i++) {
		const struct argp_option *row = options_table();

		while (row->name ? strcmp(row->name, e->name) : !!row->doc)
			row++;
		assert_non_null(row->name);
		assert_ptr_equal(options_exporter(row), e);
		assert_memory_equal(row->doc, e->help, strlen(e->help));
		for (int w = 0; e->word && e->word(w); w++)
			assert_non_null(strstr(row->doc + strlen(e->help), e->word(w)));
	}
}

static int parse(struct options *o, const char *a, const char *b)
{
	char *argv[] = { "systop", (char *)a, (char *)b, NULL };
	int err = options_parse(b ? 3 : 2, argv, o);

	options_fini(o);
	return err;
}

TEST(exporters, are_asked_for_by_letter_or_name)
{
	struct options o;

	assert_int_equal(parse(&o, "-b", NULL), 0);
	assert_ptr_equal(o.exporter, &export_table);
	assert_null(o.file);
	assert_int_equal(parse(&o, "--folded", "d"), 0);
	assert_ptr_equal(o.exporter, &export_folded);
	assert_string_equal(export_folded.word(o.word), "d");
	assert_true(options_need(&o, EXPORT_SAMPLES) && !options_need(&o, EXPORT_WINDOW));
	assert_int_equal(parse(&o, "--folded", "rss"), -EINVAL);
	assert_int_equal(parse(&o, "-w", "x.pb"), 0);
	assert_ptr_equal(o.exporter, &export_trace);
	assert_string_equal(o.file, "x.pb");
	assert_int_equal(parse(&o, "-wx.pb", "--json"), 0);
	assert_ptr_equal(o.exporter, &export_json);
	assert_null(o.file);
	assert_int_equal(parse(&o, "-wx.pb", "--schema"), 0);
	assert_null(o.exporter);
	assert_null(o.file);
	assert_false(options_need(&o, EXPORT_TICKS));
}

/* --- Stacks of some ticks */

static const struct symbol *symbol(void *arg, uint64_t frame, uint32_t tgid)
{
	static const struct symbol symbols[] = { { "a;b", "x", SYMBOL_USER, true },
						 { "do_it", "[kernel]", SYMBOL_KERNEL, true } };

	(void)arg;
	(void)tgid;
	return &symbols[!!(frame & FRAME_KERNEL)];
}

static const struct tick *sampled(struct model *m, struct cgroup *cgroup, struct life *l, uint64_t weight)
{
	struct values v = { .v = { [METRIC_RUN] = 2 * weight } };
	struct {
		struct stack stack;
		uint64_t frames[1];
	} user = { .stack = { .nr = 1, .hash = 1 }, .frames = { 5 } },
	  kernel = { .stack = { .nr = 1, .hash = 2 }, .frames = { FRAME_KERNEL | 5 } };
	struct stack_sample s = { .life = l, .weight = weight, .count = 3, .metric = METRIC_RUN };

	tick_begin(m);
	assert_int_equal(model_thread(m, l, STATE_RUNNING, false, &v), 0);
	s.user = tick_stack(m, &user.stack);
	s.kernel = tick_stack(m, &kernel.stack);
	assert_int_equal(model_sample(m, &s), 0);
	s.metric = METRIC_SLEEP;
	s.user = s.kernel = NULL;
	s.flags = NOTE_NO_STACK;
	assert_int_equal(model_sample(m, &s), 0);
	tick_cgroup(m, cgroup, NULL);
	return tick_end(m);
}

static char *folded(struct export *e, const struct tick *t)
{
	char *text;
	size_t bytes;
	FILE *to = open_memstream(&text, &bytes);

	assert_int_equal(e->state ? 0 : export_folded.begin(e), 0);
	assert_int_equal(export_folded.tick(e, to, t), 0);
	fclose(to);
	tick_put(t);
	return text;
}

/* Each tick prints its own lines only. */
TEST(exporters, folded_stacks_are_of_one_tick)
{
	const struct source source = { .symbol = symbol };
	struct cgroup cgroup = { .id = 1, .path = "/" };
	struct export samples = { .source = &source, .word = 0 }, all = { .source = &source, .word = 0 };
	int words = 0;
	struct model *m = model_new(1 << 20);
	struct life *l = tick_life(m, 1000, "worker", &cgroup);

	while (export_folded.word(words))
		words++;
	all.word = words - 1; /* wall */
	for (int i = 0; i < 2; i++) {
		char *text = folded(&samples, sampled(m, &cgroup, l, 1000));

		assert_string_equal(text, "worker;a:b;do_it_[k] 3\n");
		free(text);
		text = folded(&all, sampled(m, &cgroup, l, 1000));
		assert_string_equal(text, "worker;a:b;do_it_[k] 1000\nworker;[no stack] 1000\n");
		free(text);
	}
	assert_int_equal(export_folded.end(&samples, NULL), 0);
	assert_int_equal(export_folded.end(&all, NULL), 0);
	model_life_end(m, l);
	model_free(m);
}

static void no_user(unsigned int uid, char *buf, size_t size)
{
	snprintf(buf, size, "%u", uid);
}

/* Threads whose value is not known come last. */
TEST(exporters, tables_are_sorted)
{
	static const struct {
		uint64_t run, user;
		const char *name;
	} threads[] = { { 100, 40, "second" }, { 900, VALUE_NA, "last" }, { 100, 60, "first" }, { 100, 0, "third" } };
	static const char *const order[] = { "first", "second", "third", "last" };
	struct cgroup cgroup = { .id = 1, .path = "/" };
	struct export e = { .host = "host", .scope = "all", .sort = METRIC_USER, .user_name = no_user };
	struct model *m = model_new(1 << 20);
	struct life *lives[4];
	const struct tick *t;
	const char *at;
	char *text;
	size_t bytes;
	FILE *to = open_memstream(&text, &bytes);

	tick_begin(m);
	for (int i = 0; i < 4; i++) {
		const struct values v = { .v = { [METRIC_RUN] = threads[i].run, [METRIC_USER] = threads[i].user,
						 [METRIC_KERNEL] = threads[i].run - threads[i].user } };

		lives[i] = tick_life(m, 10 + i, threads[i].name, &cgroup);
		assert_int_equal(model_thread(m, lives[i], STATE_RUNNING, false, &v), 0);
	}
	tick_cgroup(m, &cgroup, NULL);
	t = tick_end(m);
	assert_int_equal(export_table.tick(&e, to, t), 1);
	assert_int_equal(export_table.more(&e, 0), 0);
	fclose(to);
	at = text;
	for (int i = 0; i < 4; i++) {
		at = strstr(at, order[i]);
		assert_non_null(at);
	}
	free(text);
	tick_put(t);
	for (int i = 0; i < 4; i++)
		model_life_end(m, lives[i]);
	model_free(m);
}

int main(void)
{
	RUN_TESTS(cmocka_unit_test(exporters_each_has_what_it_needs), cmocka_unit_test(exporters_each_is_an_option),
		  cmocka_unit_test(exporters_are_asked_for_by_letter_or_name),
		  cmocka_unit_test(exporters_folded_stacks_are_of_one_tick), cmocka_unit_test(exporters_tables_are_sorted));
}
