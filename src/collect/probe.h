/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_COLLECT_PROBE_H
#define SYSTOP_COLLECT_PROBE_H

#include <stdbool.h>
#include <stddef.h>

/* Names of probes that other code looks up. */
#define PROBE_STORAGE_MEMORY "storage memory"
#define PROBE_MAPLE_TREE "maple tree"
#define PROBE_HASH_LOCKS "locks of hashes"

/* A kernel feature that systop's programs use, and whether this kernel has it. */
struct probe {
	const char *name; /* "sched_switch" */
	const char *what; /* its purpose: "where time goes" */
	bool needed;      /* systop cannot run without it */
	bool found;
	const char *why;  /* if not found: what is missing */
};

/*
 * probes_read - looks everything up in the kernel's BTF; needs no rights.
 * @probes: set to a static table   @nr: its length
 * Returns 0, or -errno if there is no BTF to read.
 */
int probes_read(const struct probe **probes, size_t *nr);

struct btf;

/* probe_found - whether a kernel with these types has it. @btf: NULL: it has no types */
bool probe_found(const struct btf *btf, const char *name);

#endif
