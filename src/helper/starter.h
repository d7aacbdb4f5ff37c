/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_HELPER_STARTER_H
#define SYSTOP_HELPER_STARTER_H

/* The starter process, and what systop and it tell each other. */

#include <stdint.h>
#include <stdnoreturn.h>

#include "helper/terminal.h"

struct helper_role;

/* So many helpers there can be, those included that were killed and cannot end yet. */
#define HELPER_SLOTS 64

/*
 * A helper's id: its slot is id % HELPER_SLOTS, and no two helpers of one systop have the same. Processes' numbers
 * are not used: one that ended may be another process's by the time a request for it is read.
 */
enum starter_what {
	STARTER_START,    /* with a socket: a helper of @role has it */
	STARTER_KILL,     /* helper @id, if it still runs */
	STARTER_TERMINAL, /* with a terminal: it is restored when systop is gone; without: no more */
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
	STARTER_FAILED, /* @err: it could not be */
	STARTER_ENDED,
};

struct starter_answer {
	uint32_t event;
	uint32_t id;
	int32_t pid;
	int32_t err;
};

/* starter_run - is the starter, by the rights of roles[@own], until systop is gone, by whatever end: then its end of @socket is closed. */
noreturn void starter_run(const struct helper_role *roles, uint32_t nr, uint32_t own, int socket);

#endif
