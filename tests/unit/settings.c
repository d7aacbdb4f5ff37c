/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "folder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/config_file.h"
#include "app/config_write.h"
#include "tui/input/settings.h"
#include "util/invoker.h"
#include "util/path.h"

static int set(struct settings *s, const char *section, const char *name, const char *value)
{
	char error[160];
	int err = settings_set(s, section, name, value, 7, error, sizeof(error));

	assert_true((err == -EINVAL) == (*error != '\0')); /* an error with a message, or neither */
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

/* A preset after a binding does not undo it. */
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
		{ "view", "start", "detail", -EINVAL },    { "view", "sort", "bar", -EINVAL },
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

/* Paths of files are long; one that is too long for a line of the file is refused for that. */
TEST(settings, theme_with_a_long_path)
{
	char path[182] = "", error[160];
	struct settings s;

	settings_default(&s);
	memset(path, '/', 70);
	assert_int_equal(set(&s, "look", "theme", path), 0);
	assert_string_equal(s.theme, path);
	memset(path, '/', 180);
	assert_int_equal(set(&s, "look", "theme", path), 0);
	assert_string_equal(s.theme, path);
	path[180] = '/';
	assert_int_equal(settings_set(&s, "look", "theme", path, 7, error, sizeof(error)), -EINVAL);
	assert_string_equal(error, "a theme's name or path has at most 180 bytes: use a shorter one");
}

/* The value of a setting as W writes it. */
static const char *text_of(const struct settings *s, const char *name, struct setting_text *t)
{
	for (int nr = 0; settings_get(s, nr, t); nr++)
		if (!strcmp(t->name, name))
			return t->value;
	return NULL;
}

TEST(settings, delays_are_written_as_they_are_read)
{
	static const char *const delays[] = { "0.1s", "0.5s", "1s", "1.25s", "10s", "59.999999999s" };
	struct setting_text t;
	struct settings s;

	settings_default(&s);
	FOR_EACH (d, delays) {
		assert_int_equal(set(&s, "view", "delay", *d), 0);
		assert_string_equal(text_of(&s, "delay", &t), *d);
	}
}

/* The error is that of the first invalid line, whatever follows. */
TEST(settings, file_names_the_first_error)
{
	static const struct {
		const char *text, *why;
	} cases[] = {
		{ "[look]\ncolor = red\nmouse = yes\n",
		  "line 2: color: expected one of: auto always never; defaults are used" },
		{ "[look]\ncolor = red\nmouse = cat\n",
		  "line 2: color: expected one of: auto always never; defaults are used" },
		{ "[look]\nmouse = yes\ncolor = red\n",
		  "line 3: color: expected one of: auto always never; defaults are used" },
		{ "[look]\nmouse = cat\n", "line 2: mouse: expected one of: yes no; defaults are used" },
		{ "[look]\nascii = no\n", "line 2: ascii: expected one of: auto always never; defaults are used" },
		{ "[view]\ndelay = 1h\n",
		  "line 2: delay: expected a refresh interval from 0.1s to 60s; defaults are used" },
		{ "[view]\nsort = x\n",
		  "line 2: sort: expected a column's name: systop -s help lists them; defaults are used" },
		{ "[keys]\npreset = vi\n", "line 2: preset: expected one of: systop htop below; defaults are used" },
		{ "[look]\nwhat\nmouse = cat\n", "line 2: not understood; defaults are used" },
		{ "[keys]\npause = p\nsearch = ;\nnext-match =\n",
		  "line 3: no key for search (a ; behind a blank begins a comment: search =; binds it); defaults are used" },
		{ "[keys]\nsearch =\npause =\n",
		  "line 2: no key for search (a ; behind a blank begins a comment: search =; binds it); defaults are used" },
	};
	struct settings s;

	assert_int_equal(invoker_find(), 0);
	FOR_EACH (c, cases) {
		char path[] = "/tmp/systop-settings-XXXXXX", notice[512];
		int fd = mkstemp(path);

		assert_true(fd >= 0);
		assert_int_equal(write(fd, c->text, strlen(c->text)), strlen(c->text));
		close(fd);
		assert_int_equal(setenv("SYSTOPRC", path, 1), 0);
		settings_default(&s);
		config_read(&s, notice, sizeof(notice));
		unlink(path);
		assert_memory_equal(notice, path, strlen(path));
		assert_string_equal(notice + strlen(path) + 2, c->why);
		assert_false(s.mouse);
	}
}

/* A value goes on in a line that begins with a blank, without comments, but not in the next section. A comment can be long. */
TEST(settings, file_with_blanks)
{
	char text[400], path[] = "/tmp/systop-settings-XXXXXX", notice[512];
	int fd = mkstemp(path);
	struct settings s;

	snprintf(text, sizeof(text), "#%300s\n[keys]\nsearch = F3\n\t/ ;\n[look]\n  color = always ; as such\n", "x");
	assert_int_equal(invoker_find(), 0);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	assert_int_equal(setenv("SYSTOPRC", path, 1), 0);
	settings_default(&s);
	config_read(&s, notice, sizeof(notice));
	unlink(path);
	assert_string_equal(notice, "");
	assert_int_equal(s.color, WHEN_ALWAYS);
	assert_string_equal(s.keymap.keys[ACTION_SEARCH], "F3 / ;");
}

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static void read_file(const char *path, char *text, size_t size)
{
	FILE *f = fopen(path, "r");

	assert_non_null(f);
	text[fread(text, 1, size - 1, f)] = '\0';
	fclose(f);
}

/* What --print-config prints is a file that says the same, also where it could be taken for a comment. */
TEST(settings, printed_ones_are_read_again)
{
	static const char *const keys[] = { "; F3", "F3 ;", "F3 ; /", ";" };
	char why[128];
	struct settings s, again;

	FOR_EACH (k, keys) {
		FILE *f = tmpfile();

		assert_non_null(f);
		settings_default(&s);
		settings_default(&again);
		assert_int_equal(set(&s, "keys", "search", *k), 0);
		assert_int_equal(set(&s, "keys", "preset", "htop"), 0);
		config_print(f, &s);
		rewind(f);
		assert_int_equal(config_parse(&again, f, why, sizeof(why)), 0);
		fclose(f);
		assert_string_equal(again.keymap.keys[ACTION_SEARCH], *k);
		assert_int_equal(again.preset, s.preset);
	}
}

/* A file with an error was not read: the settings, which are the defaults, must not replace its good lines. */
TEST(settings, file_with_an_error_is_not_written)
{
	static const char text[] = "[view]\nsort = d_ns\n[look]\nwhat\n", begin[] = "# mine\n[view]\nsort = run_ns\n";
	char again[4096];
	struct settings s;

	assert_int_equal(invoker_find(), 0);
	assert_int_equal(folder_new(NULL), 0);
	settings_default(&s);
	write_file(in_folder("rc"), text);
	assert_int_equal(config_put(in_folder("rc"), &s), 4);
	read_file(in_folder("rc"), again, sizeof(again));
	assert_string_equal(again, text);
	write_file(in_folder("rc"), "# mine\n[view]\nsort = d_ns\n");
	assert_int_equal(config_put(in_folder("rc"), &s), 0);
	read_file(in_folder("rc"), again, sizeof(again));
	assert_memory_equal(again, begin, strlen(begin));
	assert_int_equal(folder_drop(NULL), 0);
}

/* What W writes has each setting once, where it was or at the end of its section, and all else as it was. */
TEST(settings, file_keeps_what_is_no_setting)
{
	static const char before[] = "; mine\n[view]\nsort = d_ns\nfuture = x\n  y\nsort = run_ns\n"
				     "[columns]\n  tree = id\n  run\n# yours\n[other]\ncolor = x";
	static const char begin[] = "; mine\n[view]\nsort = run_ns\nfuture = x\n  y\nstart = threads\n";
	static const char *const has[] = { "\ndelay = 1s\n[columns]\ntree = ", "\n# yours\nthreads = ",
					   "\n[other]\ncolor = x\n\n[look]\n" };
	static const char *const lacks[] = { "\nsort = ", "tree = id\n", "\n  run\n", "\ntree = " };
	char text[8192];
	struct settings s;

	assert_int_equal(invoker_find(), 0);
	assert_int_equal(folder_new(NULL), 0);
	settings_default(&s);
	write_file(in_folder("rc"), before);
	assert_int_equal(config_put(in_folder("rc"), &s), 0);
	read_file(in_folder("rc"), text, sizeof(text));
	assert_memory_equal(text, begin, strlen(begin));
	FOR_EACH (part, has)
		assert_non_null(strstr(text, *part));
	FOR_EACH (part, lacks) /* once more */
		assert_null(strstr(strstr(text, "\ntree = ") + 1, *part));
	assert_int_equal(folder_drop(NULL), 0);
}

/* A disk of which only the beginning of a file can be read. */
static bool is_bad;

static ssize_t bad_read(void *was_read, char *buf, size_t size)
{
	if (*(bool *)was_read) {
		errno = EIO;
		return -1;
	}
	*(bool *)was_read = true;
	return snprintf(buf, size, "# mine\n[view]\n");
}

static int bad_seek(void *was_read, off64_t *to, int whence)
{
	(void)to, (void)whence;
	*(bool *)was_read = false;
	return 0;
}

FILE *__real_path_read_at(const struct path *p, uid_t uid, const char **why);
FILE *__wrap_path_read_at(const struct path *p, uid_t uid, const char **why);

FILE *__wrap_path_read_at(const struct path *p, uid_t uid, const char **why)
{
	static bool was_read;

	return is_bad ? fopencookie(&was_read, "r", (cookie_io_functions_t){ .read = bad_read, .seek = bad_seek }) :
			__real_path_read_at(p, uid, why);
}

TEST(settings, file_that_cannot_be_read_to_its_end_is_not_written)
{
	static const char text[] = "# mine\n[view]\nsort = d_ns\n[other]\nx = y\n";
	char again[4096];
	struct settings s;

	assert_int_equal(folder_new(NULL), 0);
	settings_default(&s);
	write_file(in_folder("rc"), text);
	is_bad = true;
	assert_int_equal(config_put(in_folder("rc"), &s), -EIO);
	is_bad = false;
	read_file(in_folder("rc"), again, sizeof(again));
	assert_string_equal(again, text);
	assert_int_equal(folder_drop(NULL), 0);
}

/* What W answers after a start with the file as it is. */
static const char *written_after_start(const char *path)
{
	static char said[512];
	struct config_writer w = { 0 };
	struct settings s;

	assert_int_equal(setenv("SYSTOPRC", path, 1), 0);
	settings_default(&s);
	config_read(&s, said, sizeof(said));
	if (!access(path, F_OK)) { /* the user corrects it */
		write_file(path, "[view]\nsort = d_ns\n");
		chmod(path, 0600);
	}
	config_write(&w, &s, said, sizeof(said));
	return said;
}

/* A file that was not used at the start has settings that systop does not know, also once it is correct. */
TEST(settings, file_that_was_not_used_is_not_written)
{
	static const char unused[] = "config NOT written: it was not used at the start, correct it and start systop again: ";

	assert_int_equal(invoker_find(), 0);
	assert_int_equal(folder_new(NULL), 0);
	assert_null(strstr(written_after_start(in_folder("none")), unused));
	write_file(in_folder("rc"), "[view]\nsort = d_ns\n");
	assert_null(strstr(written_after_start(in_folder("rc")), unused));
	chmod(in_folder("rc"), 0666);
	assert_non_null(strstr(written_after_start(in_folder("rc")), unused));
	write_file(in_folder("rc"), "[view]\nsort = secret\n");
	assert_non_null(strstr(written_after_start(in_folder("rc")), unused));
	assert_int_equal(symlink("loop", in_folder("loop")), 0); /* a place in which it cannot be looked for */
	assert_non_null(strstr(written_after_start(in_folder("loop")), unused));
	assert_int_equal(folder_drop(NULL), 0);
}

/* A helper that does not answer is not stopped: it writes the file later. */
TEST(settings, file_may_be_written_later)
{
	struct config_writer w = { .since = 1, .safe = "rc" };
	char said[512];
	int pair[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, pair), 0);
	w.helper.socket = pair[0];
	assert_true(config_write_work(&w, said, sizeof(said)));
	assert_string_equal(said, "config NOT written yet: the disk or the host is slow, it may be written later: rc");
	assert_false(config_write_work(&w, said, sizeof(said)));
	close(pair[1]);
}

