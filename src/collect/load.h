/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_COLLECT_LOAD_H
#define SYSTOP_COLLECT_LOAD_H

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

/* load_programs - opens, configures and loads the BPF object, without what this kernel does not have or
 * does not allow. @ring_fd: what the recorder's rings are like, @ring_slots each; 0: there is no recorder.
 * @report: filled in. 0 or -errno, after fail() if libbpf named what is refused. */
int load_programs(struct systop **skel, const struct collect_options *o, const struct online *online,
		  int ring_fd, uint32_t ring_slots, struct load_report *report);

/* load_try - whether that would work here and now, for --check: nothing is attached, and nothing stays. 0 or -errno. */
int load_try(const struct collect_options *o, struct load_report *report);

/* controller_ssid - number of a v1 controller in this kernel, HIERARCHY_V2 for NULL, HIERARCHY_NONE if
 * it is not built in. */
int controller_ssid(const char *controller);

/* load_libbpf - the library's version: "v1.1". */
const char *load_libbpf(void);

#endif
