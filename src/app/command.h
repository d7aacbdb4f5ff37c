/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_APP_COMMAND_H
#define SYSTOP_APP_COMMAND_H

#include <stdbool.h>
#include <sys/types.h>

/* The command after "--". It is forked early, so that its pid can be in scope from the start and it keeps the rights
 * that systop drops; it is released when all measuring has started. */
struct command {
	pid_t pid;    /* 0: none */
	int gate;     /* a byte through it starts the command; closing it ends the child */
	const char *name; /* of the command, borrowed */
	int status;   /* as from waitpid, after its end */
};

/* command_fork - 0, or -errno after fail(). @screen: systop uses the terminal: the command
 * cannot read from it, and what it writes to it is dropped. */
int command_fork(struct command *c, char **argv, bool screen);

/* command_start - releases the command, unless systop is about to end: then it never starts. Returns 0, or -errno after fail()
 * if it cannot be executed and this is known within a second. */
int command_start(struct command *c);

/* command_end - leaves a running command alone; ends one that never started. */
void command_end(struct command *c);

/* command_exit_status - as a shell reports it: the exit status, or 128 + the signal. 0: no command. */
int command_exit_status(const struct command *c);

#endif