/* The place of the file is found at the start: the home directory may not answer later. */
TEST(settings, file_is_where_it_was)
{
	char notice[512];
	struct settings s;

	assert_int_equal(invoker_find(), 0);
	assert_int_equal(setenv("SYSTOPRC", "/tmp/systop-settings-none", 1), 0);
	settings_default(&s);
	config_read(&s, notice, sizeof(notice));
	assert_int_equal(setenv("SYSTOPRC", "/tmp/systop-settings-other", 1), 0);
	assert_string_equal(config_file(), "/tmp/systop-settings-none");
}

int main(void)
{
	RUN_TESTS(cmocka_unit_test(settings_file_names_the_first_error), cmocka_unit_test(settings_file_with_blanks),
		  cmocka_unit_test(settings_file_is_where_it_was),
		  cmocka_unit_test(settings_delays_are_written_as_they_are_read),
		  cmocka_unit_test(settings_come_back_as_they_were),
		  cmocka_unit_test(settings_preset_keeps_bindings),
		  cmocka_unit_test(settings_theme_with_a_long_path),
		  cmocka_unit_test(settings_printed_ones_are_read_again),
		  cmocka_unit_test(settings_file_with_an_error_is_not_written),
		  cmocka_unit_test(settings_file_keeps_what_is_no_setting),
		  cmocka_unit_test(settings_file_that_cannot_be_read_to_its_end_is_not_written),
		  cmocka_unit_test(settings_file_that_was_not_used_is_not_written),
		  cmocka_unit_test(settings_file_may_be_written_later),
		  cmocka_unit_test(settings_wrong_ones_are_refused));
}
