/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_APP_ROLES_H
#define SYSTOP_APP_ROLES_H

#include "helper/role.h"

/* All processes of systop and their rights; helper/role.h describes a row. The man page's table derives from them,
 * and tests/bpf/rights.py compares it with the kernel's view. */
enum {
	PROCESS_MAIN,
	PROCESS_STARTER,
	PROCESS_OPEN,
	PROCESS_SYMBOLS,
	PROCESS_PEEK,
	PROCESS_COMMANDS,
	PROCESS_FACTS,
	PROCESS_WRITE,
	PROCESS_INFO,
	PROCESS_CONFIG,
	PROCESS_LOG,
	PROCESS_COUNT
};

extern const struct helper_role processes[PROCESS_COUNT];

#endif
