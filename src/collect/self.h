/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_COLLECT_SELF_H
#define SYSTOP_COLLECT_SELF_H

#include <stdint.h>

struct self_cost;

/* The cost of systop. Call self_open() before privileges are dropped; 0 or -errno. */
struct self {
	int statm_fd;
	uint64_t cpu_ns, bpf_ns; /* at the last reading */
};

int self_open(struct self *s);
void self_close(struct self *s);

/* self_read - cost since the last call. @bpf_ns, @bpf_bytes: run time of the programs since the start and memory of the
 * maps, from the caller. Sources: the CPU clocks of systop, its starter and helpers, /proc/self/statm. */
void self_read(struct self *s, uint64_t bpf_ns, uint64_t bpf_bytes, struct self_cost *cost);

/* self_private_bytes - private memory of systop, its starter and its helpers, by /proc/PID/statm. */
uint64_t self_private_bytes(void);

#endif
