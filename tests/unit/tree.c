/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows as a tree: their order and depths, also of as many generations as a host can have. */
#include "unit.h"

#include "model/tick.h"
#include "query/tree.h"
#include "util/clock.h"

#define MANY 100000
#define MANY_NS 2000000000ULL /* usually 10 ms; 16 s with a walk to the root for each row */

static struct process processes[MANY];
static struct row rows[MANY];
static int listed[MANY];
static size_t nr_listed;

static int add(void *list, const struct row *r)
{
	(void)list;
	listed[nr_listed++] = r->number;
	return 0;
}

static struct tree begin(size_t nr)
{
	struct tree t = { 0 };

	for (size_t i = 0; i < nr; i++) {
		processes[i] = (struct process){ .tgid = i, .start_ns = i + 1 };
		rows[i] = (struct row){ .kind = ROW_PROCESS, .number = i, .process = &processes[i] };
	}
	assert_int_equal(tree_begin(&t, rows, nr), 0);
	return t;
}

static void list(struct tree *t)
{
	nr_listed = 0;
	assert_int_equal(tree_rows(t, NULL, NULL, add, NULL), 0);
}

/* The parents of rows 0, 1, ...; the last of them are wanted. */
static struct tree make(const size_t *parents, size_t nr, size_t first_wanted)
{
	struct tree t = begin(nr);

	for (size_t i = 0; i < nr; i++) {
		t.nodes[i].parent = parents[i];
		t.nodes[i].wanted = i >= first_wanted;
	}
	return t;
}

static void expect(const struct tree *t, const int *order, const int *depths, size_t nr)
{
	assert_int_equal(nr_listed, nr);
	for (size_t i = 0; i < nr; i++) {
		assert_int_equal(listed[i], order[i]);
		assert_int_equal(t->nodes[listed[i]].depth, depths[i]);
	}
}

TEST(tree, children_follow_their_parent_in_order)
{
	struct tree t = make((size_t[]){ 4, TREE_ROOT, 4, 2, 1, 1 }, 6, 0);

	list(&t);
	expect(&t, (int[]){ 1, 4, 0, 2, 3, 5 }, (int[]){ 0, 1, 2, 2, 3, 1 }, 6);
	assert_true(t.nodes[1].inner && t.nodes[2].inner && t.nodes[4].inner);
	assert_false(t.nodes[0].inner || t.nodes[3].inner || t.nodes[5].inner);
	tree_fini(&t);
}

TEST(tree, ancestors_of_wanted_rows_are_listed)
{
	struct tree t = make((size_t[]){ TREE_ROOT, 0, 1, 0, 2 }, 5, 4);

	list(&t);
	expect(&t, (int[]){ 0, 1, 2, 4 }, (int[]){ 0, 1, 2, 3 }, 4);
	tree_fini(&t);
}

TEST(tree, nothing_below_a_folded_row_is_listed)
{
	struct tree t = make((size_t[]){ TREE_ROOT, 0, 1, 0 }, 4, 0);

	tree_fold(&t, &rows[1]);
	list(&t);
	expect(&t, (int[]){ 0, 1, 3 }, (int[]){ 0, 1, 1 }, 3);
	tree_fini(&t);
}

TEST(tree, a_row_of_a_circle_is_a_root)
{
	struct tree t = make((size_t[]){ 2, 0, 1, 1, 4 }, 5, 0);

	list(&t);
	assert_int_equal(nr_listed, 5);
	assert_int_equal(t.nodes[4].parent, TREE_ROOT);
	assert_int_equal((t.nodes[0].parent == TREE_ROOT) + (t.nodes[1].parent == TREE_ROOT) + (t.nodes[2].parent == TREE_ROOT), 1);
	assert_int_equal(t.nodes[3].depth, t.nodes[1].depth + 1);
	tree_fini(&t);
}

TEST(tree, a_chain_of_all_processes_is_listed_at_once)
{
	struct tree t = begin(MANY);
	uint64_t from = clock_ns(CLOCK_THREAD_CPUTIME_ID);

	for (size_t i = 0; i < MANY; i++) {
		t.nodes[i].parent = i + 1 < MANY ? i + 1 : TREE_ROOT;
		t.nodes[i].wanted = true;
	}
	list(&t);
	assert_int_equal(nr_listed, MANY);
	assert_int_equal(listed[0], MANY - 1);
	assert_int_equal(listed[MANY - 1], 0);
	assert_int_equal(t.nodes[0].depth, MANY - 1);
	assert_true(clock_ns(CLOCK_THREAD_CPUTIME_ID) - from < MANY_NS);
	tree_fini(&t);
}

int main(void)
{
	RUN_TESTS(cmocka_unit_test(tree_children_follow_their_parent_in_order),
		  cmocka_unit_test(tree_ancestors_of_wanted_rows_are_listed),
		  cmocka_unit_test(tree_nothing_below_a_folded_row_is_listed),
		  cmocka_unit_test(tree_a_row_of_a_circle_is_a_root),
		  cmocka_unit_test(tree_a_chain_of_all_processes_is_listed_at_once));
}
