/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/words.h"

#include <stdio.h>
#include <string.h>

#include "unit.h"

static char told[4096];

static void report(const char *text, size_t bytes)
{
	strncat(told, text, bytes);
}

/* libbpf's messages for a program that the verifier rejects, in pieces as libbpf prints them. */
static void verifier_refuses(void)
{
	words_begin();
	words_add(false, "libbpf: loading object 'systop' from buffer\n");
	words_add(true, "libbpf: prog 'seed_task': BPF program load failed: Invalid argument\n");
	words_add(true, "libbpf: prog 'seed_task': -- BEGIN PROG LOAD LOG --\n"
			"1\n2\n3\n4\n5\n6\n7: (85) call unknown#195896080\ninvalid func unknown#195896080\n"
			"processed 3 insns (limit 1000000) max_states_per_insn 0\n-- END PROG LOAD LOG --\n");
	words_add(true, "libbpf: prog 'seed_task': failed to load: -22\n");
	words_add(true, "libbpf: failed to load object 'systop'\n");
}

TEST(words, last_lines_of_the_verifier)
{
	const struct refusal *r = words_refusal();

	verifier_refuses();
	assert_string_equal(r->what, "program seed_task");
	assert_int_equal(r->nr_lines, REFUSAL_LINES);
	assert_string_equal(r->lines[0], "1");
	assert_string_equal(r->lines[6], "7: (85) call unknown#195896080");
	assert_string_equal(r->lines[7], "invalid func unknown#195896080");
	words_add(true, "libbpf: prog 'seed_task': -- BEGIN PROG LOAD LOG --\ncut");
	assert_string_equal(r->lines[7], "invalid func unknown#195896080");
}

TEST(words, map_refused)
{
	const struct refusal *r = words_refusal();

	words_begin();
	words_add(true, "libbpf: map 'slots': failed to create: Cannot allocate memory(-12)\n");
	words_add(true, "libbpf: failed to load object 'systop'\n");
	assert_string_equal(r->what, "map slots");
	assert_int_equal(r->nr_lines, 2);
	assert_string_equal(r->lines[0], "map 'slots': failed to create: Cannot allocate memory(-12)");
	words_begin();
	assert_string_equal(r->what, "");
	assert_int_equal(r->nr_lines, 0);
}

/* A log without its end, lines that are too long, and characters that no terminal should get. */
TEST(words, fit_for_a_terminal)
{
	const struct refusal *r = words_refusal();
	char text[1000] = "libbpf: prog 'x': -- BEGIN PROG LOAD LOG --\n\033]0;title\a\n";

	memset(text + strlen(text), 'a', 900);
	words_begin();
	words_add(true, text);
	assert_int_equal(r->nr_lines, 2);
	assert_string_equal(r->lines[0], "\\x1b]0;title\\x07");
	assert_int_equal(strlen(r->lines[1]), sizeof(r->lines[1]) - 1);
	words_begin();
	words_add(true, "libbpf: prog '\033[31mprogram of a name that is far too long': BPF program load failed: x\n");
	assert_non_null(strstr(r->what, "program \\x1b[31m"));
}

/* Details go only to the log, which has all of them, unchanged. */
TEST(words, all_of_it_for_the_log)
{
	words_listen(report);
	words_begin();
	words_add(false, "libbpf: CO-RE relocating\n");
	words_add(true, "libbpf: prog 'x': -- BEGIN PROG LOAD LOG --\nprocessed 3 insns\n");
	words_listen(NULL);
	words_add(true, "libbpf: not for it\n");
	assert_string_equal(told, "libbpf: CO-RE relocating\nlibbpf: prog 'x': -- BEGIN PROG LOAD LOG --\nprocessed 3 insns\n");
	assert_int_equal(words_refusal()->nr_lines, 0);
}

int main(void)
{
	RUN_TESTS(cmocka_unit_test(words_last_lines_of_the_verifier), cmocka_unit_test(words_map_refused),
		  cmocka_unit_test(words_fit_for_a_terminal), cmocka_unit_test(words_all_of_it_for_the_log));
}
