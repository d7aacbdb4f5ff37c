/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_HELPER_HELPER_H
#define SYSTOP_HELPER_HELPER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "helper/message.h"

struct terminal;

/*
 * Helper processes: whatever can block in the kernel, or parses foreign files, runs outside the process that holds BPF
 * programs and draws the screen. One starter, forked before anything else is opened, forks them on request. It is never
 * waited for: if it ends, running helpers continue, and no others start.
 */

struct helper_role;

/* A running helper. */
struct helper {
	uint32_t id;
	int socket; /* SOCK_SEQPACKET, non-blocking; -1: none runs */
};

/*
 * helper_start - forks the starter. Call first: of the rights that this process has now, the starter keeps those of its role,
 * and it has nothing that is opened later. @roles: have to live as long as the process; @own: the starter's own role
 * Returns 0 or -errno. helper_stop() ends it and all helpers.
 */
int helper_start(const struct helper_role *roles, int nr, int own);
pid_t helper_starter(void); /* 0: there is none */
uint64_t helper_cpu_ns(void); /* of the starter and all helpers, since the start */
uint64_t helper_private_bytes(void); /* private memory of the starter and the helpers */
void helper_stop(void);

/* helper_work - takes the starter's messages, and checks whether it still runs; call it now and then, and when
 * helper_events() is readable (-1: there is no starter). */
void helper_work(void);
int helper_events(void);

/* helper_trouble - why no helpers can be started, and what to do about it; "": they can be. */
const char *helper_trouble(void);

/* helper_terminal - what the starter restores, in the terminal @fd, if this process is killed. -1: nothing from now
 * on. */
void helper_terminal(const struct terminal *t, int fd);

/*
 * helper_open - requests a new helper of a role. 0, or -errno: see helper_trouble(). It can be sent requests at once.
 * helper_pid - its PID, for reading about it; 0: it does not run, or not yet.
 * helper_ended - whether the starter has waited for it, or could not start it. helper_error - why it could not be started,
 * -errno; 0: it could, or this is not known yet.
 */
int helper_open(int role, struct helper *h);
pid_t helper_pid(uint32_t id);
bool helper_ended(uint32_t id);
int helper_error(uint32_t id);

/* helper_kill - ends a helper that does not answer. If it is stuck in the kernel, it ends when it can. helper_leave
 * - lets a helper finish and end by itself. */
void helper_kill(struct helper *h);
void helper_leave(struct helper *h);

#endif
