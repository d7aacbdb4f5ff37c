/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_PROC_TOPOLOGY_H
#define SYSTOP_PROC_TOPOLOGY_H

#include <stdint.h>

#include "model/topology.h"

#define TOPOLOGY_SYS "/sys/devices/system"

/* Reads the topology of the CPUs from sysfs. Initialise with the folder and zeroes. */
struct topology_reader {
	const char *sys;           /* TOPOLOGY_SYS, or a folder like it */
	char online[4096];         /* the kernel's list at the last call */
	struct topology topology;
};

/*
 * topology_read - the current topology; owned by the reader, valid until the next call. What the kernel does not report
 * is unknown; everything is if memory runs out. Opens one file, and some for each core after CPUs came or went: about 1
 * ms for 100 CPUs.
 */
const struct topology *topology_read(struct topology_reader *r);
void topology_fini(struct topology_reader *r);

/* topology_hz - the current clock of a CPU, in Hz; VALUE_NA: unknown. Opens one file. */
uint64_t topology_hz(const struct topology_reader *r, int cpu);

#endif
