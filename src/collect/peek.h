/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_COLLECT_PEEK_H
#define SYSTOP_COLLECT_PEEK_H

#include <stdint.h>

#include "stack.h"

/* The helper that reads the stacks of blocked threads. A request is the link of the iterator; it answers with one
 * message per thread, and a last one that marks the end, or ends itself if it cannot read them all. It can hang on a stuck
 * process. */

struct peek_request {
	uint32_t spare;
};

struct peek_answer {
	uint32_t last;  /* end mark: there is no record */
	uint32_t spare;
	struct blocked_record record;
	uint64_t frames[STACK_USER_MAX + STACK_KERNEL_MAX];
};

/* peek_run - the role. */
void peek_run(int socket);

#endif
