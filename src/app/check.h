/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_APP_CHECK_H
#define SYSTOP_APP_CHECK_H

#include <stdbool.h>
#include <stddef.h>

#include "util/fail.h"

/* check_setuid - checks that systop does not run with rights that its user does not have. Call it before anything is
 * read. Returns 0, or -EPERM after fail(). */
int check_setuid(void);

/* check_rights, check_kernel - check whether systop can run here: its capabilities; kernel and BTF. Return 0, or -errno
 * after fail(), which names what is missing and how to get it. */
int check_rights(void);
int check_kernel(void);

/* check_files - raises the limit of open files to the highest allowed value. 0, or -EMFILE after fail(): that is below systop's
 * needs. */
int check_files(void);

/* check_stack - 0, or -ENOMEM after fail(): the limit of the stack is below systop's needs. */
int check_stack(void);

/* check_files_restore - in a child: the limit that systop was started with. */
void check_files_restore(void);

struct options;

/* check_print - prints the facts of --check on stdout. It needs no rights; with them it loads the programs as these
 * options need them, but attaches nothing. Returns the exit status that systop would have here and now: 0, 3
 * (kernel), 4 (permission), or 1: too little memory or stack, or too few files. */
enum exit_status check_print(const struct options *o);

/* check_drop_privileges - drops everything but CAP_BPF and CAP_PERFMON, permanently. Returns 0 or -errno after
 * fail(). */
int check_drop_privileges(void);

struct health;

/* check_health - kernel, lockdown and capabilities, for the health page. */
void check_health(struct health *h);

/* --- For check_report.c: what check.c knows about this host */

#define BTF_PATH "/sys/kernel/btf/vmlinux"

/* check_right - the name of capability @i that systop needs, or a helper uses if it is there, what for, and whether this
 * process has it. NULL: no more. */
const char *check_right(size_t i, bool *is_needed, const char **what, bool *held);

/* check_lockdown - "none", "integrity", "confidentiality".
 * check_scheduler - which scheduler runs, and the consequence. */
void check_lockdown(char *buf, size_t size);
void check_scheduler(char *buf, size_t size);

#endif
