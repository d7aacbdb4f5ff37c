/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "proc/sched_ext.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit.h"

/* The kernel's files; NULL: no such file. */
struct files {
	const char *state, *enable_seq, *ops;
};

static char folder[64];

static void make(const char *name, const char *line)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	unlink(path);
	if (!line)
		return;
	f = fopen(path, "w");
	assert_non_null(f);
	fprintf(f, "%s\n", line);
	fclose(f);
}

static struct sched_ext read_of(struct files files)
{
	struct sched_ext s;

	make("state", files.state);
	make("enable_seq", files.enable_seq);
	make("root/ops", files.ops);
	sched_ext_read(folder, &s);
	return s;
}

static int make_folder(void **state)
{
	char path[128];

	(void)state;
	strcpy(folder, "/tmp/systop-sched-ext-XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/root", folder);
	return mkdir(path, 0755);
}

static int remove_folder(void **state)
{
	char path[128];

	(void)state;
	read_of((struct files){ NULL, NULL, NULL });
	snprintf(path, sizeof(path), "%s/root", folder);
	return rmdir(path) || rmdir(folder);
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

	return cmocka_run_group_tests(cases, make_folder, remove_folder);
}
