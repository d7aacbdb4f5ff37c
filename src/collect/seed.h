/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_COLLECT_SEED_H
#define SYSTOP_COLLECT_SEED_H

#include <stdbool.h>
#include <stdint.h>

#include "slot.h"

struct bpf_program;

/*
 * seed_run - enters the existing threads into the slots, through the task iterator @prog; the probes must be attached.
 * Threads of /proc that it skips are requested one by one.
 * @slots, @shared: the mapped slots, of which there are @max
 * Returns the number of threads of /proc that have no slot afterwards, or -errno.
 */
int seed_run(struct bpf_program *prog, const struct slot *slots, uint32_t max, const struct shared *shared);

/* seed_iterate - runs the iterator over all threads (@id 0), over the one with that number, or over those of that
 * process: threads without a slot get one; cgroups, scope and parent of the others are read again. Returns 0 or
 * -errno. */
int seed_iterate(struct bpf_program *prog, uint32_t id, bool process);

#endif
