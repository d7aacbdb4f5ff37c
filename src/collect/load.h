/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_COLLECT_LOAD_H
#define SYSTOP_COLLECT_LOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "collect/words.h"

struct collect_options;
struct online;
struct systop;

#define LOAD_ATTEMPTS 3

/* The attempts that the kernel refused. */
struct load_report {
	int refused; /* attempts */
	struct load_attempt {
		struct refusal refusal;
		int err;
		const char *without; /* what the next one leaves out, and the consequence; NULL: there is none */
	} attempts[LOAD_ATTEMPTS];
};

/* Parameters of loading the BPF object, by which the collectors configure it. */
struct load {
	const struct collect_options *options;
	const struct online *online;
	int attempt;         /* number of this one, from 0 on; each loads less */
	bool kernel_reads;   /* programs may read arbitrary kernel memory */
	bool hierarchies_missed; /* the scope has cgroups of hierarchies that the programs do not look at */
	uint32_t ring_slots; /* of each ring of the recorder, 0: no rings */
	int ring_fd;         /* pattern of these rings, -1: none. Its new owner sets this to -1. */
};

/* load_programs - opens, configures and loads the BPF object, without the parts that this kernel lacks or forbids. @l:
 * options and online are set. @report: filled in. 0 or -errno, after fail() if libbpf named what was refused. load_end
 * - always call it: closes what has no new owner. */
int load_programs(struct systop **skel, struct load *l, struct load_report *report);
void load_end(struct load *l);

/* load_try - whether loading would work on this kernel with these rights, for --check: attaches nothing and leaves
 * nothing behind. 0 or -errno. */
int load_try(const struct collect_options *o, struct load_report *report);

/* controller_ssid - the kernel's number of a v1 controller, HIERARCHY_V2 for NULL, HIERARCHY_NONE if it is not built
 * in. */
int controller_ssid(const char *controller);

/* load_libbpf - the library's version: "v1.1". */
const char *load_libbpf(void);

#endif
