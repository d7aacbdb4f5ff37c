/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_COLLECT_AREAS_H
#define SYSTOP_COLLECT_AREAS_H

#include <stdint.h>

#include "area.h"

struct areas;
struct health;
struct online;

/* areas_new - memory for each CPU that is online (area.h), in the map of them. @online: borrowed. NULL: out of memory. */
struct areas *areas_new(int map_fd, const struct online *online);
void areas_free(struct areas *a);

/* areas_follow - makes those of CPUs that came. Returns 0 or -errno: then no more are made. */
int areas_follow(struct areas *a);

/* areas_list - of each possible CPU, NULL: it was never online. The list stays where it is, and so does each of them. */
struct cpu_area *const *areas_list(const struct areas *a);

/* areas_bytes - of all of them. */
uint64_t areas_bytes(const struct areas *a);

void areas_health(const struct areas *a, struct health *h);

#endif
