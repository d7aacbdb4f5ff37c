/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tui/term/paint.h"
#include "tui/term/theme.h"
#include "util/file.h"

static struct theme_files files = { .dir = "/tmp" };

/* Loads a theme from a file with this text. */
static int load(struct theme *t, const char *text, char *error, size_t size)
{
	char path[] = "/tmp/systop-theme-XXXXXX";
	int fd = mkstemp(path), err;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	err = theme_load(t, path, &files, error, size);
	unlink(path);
	return err;
}

TEST(theme, built_in_ones_load)
{
	char error[256];
	struct theme t;
	int nr = 0;

	for (; theme_builtin(nr); nr++) {
		assert_int_equal(theme_load(&t, theme_builtin(nr), NULL, error, sizeof(error)), 0);
		/* The terminal's own colours stay if the theme sets none. */
		assert_int_equal(theme_look(&t, ROLE_TEXT)->fg, THEME_DEFAULT);
		assert_int_equal(theme_look(&t, ROLE_TEXT)->bg, THEME_DEFAULT);
		assert_string_equal(t.name, theme_builtin(nr));
	}
	assert_int_equal(nr, 5);
}

TEST(theme, roles_inherit)
{
	char error[256];
	struct theme t;

	assert_int_equal(load(&t, "running = #102030 on bright-blue bold italic\nkernel = 200\n", error,
			      sizeof(error)), 0);
	assert_int_equal(theme_look(&t, ROLE_USER)->fg, THEME_RGB | 0x102030);
	assert_int_equal(theme_look(&t, ROLE_USER)->bg, 12);
	assert_int_equal(theme_look(&t, ROLE_USER)->attributes, A_BOLD | A_ITALIC);
	assert_int_equal(theme_look(&t, ROLE_KERNEL)->fg, 200);
	assert_int_equal(theme_look(&t, ROLE_D)->fg, THEME_DEFAULT);
}

TEST(theme, files_inherit)
{
	char error[256];
	struct theme t, parent;

	assert_int_equal(theme_load(&parent, "default", NULL, error, sizeof(error)), 0);
	assert_int_equal(load(&t, "inherits = default\nuser = blue\n", error, sizeof(error)), 0);
	assert_int_equal(theme_look(&t, ROLE_USER)->fg, 4);
	assert_int_equal(theme_look(&t, ROLE_D)->fg, theme_look(&parent, ROLE_D)->fg);
}

TEST(theme, errors_name_the_line_and_not_the_text)
{
	static const struct {
		const char *text, *error;
	} cases[] = {
		{ "text = default\nuser = secret\n",
		  "line 2: user: expected colours and attributes, such as red on #102030 bold" },
		{ "nosuch = red\n", "line 1: no such role: systoprc(5) lists them" },
		{ "inherits = secret\n", "line 1: the inherited theme is missing or invalid" },
		{ "user = red\nsecret = red\n", "line 2: no such role" },
		{ "secret\n", "line 1" },
		{ "user = #12\n", "line 1" },
		{ "user = 256\n", "line 1" },
		{ "user = secret\nnosuch = red\n", "line 1: user: expected colours" },
		{ "secret\nnosuch = red\n", "line 1: not understood" },
	};
	char error[256];
	struct theme t;

	FOR_EACH (c, cases) {
		assert_true(load(&t, c->text, error, sizeof(error)) < 0);
		if (!strstr(error, c->error))
			print_error("%s: %s\n", c->text, error);
		assert_non_null(strstr(error, c->error));
		assert_null(strstr(error, "secret"));
	}
	assert_int_equal(theme_load(&t, "../etc/passwd\n", &files, error, sizeof(error)), -ENOENT);
}

/* inih reads 198 characters of a line. */
TEST(theme, long_lines)
{
	char text[1024], error[256];
	struct theme t;

	snprintf(text, sizeof(text), "# %0300d\nuser = blue\n", 0);
	assert_int_equal(load(&t, text, error, sizeof(error)), 0);
	assert_int_equal(theme_look(&t, ROLE_USER)->fg, 4);
	snprintf(text, sizeof(text), "user = blue%*s\n", 198 - 11, "");
	assert_int_equal(load(&t, text, error, sizeof(error)), 0);
	assert_int_equal(theme_look(&t, ROLE_USER)->fg, 4);
	snprintf(text, sizeof(text), "user = blue\nkernel = blue%*s\n", 199 - 13, "");
	assert_true(load(&t, text, error, sizeof(error)) < 0);
	assert_string_equal(error, "line 2: too long");
}

