/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text written by users and other processes: names, expressions, settings, the config file, themes. */
#include "words.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/config_file.h"
#include "query/filter.h"
#include "save/trigger.h"
#include "scene.h"
#include "tui/input/settings.h"
#include "tui/term/theme.h"
#include "util/invoker.h"
#include "util/text.h"

/* --- Names */

void fuzz_text_safe(const uint8_t *bytes, size_t size)
{
	struct feed f = { bytes, size };
	size_t room = feed_number(&f, 1);
	int width = (int8_t)feed_number(&f, 1);
	char safe[256], cut[256], elided[256];
	size_t len = text_safe(safe, room, (const char *)f.at, f.left);

	if (!room)
		return;
	fuzz_check(len < room && len == strlen(safe), "%zu bytes in %zu", len, room);
	fuzz_safe(safe, "a safe text");
	for (size_t i = 0; i < len; i++)
		fuzz_check((unsigned char)safe[i] >= ' ' && safe[i] != 127, "a control: %#x", safe[i]);
	fuzz_check(text_cut(cut, sizeof(cut), safe, width) <= (width > 0 ? width : 0), "cut to more than %d", width);
	fuzz_check(text_width(cut) <= (width > 0 ? width : 0), "%d cells of %d", text_width(cut), width);
	fuzz_check(!strncmp(cut, safe, strlen(cut)), "cut: %s", cut);
	text_elide(elided, sizeof(elided), safe, width);
	fuzz_check(text_width(elided) <= (width > 0 ? width : 0), "%d cells of %d", text_width(elided), width);
	fuzz_safe(elided, "an elided text");
}

/* --- Expressions */

static int user(const char *name, uint32_t *uid)
{
	*uid = strlen(name);
	return strcmp(name, "nobody") ? 0 : -ENOENT;
}

static void match(const struct filter *f, const struct tick *t)
{
	struct trigger trigger = { .filter = f, .text = "", .limit = 1 };
	char why[512];

	for (size_t i = 0; i < t->nr_active; i++)
		filter_match(f, &t->active[i], t);
	for (size_t i = 0; i < t->nr_processes; i++)
		filter_match(f, &t->processes[i], t);
	for (size_t i = 0; i < t->nr_cgroups; i++)
		filter_match(f, &t->cgroups[i], t);
	if (trigger_fires(&trigger, t, 1, why, sizeof(why)))
		fuzz_safe(why, "why it is saved");
}

void fuzz_filter(const uint8_t *bytes, size_t size)
{
	static struct scene scene;
	char *text = fuzz_text(bytes, size);
	struct filter_error error = { 0 };
	struct filter *f = filter_parse(text, user, &error);

	if (!scene.model)
		scene_make(&scene, 4);
	if (f) {
		match(f, scene.ticks[SCENE_TICKS - 1]);
	} else {
		fuzz_safe(error.what, "what is wrong");
		fuzz_check(*error.what && error.column >= 0 && error.column <= (int)(4 * size), "%s at %d", error.what,
			   error.column);
	}
	filter_free(f);
	free(text);
}

/* --- Settings */

static const struct settings *defaults(void)
{
	static struct settings s;

	if (!*s.theme)
		settings_default(&s);
	return &s;
}

/* The next column that is not hidden, from @i on; NULL: none. */
static const struct column_choice *visible(const struct column_list *l, int *i)
{
	while (*i < l->nr && l->at[*i].hidden)
		++*i;
	return *i < l->nr ? &l->at[(*i)++] : NULL;
}

/* Whether the same text is printed for both: it leaves out what is hidden. */
static bool is_printed_alike(const struct column_list *a, const struct column_list *b)
{
	const struct column_choice *x, *y;
	int i = 0, j = 0;

	do {
		x = visible(a, &i);
		y = visible(b, &j);
	} while (x && y && x->id == y->id && x->asked == y->asked && x->width == y->width);
	return !x && !y;
}

