/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_APP_NAMESPACES_H
#define SYSTOP_APP_NAMESPACES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * namespaces_check - that systop is in the host's PID and time namespaces: the programs in the kernel know the host's
 * numbers and clock only.
 * @pids: of -p; their numbers on the host are said, where /proc is the host's
 * Returns 0, or -ENOTSUP after fail() has said how to start it instead.
 */
int namespaces_check(const pid_t *pids, size_t nr);

/* namespaces_cgroup - whether systop is in a cgroup namespace: cgroups outside of it have no names then. */
bool namespaces_cgroup(void);

#endif
