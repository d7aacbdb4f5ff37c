/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_COLLECT_HEALTH_H
#define SYSTOP_COLLECT_HEALTH_H

#include <stdint.h>

#include "loss.h"
#include "stack.h"

struct bpf_object;
struct collect;
struct health;
struct shared;

/* health_programs - adds each program of the collectors: attached, or the reason why not. */
void health_programs(struct health *h, const struct collect *c, const struct bpf_object *object);

/* health_stack_ends - how the walks of user stacks ended, by count. health_slots - how full the slots are.
 * health_memory - size of all maps. */
void health_stack_ends(struct health *h, const uint64_t ends[STACK_ENDS]);
void health_slots(struct health *h, const struct shared *shared, uint32_t max);
void health_memory(struct health *h, uint64_t map_bytes);

/* health_budget - the cost, and what is left out to limit it. */
struct budget;
void health_budget(struct health *h, const struct budget *b);

/* health_loss - losses since the start, by cause. */
void health_loss(struct health *h, const uint64_t loss[LOSS_COUNT]);

#endif
