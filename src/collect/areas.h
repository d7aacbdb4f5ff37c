/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_COLLECT_AREAS_H
#define SYSTOP_COLLECT_AREAS_H

#include <stdint.h>

#include "area.h"

struct areas;
struct health;
struct online;

/* areas_new - creates the area (area.h) of each online CPU, and puts it into the map of areas. @online: borrowed. NULL:
 * out of memory. */
struct areas *areas_new(int map_fd, const struct online *online);
void areas_free(struct areas *a);

/* areas_follow - creates the areas of CPUs that came online. Returns 0 or -errno: those that are missing are tried again at
 * the next call. */
int areas_follow(struct areas *a);

/* areas_list - by possible CPU, NULL: it was never online. Neither the list nor the areas ever move. */
struct cpu_area *const *areas_list(const struct areas *a);

/* areas_bytes - total size. */
uint64_t areas_bytes(const struct areas *a);

void areas_health(const struct areas *a, struct health *h);

#endif
