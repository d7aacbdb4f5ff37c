/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_RECORD_INNER_MAPS_H
#define SYSTOP_RECORD_INNER_MAPS_H

#include <stdint.h>

/*
 * inner_maps_put - puts @nr maps, by their fds, into an array of maps at places @at. After an update the kernel waits until
 * no program runs that began before it, for ms: all at once wait once (Linux 6.8; before that each one does).
 * Returns 0 or -errno: then some of them may be there.
 */
int inner_maps_put(int map_fd, const uint32_t *at, const int *fds, uint32_t nr);

#endif
