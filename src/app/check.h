/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_APP_CHECK_H
#define SYSTOP_APP_CHECK_H

#include <stdbool.h>

#include "util/fail.h"

/* check_setuid - that systop was not given rights its user does not have. Call before anything is read. Returns 0, or
 * -EPERM after fail(). */
int check_setuid(void);

/* check_preconditions - whether systop can run here: kernel, BTF, rights. Returns 0, or -errno after
 * fail() has said what is missing and how to get it. */
int check_preconditions(void);

/* check_clock - that the kernel's clock is read quickly, or @force. 0, or -EOPNOTSUPP after fail(). */
int check_clock(bool force);

/* check_files - raises the limit of open files to what systop needs. 0, or -EMFILE after fail(). */
int check_files(void);

struct options;

/* check_print - the facts of --check, on stdout; needs no rights, but with them the programs are loaded, as these options
 * want them, and nothing is attached. Returns what systop would exit with here and now: 0, 3 (kernel), 4 (permission), or
 * 1: memory or files are too few. */
enum exit_status check_print(const struct options *o);

/* check_drop_privileges - gives up everything but CAP_BPF and CAP_PERFMON, for good.
 * Returns 0 or -errno after fail(). */
int check_drop_privileges(void);

struct health;

/* check_health - kernel, lockdown and capabilities, for the health page. */
void check_health(struct health *h);

#endif
