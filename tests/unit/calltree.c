/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "model/sample.h"
#include "model/tick.h"
#include "query/calltree.h"
#include "query/source.h"
#include "sym/names.h"

static uint64_t generation = 1;

static uint64_t learnt(void *arg)
{
	(void)arg;
	return generation;
}

static const struct symbol wait_symbol = { "wait", "[kernel]", SYMBOL_KERNEL, true, .id = 105 };
static const struct symbol late_symbol = { "do_wait", "[kernel]", SYMBOL_KERNEL, true, .id = 106 };

static const struct symbol *symbol(void *arg, uint64_t frame, uint32_t tgid)
{
	(void)arg, (void)frame, (void)tgid;
	return generation == 1 ? &wait_symbol : &late_symbol;
}

static const struct source source = { .names_generation = learnt, .symbol = symbol };

static int nr_threads;

/* Each thread has another name; the last one ran the longest. */
static int threads(void *arg, sample_fn *fn, void *fn_arg)
{
	static struct life lives[5000];
	int err = 0;

	(void)arg;
	for (int i = 0; !err && i < nr_threads; i++) {
		const struct stack_sample s = { .life = &lives[i], .metric = METRIC_RUN, .weight = i < nr_threads - 1 ? 1 : 1000,
						.count = 1 };

		snprintf(lives[i].comm, sizeof(lives[i].comm), "w%d", i);
		err = fn(fn_arg, &s);
	}
	return err;
}

/* The heaviest thread in a tree of so many. */
static const struct calltree_node *heaviest(struct calltree *f, int nr)
{
	const struct calltree_options o = { .metric = METRIC_RUN, .merge = CALLTREE_MERGE_THREAD, .samples = threads };
	const struct subject all = { .kind = SUBJECT_ALL };

	nr_threads = nr;
	assert_int_equal(calltree_build(f, NULL, &all, &o, &source), 0);
	assert_int_equal(f->nodes[0].total, 1000 + nr - 1);
	return &f->nodes[f->nodes[0].child];
}

TEST(calltree, the_heaviest_thread_has_its_name_however_many_come_before_it)
{
	struct calltree f = { 0 };
	const struct calltree_node *n = heaviest(&f, 70);

	assert_string_equal(calltree_name(n), "w69");
	assert_int_equal(n->total, 1000);
	calltree_fini(&f);
}

TEST(calltree, threads_beyond_the_most_share_a_name)
{
	struct calltree f = { 0 };
	const struct calltree_node *n = heaviest(&f, 5000);

	assert_string_equal(calltree_name(n), "[others]");
	assert_true(n->total > 1000);
	calltree_fini(&f);
}

/* The same kernel frame of a thread, of which the user's part is missing, of a kernel thread, and of one cut short; and
 * one that was sampled nearby. */
static int with_marks(void *arg, sample_fn *fn, void *fn_arg)
{
	static struct {
		struct stack stack;
		uint64_t frames[1];
	} whole = { .stack = { .nr = 1, .hash = 1 }, .frames = { FRAME_KERNEL } },
	  cut = { .stack = { .nr = 1, .hash = 2, .end = STACK_TOO_DEEP }, .frames = { FRAME_KERNEL } };
	static const struct life l = { .tid = 8 }, kthread = { .tid = 9, .flags = PF_KTHREAD };
	const struct stack_sample samples[] = {
		{ &l, NULL, &whole.stack, 1, .count = 1, .metric = METRIC_RUN, .flags = NOTE_NO_USER },
		{ &kthread, NULL, &whole.stack, 10, .count = 1, .metric = METRIC_RUN, .flags = NOTE_NO_USER },
		{ &kthread, NULL, &cut.stack, 100, .count = 1, .metric = METRIC_RUN },
		{ &kthread, NULL, &whole.stack, 1000, .count = 1, .metric = METRIC_RUN, .flags = NOTE_NEAR },
	};
	int err = 0;

	(void)arg;
	for (size_t i = 0; !err && i < sizeof(samples) / sizeof(samples[0]); i++)
		err = fn(fn_arg, &samples[i]);
	return err;
}

static void built_with_marks(struct calltree *f, struct calltree_options o)
{
	const struct subject all = { .kind = SUBJECT_ALL };

	o.metric = METRIC_RUN;
	o.samples = with_marks;
	assert_int_equal(calltree_build(f, NULL, &all, &o, &source), 0);
	assert_int_equal(calltree_functions(f), 0);
	assert_int_equal(f->nodes[0].total, 1111);
	assert_int_equal(f->nr_functions, 1);
	assert_int_equal(f->functions[0].total, 1111);
}

