/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ticks.h"

#include <limits.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "model/cmdline.h"
#include "model/model.h"
#include "util/text.h"

/* A literal without its last NUL: arguments are separated by \0. */
#define ARGUMENTS(text) text, sizeof(text) - 1

static struct cmdline_look look(const char *text, size_t len, const char *comm, enum cmdline_form form, int width)
{
	struct cmdline *c = cmdline_new(text, len, false);
	struct cmdline_look l;

	assert_non_null(c);
	cmdline_look(&l, c, comm, form, width);
	free(c);
	assert_true(l.from <= l.to && l.to <= strlen(l.text));
	return l;
}

/* What is emphasised: the name of the program, or of the script that it runs. A name that is not there precedes it. */
TEST(cmdline, shows_the_program_and_its_name)
{
	static const struct {
		const char *text;
		size_t len;
		const char *comm, *line, *merged, *name;
	} cases[] = {
		{ ARGUMENTS("/usr/bin/sleep\0" "300\0"), "sleep", "/usr/bin/sleep 300", "/usr/bin/sleep 300", "sleep" },
		{ ARGUMENTS("java\0-jar\0api.jar"), "java", "java -jar api.jar", "java -jar api.jar", "java" },
		{ ARGUMENTS("java\0-jar\0api.jar"), "C2 CompilerThre", "java -jar api.jar",
		  "C2 CompilerThre | java -jar api.jar", "C2 CompilerThre" },
		{ ARGUMENTS("-bash\0"), "bash", "-bash", "-bash", "bash" },
		{ ARGUMENTS("nginx: worker process\0\0\0\0"), "nginx", "nginx: worker process", "nginx: worker process", "nginx" },
		{ ARGUMENTS("postgres: api orders [local] COMMIT "), "postgres", "postgres: api orders [local] COMMIT ",
		  "postgres: api orders [local] COMMIT ", "postgres" },
		{ ARGUMENTS("/usr/bin/python3\0-u\0/usr/bin/gunicorn\0app"), "gunicorn", "/usr/bin/python3 -u /usr/bin/gunicorn app",
		  "/usr/bin/python3 -u /usr/bin/gunicorn app", "gunicorn" },
		{ ARGUMENTS("/usr/lib/systemd/systemd-journald"), "systemd-journal", "/usr/lib/systemd/systemd-journald",
		  "/usr/lib/systemd/systemd-journald", "systemd-journald" },
		{ ARGUMENTS("kworker/u8:1-events"), "kworker/u8:1", "kworker/u8:1-events", "kworker/u8:1-events",
		  "kworker/u8:1" },
		{ ARGUMENTS("kworker/0:0+pm"), "kworker/0:0", "kworker/0:0+pm", "kworker/0:0+pm", "kworker/0:0" },
		/* hostile */
		{ ARGUMENTS("///"), "x", "///", "x | ///", "x" },
		{ ARGUMENTS("/"), "x", "/", "x | /", "x" },
		{ ARGUMENTS("-"), "", "-", "-", "" },
		{ ARGUMENTS("\0a\0b"), "x", " a b", "x |  a b", "x" },
		{ ARGUMENTS("\0\0\0"), "x", "x", "x", "x" },
		{ ARGUMENTS(""), "x", "x", "x", "x" },
		{ ARGUMENTS("a\x1b[2J\nb\xff"), "a", "a\\x1b[2J\\x0ab\\xff", "a | a\\x1b[2J\\x0ab\\xff", "a" },
	};

	FOR_EACH (c, cases) {
		struct cmdline_look l = look(c->text, c->len, c->comm, CMDLINE_LINE, 1000);

		assert_string_equal(l.text, c->line);
		l = look(c->text, c->len, c->comm, CMDLINE_MERGED, 1000);
		assert_string_equal(l.text, c->merged);
		assert_int_equal(l.to - l.from, strlen(c->name));
		assert_memory_equal(l.text + l.from, c->name, l.to - l.from);
		l = look(c->text, c->len, c->comm, CMDLINE_NAME, 1000);
		assert_string_equal(l.text, c->comm);
	}
}

TEST(cmdline, leaves_folders_out_where_they_do_not_fit)
{
	struct cmdline_look l = look(ARGUMENTS("/usr/lib/jvm/bin/java\0-jar\0a.jar"), "java", CMDLINE_MERGED, 34);

	assert_string_equal(l.text, "/usr/lib/jvm/bin/java -jar a.jar");
	l = look(ARGUMENTS("/usr/lib/jvm/bin/java\0-jar\0a.jar"), "java", CMDLINE_MERGED, 31);
	assert_string_equal(l.text, "java -jar a.jar");
	assert_int_equal(l.from, 0);
	assert_int_equal(l.to, 4);
	l = look(ARGUMENTS("kworker/u8:1-events_unbound"), "kworker/u8:1", CMDLINE_MERGED, 10);
	assert_string_equal(l.text, "kworker/u8:1-events_unbound");
	l = look(ARGUMENTS("/usr/lib/jvm/bin/java\0-jar\0a.jar"), "main", CMDLINE_MERGED, 31);
	assert_string_equal(l.text, "main | java -jar a.jar");
}

