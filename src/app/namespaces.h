/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_APP_NAMESPACES_H
#define SYSTOP_APP_NAMESPACES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * namespaces_check - checks that systop is in the host's PID and time namespaces, as the programs in the kernel know only the
 * host's numbers and clock, and in its user namespace, as only capabilities there allow loading them.
 * @pids: of -p; the message has their numbers on the host, if /proc is the host's
 * Returns 0, or -ENOTSUP after fail(), which says how to start systop instead.
 */
int namespaces_check(const pid_t *pids, size_t nr);

/* namespaces_cgroup - whether systop is in a cgroup namespace: cgroups outside of it then have no names. */
bool namespaces_cgroup(void);

#endif
