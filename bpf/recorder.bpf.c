/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The recorder's rings: see recorder.bpf.h. */

#include "recorder.bpf.h"

const volatile __u32 ring_bits;

struct rings_map rings SEC(".maps");
