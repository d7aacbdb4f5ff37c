/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_COLLECT_LOAD_H
#define SYSTOP_COLLECT_LOAD_H

#include <stdint.h>

struct collect_options;
struct online;
struct systop;

/* load_programs - opens, configures and loads the BPF object, without what this kernel does not have or
 * does not allow. @ring_fd: what the recorder's rings are like, @ring_slots each; 0: there is no recorder.
 * 0 or -errno. */
int load_programs(struct systop **skel, const struct collect_options *o, const struct online *online,
		  int ring_fd, uint32_t ring_slots);

/* controller_ssid - number of a v1 controller in this kernel, HIERARCHY_V2 for NULL, HIERARCHY_NONE if
 * it is not built in. */
int controller_ssid(const char *controller);

#endif
