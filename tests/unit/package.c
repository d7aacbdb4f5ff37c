/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "proc/package.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "folder.h"

#define SECOND 1000000000ULL
#define NAME 128

static struct file_key key;

static void make_list(const char *name, const char *text)
{
	char path[128];

	snprintf(path, sizeof(path), "/var/lib/dpkg/info/%s", name);
	put_file(path, text);
}

static int make_root(void **state)
{
	struct stat st;

	assert_int_equal(folder_new(state), 0);
	for (const char *const *f = (const char *const[]){ "/usr", "/usr/lib", "/var", "/var/lib", "/var/lib/dpkg",
							   "/var/lib/dpkg/info", NULL }; *f; f++)
		assert_int_equal(mkdir(in_folder(*f), 0755), 0);
	put_file("/usr/lib/libx.so.1", "x");
	assert_int_equal(stat(in_folder("/usr/lib/libx.so.1"), &st), 0);
	key = (struct file_key){ .inode = st.st_ino, .size = st.st_size, .mtime_s = st.st_mtim.tv_sec };
	return 0;
}

static int find(char name[NAME])
{
	return package_debug(folder, "/usr/lib/libx.so.1", &key, SECOND, name, NAME);
}

/* The package whose list has the whole path as a line, also where it is listed as of before /usr was merged. */
TEST(package, is_found_by_its_list_of_files)
{
	char name[NAME];

	assert_int_equal(find(name), -ENOENT);
	make_list("other.list", "/.\n/usr/lib/libx.so.1.2\n/usr/lib/libx.so\n/opt/usr/lib/libx.so.1\n");
	make_list("libx1.md5sums", "\n/usr/lib/libx.so.1\n");
	assert_int_equal(find(name), -ENOENT);
	make_list("libx1:amd64.list", "/.\n/usr\n/usr/lib/libx.so.1\n");
	assert_int_equal(find(name), 0);
	assert_string_equal(name, "libx1-dbgsym");
	unlink(in_folder("/var/lib/dpkg/info/libx1:amd64.list"));
	make_list("libc6:amd64.list", "/.\n/lib/libx.so.1\n");
	assert_int_equal(find(name), 0);
	assert_string_equal(name, "libc6-dbg");
}

/* A container's file of the same path is another file. */
TEST(package, of_another_file_is_not_known)
{
	struct file_key other = key;
	char name[NAME];

	make_list("libx1.list", "/.\n/usr/lib/libx.so.1\n");
	assert_int_equal(find(name), 0);
	other.inode++;
	assert_int_equal(package_debug(folder, "/usr/lib/libx.so.1", &other, SECOND, name, NAME), -ESTALE);
	assert_int_equal(package_debug(folder, "/usr/lib/liby.so.1", &key, SECOND, name, NAME), -ESTALE);
	assert_int_equal(package_debug(folder, "libx.so.1", &key, SECOND, name, NAME), -ENOENT);
	assert_int_equal(package_debug(folder, "/usr/lib/libx.so.1", &key, 0, name, NAME), -EAGAIN);
}

/* What dpkg did not write: a FIFO, links, a giant, names that a shell would not take as one word. */
TEST(package, takes_no_other_files)
{
	char name[NAME];

	make_list("list", "\n/usr/lib/libx.so.1\n");
	make_list("$(reboot).list", "\n/usr/lib/libx.so.1\n");
	make_list("a b.list", "\n/usr/lib/libx.so.1\n");
	assert_int_equal(mkfifo(in_folder("/var/lib/dpkg/info/fifo.list"), 0644), 0);
	assert_int_equal(symlink("list", in_folder("/var/lib/dpkg/info/link.list")), 0);
	make_list("giant.list", "\n/usr/lib/libx.so.1\n");
	assert_int_equal(truncate(in_folder("/var/lib/dpkg/info/giant.list"), 64L << 20), 0);
	assert_int_equal(find(name), -ENOENT);
	if (geteuid())
		return;
	make_list("users.list", "\n/usr/lib/libx.so.1\n");
	assert_int_equal(chown(in_folder("/var/lib/dpkg/info/users.list"), 1000, 1000), 0);
	assert_int_equal(find(name), -ENOENT);
}

int main(void)
{
	RUN_TESTS(cmocka_unit_test_setup_teardown(package_is_found_by_its_list_of_files, make_root, folder_drop),
		  cmocka_unit_test_setup_teardown(package_of_another_file_is_not_known, make_root, folder_drop),
		  cmocka_unit_test_setup_teardown(package_takes_no_other_files, make_root, folder_drop));
}
