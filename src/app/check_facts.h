/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_APP_CHECK_FACTS_H
#define SYSTOP_APP_CHECK_FACTS_H

#include <stdbool.h>
#include <stddef.h>

struct clocksource;
struct utsname;

/* For check_report.c: what check.c knows about this host. */

#define BTF_PATH "/sys/kernel/btf/vmlinux"

/* check_kernel - whether the kernel has what is needed: 0, or -ENOTSUP after fail(). */
int check_kernel(const struct utsname *uts);

/* check_needed - the name of capability @i that systop needs, what for, and whether this process has it. NULL: no more. */
const char *check_needed(int i, const char **what, bool *held);

/* check_lockdown - "none", "integrity", "confidentiality".
 * check_scheduler - which scheduler runs, and the consequence. */
void check_lockdown(char *buf, size_t size);
void check_scheduler(char *buf, size_t size);

/* check_kernel_clock - measured once. */
const struct clocksource *check_kernel_clock(void);

#endif
