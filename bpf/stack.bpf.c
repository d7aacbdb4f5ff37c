/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The dictionary of stacks: see stack.bpf.h. */

#include "stack.bpf.h"

const volatile __u32 stack_index_bits = STACK_INDEX_BITS;
const volatile __u32 stack_kernel_max = STACK_KERNEL_MAX;

struct stacks_map stacks SEC(".maps");
struct stack_lines_map stack_lines SEC(".maps");
struct kernel_frames_map kernel_frames SEC(".maps");
