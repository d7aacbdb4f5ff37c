/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/options.h"
#include "app/target.h"
#include "proc/pid.h"
#include "util/fail.h"

static pid_t child;

/* The child ends as soon as it was found. */
pid_t __real_pid_process(pid_t pid, char *name, size_t size);
pid_t __wrap_pid_process(pid_t pid, char *name, size_t size);
pid_t __wrap_pid_process(pid_t pid, char *name, size_t size)
{
	pid_t found = __real_pid_process(pid, name, size);

	if (child) {
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
	}
	child = 0;
	return found;
}

TEST(target, process_that_ends_while_it_is_looked_for)
{
	static struct options o;
	struct target t = { 0 };
	struct failure f;
	pid_t pid = fork();

	if (!pid)
		pause();
	child = pid;
	o.pids = &pid;
	o.nr_pids = 1;
	assert_int_equal(target_resolve(&t, &o, NULL, NULL), -ESRCH);
	assert_int_equal(failure_take(&f), EXIT_STATUS_TARGET);
	failure_fini(&f);
	target_fini(&t);
}

int main(void)
{
	RUN_TESTS(cmocka_unit_test(target_process_that_ends_while_it_is_looked_for));
}
