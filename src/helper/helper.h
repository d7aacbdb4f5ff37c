/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_HELPER_HELPER_H
#define SYSTOP_HELPER_HELPER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "helper/message.h"

struct terminal;

/*
 * Helper processes: what can block in the kernel, or parses what others wrote, does not run in the
 * process that holds BPF programs and draws the screen. One starter, forked before anything else is
 * opened, forks them on request. It is never waited for: without it helpers that run go on, and no others start.
 */

struct helper_role;

/* A helper that runs. */
struct helper {
	uint32_t id;
	int socket; /* SOCK_SEQPACKET, non-blocking; -1: none runs */
};

/*
 * helper_start - forks the starter. Call first: it keeps the rights this process has, and nothing
 * that is opened later. @roles: live as long as the process; @own: the starter's own
 * Returns 0 or -errno. helper_stop() ends it and all helpers.
 */
int helper_start(const struct helper_role *roles, int nr, int own);
pid_t helper_starter(void); /* 0: there is none */
void helper_stop(void);

/* helper_work - takes what the starter told, and sees whether it still runs; call it once in a while, and when
 * helper_events() is readable (-1: there is no starter). */
void helper_work(void);
int helper_events(void);

/* helper_trouble - why no helpers can be started, and what to do about it; "": they can be. */
const char *helper_trouble(void);

/* helper_terminal - what the starter restores, in the terminal @fd, if this process is killed. -1: nothing any more. */
void helper_terminal(const struct terminal *t, int fd);

/*
 * helper_open - a new helper of this role. 0, or -errno: see helper_trouble(). It can be sent requests at once.
 * helper_pid - its number, to read about it; 0: it does not run, or not yet.
 * helper_ended - whether the starter waited for it. helper_error - why it could not be started; 0: it could.
 */
int helper_open(int role, struct helper *h);
pid_t helper_pid(uint32_t id);
bool helper_ended(uint32_t id);
int helper_error(uint32_t id);

/* helper_kill - ends one that does not answer. One that is stuck in the kernel ends when it can. helper_leave - lets one
 * end by itself, which has something to put away. */
void helper_kill(struct helper *h);
void helper_leave(struct helper *h);

#endif
