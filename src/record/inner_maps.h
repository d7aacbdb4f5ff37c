/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_RECORD_INNER_MAPS_H
#define SYSTOP_RECORD_INNER_MAPS_H

#include <stdint.h>

/*
 * inner_maps_put - puts @nr maps, given by their fds, into an array of maps at indexes @at. An update waits, for ms,
 * until no program runs that began before it: a batch waits once (Linux 6.8; before that once per map).
 * Returns 0 or -errno: then some of them may be there.
 */
int inner_maps_put(int map_fd, const uint32_t *at, const int *fds, uint32_t nr);

#endif
