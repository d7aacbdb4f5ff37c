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

/* What the kernel refused, attempt by attempt. */
struct load_report {
	int refused; /* attempts */
	struct load_attempt {
		struct refusal refusal;
		int err;
		const char *without; /* what the next one does without, and what that means; NULL: there is none */
	} attempts[LOAD_ATTEMPTS];
};

/* How the BPF object is loaded: the collectors configure it by this. */
struct load {
	const struct collect_options *options;
	const struct online *online;
	int attempt;         /* this one, from 0 on: with less each time */
	bool kernel_reads;   /* programs may read any kernel memory */
	uint32_t ring_slots; /* of each of the recorder's rings, 0: there are none */
	int ring_fd;         /* pattern of these rings, -1: none. Whoever takes it over sets it to -1. */
};

/* load_programs - opens, configures and loads the BPF object, without what this kernel does not have or
 * does not allow. @l: options and online are set. @report: filled in. 0 or -errno, after fail() if libbpf named what
 * is refused. load_end - always: closes what nobody took over. */
int load_programs(struct systop **skel, struct load *l, struct load_report *report);
void load_end(struct load *l);

/* load_try - whether that would work here and now, for --check: nothing is attached, and nothing stays. 0 or -errno. */
int load_try(const struct collect_options *o, struct load_report *report);

/* controller_ssid - number of a v1 controller in this kernel, HIERARCHY_V2 for NULL, HIERARCHY_NONE if
 * it is not built in. */
int controller_ssid(const char *controller);

/* load_libbpf - the library's version: "v1.1". */
const char *load_libbpf(void);

#endif
