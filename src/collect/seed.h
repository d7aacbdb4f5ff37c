/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_COLLECT_SEED_H
#define SYSTOP_COLLECT_SEED_H

#include <stdint.h>

#include "slot.h"

struct bpf_program;

/*
 * seed_run - enters the threads that exist into the slots, through the task iterator @prog; the
 * probes must be attached. Threads of /proc that it skips are asked for one by one.
 * @slots, @shared: the mapped slots
 * Returns the number of threads of /proc that have no slot afterwards, or -errno.
 */
int seed_run(struct bpf_program *prog, const struct slot *slots, const struct shared *shared);

/* seed_iterate - runs the iterator over all threads, or over the one with number @tid: those
 * without a slot get one, the others' scope is decided again. Returns 0 or -errno. */
int seed_iterate(struct bpf_program *prog, uint32_t tid);

#endif
