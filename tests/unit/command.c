/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "app/command.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/loop.h"
#include "unit.h"
#include "util/fail.h"

/* A command at the gate that a signal was sent to. A group of its own, in the session of its parent, can be stopped. */
static void fork_and_signal(struct command *c, char *name, int number)
{
	char *argv[] = { name, NULL };

	loop_block_signals();
	assert_int_equal(command_fork(c, argv, false), 0);
	assert_int_equal(setpgid(c->pid, 0), 0);
	usleep(50000); /* the child has come to the gate */
	assert_int_equal(kill(c->pid, number), 0);
	usleep(50000);
}

static int status_of(const struct command *c)
{
	int status;

	assert_int_equal(waitpid(c->pid, &status, 0), c->pid);
	return status;
}

TEST(command, killed_while_it_waits)
{
	struct command c = { 0 };
	struct failure f;

	fork_and_signal(&c, "true", SIGKILL);
	assert_int_equal(command_start(&c), -EIO);
	assert_int_equal(failure_take(&f), EXIT_STATUS_TARGET);
	failure_fini(&f);
	assert_int_equal(status_of(&c), SIGKILL);
}

int main(void)
{
	RUN_TESTS(cmocka_unit_test(command_killed_while_it_waits));
}
