/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_APP_ROLES_H
#define SYSTOP_APP_ROLES_H

#include "helper/role.h"

/* Every process of systop and what it may do; helper/role.h says what is in a row. The man page's table is made of
 * them, and tests/bpf/rights.py compares it with what the kernel says. */
enum {
	PROCESS_MAIN,
	PROCESS_STARTER,
	PROCESS_OPEN,
	PROCESS_SYMBOLS,
	PROCESS_PEEK,
	PROCESS_WRITE,
	PROCESS_INFO,
	PROCESS_CONFIG,
	PROCESS_LOG,
	PROCESS_COUNT
};

extern const struct helper_role processes[PROCESS_COUNT];

#endif