/* The boxes below a node, heaviest first. */
static void assert_children(const struct calltree *f, int parent, const char *text)
{
	char found[200] = "";

	for (int at = f->nodes[parent].child; at >= 0; at = f->nodes[at].next)
		snprintf(found + strlen(found), sizeof(found) - strlen(found), "%s %llu;", calltree_name(&f->nodes[at]),
			 (unsigned long long)f->nodes[at].total);
	assert_string_equal(found, text);
}

TEST(calltree, where_frames_are_missing_there_is_a_mark)
{
	struct calltree f = { 0 };

	built_with_marks(&f, (struct calltree_options){ 0 });
	assert_children(&f, 0, "~ 1000;[truncated] 100;wait 10;[user stack not taken] 1;");
	built_with_marks(&f, (struct calltree_options){ .inverted = true });
	assert_children(&f, f.nodes[0].child, "~ 1000;[truncated] 100;[user stack not taken] 1;");
	built_with_marks(&f, (struct calltree_options){ .part = CALLTREE_CALLERS });
	assert_children(&f, 0, "~ 1000;[truncated] 100;[user stack not taken] 1;");
	built_with_marks(&f, (struct calltree_options){ .part = CALLTREE_CALLEES });
	assert_children(&f, 0, "");
	calltree_fini(&f);
}

TEST(calltree, a_mark_is_compared_after_the_function_above_it_got_another_name)
{
	const struct calltree_options inverted = { .inverted = true };
	struct calltree_base base = { 0 };
	struct calltree f = { 0 };
	const struct calltree_node *near;

	built_with_marks(&f, inverted);
	assert_int_equal(calltree_base_set(&base, &f, &source), 0);
	generation = 2;
	built_with_marks(&f, inverted);
	near = &f.nodes[f.nodes[f.nodes[0].child].child];
	assert_string_equal(calltree_name(near), "~");
	assert_true(calltree_base_share(&base, near->key, &source) == 1000 / 1111.0);
	generation = 1;
	calltree_base_fini(&base);
	calltree_fini(&f);
}

static const struct symbol *by_frame(void *arg, uint64_t frame, uint32_t tgid)
{
	static const struct symbol symbols[] = { { "main", "a", SYMBOL_USER, true, .id = 101 },
						 { "walk", "a", SYMBOL_USER, true, .id = 102 },
						 { "leaf", "a", SYMBOL_USER, true, .id = 103 } };

	(void)arg, (void)tgid;
	return &symbols[frame - 1];
}

/* main calls walk, which calls itself directly and through leaf, twice. */
static int recursive(void *arg, sample_fn *fn, void *fn_arg)
{
	static struct {
		struct stack stack;
		uint64_t frames[5];
	} deep = { .stack = { .nr = 5, .hash = 1 }, .frames = { 2, 3, 2, 2, 1 } },
	  flat = { .stack = { .nr = 2, .hash = 2 }, .frames = { 2, 1 } };
	static const struct life l = { .tid = 8 };
	const struct stack_sample samples[] = { { &l, &deep.stack, NULL, 10, .count = 1, .metric = METRIC_RUN },
						{ &l, &flat.stack, NULL, 5, .count = 1, .metric = METRIC_RUN } };
	int err = fn(fn_arg, &samples[0]);

	(void)arg;
	return err ? err : fn(fn_arg, &samples[1]);
}

/* The time of a function that calls itself counts once. */
TEST(calltree, functions_that_call_themselves)
{
	static const struct {
		const char *name;
		uint64_t self, total, count;
	} expected[] = { { "walk", 15, 15, 2 }, { "main", 0, 15, 2 }, { "leaf", 0, 10, 1 } };
	const struct source with_frames = { .names_generation = learnt, .symbol = by_frame };
	const struct calltree_options o = { .metric = METRIC_RUN, .samples = recursive };
	const struct subject all = { .kind = SUBJECT_ALL };
	struct calltree f = { 0 };

	assert_int_equal(calltree_build(&f, NULL, &all, &o, &with_frames), 0);
	for (int again = 0; again < 2; again++) {
		assert_int_equal(calltree_functions(&f), 0);
		assert_int_equal(f.nr_functions, 3);
		for (int i = 0; i < 3; i++) {
			assert_string_equal(f.functions[i].symbol->name, expected[i].name);
			assert_int_equal(f.functions[i].self, expected[i].self);
			assert_int_equal(f.functions[i].total, expected[i].total);
			assert_int_equal(f.functions[i].count, expected[i].count);
		}
	}
	calltree_fini(&f);
}

int main(void)
{
	RUN_TESTS(cmocka_unit_test(calltree_the_heaviest_thread_has_its_name_however_many_come_before_it),
		  cmocka_unit_test(calltree_threads_beyond_the_most_share_a_name),
		  cmocka_unit_test(calltree_functions_that_call_themselves),
		  cmocka_unit_test(calltree_where_frames_are_missing_there_is_a_mark),
		  cmocka_unit_test(calltree_a_mark_is_compared_after_the_function_above_it_got_another_name));
}
