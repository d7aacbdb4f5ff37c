/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_COLLECT_KERNEL_TYPES_H
#define SYSTOP_COLLECT_KERNEL_TYPES_H

#include <linux/types.h>

struct btf;

/* kernel_types - the types of the running kernel; reading them takes 10 ms, so they are kept until kernel_types_forget().
 * NULL with errno: there are none to read. */
const struct btf *kernel_types(void);
void kernel_types_forget(void);

/* kernel_type - the id of the first type of that name and kind, 0: there is none. Of the types that kernel_types() returned, it
 * looks only at those of that kind. */
__u32 kernel_type(const struct btf *btf, const char *name, __u32 kind);

#endif
