/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_PROC_PRESSURE_H
#define SYSTOP_PROC_PRESSURE_H

#include "model/tick.h"

/* Pressure stall information of the host, from /proc/pressure. Initialise with zeroes. */
struct pressure_reader {
	struct pressure before[PRESSURE_COUNT]; /* sums since boot */
	bool read;
};

/* pressure_read - how long tasks waited since the last call; VALUE_NA at the first call, or if the kernel does not
 * report it. Takes about 30 us. */
void pressure_read(struct pressure_reader *r, struct pressure grown[PRESSURE_COUNT]);

#endif
