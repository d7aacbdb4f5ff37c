/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_APP_CHECK_H
#define SYSTOP_APP_CHECK_H

#include <stdbool.h>

#include "util/fail.h"

/* check_setuid - checks that systop does not run with rights that its user does not have. Call it before anything is
 * read. Returns 0, or -EPERM after fail(). */
int check_setuid(void);

/* check_rights, check_kernel - check whether systop can run here: its capabilities; kernel and BTF. Return 0, or -errno
 * after fail(), which names what is missing and how to get it. */
int check_rights(void);
int check_kernel(void);

/* check_clock - checks that the kernel's clock is fast to read, or @force. 0, or -EOPNOTSUPP after fail(). */
int check_clock(bool force);

/* check_files - raises the limit of open files to the highest allowed value. 0, or -EMFILE after fail(): that is below systop's
 * needs. */
int check_files(void);

/* check_files_restore - in a child: the limit that systop was started with. */
void check_files_restore(void);

struct options;

/* check_print - prints the facts of --check on stdout. It needs no rights; with them it loads the programs as these
 * options need them, but attaches nothing. Returns the exit status that systop would have here and now: 0, 3
 * (kernel), 4 (permission), or 1: too little memory or too few files. */
enum exit_status check_print(const struct options *o);

/* check_drop_privileges - drops everything but CAP_BPF and CAP_PERFMON, permanently. Returns 0 or -errno after
 * fail(). */
int check_drop_privileges(void);

struct health;

/* check_health - kernel, lockdown and capabilities, for the health page. */
void check_health(struct health *h);

#endif
