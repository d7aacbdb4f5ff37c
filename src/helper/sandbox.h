/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_HELPER_SANDBOX_H
#define SYSTOP_HELPER_SANDBOX_H

struct helper_role;

/* sandbox_init - finds out who started systop, and chooses a user without processes. Call once, before any process is started. */
void sandbox_init(void);

/* sandbox_enter - this process drops everything its role does not need, for good. 0, or -1 with errno: it must not
 * run. A helper that makes a forbidden call is killed; other processes get an error. */
int sandbox_enter(const struct helper_role *role);

#endif
