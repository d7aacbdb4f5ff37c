/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_COLLECT_LIMITS_H
#define SYSTOP_COLLECT_LIMITS_H

#include <stdint.h>

struct cgroups;
struct limits;
struct model;

/* Adds the cgroups to each tick, with their CPU limits, how often they were throttled, and the memory they are charged for. */

/* limits_new - all pointers are borrowed. NULL: no memory. */
struct limits *limits_new(struct model *model, struct cgroups *cgroups);
void limits_free(struct limits *l);

/* limits_first - reads the values that the first tick is compared with. */
void limits_first(struct limits *l);

/* limits_tick - adds the cgroups to the tick being built, which covers @interval ns. 0 or -errno. */
int limits_tick(struct limits *l, uint64_t interval);

#endif
