/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include <curses.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "tui/input/keymap.h"

static struct keymap preset(enum preset p)
{
	struct keymap m;

	keymap_preset(&m, p);
	return m;
}

/* A plain key exists on every keyboard and in every terminal. */
TEST(keymap, every_action_has_a_plain_key)
{
	for (int p = 0; p < PRESET_COUNT; p++) {
		struct keymap m = preset(p);

		for (int a = 0; a < ACTION_NONE; a++) {
			for (int place = 1; place <= actions[a].places; place *= 2) {
				bool plain = !(actions[a].places & place);

				for (int key = 1; key < 128; key++)
					plain |= keymap_action(&m, key, place) == (enum action)a;
				if (!plain)
					print_error("%s has no plain key in %s, place %d\n",
						    actions[a].name, preset_names[p], place);
				assert_true(plain);
			}
		}
	}
}

static bool share_a_key(const char *keys, const char *others)
{
	char list[64];

	snprintf(list, sizeof(list), "%s", keys);
	for (char *key = strtok(list, " "); key; key = strtok(NULL, " ")) {
		const char *at = others;

		while ((at = strstr(at, key))) {
			size_t len = strlen(key);

			if ((at == others || at[-1] == ' ') && (!at[len] || at[len] == ' '))
				return true;
			at += len;
		}
	}
	return false;
}

/* Two actions share a key only if one of them applies to some of the other's places, or to none of them. */
TEST(keymap, presets_have_no_conflicts)
{
	for (int p = 0; p < PRESET_COUNT; p++) {
		for (int a = 0; a < ACTION_NONE; a++) {
			for (int b = 0; b < a; b++) {
				int x = actions[a].places, y = actions[b].places, both = x & y;

				if (!both || (both == x && x != y) || (both == y && x != y) ||
				    !share_a_key(actions[a].keys[p], actions[b].keys[p]))
					continue;
				print_error("%s: %s and %s\n", preset_names[p], actions[a].name,
					    actions[b].name);
				assert_true(false);
			}
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

/* h is help, except in a flamegraph, where it moves. */
TEST(keymap, the_narrower_place_comes_first)
{
	struct keymap m = preset(PRESET_SYSTOP);

	assert_int_equal(keymap_action(&m, 'h', IN_THREADS), ACTION_HELP);
	assert_int_equal(keymap_action(&m, 'h', IN_GRAPH), ACTION_FLAME_LEFT);
}

TEST(keymap, search_comes_first)
{
	struct keymap m = preset(PRESET_SYSTOP);

	assert_int_equal(keymap_action(&m, 'N', IN_THREADS), ACTION_SORT_ID);
	assert_int_equal(keymap_action(&m, 'N', IN_THREADS | IN_SEARCH), ACTION_MATCH_PREV);
}

/* A binding takes the key from the preset's action; the preset's other keys stay. */
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
			    "unknown key for pause: systoprc(5) lists them");
	assert_non_null(keymap_bind(&m, ACTION_PAUSE, "F21", 3, error, sizeof(error)));
	assert_non_null(keymap_bind(&m, ACTION_PAUSE, "\xc3\xa9", 3, error, sizeof(error)));
	assert_null(keymap_bind(&m, ACTION_PAUSE, "p", 3, error, sizeof(error)));
	assert_string_equal(keymap_bind(&m, ACTION_HELP, "x p", 9, error, sizeof(error)),
			    "a key of help is bound to pause already, in line 3");
	/* No place has both: no conflict. */
	assert_null(keymap_bind(&m, ACTION_OWN, "x", 10, error, sizeof(error)));
	assert_null(keymap_bind(&m, ACTION_TREE, "x", 11, error, sizeof(error)));
}

/* A key that means something else in a view is not shown there. */
TEST(keymap, first_key_that_acts)
{
	struct keymap m = preset(PRESET_HTOP);
	char key[16];

	assert_string_equal(keymap_key(&m, ACTION_HELP, IN_THREADS, key, sizeof(key)), "h");
	/* h is the box to the left. */
	assert_string_equal(keymap_key(&m, ACTION_HELP, IN_FLAME, key, sizeof(key)), "?");
	assert_string_equal(keymap_key(&m, ACTION_HELP, IN_TEXT, key, sizeof(key)), "h");
	assert_string_equal(keymap_key(&m, ACTION_SORT_ID, IN_THREADS | IN_SEARCH, key, sizeof(key)), "");
}

/* A key of one view does not conflict with its general action, which keeps it elsewhere. */
TEST(keymap, a_views_own_keys_come_first)
{
	struct keymap m = preset(PRESET_SYSTOP);
	char error[128];

	assert_null(keymap_bind(&m, ACTION_HELP, "x", 3, error, sizeof(error)));
	assert_null(keymap_bind(&m, ACTION_OWN, "x", 4, error, sizeof(error)));
	assert_int_equal(keymap_action(&m, 'x', IN_CGROUPS), ACTION_OWN);
	assert_int_equal(keymap_action(&m, 'x', IN_GRAPH), ACTION_FLAME_BASE);
	assert_int_equal(keymap_action(&m, 'x', IN_SYSTEM), ACTION_HELP);
}

int main(void)
{
	RUN_TESTS(cmocka_unit_test(keymap_every_action_has_a_plain_key),
		  cmocka_unit_test(keymap_presets_have_no_conflicts),
		  cmocka_unit_test(keymap_every_way_a_key_is_sent),
		  cmocka_unit_test(keymap_the_narrower_place_comes_first),
		  cmocka_unit_test(keymap_search_comes_first),
		  cmocka_unit_test(keymap_binding_wins_over_the_preset),
		  cmocka_unit_test(keymap_what_is_wrong_is_said),
		  cmocka_unit_test(keymap_first_key_that_acts),
		  cmocka_unit_test(keymap_a_views_own_keys_come_first));
}
