/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include <curses.h>
#include <string.h>

#include "tui/keymap.h"

static struct keymap preset(enum preset p)
{
	struct keymap m;

	keymap_preset(&m, p);
	return m;
}

/* A plain key is one that every keyboard and every terminal has. */
TEST(keymap, every_action_has_a_plain_key)
{
	for (int p = 0; p < PRESET_COUNT; p++) {
		struct keymap m = preset(p);

		for (int a = 0; a < ACTION_NONE; a++) {
			bool plain = false;

			for (int key = 1; key < 128; key++)
				plain |= keymap_action(&m, key, actions[a].places) == (enum action)a;
			if (!plain)
				print_error("%s has no plain key in %s\n", actions[a].name, preset_names[p]);
			assert_true(plain);
		}
	}
}

/* Bound once more as it is: that fails if two actions share a key where both mean something. */
TEST(keymap, presets_have_no_conflicts)
{
	char error[128];

	for (int p = 0; p < PRESET_COUNT; p++) {
		struct keymap m = preset(p);

		for (int a = 0; a < ACTION_NONE; a++) {
			const char *wrong = keymap_bind(&m, a, actions[a].keys[p], a + 1, error, sizeof(error));

			if (wrong)
				print_error("%s: %s\n", preset_names[p], wrong);
			assert_null(wrong);
		}
	}
}

TEST(keymap, every_way_a_key_is_sent)
{
	struct keymap m = preset(PRESET_SYSTOP);

	assert_int_equal(keymap_action(&m, '\r', IN_THREADS), ACTION_ENTER);
	assert_int_equal(keymap_action(&m, '\n', IN_THREADS), ACTION_ENTER);
	assert_int_equal(keymap_action(&m, KEY_ENTER, IN_THREADS), ACTION_ENTER);
	assert_int_equal(keymap_action(&m, KEY_BACKSPACE, IN_THREADS), ACTION_BACK);
	assert_int_equal(keymap_action(&m, 127, IN_THREADS), ACTION_BACK);
	assert_int_equal(keymap_action(&m, KEY_F(6), IN_THREADS), ACTION_SORT_MENU);
	assert_int_equal(keymap_action(&m, 'C' & 0x1f, IN_THREADS), ACTION_QUIT);
	assert_int_equal(keymap_action(&m, KEY_F(6), IN_SYSTEM), ACTION_NONE);
	assert_int_equal(keymap_action(&m, KEY_F(20), IN_THREADS), ACTION_NONE);
}

TEST(keymap, search_comes_first)
{
	struct keymap m = preset(PRESET_SYSTOP);

	assert_int_equal(keymap_action(&m, 'N', IN_THREADS), ACTION_SORT_ID);
	assert_int_equal(keymap_action(&m, 'N', IN_THREADS | IN_SEARCH), ACTION_MATCH_PREV);
}

/* What is bound takes the key from what the preset had on it; the preset's other keys stay. */
TEST(keymap, binding_wins_over_the_preset)
{
	struct keymap m = preset(PRESET_SYSTOP);
	char error[128];

	assert_null(keymap_bind(&m, ACTION_PAUSE, "F6 p", 3, error, sizeof(error)));
	assert_int_equal(keymap_action(&m, KEY_F(6), IN_THREADS), ACTION_PAUSE);
	assert_int_equal(keymap_action(&m, 'p', IN_THREADS), ACTION_PAUSE);
	assert_int_equal(keymap_action(&m, ' ', IN_THREADS), ACTION_NONE);
	assert_int_equal(keymap_action(&m, '.', IN_THREADS), ACTION_SORT_MENU);
}

TEST(keymap, what_is_wrong_is_said)
{
	struct keymap m = preset(PRESET_SYSTOP);
	char error[128];

	assert_string_equal(keymap_bind(&m, ACTION_PAUSE, "p Foo", 3, error, sizeof(error)),
			    "unknown key for pause");
	assert_non_null(keymap_bind(&m, ACTION_PAUSE, "F21", 3, error, sizeof(error)));
	assert_non_null(keymap_bind(&m, ACTION_PAUSE, "\xc3\xa9", 3, error, sizeof(error)));
	assert_null(keymap_bind(&m, ACTION_PAUSE, "p", 3, error, sizeof(error)));
	assert_string_equal(keymap_bind(&m, ACTION_HELP, "x p", 9, error, sizeof(error)),
			    "a key of help is pause already, by line 3");
	/* Not where both mean something: fine. */
	assert_null(keymap_bind(&m, ACTION_OWN, "x", 10, error, sizeof(error)));
	assert_null(keymap_bind(&m, ACTION_TREE, "x", 11, error, sizeof(error)));
}

int main(void)
{
	RUN_TESTS(cmocka_unit_test(keymap_every_action_has_a_plain_key),
		  cmocka_unit_test(keymap_presets_have_no_conflicts),
		  cmocka_unit_test(keymap_every_way_a_key_is_sent),
		  cmocka_unit_test(keymap_search_comes_first),
		  cmocka_unit_test(keymap_binding_wins_over_the_preset),
		  cmocka_unit_test(keymap_what_is_wrong_is_said));
}
