/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "helper/terminal.h"
#include "helper/watch.h"
#include "unit.h"

#define WAIT_MS 30000

/* A busy process that watches its socket; it writes to @ready when it is busy. */
static pid_t fork_busy(const int watched[2], int ready, unsigned int request_ms, bool requests)
{
	const struct rlimit most = { 20, 20 };
	pid_t pid = fork();

	if (pid)
		return pid;
	close(watched[0]);
	setrlimit(RLIMIT_CPU, &most); /* it must not survive if it does not end itself */
	if (watch_start(watched[1], request_ms) || write(ready, "", 1) != 1)
		_exit(77);
	for (;;)
		if (requests)
			watch_request();
}

/* Returns how the process ended, and its CPU time in ms. */
static int wait_for(pid_t pid, long *used_ms)
{
	struct rusage usage;
	int status;

	assert_int_equal(wait4(pid, &status, 0, &usage), pid);
	*used_ms = (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000 +
		   (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1000;
	return status;
}

static void make_pairs(int watched[2], int ready[2])
{
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, watched), 0);
	assert_int_equal(pipe(ready), 0);
}

static void close_all(const int watched[2], const int ready[2])
{
	close(watched[0]);
	close(watched[1]);
	close(ready[0]);
	close(ready[1]);
}

TEST(watch, a_request_has_so_much_time)
{
	int watched[2], ready[2], status;
	long used_ms;

	make_pairs(watched, ready);
	status = wait_for(fork_busy(watched, ready[1], 300, false), &used_ms);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), EXIT_FAILURE);
	assert_within(used_ms, 300, 1500);
	close_all(watched, ready);
}

/* Small requests may go on forever, until the other end of the socket is closed, with or without pending messages. */
TEST(watch, ends_with_the_socket)
{
	int watched[2], ready[2], status;
	struct pollfd p;
	long used_ms;
	pid_t pid;
	char byte;

	make_pairs(watched, ready);
	pid = fork_busy(watched, ready[1], 300, true);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	assert_int_equal(send(watched[0], "", 1, 0), 1);
	usleep(800000);
	assert_int_equal(waitpid(pid, &status, WNOHANG), 0);
	p = (struct pollfd){ .fd = ready[0], .events = POLLIN };
	close(watched[0]);
	close(watched[1]);
	close(ready[1]);
	watched[0] = watched[1] = ready[1] = -1;
	assert_int_equal(poll(&p, 1, WAIT_MS), 1); /* the last writer has closed its end */
	status = wait_for(pid, &used_ms);
	assert_true(WIFEXITED(status));
	assert_within(used_ms, 0, 5000);
	close(ready[0]);
}

/* The starter has more rights than the process that asks it to open a terminal again: no other file is opened. */
TEST(terminal, is_no_other_file)
{
	char path[] = "/tmp/systop-terminal-XXXXXX";
	int made = mkstemp(path), looked, master = posix_openpt(O_RDWR | O_NOCTTY), fd;

	assert_true(made >= 0 && master >= 0);
	looked = open(path, O_PATH);
	unlink(path);
	assert_int_equal(terminal_open(looked), -1);
	assert_int_equal(terminal_open(made), -1);
	assert_int_equal(unlockpt(master), 0);
	fd = open(ptsname(master), O_RDWR | O_NOCTTY);
	close(looked);
	looked = terminal_open(fd);
	assert_true(looked >= 0);
	close(looked);
	close(fd);
	close(master);
	close(made);
}

int main(void)
{
	RUN_TESTS(cmocka_unit_test(watch_a_request_has_so_much_time), cmocka_unit_test(watch_ends_with_the_socket),
		  cmocka_unit_test(terminal_is_no_other_file));
}
