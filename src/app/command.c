/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "app/command.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/check.h"
#include "app/loop.h"
#include "app/priority.h"
#include "helper/message.h"
#include "util/fail.h"
#include "util/text.h"

/* How long the result of exec is awaited: the command's file can be on a file system that does not answer, and a stopped
 * child executes nothing. */
#define EXEC_STEPS 100
#define EXEC_STEP_MS 10

/* Replaces the standard streams that are a terminal with /dev/null. */
static void leave_terminal(void)
{
	int none = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO && none >= 0; fd++)
		if (isatty(fd))
			dup2(none, fd);
}

/* In the child: waits at the gate, then executes the command; reports the error if that fails. */
static void child(int gate, char **argv, bool screen)
{
	char go;
	int err;

	if (screen)
		leave_terminal();
	signal(SIGXFSZ, SIG_DFL);
	priority_restore();
	check_files_restore();
	if (read(gate, &go, 1) != 1)
		_exit(0);
	loop_unblock_signals(); /* a signal at the gate would stop the child, and systop would wait for it */
	execvp(argv[0], argv);
	err = errno;
	helper_send(gate, &err, sizeof(err), -1);
	_exit(err == ENOENT ? 127 : 126);
}

int command_fork(struct command *c, char **argv, bool screen)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return fail(-errno, EXIT_STATUS_RUNTIME, "cannot start a command: %s",
			    strerror(errno));
	c->pid = fork();
	if (c->pid < 0) {
		c->pid = 0;
		close(ends[0]);
		close(ends[1]);
		return fail(-errno, EXIT_STATUS_RUNTIME, "cannot start a command: %s",
			    strerror(errno));
	}
	if (!c->pid) {
		close(ends[0]);
		child(ends[1], argv, screen);
	}
	close(ends[1]);
	c->gate = ends[0];
	c->name = argv[0];
	return 0;
}

/* What exec reports through the gate, as from read(). 0: it succeeded, or is not finished: its failure then shows only in the
 * child's exit status. */
static ssize_t exec_result(int gate, int *why)
{
	struct pollfd p = { .fd = gate, .events = POLLIN };

	for (int i = 0; i < EXEC_STEPS && !loop_ending(); i++)
		if (poll(&p, 1, EXEC_STEP_MS) > 0)
			return read(gate, why, sizeof(*why)); /* exec closes it: end of file */
	return 0;
}

int command_start(struct command *c)
{
	char safe[256];
	int why = 0;
	ssize_t n = -1;

	if (loop_ending())
		return 0;
	if (helper_send(c->gate, "", 1, -1) == 1)
		n = exec_result(c->gate, &why);
	close(c->gate);
	c->gate = -1;
	if (!n)
		return 0;
	text_safe(safe, sizeof(safe), c->name, strlen(c->name));
	fail(-why, EXIT_STATUS_TARGET, "cannot run %s: %s", safe,
	     n == sizeof(why) ? strerror(why) : "the child exited before it executed the command");
	fail_fix("command -v NAME    # is it there, and executable?");
	return why ? -why : -EIO;
}

void command_end(struct command *c)
{
	if (c->pid && c->gate >= 0) {
		close(c->gate);
		waitpid(c->pid, NULL, 0);
	}
}

int command_exit_status(const struct command *c)
{
	if (!c->pid)
		return EXIT_STATUS_OK;
	if (WIFSIGNALED(c->status))
		return 128 + WTERMSIG(c->status);
	return WIFEXITED(c->status) ? WEXITSTATUS(c->status) : EXIT_STATUS_OK;
}
