/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_HELPER_STARTER_H
#define SYSTOP_HELPER_STARTER_H

/* The starter process, and its messages to and from systop. */

#include <stdint.h>
#include <stdnoreturn.h>

#include "helper/terminal.h"

struct helper_role;

/* Maximum number of helpers, including killed ones that cannot end yet. */
#define HELPER_SLOTS 64

/*
 * A helper's id: its slot is id % HELPER_SLOTS, and no two helpers of one systop have the same id. PIDs are not used:
 * by the time a request is read, the PID may belong to another process.
 */
enum starter_what {
	STARTER_START,    /* brings a socket: start a helper of @role with it */
	STARTER_KILL,     /* kill helper @id, if it still runs */
	STARTER_TERMINAL, /* brings a terminal: restore it when systop is gone; without a descriptor: no longer */
};

struct starter_request {
	uint32_t what;
	uint32_t id;
	uint32_t role;
	uint32_t spare;
	struct terminal terminal;
};

enum starter_event {
	STARTER_STARTED,
	STARTER_FAILED, /* it could not be started: @err */
	STARTER_ENDED,
};

struct starter_answer {
	uint32_t event;
	uint32_t id;
	int32_t pid;
	int32_t err;
};

/* starter_run - runs the starter with the rights of roles[@own], until systop is gone, however it ended: its end of
 * @socket is then closed. */
noreturn void starter_run(const struct helper_role *roles, uint32_t nr, uint32_t own, int socket);

#endif
