/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include <string.h>

#include "model/metric.h"
#include "model/sample.h"
#include "model/tick.h"
#include "query/source.h"
#include "query/stack_quality.h"
#include "sym/names.h"

static struct symbol named = { "main", "a", SYMBOL_USER, true }, unnamed = { "a+0x10", "a", SYMBOL_USER, false },
		     function = { "a`fn_1000", "a", SYMBOL_USER, false, true };
static uint64_t generation;
static bool all_named;
static int asked;

/* Even frames have a name, odd ones get it later; each second one of these is a function. */
static const struct symbol *symbol(void *arg, uint64_t frame, uint32_t tgid)
{
	(void)arg, (void)tgid;
	asked++;
	return frame % 2 && !all_named ? frame % 4 == 3 ? &function : &unnamed : &named;
}

static uint64_t learnt(void *arg)
{
	(void)arg;
	return generation;
}

/* Every second one of the functions waits for its debug information. */
static int lack(void *arg, uint64_t frame, uint32_t tgid)
{
	(void)arg, (void)tgid;
	asked++;
	if (frame % 2 == 0 || all_named)
		return LACK_NOTHING;
	return frame % 4 == 3 ? frame % 8 == 3 ? LACK_SYMBOL : LACK_DEBUG : frame % 8 == 1 ? LACK_JIT : LACK_UNWIND;
}

static const struct source source = { .symbol = symbol, .lack = lack, .names_generation = learnt };

#define STACK(name, id, ...)                                                                                             \
	static struct {                                                                                                  \
		struct stack stack;                                                                                      \
		uint64_t frames[8];                                                                                      \
	} name = { .stack = { .hash = id, .nr = sizeof((uint64_t[]){ __VA_ARGS__ }) / 8 }, .frames = { __VA_ARGS__ } }

STACK(user, 10, 1, 2, 3, 4);
STACK(bare, 20, 1, 3);
STACK(many, 25, 1, 3, 7, 5);
STACK(deep, 30, 2, 1, FRAME_GAP, 4);
STACK(kernel, 40, FRAME_KERNEL | 2, FRAME_KERNEL | 4);
STACK(wordless, 50, FRAME_KERNEL | 1, FRAME_KERNEL | 3);

static const struct life life = { .tid = 8 }, kthread = { .tid = 9, .flags = PF_KTHREAD };

static struct stack_quality begun(void)
{
	struct stack_quality q;

	stack_quality_begin(&q, &source);
	return q;
}

static const char *text(const struct stack_quality *q)
{
	static char buf[64];

	return stack_quality_text(q, buf, sizeof(buf), 80);
}

static const char *cut_text(const struct stack_quality *q)
{
	static char buf[160];

	return stack_quality_cut_text(q, buf, sizeof(buf));
}

static int fresh(void **state)
{
	(void)state;
	user.stack.counted = many.stack.counted = bare.stack.counted = deep.stack.counted = kernel.stack.counted = wordless.stack.counted = 0;
	user.stack.end = kernel.stack.end = STACK_COMPLETE;
	generation = 0;
	asked = 0;
	all_named = false;
	return 0;
}

TEST(stack_quality, nothing_is_known_where_there_are_no_stacks)
{
	struct stack_quality q = begun();
	const struct stack_sample s = { .life = &life, .weight = 100, .flags = NOTE_NO_STACK };

	assert_string_equal(text(&q), "unwound - functions - named -");
	stack_quality_add(&q, &s);
	assert_int_equal(q.total, 100);
	assert_int_equal(q.stacks, 0);
	assert_int_equal(stack_quality_unwound(&q), VALUE_NA);
	assert_int_equal(stack_quality_functions(&q), VALUE_NA);
	assert_int_equal(stack_quality_named(&q), VALUE_NA);
	assert_string_equal(text(&q), "unwound - functions - named -");
}

