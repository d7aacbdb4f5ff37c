/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_COLLECT_COMMANDS_H
#define SYSTOP_COLLECT_COMMANDS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct commands;
struct cpu_slot;
struct health;
struct life;
struct model;

/*
 * Command lines of processes, for the model. Reading one can hang on a sick process: a helper reads them, a batch at a
 * time and a bounded number a second. It is asked for processes that are first seen, a second after their birth (most
 * call exec by then), and again for those that are wanted.
 */

struct commands_options {
	struct model *model;
	int role;                    /* of the helper */
	int ring_fd;                 /* ring of programs that were started, -1: none */
	const struct cpu_slot *cpus; /* mapped, one per possible CPU */
	int nr_cpus;
	struct life *(*life)(void *arg, uint32_t slot); /* the life of the thread in a slot */
	void *arg;
};

/* commands_new - all pointers are borrowed. NULL: no memory. */
struct commands *commands_new(const struct commands_options *o);
void commands_free(struct commands *c);

/* commands_drain - reads which programs were started, while the threads' slots are theirs. Returns their number, or -errno.
 * commands_due - whether that should be done now, as there are many; ask every 250 ms. */
int commands_drain(struct commands *c);
bool commands_due(const struct commands *c);

/* commands_want - the command line of @tgid is needed now, and read if it was not for two seconds. */
void commands_want(struct commands *c, pid_t tgid);

/* commands_work - takes answers; call it when worker_events() is readable, and four times a second regardless. Returns true when
 * a batch has been read that changed a command line. */
bool commands_work(struct commands *c);

/* commands_lost - command lines for which there was no room since the start. */
uint64_t commands_lost(const struct commands *c);

void commands_health(const struct commands *c, struct health *h);

/* commands_run - the role. */
void commands_run(int socket);

#endif
