/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stacks of blocks: their settings, and those that are parked. See block.bpf.h. */

#include "block.bpf.h"

const volatile __u64 block_d_ns = 100000;
const volatile __u64 block_sleep_ns = 1000000;
const volatile __u32 self_tgid, starter_tgid;

struct parked_map parked_stacks SEC(".maps");
