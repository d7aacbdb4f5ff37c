/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include <curses.h>
#include <locale.h>
#include <string.h>

#include "tui/widget/prompt.h"

static enum prompt_verdict type(struct prompt *p, const char *keys)
{
	enum prompt_verdict verdict = PROMPT_TYPING;

	for (; *keys; keys++)
		verdict = prompt_key(p, (unsigned char)*keys, false);
	return verdict;
}

#define CTRL(c) ((c) & 0x1f)

TEST(prompt, edits_like_a_shell)
{
	struct prompt p;

	prompt_open(&p, "/", "");
	type(&p, "one two");
	assert_string_equal(p.text, "one two");
	prompt_key(&p, CTRL('A'), false);
	type(&p, ">");
	assert_string_equal(p.text, ">one two");
	assert_int_equal(prompt_key(&p, CTRL('A'), false), PROMPT_TYPING);
	assert_int_equal(prompt_key(&p, KEY_BACKSPACE, true), PROMPT_TYPING);
	prompt_key(&p, CTRL('E'), false);
	type(&p, "  ");
	prompt_key(&p, CTRL('W'), false);
	assert_string_equal(p.text, ">one ");
	prompt_key(&p, KEY_BACKSPACE, true);
	prompt_key(&p, KEY_LEFT, true);
	prompt_key(&p, KEY_DC, true);
	assert_string_equal(p.text, ">on");
	prompt_key(&p, KEY_HOME, true);
	prompt_key(&p, KEY_RIGHT, true);
	prompt_key(&p, CTRL('K'), false);
	assert_string_equal(p.text, ">");
	prompt_key(&p, CTRL('U'), false);
	assert_string_equal(p.text, "");
}

/* A character is one step, regardless of its bytes. */
TEST(prompt, whole_characters)
{
	struct prompt p;

	prompt_open(&p, "/", "");
	prompt_key(&p, 0x65e5, false);
	prompt_key(&p, 0xe9, false);
	assert_string_equal(p.text, "\xe6\x97\xa5\xc3\xa9");
	prompt_key(&p, KEY_LEFT, true);
	prompt_key(&p, KEY_BACKSPACE, true);
	assert_string_equal(p.text, "\xc3\xa9");
	prompt_key(&p, CTRL('B'), false);
	type(&p, "a");
	assert_string_equal(p.text, "a\xc3\xa9");
}

TEST(prompt, ends)
{
	struct prompt p;

	prompt_open(&p, "/", "was");
	assert_int_equal(type(&p, "\n"), PROMPT_DONE);
	assert_string_equal(p.text, "was");
	assert_int_equal(type(&p, "\033"), PROMPT_CANCELLED);
	assert_int_equal(prompt_key(&p, CTRL('C'), false), PROMPT_CANCELLED);
	assert_int_equal(prompt_key(&p, KEY_ENTER, true), PROMPT_DONE);
	prompt_key(&p, CTRL('U'), false);
	assert_int_equal(prompt_key(&p, KEY_BACKSPACE, false), PROMPT_TYPING); /* a letter with the number of that code */
	assert_string_equal(p.text, "\xc4\x87");
	prompt_key(&p, CTRL('U'), false);
	assert_int_equal(prompt_key(&p, KEY_BACKSPACE, true), PROMPT_CANCELLED);
	assert_int_equal(prompt_key(&p, 127, false), PROMPT_CANCELLED);
}

TEST(prompt, never_overflows)
{
	struct prompt p;

	prompt_open(&p, "/", "");
	for (int i = 0; i < 1000; i++)
		prompt_key(&p, i % 2 ? 0x65e5 : 'x', false);
	assert_true(strlen(p.text) < sizeof(p.text) && strlen(p.text) > sizeof(p.text) - 8);
	assert_int_equal(p.len, strlen(p.text));
}

int main(void)
{
	setlocale(LC_ALL, "C.UTF-8");
	RUN_TESTS(cmocka_unit_test(prompt_edits_like_a_shell), cmocka_unit_test(prompt_whole_characters),
		  cmocka_unit_test(prompt_ends), cmocka_unit_test(prompt_never_overflows));
}