/* 300 x 4/6, 100 x 0/2, and 100 x 2/3 with a gap, which is no frame. */
TEST(stack_quality, names_are_shares_of_frames_by_weight)
{
	struct stack_quality q = begun();
	const struct stack_sample s[] = {
		{ .life = &life, .user = &user.stack, .kernel = &kernel.stack, .weight = 300 },
		{ .life = &life, .user = &bare.stack, .weight = 100 },
		{ .life = &life, .user = &deep.stack, .weight = 100 },
		{ .life = &life, .weight = 500, .flags = NOTE_NO_STACK },
	};

	for (size_t i = 0; i < sizeof(s) / sizeof(s[0]); i++)
		stack_quality_add(&q, &s[i]);
	assert_int_equal(q.total, 1000);
	assert_int_equal(q.stacks, 500);
	assert_int_equal(stack_quality_unwound(&q), 500);
	assert_int_equal(stack_quality_functions(&q), 367);
	assert_int_equal(stack_quality_named(&q), 267);
	assert_string_equal(text(&q), "unwound 100% functions 73% named 53%");
}

/* Weights of one, as for counted events: each share is less than a whole. */
TEST(stack_quality, weights_of_one_add_up)
{
	struct stack_quality q = begun();
	const struct stack_sample s = { .life = &life, .user = &user.stack, .weight = 1 };

	for (int i = 0; i < 10; i++)
		stack_quality_add(&q, &s);
	assert_int_equal(stack_quality_named(&q), 5);
}

TEST(stack_quality, unwound_is_both_parts_to_a_root)
{
	const struct stack_sample both = { .life = &life, .user = &user.stack, .kernel = &kernel.stack, .weight = 10 };
	struct stack_sample s = both;
	struct stack_quality q = begun();

	user.stack.end = STACK_NO_CODE;
	stack_quality_add(&q, &s);
	user.stack.end = STACK_COMPLETE;
	kernel.stack.end = STACK_TOO_DEEP;
	stack_quality_add(&q, &s);
	kernel.stack.end = STACK_COMPLETE;
	s.flags = NOTE_KERNEL_LOST;
	stack_quality_add(&q, &s);
	s.user = NULL;
	s.flags = NOTE_USER_LOST;
	stack_quality_add(&q, &s);
	s.flags = NOTE_NO_USER;
	stack_quality_add(&q, &s);
	assert_int_equal(q.stacks, 50);
	assert_int_equal(q.cut[CUT_NONE], 0);
	s.life = &kthread; /* has no user stack */
	stack_quality_add(&q, &s);
	stack_quality_add(&q, &both);
	assert_int_equal(q.cut[CUT_NONE], 20);
	assert_string_equal(text(&q), "unwound 29% functions 90% named 81%");
	assert_string_equal(cut_text(&q), "cut: 29% no room, 14% no code there, 14% too deep, 14% user stack not taken");
}

/* A caller that cannot be found is a JIT compiler's fault only where its code is the last that was found. */
TEST(stack_quality, cuts_have_their_reason)
{
	static const struct {
		uint64_t outermost;
		int end;
		const char *text;
	} of[] = {
		{ FRAME_ANONYMOUS | 0x7f00, STACK_NO_CODE, "cut: 100% JIT without frame pointers" },
		{ FRAME_ANONYMOUS | 0x7f00, STACK_TRUNCATED, "cut: 100% JIT without frame pointers" },
		{ FRAME_ANONYMOUS | 0x7f00, STACK_TOO_DEEP, "cut: 100% too deep" },
		{ FRAME_ANONYMOUS | 0x7f00, STACK_COMPLETE, "" },
		{ FRAME_GAP, STACK_TRUNCATED, "cut: 100% caller not found" },
		{ 4, STACK_UNREADABLE, "cut: 100% memory not readable" },
		{ 4, STACK_NO_RULE, "cut: 100% no rule for the caller" },
		{ 4, STACK_EXEC, "cut: 100% inside execve" },
	};

	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		const struct stack_sample s = { .life = &life, .user = &user.stack, .weight = 10 };
		struct stack_quality q = begun();

		user.frames[3] = of[i].outermost;
		user.stack.end = of[i].end;
		stack_quality_add(&q, &s);
		assert_string_equal(cut_text(&q), of[i].text);
	}
	user.frames[3] = 4;
}

