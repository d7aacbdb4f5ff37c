/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_HELPER_ROLE_H
#define SYSTOP_HELPER_ROLE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/capability.h>

#include "helper/calls.h"

/* What a process of systop is, may do, and does. */

#define ROLE_CAPS_MAX 8

/* The user that a process runs as. If systop lacks CAP_SETUID or CAP_SETGID, it stays the user that started systop. */
enum role_user {
	USER_NOBODY,  /* owns nothing */
	USER_INVOKER, /* the user who called sudo; nobody without sudo */
	USER_WRITER,  /* the same; without sudo the files that it writes belong to root (fsuid), and it has systop's groups */
};

struct helper_role {
	const char *name;         /* shown by ps: "systop-open" */
	const char *what;         /* for the man page */
	enum role_user user;
	cap_value_t caps[ROLE_CAPS_MAX];
	int nr_caps;              /* all others are dropped */
	unsigned int calls;       /* enum calls: the system calls it keeps */
	unsigned int files;       /* limit of descriptors; 0: as many as systop */
	size_t memory;            /* limit of memory in bytes; a file it writes is limited to a quarter
				   * (RLIMIT_FSIZE) */
	unsigned int request_ms;  /* limit of CPU time for each request; 0: none */
	bool finishes;            /* notices itself that systop is gone, and cleans up what it began */
	void (*run)(int socket);  /* runs until the socket's other end closes; NULL: not started by the starter */
};

#endif
