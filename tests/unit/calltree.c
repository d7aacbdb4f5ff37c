/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include <stdio.h>

#include "model/sample.h"
#include "model/tick.h"
#include "query/calltree.h"
#include "query/source.h"

static uint64_t learnt(void *arg)
{
	(void)arg;
	return 1;
}

static const struct source source = { .names_generation = learnt };

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

int main(void)
{
	RUN_TESTS(cmocka_unit_test(calltree_the_heaviest_thread_has_its_name_however_many_come_before_it),
		  cmocka_unit_test(calltree_threads_beyond_the_most_share_a_name));
}
