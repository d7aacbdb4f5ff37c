/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_APP_BELONGS_H
#define SYSTOP_APP_BELONGS_H

#include <stdint.h>

struct cgroups;
struct containers;

/* State for which the cgroups of both hierarchies last got names. Initialise with zeroes. */
struct belongs {
	uint64_t changes, generation;
};

/* belongs_update - gives cgroups the names of containers and pods that are known by now, and requests those of new
 * ones. */
void belongs_update(struct belongs *b, struct containers *c, struct cgroups *cgroups);

#endif
