/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_PROC_TOPOLOGY_H
#define SYSTOP_PROC_TOPOLOGY_H

#include <stdint.h>

#include "model/topology.h"

#define TOPOLOGY_SYS "/sys/devices/system"

/* How CPUs are put together, as sysfs has it. Initialise with the folder, and else zeroes. */
struct topology_reader {
	const char *sys;           /* TOPOLOGY_SYS, or a folder like it */
	char online[4096];         /* as the kernel wrote it the last time */
	struct topology topology;
};

/*
 * topology_read - how CPUs are put together now; the reader's, until the next call. What the kernel does not tell is
 * not known there; out of memory, nothing is. Opens one file, and some for each core when CPUs came or went: about
 * 1 ms for 100 CPUs.
 */
const struct topology *topology_read(struct topology_reader *r);
void topology_fini(struct topology_reader *r);

/* topology_hz - the clock of a CPU now, in Hz; VALUE_NA: not known. Opens one file. */
uint64_t topology_hz(const struct topology_reader *r, int cpu);

#endif