/* 64 KB of any bytes: the text is bounded, valid UTF-8, and contains the emphasised part. */
TEST(cmdline, is_bounded)
{
	static char text[65536];

	for (int seed = 0; seed < 200; seed++) {
		struct cmdline *c;
		struct cmdline_look l;
		size_t len;

		srand(seed);
		for (size_t i = 0; i < sizeof(text); i++)
			text[i] = seed % 2 ? rand() : "/ :-\0a\x1b\xe2"[rand() % 8];
		len = rand() % sizeof(text);
		c = cmdline_new(text, len, false);
		assert_non_null(c);
		assert_true(c->len <= CMDLINE_MAX && c->cut == (len > CMDLINE_MAX));
		assert_true(cmdline_bytes(c) <= CMDLINE_MAX + 32);
		for (int width = 0; width < 300; width += 37) {
			cmdline_look(&l, c, text + 100, CMDLINE_MERGED, width);
			assert_true(l.from <= l.to && l.to <= strlen(l.text) && strlen(l.text) < sizeof(l.text));
			for (const char *at = l.text; *at; at++)
				assert_true((unsigned char)*at >= ' ' && *at != 0x7f);
		}
		free(c);
	}
}

TEST(cmdline, marks_what_was_cut)
{
	static char text[CMDLINE_MAX + 1];
	struct cmdline *c = cmdline_new("a\0b", 3, true);
	struct cmdline_look l;

	cmdline_look(&l, c, "a", CMDLINE_LINE, 100);
	assert_string_equal(l.text, "a b ..");
	free(c);
	memset(text, 'x', sizeof(text));
	c = cmdline_new(text, sizeof(text), false);
	assert_true(c->cut && c->len == CMDLINE_MAX);
	cmdline_look(&l, c, "other", CMDLINE_MERGED, INT_MAX);
	assert_int_equal(strlen(l.text), strlen("other | ") + CMDLINE_MAX);
	free(c);
}

/* Everything that is kept is shown, whatever bytes it has. */
TEST(cmdline, is_shown_whole)
{
	static char text[CMDLINE_MAX];
	struct cmdline *c;
	struct cmdline_look l;

	memset(text, '\n', sizeof(text));
	text[sizeof(text) - 2] = '\0';
	text[sizeof(text) - 1] = 'z';
	c = cmdline_new(text, sizeof(text), true);
	cmdline_look(&l, c, "\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1", CMDLINE_MERGED, INT_MAX);
	assert_int_equal(strlen(l.text), 4 * 15 + strlen(" | ") + 4 * (CMDLINE_MAX - 2) + strlen(" z .."));
	assert_string_equal(l.text + strlen(l.text) - 9, "\\x0a z ..");
	free(c);
}

TEST(cmdline, is_searched_across_arguments)
{
	struct cmdline *c = cmdline_new(ARGUMENTS("java\0-jar\0API.jar"), false);
	char words[32];

	assert_true(cmdline_has(c, "java -JAR api"));
	assert_true(cmdline_has(c, "api.jar"));
	assert_true(cmdline_has(c, ""));
	assert_false(cmdline_has(c, "api.jarx"));
	assert_false(cmdline_has(c, "java-jar"));
	assert_int_equal(cmdline_words(c, words, sizeof(words)), 17);
	assert_string_equal(words, "java -jar API.jar");
	assert_int_equal(cmdline_words(c, words, 6), 5);
	assert_string_equal(words, "java ");
	free(c);
}

/* --- In the model */

static struct cgroup root = { .id = 1, .path = "/" };

static struct life *thread(struct model *m, pid_t tgid, pid_t ppid, const char *comm)
{
	struct identity id = { .tid = tgid, .tgid = tgid, .ppid = ppid, .start_ns = tgid };
	struct life *l;

	strcpy(id.comm, comm);
	l = model_life(m, &id, &root);
	assert_non_null(l);
	return l;
}

/* A child has its parent's command line until it has its own; one with another name is no copy of the parent. */
TEST(cmdline, is_inherited)
{
	struct model *m = model_new(0);
	struct life *parent = thread(m, 10, 1, "sh"), *child, *other;

	assert_true(model_cmdline(m, parent->process, "sh\0-c\0x", 7, false));
	child = thread(m, 11, 10, "sh");
	other = thread(m, 12, 10, "cat");
	assert_ptr_equal(child->process->cmdline, parent->process->cmdline);
	assert_null(other->process->cmdline);
	assert_true(model_cmdline(m, child->process, "true\0", 5, false));
	assert_string_equal(child->process->cmdline->text, "true");
	assert_string_equal(parent->process->cmdline->text, "sh");
	model_life_end(m, parent);
	model_life_end(m, child);
	model_life_end(m, other);
	model_free(m);
}

