/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_COLLECT_LIMITS_H
#define SYSTOP_COLLECT_LIMITS_H

#include <stdint.h>

struct cgroups;
struct limits;
struct model;

/* Reads the CPU limits of cgroups, and how often they were throttled, into each tick. */

/* limits_new - all pointers are borrowed. NULL: no memory. */
struct limits *limits_new(struct model *model, struct cgroups *cgroups);
void limits_free(struct limits *l);

/* limits_first - reads the values that the first tick is compared with. */
void limits_first(struct limits *l);

/* limits_tick - adds them, of @interval ns, to the tick being built. 0 or -errno. */
int limits_tick(struct limits *l, uint64_t interval);

#endif
