/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "save/write.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "export/exporter.h"
#include "folder.h"
#include "helper/helper.h"
#include "helper/message.h"
#include "save/save.h"

static pid_t writer; /* the helper that save_content() started */
static bool stops;   /* before the file is on the disk */

int __real_fsync(int fd);
int __wrap_fsync(int fd);
int __wrap_fsync(int fd)
{
	if (stops)
		raise(SIGSTOP);
	stops = false;
	return __real_fsync(fd);
}

int __wrap_helper_open(int role, struct helper *h);
int __wrap_helper_open(int role, struct helper *h)
{
	int pair[2];

	(void)role;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	writer = fork();
	if (!writer) {
		close(pair[0]);
		write_run(pair[1]);
		_exit(0);
	}
	close(pair[1]);
	fcntl(pair[0], F_SETFL, O_NONBLOCK);
	*h = (struct helper){ .socket = pair[0] };
	return 0;
}

int __wrap_collect_nr_cpus(const struct collect *c);
int __wrap_collect_nr_cpus(const struct collect *c)
{
	(void)c;
	return 1;
}

/* Cancels a save when its helper has ended, or just before the file is on the disk. Returns what is reported. */
static const char *cancelled(const char *path, bool halfway)
{
	static const struct save_options o;
	struct save *s = save_new(&o);
	int content = memfd_create("content", MFD_CLOEXEC), status;
	static char text[512];

	assert_int_equal(ftruncate(content, 4096), 0);
	stops = halfway;
	assert_int_equal(save_content(s, &export_trace, path, -1, content), 0);
	assert_int_equal(waitpid(writer, &status, WUNTRACED), writer);
	assert_int_equal(WIFSTOPPED(status), halfway);
	save_cancel(s);
	assert_false(save_busy(s));
	if (halfway) {
		kill(writer, SIGCONT);
		assert_int_equal(waitpid(writer, &status, 0), writer);
	}
	snprintf(text, sizeof(text), "%s", save_text(s));
	save_free(s);
	close(content);
	return text;
}

TEST(write, cancelled_before_the_file_is_on_the_disk)
{
	const char *path = in_folder("halfway");

	assert_string_equal(cancelled(path, true), "not saved: cancelled");
	assert_int_equal(access(path, F_OK), -1);
}

TEST(write, cancelled_when_the_file_is_there)
{
	const char *path = in_folder("whole");

	assert_non_null(strstr(cancelled(path, false), "saved /"));
	assert_int_equal(access(path, F_OK), 0);
}

/* Has a helper write content to the path of a FIFO that is open for reading. Returns its first answer, or the last one. */
static struct write_answer write_to_fifo(const char *name, uid_t owner, bool beside, bool last)
{
	struct write_request r = { .what = WRITE_PATH, .exporter = exporter_index(&export_trace), .beside = beside };
	int pair[2], reader, content = memfd_create("content", MFD_CLOEXEC);
	struct pollfd p = { .events = POLLIN };
	struct write_answer a;
	pid_t pid;

	snprintf(r.path, sizeof(r.path), "%s", in_folder(name));
	write_temporary(r.temporary);
	assert_int_equal(mkfifo(r.path, 0600), 0);
	assert_int_equal(chown(r.path, owner, -1), 0);
	reader = open(r.path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	assert_return_code(fcntl(reader, F_SETPIPE_SZ, 4096), 0);
	assert_int_equal(ftruncate(content, 1 << 20), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	pid = fork();
	if (!pid) {
		close(pair[0]); /* it ends with this process */
		close(reader);
		write_run(pair[1]);
		_exit(0);
	}
	assert_int_equal(helper_send(pair[0], &r, sizeof(r), -1), sizeof(r));
	r.what = WRITE_CONTENT;
	helper_send(pair[0], &r, sizeof(r), content); /* it may have ended */
	p.fd = pair[0];
	do {
		assert_int_equal(poll(&p, 1, 2000), 1);
		assert_int_equal(helper_receive(pair[0], &a, sizeof(a), NULL), sizeof(a));
	} while (last && !a.done);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	for (int i = 0; i < 2; i++)
		close(pair[i]);
	close(reader);
	close(content);
	return a;
}

/* The caller knows that it is a FIFO before the reader, who may pause, has taken anything. */
TEST(write, a_reader_that_has_not_begun)
{
	struct write_answer a = write_to_fifo("fifo", -1, false, false);

	assert_int_equal(a.err, 0);
	assert_int_equal(a.stream, 1);
}

/* Anyone can make one in /tmp. */
TEST(write, another_users_fifo)
{
	if (geteuid()) /* only root can give it to somebody */
		return;
	assert_int_equal(write_to_fifo("theirs", 1, false, true).err, -EPERM);
}

/* A name that systop makes is never that of a FIFO, even if somebody made one of that name. */
TEST(write, beside_a_fifo)
{
	struct write_answer a = write_to_fifo("systop-host.pb", -1, true, true);
	struct stat st;

	assert_int_equal(a.err, 0);
	assert_int_equal(a.number, 2);
	assert_int_equal(stat(in_folder("systop-host-2.pb"), &st), 0);
	assert_int_equal(st.st_size, 1 << 20);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(write_a_reader_that_has_not_begun),
		cmocka_unit_test(write_cancelled_before_the_file_is_on_the_disk),
		cmocka_unit_test(write_cancelled_when_the_file_is_there),
		cmocka_unit_test(write_another_users_fifo),
		cmocka_unit_test(write_beside_a_fifo),
	};

	return cmocka_run_group_tests(cases, folder_new, folder_drop);
}
