/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_COLLECT_HEALTH_H
#define SYSTOP_COLLECT_HEALTH_H

#include <stdbool.h>
#include <stdint.h>

#include "loss.h"
#include "stack.h"

struct bpf_object;
struct cpu_slot;
struct health;
struct files;
struct samplers;
struct shared;

/* health_programs - each program: attached, or why not. @timers_unseen: irqs_timers_unseen() */
void health_programs(struct health *h, const struct bpf_object *object, bool timers_unseen);

/* health_samplers - what the CPUs did when they were sampled. health_stacks - how many blocks had
 * no stack taken, and how many files are known. */
void health_samplers(struct health *h, const struct samplers *s, const struct cpu_slot *cpus, int nr);
void health_stacks(struct health *h, const struct files *files, const struct cpu_slot *cpus, int nr);

/* health_slots - how full the slots are. */
void health_stack_ends(struct health *h, const uint64_t ends[STACK_ENDS]);
void health_slots(struct health *h, const struct shared *shared, uint32_t max, uint64_t map_bytes);

/* health_loss - what was lost since the start, by cause. */
void health_loss(struct health *h, const uint64_t loss[LOSS_COUNT]);

#endif