/* inih 59 and newer read on until the end of a line. */
TEST(theme, lines_that_are_cut_end)
{
	static const struct {
		const char *line;
		bool cut;
	} lines[] = { { "12345\n", false }, { "123456\n", false }, { "123456\n", true }, { "123456\n", true }, { "1\n", false } };
	char text[] = "12345\n123456\n1234567\n12345678\n1\n", buf[8];
	FILE *f = fmemopen(text, strlen(text), "r");
	bool cut;

	assert_non_null(f);
	FOR_EACH (l, lines) {
		assert_non_null(file_gets(buf, sizeof(buf), f, &cut));
		assert_string_equal(buf, l->line);
		assert_int_equal(cut, l->cut);
	}
	assert_null(file_gets(buf, sizeof(buf), f, &cut));
	fclose(f);
}

/* One error ends the reading: 200 lines in 4 files that include one another have more combinations than can be read. */
TEST(theme, one_that_inherits_itself_is_not_read_for_ever)
{
	char path[] = "/tmp/systop-theme-XXXXXX", error[256];
	int fd = mkstemp(path);
	struct theme t;

	assert_true(fd >= 0);
	for (int i = 0; i < 200; i++)
		assert_true(dprintf(fd, "inherits = %s\n", path) > 0);
	close(fd);
	assert_true(theme_load(&t, path, &files, error, sizeof(error)) < 0);
	assert_string_equal(error, "line 1: the inherited theme is missing or invalid");
	unlink(path);
}

/* Only regular files are opened, and only files of the user and root are read. */
TEST(theme, files_are_the_users)
{
	static const struct {
		const char *name, *error;
	} cases[] = {
		{ "/dev/zero", "is not a file" },
		{ "/tmp/", "is not a file" },
		{ "/no/such/theme", "no such theme" },
		{ "nosuch", "no such theme" },
	};
	char fifo[] = "/tmp/systop-theme-fifo-XXXXXX", error[256];
	struct theme t;

	FOR_EACH (c, cases) {
		assert_true(theme_load(&t, c->name, &files, error, sizeof(error)) < 0);
		assert_string_equal(error, c->error);
	}
	assert_non_null(mkdtemp(fifo));
	assert_int_equal(rmdir(fifo), 0);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	assert_true(theme_load(&t, fifo, &files, error, sizeof(error)) < 0);
	assert_string_equal(error, "is not a file");
	unlink(fifo);
	assert_int_equal(load(&t, "user = red\n", error, sizeof(error)), 0);
}

static attr_t bold(const struct theme *t, const char *terminal, enum role role)
{
	FILE *null = fopen("/dev/null", "r+");
	SCREEN *screen = newterm(terminal, null, null);
	struct paint p;

	assert_non_null(screen);
	start_color();
	use_default_colors();
	paint_init(&p, stdscr, 80, 24, true);
	paint_theme(&p, t, true);
	endwin();
	delscreen(screen);
	fclose(null);
	return p.roles[role] & A_BOLD;
}

/* A terminal with 8 colours has the bright ones as bold text. */
TEST(theme, bright_colours_of_a_terminal_with_8)
{
	char error[256];
	struct theme t;

	assert_int_equal(load(&t, "dim = bright-black\nuser = green\n", error, sizeof(error)), 0);
	assert_true(bold(&t, "linux", ROLE_DIM));
	assert_false(bold(&t, "linux", ROLE_USER));
	assert_false(bold(&t, "xterm-256color", ROLE_DIM));
}

int main(void)
{
	files.uid = geteuid();
	RUN_TESTS(cmocka_unit_test(theme_built_in_ones_load), cmocka_unit_test(theme_roles_inherit),
		  cmocka_unit_test(theme_files_inherit),
		  cmocka_unit_test(theme_errors_name_the_line_and_not_the_text),
		  cmocka_unit_test(theme_long_lines), cmocka_unit_test(theme_lines_that_are_cut_end),
		  cmocka_unit_test(theme_one_that_inherits_itself_is_not_read_for_ever),
		  cmocka_unit_test(theme_files_are_the_users),
		  cmocka_unit_test(theme_bright_colours_of_a_terminal_with_8));
}
