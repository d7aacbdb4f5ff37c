/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_MODEL_TOPOLOGY_H
#define SYSTOP_MODEL_TOPOLOGY_H

#include <stdbool.h>

/* What CPUs have in common, from far to near: a NUMA node, the cache of the highest level, a core (its CPUs are SMT
 * siblings); and a package, which can hold several nodes or be a part of one. */
enum topology_level { TOPOLOGY_NODE, TOPOLOGY_LLC, TOPOLOGY_CORE, TOPOLOGY_PACKAGE, TOPOLOGY_LEVELS };

struct topology_cpu {
	bool online;
	/* Its node's number is the kernel's; all others are numbered 0, 1, ... on the whole host, in the order of their
	 * lowest CPUs. -1: not known. */
	int in[TOPOLOGY_LEVELS];
};

struct topology {
	struct topology_cpu *cpus; /* by number */
	int nr;                    /* one more than the highest that is online; 0: nothing is known */
};

#endif