/* The same text again, as it is read every two seconds, is no other command line. */
TEST(cmdline, stays_when_read_again)
{
	struct model *m = model_new(0);
	struct life *parent = thread(m, 10, 1, "sh"), *child;
	const struct cmdline *c;

	assert_true(model_cmdline(m, parent->process, "sh\0-c\0x", 8, false));
	c = parent->process->cmdline;
	child = thread(m, 11, 10, "sh");
	assert_true(model_cmdline(m, child->process, "sh\0-c\0x", 8, false));
	assert_ptr_equal(child->process->cmdline, c);
	assert_true(model_cmdline(m, parent->process, "sh\0-c\0x\0", 9, false));
	assert_ptr_equal(parent->process->cmdline, c);
	assert_true(model_cmdline(m, parent->process, "sh\0-c\0x", 8, true));
	assert_ptr_not_equal(parent->process->cmdline, c);
	model_life_end(m, parent);
	model_life_end(m, child);
	model_free(m);
}

/* A paused screen shows the lines that it showed, and those that were unknown; all memory comes back. */
TEST(cmdline, is_shown_as_it_was_while_frozen)
{
	struct model *m = model_new(0);
	struct life *shell = thread(m, 10, 1, "sh"), *late = thread(m, 11, 1, "late"), *ended = thread(m, 12, 1, "ended");

	assert_true(model_cmdline(m, shell->process, "one", 4, false));
	assert_true(model_cmdline(m, ended->process, "one", 4, false));
	model_freeze_cmdlines(m, true);
	assert_true(model_cmdline(m, shell->process, "two", 4, false));
	assert_true(model_cmdline(m, shell->process, "three", 6, false));
	assert_true(model_cmdline(m, late->process, "late", 5, false));
	assert_true(model_cmdline(m, ended->process, "two", 4, false));
	model_life_end(m, ended);
	assert_string_equal(cmdline_shown(shell->process)->text, "one");
	assert_string_equal(shell->process->cmdline->text, "three");
	assert_string_equal(cmdline_shown(late->process)->text, "late");
	model_freeze_cmdlines(m, false);
	assert_string_equal(cmdline_shown(shell->process)->text, "three");
	model_life_end(m, shell);
	model_life_end(m, late);
	for (int i = 0; i < 4; i++) { /* until no tick can show them */
		tick_begin(m);
		tick_put(tick_end(m));
	}
	assert_int_equal(model_cmdline_bytes(m), 0);
	model_free(m);
}

/* However many and long command lines are, they use no more memory than allowed, and all of it is freed. */
TEST(cmdline, has_a_budget)
{
	static char text[CMDLINE_MAX];
	enum { MANY = 300000 };
	struct model *m = model_new(0);
	struct life **lives = calloc(MANY, sizeof(*lives));
	size_t refused = 0, shortened = 0;

	memset(text, 'x', sizeof(text));
	for (int i = 0; i < MANY; i++) {
		lives[i] = thread(m, i + 100, 1, "x");
		refused += !model_cmdline(m, lives[i]->process, text, sizeof(text), false);
		if (lives[i]->process->cmdline && lives[i]->process->cmdline->len == CMDLINE_SHORT) {
			assert_true(lives[i]->process->cmdline->cut);
			shortened++;
		}
	}
	assert_true(refused && shortened > 100000);
	assert_true(model_cmdline_bytes(m) <= CMDLINES_BYTES + CMDLINE_MAX);
	for (int i = 0; i < MANY; i++) {
		model_cmdline(m, lives[i]->process, "", 0, false);
		model_life_end(m, lives[i]);
	}
	assert_true(model_cmdline_bytes(m) < 32UL * MANY);
	model_free(m);
	free(lives);
}

int main(void)
{
	setlocale(LC_ALL, "C.UTF-8");
	RUN_TESTS(cmocka_unit_test(cmdline_shows_the_program_and_its_name),
		  cmocka_unit_test(cmdline_leaves_folders_out_where_they_do_not_fit), cmocka_unit_test(cmdline_is_bounded),
		  cmocka_unit_test(cmdline_marks_what_was_cut), cmocka_unit_test(cmdline_is_shown_whole),
		  cmocka_unit_test(cmdline_is_searched_across_arguments),
		  cmocka_unit_test(cmdline_is_inherited), cmocka_unit_test(cmdline_stays_when_read_again),
		  cmocka_unit_test(cmdline_is_shown_as_it_was_while_frozen), cmocka_unit_test(cmdline_has_a_budget));
}
