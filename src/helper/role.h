/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_HELPER_ROLE_H
#define SYSTOP_HELPER_ROLE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/capability.h>

#include "helper/calls.h"

/* What a process of systop is, may do, and does. */

#define ROLE_CAPS_MAX 8

/* As whom it runs where systop was started by root. Whoever else started it, with capabilities, stays who he is. */
enum role_user {
	USER_NOBODY,  /* who owns nothing */
	USER_INVOKER, /* who called sudo; nobody without sudo */
	USER_WRITER,  /* the same; without sudo the files that it writes are root's (fsuid) */
};

struct helper_role {
	const char *name;         /* shown by ps: "systop-open" */
	const char *what;         /* for the man page */
	enum role_user user;
	cap_value_t caps[ROLE_CAPS_MAX];
	int nr_caps;              /* all others are given up */
	unsigned int calls;       /* enum calls: the system calls there are for it */
	unsigned int files;       /* so many descriptors; 0: as many as systop */
	size_t memory;            /* in so many bytes, a file it writes in an eighth of them (RLIMIT_FSIZE), */
	unsigned int cpu_seconds; /* with so much CPU time; 0: no limit */
	unsigned int request_ms;  /* and so much for each request; 0: no limit */
	int nice;                 /* by so much less urgent than systop, */
	bool finishes;            /* looks itself whether systop is gone, and puts away what it began; */
	void (*run)(int socket);  /* until the socket's other end closes; NULL: it is none of the starter's */
};

#endif
