/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include <errno.h>
#include <string.h>

#include "tui/input/settings.h"

static int set(struct settings *s, const char *section, const char *name, const char *value)
{
	char error[160];
	int err = settings_set(s, section, name, value, 7, error, sizeof(error));

	assert_true((err == -EINVAL) == (*error != '\0')); /* wrong and said, or neither */
	return err;
}

/* What W writes is what the next start reads. */
TEST(settings, come_back_as_they_were)
{
	struct settings s, t;
	struct setting_text text, again;

	settings_default(&s);
	assert_int_equal(set(&s, "look", "theme", "mono"), 0);
	assert_int_equal(set(&s, "look", "units", "rate"), 0);
	assert_int_equal(set(&s, "view", "sort", "runq.max"), 0);
	assert_int_equal(set(&s, "view", "invert", "yes"), 0);
	assert_int_equal(set(&s, "view", "delay", "0.5s"), 0);
	assert_int_equal(set(&s, "columns", "threads", "id +pid comm:20 run"), 0);
	assert_int_equal(set(&s, "keys", "preset", "htop"), 0);
	assert_int_equal(set(&s, "keys", "pause", "p F12"), 0);

	settings_default(&t);
	for (int nr = 0; settings_get(&s, nr, &text); nr++)
		if (*text.value)
			assert_int_equal(set(&t, text.section, text.name, text.value), 0);
	for (int nr = 0; settings_get(&s, nr, &text); nr++) {
		assert_true(settings_get(&t, nr, &again));
		assert_string_equal(text.value, again.value);
	}
	assert_string_equal(t.keymap.keys[ACTION_PAUSE], "p F12");
	assert_string_equal(t.keymap.keys[ACTION_SEARCH], "F3 /");
}

/* A preset that stands behind a binding does not undo it. */
TEST(settings, preset_keeps_bindings)
{
	struct settings s;

	settings_default(&s);
	assert_int_equal(set(&s, "keys", "pause", "p"), 0);
	assert_int_equal(set(&s, "keys", "preset", "below"), 0);
	assert_string_equal(s.keymap.keys[ACTION_PAUSE], "p");
	assert_string_equal(s.keymap.keys[ACTION_THREADS], "1"); /* below's p is taken */
}

TEST(settings, wrong_ones_are_refused)
{
	static const struct {
		const char *section, *name, *value;
		int err;
	} cases[] = {
		{ "look", "color", "sometimes", -EINVAL }, { "look", "mouse", "1", -EINVAL },
		{ "view", "start", "flame", -EINVAL },     { "view", "sort", "bar", -EINVAL },
		{ "view", "sort", "nosuch", -EINVAL },     { "view", "delay", "1h", -EINVAL },
		{ "columns", "cgroups", "pid", -EINVAL },  { "columns", "threads", "run:0", -EINVAL },
		{ "keys", "preset", "emacs", -EINVAL },    { "keys", "nosuch", "x", -EINVAL },
		{ "look", "theme", "", -EINVAL },          { "look", "later", "x", -ENOENT },
		{ "later", "theme", "x", -ENOENT },
	};
	struct settings s;

	settings_default(&s);
	FOR_EACH (c, cases)
		assert_int_equal(set(&s, c->section, c->name, c->value), c->err);
}

int main(void)
{
	RUN_TESTS(cmocka_unit_test(settings_come_back_as_they_were),
		  cmocka_unit_test(settings_preset_keeps_bindings),
		  cmocka_unit_test(settings_wrong_ones_are_refused));
}
