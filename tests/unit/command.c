/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "app/command.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
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

TEST(command, stopped_while_it_waits_and_nothing_starts)
{
	struct command c = { 0 };

	fork_and_signal(&c, "true", SIGTSTP);
	command_end(&c);
	assert_int_equal(waitpid(c.pid, NULL, 0), -1);
}

/* systop was told to end while it started. */
TEST(command, does_not_start_any_more)
{
	const struct timespec none = { 0 };
	struct command c = { 0 };
	sigset_t set;

	fork_and_signal(&c, "true", 0);
	assert_int_equal(raise(SIGTERM), 0);
	assert_int_equal(command_start(&c), 0);
	command_end(&c);
	assert_int_equal(waitpid(c.pid, NULL, 0), -1); /* it has been waited for, as it never ran */
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	assert_int_equal(sigtimedwait(&set, NULL, &none), SIGTERM);
}

/* Nobody waits for the result of exec any more. */
TEST(command, stopped_while_it_waits)
{
	struct command c = { 0 };
	int status;

	fork_and_signal(&c, "/no/such/command", SIGTSTP);
	assert_int_equal(command_start(&c), 0);
	assert_int_equal(waitpid(c.pid, &status, WUNTRACED), c.pid);
	assert_true(WIFSTOPPED(status));
	assert_int_equal(kill(c.pid, SIGCONT), 0);
	status = status_of(&c);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 127);
}

TEST(command, interrupted_while_it_waits)
{
	struct command c = { 0 };

	fork_and_signal(&c, "true", SIGINT);
	assert_int_equal(command_start(&c), 0);
	assert_int_equal(status_of(&c), SIGINT);
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
	alarm(20); /* a wait without end fails */
	signal(SIGINT, SIG_DFL); /* shells ignore it in what they run in the background */
	signal(SIGTSTP, SIG_DFL);
	RUN_TESTS(cmocka_unit_test(command_stopped_while_it_waits_and_nothing_starts),
		  cmocka_unit_test(command_does_not_start_any_more), cmocka_unit_test(command_stopped_while_it_waits),
		  cmocka_unit_test(command_interrupted_while_it_waits), cmocka_unit_test(command_killed_while_it_waits));
}
