/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_HELPER_SANDBOX_H
#define SYSTOP_HELPER_SANDBOX_H

struct helper_role;

/* sandbox_enter - gives up all that the role does not need, for good. 0, or -1: it must not run. */
int sandbox_enter(const struct helper_role *role);

#endif
