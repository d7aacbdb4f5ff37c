/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "save/write.h"

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
#include "helper/message.h"

/* It is known to be a FIFO before its reader, who may pause, has taken anything. */
TEST(write, a_reader_that_has_not_begun)
{
	struct write_request r = { .what = WRITE_PATH, .exporter = exporter_index(&export_trace) };
	int pair[2], reader, content = memfd_create("content", MFD_CLOEXEC);
	struct pollfd p = { .events = POLLIN };
	struct write_answer a;
	pid_t pid;

	snprintf(r.path, sizeof(r.path), "%s/fifo", folder);
	write_temporary(r.temporary);
	assert_int_equal(mkfifo(r.path, 0600), 0);
	reader = open(r.path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	assert_return_code(fcntl(reader, F_SETPIPE_SZ, 4096), 0);
	assert_int_equal(ftruncate(content, 1 << 20), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	pid = fork();
	if (!pid) {
		write_run(pair[1]);
		_exit(0);
	}
	assert_int_equal(helper_send(pair[0], &r, sizeof(r), -1), sizeof(r));
	r.what = WRITE_CONTENT;
	assert_int_equal(helper_send(pair[0], &r, sizeof(r), content), sizeof(r));
	p.fd = pair[0];
	assert_int_equal(poll(&p, 1, 2000), 1);
	assert_int_equal(helper_receive(pair[0], &a, sizeof(a), NULL), sizeof(a));
	assert_int_equal(a.err, 0);
	assert_int_equal(a.stream, 1);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	for (int i = 0; i < 2; i++)
		close(pair[i]);
	close(reader);
	close(content);
}

int main(void)
{
	const struct CMUnitTest cases[] = { cmocka_unit_test(write_a_reader_that_has_not_begun) };

	return cmocka_run_group_tests(cases, folder_new, folder_drop);
}
