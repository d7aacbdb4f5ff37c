/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_APP_CHECK_FACTS_H
#define SYSTOP_APP_CHECK_FACTS_H

#include <stdbool.h>
#include <stddef.h>

struct clocksource;

/* For check_report.c: what check.c knows about this host. */

#define BTF_PATH "/sys/kernel/btf/vmlinux"

/* check_right - the name of capability @i that systop needs, or a helper uses if it is there, what for, and whether this
 * process has it. NULL: no more. */
const char *check_right(size_t i, bool *is_needed, const char **what, bool *held);

/* check_lockdown - "none", "integrity", "confidentiality".
 * check_scheduler - which scheduler runs, and the consequence. */
void check_lockdown(char *buf, size_t size);
void check_scheduler(char *buf, size_t size);

/* check_kernel_clock - the clock that the kernel reads now; measured when it is first seen. */
const struct clocksource *check_kernel_clock(void);

#endif
