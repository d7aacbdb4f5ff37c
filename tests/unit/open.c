/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which files the open helper hands over for a mapping. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "helper/helper.h"
#include "helper/proto.h"
#include "sym/roles.h"

#define BYTES ((size_t)sysconf(_SC_PAGESIZE)) /* else its file in map_files has another name */

static char folder[64], path[128]; /* on a tmpfs: its device is the one that the kernel has */
static struct stat st;
static void *mapping;

static int begin(void **state)
{
	int fd;

	(void)state;
	snprintf(folder, sizeof(folder), "/dev/shm/systop-open-XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/file", folder);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, BYTES) || fstat(fd, &st))
		return -1;
	mapping = mmap(NULL, BYTES, PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	return mapping == MAP_FAILED;
}

static int end(void **state)
{
	(void)state;
	munmap(mapping, BYTES);
	unlink(path);
	return rmdir(folder);
}

/* The file that is mapped here, as the programs report it. */
static struct open_request request(void)
{
	return (struct open_request){
		.what = OPEN_MAPPED,
		.id = 7,
		.tgid = getpid(),
		.start = (uintptr_t)mapping,
		.end = (uintptr_t)mapping + BYTES,
		.key = { .inode = st.st_ino, .size = st.st_size, .mtime_s = st.st_mtim.tv_sec,
			 .device = major(st.st_dev) << 20 | minor(st.st_dev) },
	};
}

/* Returns the answer's error; *@inode: of the file that was handed over. */
static int ask(const struct open_request *r, uint64_t *inode)
{
	const struct open_request meet = { .what = OPEN_PEER };
	int main[2], peer[2], fd = -1, status;
	struct handed_file handed;
	struct open_answer a = { .found = 1 };
	struct stat got;
	pid_t helper;

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, main), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, peer), 0);
	helper = fork();
	assert_true(helper >= 0);
	if (!helper) {
		close(main[0]);
		open_run(main[1]);
		_exit(0);
	}
	close(main[1]);
	assert_true(helper_send(main[0], &meet, sizeof(meet), peer[1]) > 0);
	assert_true(helper_send(main[0], r, sizeof(*r), -1) > 0);
	while (a.found)
		assert_int_equal(recv(main[0], &a, sizeof(a), 0), sizeof(a));
	assert_int_equal(a.id, r->id);
	*inode = 0;
	if (!a.err) {
		assert_int_equal(helper_receive(peer[0], &handed, sizeof(handed), &fd), sizeof(handed));
		assert_int_equal(fstat(fd, &got), 0);
		*inode = got.st_ino;
		close(fd);
	}
	close(main[0]);
	close(peer[0]);
	close(peer[1]);
	assert_int_equal(waitpid(helper, &status, 0), helper);
	return a.err;
}

TEST(open, what_is_mapped)
{
	struct open_request r = request();
	uint64_t inode;

	snprintf(r.path, sizeof(r.path), "%s", path); /* only root may open mappings */
	assert_int_equal(ask(&r, &inode), 0);
	assert_int_equal(inode, st.st_ino);
}

/* Somebody can map another file at the place, with the same number, size and time. */
TEST(open, a_file_with_the_same_number_elsewhere)
{
	struct open_request r = request();
	uint64_t inode;

	r.key.device++;
	snprintf(r.path, sizeof(r.path), "%s", path);
	assert_int_equal(ask(&r, &inode), -ESTALE);
}

/* The process has ended, and its path means another file here: the one inside the file system counts. */
TEST(open, by_its_path_in_its_file_system)
{
	struct open_request r = request();
	uint64_t inode;

	r.tgid = 0x7fffffff;
	snprintf(r.path, sizeof(r.path), "/etc/passwd");
	assert_int_equal(ask(&r, &inode), -ESTALE);
	snprintf(r.inside, sizeof(r.inside), "%s/no-such-file", folder);
	assert_int_equal(ask(&r, &inode), -ESTALE);
	for (const char *at = path; at; at = strchr(at + 1, '/')) { /* the mount point can be any folder on the way */
		snprintf(r.inside, sizeof(r.inside), "%s", at);
		if (!ask(&r, &inode))
			break;
	}
	assert_int_equal(inode, st.st_ino);
}

/* The debug information of a file is found although the process in which it was met first has ended. */
TEST(open, debug_information_of_an_ended_process)
{
	struct open_request r = request();
	char debug[160];
	struct stat wanted;
	uint64_t inode;
	int fd;

	snprintf(debug, sizeof(debug), "%s/file.debug", folder);
	fd = open(debug, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(fstat(fd, &wanted), 0);
	close(fd);
	r.what = OPEN_DEBUG;
	r.tgid = 0x7fffffff;
	snprintf(r.path, sizeof(r.path), "%s", path);
	snprintf(r.debuglink, sizeof(r.debuglink), "file.debug");
	assert_int_equal(ask(&r, &inode), 0);
	assert_int_equal(inode, wanted.st_ino);
	unlink(debug);
}

/* A file whose debug information has its own name, in a folder below, is not its own debug information. */
TEST(open, debug_information_with_the_name_of_its_file)
{
	struct open_request r = request();
	char below[80], debug[160];
	struct stat wanted;
	uint64_t inode;

	snprintf(below, sizeof(below), "%s/.debug", folder);
	snprintf(debug, sizeof(debug), "%s/file", below);
	r.what = OPEN_DEBUG;
	snprintf(r.path, sizeof(r.path), "%s", path);
	snprintf(r.debuglink, sizeof(r.debuglink), "file");
	assert_int_equal(ask(&r, &inode), -ENOENT);
	assert_int_equal(mkdir(below, 0700), 0);
	assert_int_equal(close(open(debug, O_RDWR | O_CREAT | O_CLOEXEC, 0600)), 0);
	assert_int_equal(stat(debug, &wanted), 0);
	assert_int_equal(ask(&r, &inode), 0);
	assert_int_equal(inode, wanted.st_ino);
	unlink(debug);
	rmdir(below);
}

/* Whoever maps a file can hold a lease on it: then only this file has no names, and it is not requested again and again. */
TEST(open, a_file_with_a_lease)
{
	struct open_request r = request();
	int fd = open(path, O_RDWR | O_CLOEXEC);
	uint64_t inode;

	snprintf(r.path, sizeof(r.path), "%s", path);
	assert_true(fd >= 0);
	munmap(mapping, BYTES); /* a lease is for the only opener */
	signal(SIGIO, SIG_IGN);
	assert_int_equal(fcntl(fd, F_SETLEASE, F_WRLCK), 0);
	mapping = mmap(NULL, BYTES, PROT_READ, MAP_SHARED, fd, 0);
	r.start = (uintptr_t)mapping;
	r.end = r.start + BYTES;
	assert_int_equal(ask(&r, &inode), -EBUSY);
	fcntl(fd, F_SETLEASE, F_UNLCK);
	close(fd);
}

int main(void)
{
	RUN_TESTS(cmocka_unit_test_setup_teardown(open_what_is_mapped, begin, end),
		  cmocka_unit_test_setup_teardown(open_a_file_with_the_same_number_elsewhere, begin, end),
		  cmocka_unit_test_setup_teardown(open_by_its_path_in_its_file_system, begin, end),
		  cmocka_unit_test_setup_teardown(open_debug_information_of_an_ended_process, begin, end),
		  cmocka_unit_test_setup_teardown(open_debug_information_with_the_name_of_its_file, begin, end),
		  cmocka_unit_test_setup_teardown(open_a_file_with_a_lease, begin, end));
}