/* Most lists of columns are unchanged, and printing them takes most of the time. */
static bool same_list(const struct settings *a, const struct settings *b, const char *section, int *list)
{
	return !strcmp(section, "columns") && is_printed_alike(&a->columns[*list], &b->columns[*list]) && ++*list;
}

/* The written text equals the settings. A list without columns is not written. */
void fuzz_check_equal(const struct settings *a, const struct settings *b)
{
	struct setting_text x, y;
	int list = 0;

	for (int nr = 0; settings_get(NULL, nr, &x); nr++) {
		if (same_list(a, b, x.section, &list))
			continue;
		list += !strcmp(x.section, "columns");
		fuzz_check(settings_get(a, nr, &x) && settings_get(b, nr, &y), "%s is missing", x.name);
		fuzz_check(!*x.value || !strcmp(x.value, y.value), "%s.%s: %s, read again %s", x.section, x.name, x.value,
			   y.value);
	}
}

/* Applies the text of each setting that differs from the defaults. */
static void set_again(const struct settings *s, struct settings *again)
{
	struct setting_text text;
	char error[160];
	int list = 0;

	for (int nr = 0; settings_get(NULL, nr, &text); nr++) {
		if (same_list(s, again, text.section, &list))
			continue;
		list += !strcmp(text.section, "columns");
		if (settings_get(s, nr, &text) && text.set)
			fuzz_check(!settings_set(again, text.section, text.name, text.value, nr + 1, error, sizeof(error)),
				   "%s.%s = %s: %s", text.section, text.name, text.value, error);
	}
}

void fuzz_settings(const uint8_t *bytes, size_t size)
{
	struct feed f = { bytes, size };
	struct settings s = *defaults(), again = s;
	char section[32], name[64], value[1024], error[160] = "";
	int err;

	feed_line(&f, section, sizeof(section));
	feed_line(&f, name, sizeof(name));
	feed_line(&f, value, sizeof(value));
	err = settings_set(&s, section, name, value, 7, error, sizeof(error));
	fuzz_check((err == -EINVAL) == (*error != '\0'), "%d: %s", err, error);
	fuzz_safe(error, "what is wrong");
	if (err)
		return;
	set_again(&s, &again);
	fuzz_check_equal(&s, &again);
}

/* --- Files. Path look-up is tested elsewhere: here a path is whatever was put there. */

#define FILE_PATH "/the/file"

static struct {
	const uint8_t *bytes;
	size_t size;
} file;

FILE *__real_path_read(const char *path, uid_t uid, const char **why);
FILE *__wrap_path_read(const char *path, uid_t uid, const char **why);

FILE *__wrap_path_read(const char *path, uid_t uid, const char **why)
{
	return strcmp(path, FILE_PATH) ? __real_path_read(path, uid, why)
				       : fmemopen((void *)file.bytes, file.size, "r");
}

bool fuzz_read_config(struct settings *s, const void *bytes, size_t size)
{
	static bool begun;
	char notice[512];

	if (!begun)
		fuzz_check(!invoker_find() && !setenv("SYSTOPRC", FILE_PATH, 1), "who am I?");
	begun = true;
	file.bytes = bytes;
	file.size = size;
	*s = *defaults();
	config_read(s, notice, sizeof(notice));
	fuzz_safe(notice, "what is wrong");
	return !*notice;
}

void fuzz_config(const uint8_t *bytes, size_t size)
{
	struct settings s;

	if (!fuzz_read_config(&s, bytes, size))
		fuzz_check(!memcmp(&s, defaults(), sizeof(s)), "half of a broken file is used");
}

void fuzz_theme(const uint8_t *bytes, size_t size)
{
	const struct theme_files files = { .uid = geteuid() };
	char error[256] = "";
	struct theme t;

	file.bytes = bytes;
	file.size = size;
	if (!theme_load(&t, FILE_PATH, &files, error, sizeof(error))) {
		for (int role = 0; role < ROLE_COUNT; role++)
			theme_look(&t, role);
	} else {
		fuzz_check(*error, "no reason");
		fuzz_safe(error, "what is wrong");
	}
}
