/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "helper/message.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "unit.h"

/* A helper answers and ends while a request is on its way. */
static int ended_with_answer(void)
{
	int pair[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair), 0);
	assert_int_equal(helper_send(pair[1], "no", 2, -1), 2);
	assert_int_equal(helper_send(pair[0], "more", 4, -1), 4);
	close(pair[1]);
	return pair[0];
}

TEST(message, the_last_answer_of_a_helper_that_ended)
{
	int socket = ended_with_answer();
	char answer[8];

	assert_int_equal(helper_receive(socket, answer, sizeof(answer), NULL), 2);
	assert_memory_equal(answer, "no", 2);
	assert_int_equal(helper_receive(socket, answer, sizeof(answer), NULL), -EPIPE);
	close(socket);
}

TEST(message, a_request_to_a_helper_that_ended)
{
	int socket = ended_with_answer();
	char answer[8];

	assert_int_equal(helper_send(socket, "more", 4, -1), -EPIPE);
	assert_int_equal(helper_receive(socket, answer, sizeof(answer), NULL), 2);
	close(socket);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(message_the_last_answer_of_a_helper_that_ended),
		cmocka_unit_test(message_a_request_to_a_helper_that_ended),
	};

	return cmocka_run_group_tests(cases, NULL, NULL);
}
