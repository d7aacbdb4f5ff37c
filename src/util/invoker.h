/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_UTIL_INVOKER_H
#define SYSTOP_UTIL_INVOKER_H

#include <stdbool.h>
#include <sys/types.h>

/* Whose systop is: who called sudo, else the user it was started by. Their files are read and written as they could
 * do it themselves. */
struct invoker {
	uid_t uid;
	gid_t gid;
	const char *name; /* of who called sudo; NULL: nobody did */
};

/* invoker_find - call first. 0, or -EINVAL after fail(): sudo's variables make no sense (exit status 2). */
int invoker_find(void);
const struct invoker *invoker(void);

/* invoker_begin - until invoker_end(), files are opened, made and looked for by the invoker's rights only: their user and
 * group, and none of the capabilities that were given to systop. 0 or -errno: it did not work, and nothing is to be
 * opened. Before there are threads. */
int invoker_begin(void);
void invoker_end(void);

#endif