TEST(stack_quality, stacks_are_counted_once_until_names_come)
{
	struct stack_quality q = begun();
	const struct stack_sample s = { .life = &life, .user = &bare.stack, .kernel = &wordless.stack, .weight = 10 };

	stack_quality_add(&q, &s);
	stack_quality_add(&q, &s);
	assert_int_equal(asked, 4);
	assert_int_equal(stack_quality_named(&q), 0);
	assert_string_equal(text(&q), "unwound 100% functions 50% named 0%");
	all_named = true;
	generation = 1;
	q = begun();
	stack_quality_add(&q, &s);
	assert_int_equal(asked, 8);
	assert_int_equal(stack_quality_named(&q), 10);
}

static const char *lack_text(const struct stack_quality *q)
{
	static char buf[240];

	return stack_quality_lack_text(q, buf, sizeof(buf));
}

/* Of 2, 1, gap, 4 and of 1, 3, 7, 5: what they lack, by weight, the largest first. */
TEST(stack_quality, what_has_no_name_has_its_reason)
{
	struct stack_sample s = { .life = &life, .user = &deep.stack, .weight = 300 };
	struct stack_quality q = begun();
	uint64_t lacks = 0;

	stack_quality_add(&q, &s);
	assert_string_equal(lack_text(&q), "no function: 33% JIT without names");
	s.user = &many.stack;
	s.weight = 100;
	stack_quality_add(&q, &s);
	assert_string_equal(lack_text(&q), "no function: 31% JIT without names, 6% code without unwind rows; "
					   "no name: 6% stripped, no debug file, 6% debug file being read");
	for (int i = LACK_NOTHING + 1; i < LACKS; i++)
		lacks += stack_quality_lack(&q, i);
	assert_int_equal(lacks, q.stacks - stack_quality_named(&q));
	assert_int_equal(stack_quality_lack(&q, LACK_SYMBOL) + stack_quality_lack(&q, LACK_DEBUG),
			 stack_quality_functions(&q) - stack_quality_named(&q));
	all_named = true;
	generation = 1;
	q = begun();
	stack_quality_add(&q, &s);
	assert_string_equal(lack_text(&q), "");
	s.user = NULL;
	q = begun();
	stack_quality_add(&q, &s);
	assert_string_equal(lack_text(&q), "");
}

TEST(stack_quality, all_and_nothing_are_exact)
{
	static const struct {
		uint64_t part, whole;
		const char *text;
	} rows[] = {
		{ 0, 1000, "0%" },    { 1, 1000, "1%" },      { 994, 1000, "99%" },   { 999, 1000, "99%" },
		{ 414, 1000, "41%" }, { 1000, 1000, "100%" }, { VALUE_NA, 9, "-" }, { 0, 0, "-" },
	};
	char buf[16];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_string_equal(stack_quality_percent(buf, sizeof(buf), rows[i].part, rows[i].whole), rows[i].text);
}

int main(void)
{
	RUN_TESTS(cmocka_unit_test_setup(stack_quality_nothing_is_known_where_there_are_no_stacks, fresh),
		  cmocka_unit_test_setup(stack_quality_names_are_shares_of_frames_by_weight, fresh),
		  cmocka_unit_test_setup(stack_quality_weights_of_one_add_up, fresh),
		  cmocka_unit_test_setup(stack_quality_unwound_is_both_parts_to_a_root, fresh),
		  cmocka_unit_test_setup(stack_quality_cuts_have_their_reason, fresh),
		  cmocka_unit_test_setup(stack_quality_stacks_are_counted_once_until_names_come, fresh),
		  cmocka_unit_test_setup(stack_quality_what_has_no_name_has_its_reason, fresh),
		  cmocka_unit_test_setup(stack_quality_all_and_nothing_are_exact, fresh));
}
