/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_COLLECT_AREAS_H
#define SYSTOP_COLLECT_AREAS_H

#include <stdint.h>

#include "area.h"

struct areas;
struct health;
struct online;

/* areas_new - creates no area (area.h) yet: areas_follow() does. @map_fd: the map of areas; borrowed, as is @online. NULL: out of
 * memory. */
struct areas *areas_new(int map_fd, const struct online *online);
void areas_free(struct areas *a);

/* areas_follow - creates the missing areas of online CPUs, and puts them into the map. Returns 0 or -errno: those that are still
 * missing are tried again at the next call. */
int areas_follow(struct areas *a);

/* areas_list - by possible CPU, NULL: it was never online, or its area could not be created. Neither the list nor the areas ever
 * move. */
struct cpu_area *const *areas_list(const struct areas *a);

/* areas_bytes - total size. */
uint64_t areas_bytes(const struct areas *a);

void areas_health(const struct areas *a, struct health *h);

#endif
