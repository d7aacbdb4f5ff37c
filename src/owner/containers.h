/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_OWNER_CONTAINERS_H
#define SYSTOP_OWNER_CONTAINERS_H

#include <stddef.h>
#include <stdint.h>

/*
 * Names of containers and pods, by the ids that paths of cgroups have. An open and a symbols helper, which serve nothing else,
 * supply them later, one after the other, and only run while names are missing. Only containers_wait() blocks.
 */
struct cgroup;
struct containers;
struct health;

/* containers_new - @open_role, @symbols_role: for helper_open(). NULL: no memory. */
struct containers *containers_new(int open_role, int symbols_role);
void containers_free(struct containers *c);

/* containers_update - gives these cgroups the names that are known for them (model/owner.h), and requests the others.
 * Call it when cgroups or containers_generation() changed; it takes 0.3 us for a container. */
void containers_update(struct containers *c, struct cgroup *const *list, size_t nr);

/* containers_generation - changes when names were learnt. */
uint64_t containers_generation(const struct containers *c);

/* containers_work - call it when worker_events() is readable, and four times a second regardless, as it gives up helpers that do
 * not answer in time, and requests names again that were missing. */
void containers_work(struct containers *c);

/* containers_wait - waits up to @ns until all names that these cgroups can have are known. */
void containers_wait(struct containers *c, struct cgroup *const *list, size_t nr, uint64_t ns);

/* containers_health - reports how many have names. */
void containers_health(const struct containers *c, struct health *h);

#endif
