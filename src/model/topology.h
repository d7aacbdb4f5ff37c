/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_MODEL_TOPOLOGY_H
#define SYSTOP_MODEL_TOPOLOGY_H

#include <stdbool.h>

/* What CPUs share, from far to near: a NUMA node, the highest-level cache, a core (its CPUs are SMT siblings); and a
 * package, which can hold several nodes or be part of one. */
enum topology_level { TOPOLOGY_NODE, TOPOLOGY_LLC, TOPOLOGY_CORE, TOPOLOGY_PACKAGE, TOPOLOGY_LEVELS };

struct topology_cpu {
	bool online;
	/* Nodes have the kernel's numbers; all others are numbered 0, 1, ... on the whole host, in the order of
	 * their lowest CPUs. -1: unknown. */
	int in[TOPOLOGY_LEVELS];
};

struct topology {
	struct topology_cpu *cpus; /* by number */
	int nr;                    /* highest online CPU + 1; 0: nothing is known */
};

#endif
