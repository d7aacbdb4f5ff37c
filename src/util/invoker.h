/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_UTIL_INVOKER_H
#define SYSTOP_UTIL_INVOKER_H

#include <stdbool.h>
#include <sys/types.h>

/* Who called sudo. */
struct invoker {
	uid_t uid;
	gid_t gid;
	gid_t *groups; /* lives until the end of the process */
	int nr_groups;
};

/* invoker_find - by SUDO_UID, SUDO_GID and SUDO_USER, which only root is believed. False: nobody did, or it was root.
 * Looks groups up, by whatever the host has for it. */
bool invoker_find(struct invoker *i);

#endif
