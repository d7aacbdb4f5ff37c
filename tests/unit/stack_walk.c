/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "model/sample.h"
#include "model/tick.h"
#include "query/source.h"
#include "query/stack_walk.h"
#include "sym/names.h"

static struct symbol symbols[] = { { "main", "a", SYMBOL_USER, true },
				   { "read", "libc", SYMBOL_USER, true },
				   { "sys_read", "[kernel]", SYMBOL_KERNEL, true },
				   { "wait", "[kernel]", SYMBOL_KERNEL, true } };

static const struct symbol *symbol(void *arg, uint64_t frame, uint32_t tgid)
{
	(void)arg;
	assert_int_equal(tgid, 7);
	return frame & 0xff ? &symbols[(frame & 0xff) - 1] : NULL;
}

static const struct source source = { .symbol = symbol };

static struct {
	struct stack stack;
	uint64_t frames[4];
} user = { .stack = { .nr = 2, .tgid = 7 }, .frames = { 2, 1 } },
  kernel = { .stack = { .nr = 2, .tgid = 7 }, .frames = { FRAME_KERNEL | 4, FRAME_KERNEL | 3 } };

static const char *walked(const struct stack_sample *s, int how)
{
	static char text[200];
	struct stack_walk w;
	size_t used = 0;

	*text = '\0';
	stack_walk(&w, &source, s, how);
	while (stack_walk_next(&w))
		used += snprintf(text + used, sizeof(text) - used, "%s%s%s", used ? ";" : "", stack_walk_name(&w),
				 !w.mark && w.kernel ? "_k" : "");
	assert_false(stack_walk_next(&w));
	return text;
}

TEST(stack_walk, goes_either_way_over_both_stacks)
{
	const struct stack_sample s = { .user = &user.stack, .kernel = &kernel.stack };

	assert_string_equal(walked(&s, WALK_FROM_ROOT), "main;read;sys_read_k;wait_k");
	assert_string_equal(walked(&s, WALK_INNERMOST), "wait_k;sys_read_k;read;main");
	assert_string_equal(walked(&s, WALK_FROM_ROOT | WALK_NO_KERNEL), "main;read");
	assert_string_equal(walked(&s, WALK_INNERMOST | WALK_NO_USER), "wait_k;sys_read_k");
	assert_string_equal(walked(&s, WALK_NO_USER | WALK_NO_KERNEL), "");
}

TEST(stack_walk, says_where_frames_are_missing)
{
	const struct life l = { .tid = 8 }, kthread = { .tid = 9, .flags = PF_KTHREAD };
	struct stack_sample s = { .life = &l, .user = &user.stack, .kernel = &kernel.stack };

	assert_string_equal(walked(&s, WALK_MARKS), "main;read;sys_read_k;wait_k");
	user.stack.end = STACK_COMPLETE + 1;
	s.flags = NOTE_NEAR;
	assert_string_equal(walked(&s, WALK_MARKS), "~;[truncated];main;read;sys_read_k;wait_k");
	assert_string_equal(walked(&s, WALK_MARKS | WALK_INNERMOST), "wait_k;sys_read_k;read;main;[truncated];~");
	assert_string_equal(walked(&s, WALK_MARKS | WALK_NO_USER), "~;sys_read_k;wait_k");
	assert_string_equal(walked(&s, WALK_MARKS | WALK_NO_USER | WALK_NO_KERNEL), "");
	user.stack.end = STACK_COMPLETE;
	kernel.stack.end = STACK_COMPLETE + 1;
	s.flags = 0;
	assert_string_equal(walked(&s, WALK_MARKS), "main;read;[truncated];sys_read_k;wait_k");
	kernel.stack.end = STACK_COMPLETE;
	s.user = NULL;
	s.flags = NOTE_USER_LOST;
	assert_string_equal(walked(&s, WALK_MARKS), "[user stack not taken];sys_read_k;wait_k");
	s.flags = NOTE_NO_USER;
	assert_string_equal(walked(&s, WALK_MARKS), "[user stack not taken];sys_read_k;wait_k");
	assert_string_equal(walked(&s, WALK_MARKS | WALK_INNERMOST), "wait_k;sys_read_k;[user stack not taken]");
	assert_string_equal(walked(&s, WALK_MARKS | WALK_NO_USER), "sys_read_k;wait_k");
	s.life = &kthread;
	assert_string_equal(walked(&s, WALK_MARKS), "sys_read_k;wait_k");
	s.kernel = NULL;
	assert_string_equal(walked(&s, WALK_MARKS), "[no stack]");
	assert_string_equal(walked(&s, WALK_FROM_ROOT), "");
}

TEST(stack_walk, goes_over_frames_and_names_what_has_no_symbol)
{
	const uint64_t frames[] = { FRAME_KERNEL | 4, 0, 1 };
	struct stack_walk w;
	char text[64] = "";

	stack_walk_frames(&w, &source, frames, 3, 7);
	while (stack_walk_next(&w)) {
		strcat(text, stack_walk_name(&w));
		strcat(text, w.kernel ? "_k " : " ");
	}
	assert_string_equal(text, "wait_k ? main ");
}

int main(void)
{
	RUN_TESTS(cmocka_unit_test(stack_walk_goes_either_way_over_both_stacks),
		  cmocka_unit_test(stack_walk_says_where_frames_are_missing),
		  cmocka_unit_test(stack_walk_goes_over_frames_and_names_what_has_no_symbol));
}
