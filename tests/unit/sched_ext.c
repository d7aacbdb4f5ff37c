/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "proc/sched_ext.h"

#include <stdio.h>
#include <sys/stat.h>

#include "folder.h"

/* The kernel's files; NULL: no such file. */
struct files {
	const char *state, *enable_seq, *ops;
};

static void put_line(const char *name, const char *line)
{
	char text[64];

	snprintf(text, sizeof(text), "%s\n", line ? line : "");
	put_file(name, line ? text : NULL);
}

static struct sched_ext read_of(struct files files)
{
	struct sched_ext s;

	put_line("state", files.state);
	put_line("enable_seq", files.enable_seq);
	put_line("root/ops", files.ops);
	sched_ext_read(folder, &s);
	return s;
}

static int make_folder(void **state)
{
	return folder_new(state) || mkdir(in_folder("root"), 0755);
}

/* Before Linux 6.12, and if it is not built in. */
TEST(sched_ext, none)
{
	struct sched_ext s;

	sched_ext_read("/no/such/folder", &s);
	assert_false(s.on || s.ran);
	assert_string_equal(s.ops, "-");
	s = read_of((struct files){ NULL, NULL, NULL });
	assert_false(s.on || s.ran);
}

TEST(sched_ext, states)
{
	struct sched_ext s = read_of((struct files){ "disabled", "0", NULL });

	assert_false(s.on || s.ran);
	s = read_of((struct files){ "enabled", "1", "simple" });
	assert_true(s.on && s.ran);
	assert_string_equal(s.ops, "simple");
	s = read_of((struct files){ "enabling", "0", NULL });
	assert_true(s.on && s.ran);
	assert_string_equal(s.ops, "-");
	s = read_of((struct files){ "disabling", "1", "simple" });
	assert_true(s.on && s.ran);
	/* Threads that have slept since then were last switched by it. */
	s = read_of((struct files){ "disabled", "2", NULL });
	assert_false(s.on);
	assert_true(s.ran);
	/* Without the counter only the present state is known. */
	s = read_of((struct files){ "enabled", NULL, "simple" });
	assert_true(s.on && s.ran);
}

/* Its author chooses the name. */
TEST(sched_ext, name_is_made_safe)
{
	struct sched_ext s = read_of((struct files){ "enabled", "1", "a\033[2Jb" });

	assert_string_equal(s.ops, "a\\x1b[2Jb");
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(sched_ext_none),
		cmocka_unit_test(sched_ext_states),
		cmocka_unit_test(sched_ext_name_is_made_safe),
	};

	return cmocka_run_group_tests(cases, make_folder, folder_drop);
}
