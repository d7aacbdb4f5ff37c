/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_APP_COMMAND_H
#define SYSTOP_APP_COMMAND_H

#include <sys/types.h>

/* The command behind "--": made early, so that its pid can be in scope from the start and it keeps
 * the rights systop gives up; let go once everything watches. */
struct command {
	pid_t pid;    /* 0: none */
	int gate;     /* it starts when a byte comes through, and goes away when this closes */
	int status;   /* as waitpid gives it, once it ended */
};

/* command_fork - 0, or -errno after fail(). */
int command_fork(struct command *c, char **argv);

/* command_start - lets the command run. Returns 0, or -errno after fail() if it cannot be run. */
int command_start(struct command *c);

/* command_end - a command that still runs is left alone; one that never started goes away. */
void command_end(struct command *c);

/* command_exit_status - what a shell would see: its exit status, or 128 + the signal. 0: none. */
int command_exit_status(const struct command *c);

#endif
