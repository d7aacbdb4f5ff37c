/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_HELPER_HELPER_H
#define SYSTOP_HELPER_HELPER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/capability.h>
#include <sys/types.h>

/*
 * Helper processes: what can block in the kernel, or parses what others wrote, does not run in the
 * process that holds BPF programs and draws the screen. One starter, forked before anything else is
 * opened, forks them on request.
 */

#define HELPER_CAPS_MAX 4

/* What a helper may do, and does. */
struct helper_role {
	const char *name;             /* shown by ps: "systop-open" */
	cap_value_t caps[HELPER_CAPS_MAX];
	int nr_caps;                  /* all others are given up */
	bool invoker;                 /* it runs as the user who called sudo; or */
	bool nobody;                  /* it runs as a user who owns nothing, */
	size_t memory;                /* in so many bytes, a file it writes in a quarter of them (RLIMIT_FSIZE), */
	bool locked;                  /* and opens nothing, talks to nobody: seccomp; */
	bool bpf;                     /* but for iterators of BPF links it is handed */
	void (*run)(int socket);      /* until the socket's other end closes */
};

/* A helper that runs. */
struct helper {
	pid_t pid;
	int socket; /* SOCK_SEQPACKET, non-blocking; -1: none runs */
};

/*
 * helper_start - forks the starter. Call first: it keeps the rights this process has, and nothing
 * that is opened later. @roles: live as long as the process
 * Returns 0 or -errno. helper_stop() ends it and all helpers.
 */
int helper_start(const struct helper_role *roles, int nr);
pid_t helper_starter(void); /* 0: there is none */
void helper_stop(void);

/* helper_open - a new helper of this role. 0 or -errno. */
int helper_open(int role, struct helper *h);

/* helper_kill - ends one that does not answer. One that is stuck in the kernel ends when it can. helper_leave - lets one
 * end by itself, which has something to put away. */
void helper_kill(struct helper *h);
void helper_leave(struct helper *h);

/* helper_send, helper_receive - one message, with a file descriptor (-1: none). Return its bytes, or
 * -errno; -EPIPE: the other side is gone. */
int helper_send(int socket, const void *message, size_t bytes, int fd);
int helper_receive(int socket, void *message, size_t room, int *fd);

#endif
