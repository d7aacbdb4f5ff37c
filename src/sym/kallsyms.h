/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_SYM_KALLSYMS_H
#define SYSTOP_SYM_KALLSYMS_H

#include "sym/symtab.h"

#define KALLSYMS_PATH "/proc/kallsyms"

/* kallsyms_open - opens @path for reading. -1: it hides all addresses, or cannot be opened. */
int kallsyms_open(const char *path);

/* kallsyms_read - replaces @t with the functions of the kernel, its modules and BPF programs from /proc/kallsyms, opened with the
 * rights to see addresses: "name" or "name [module]". 0 or -errno. */
int kallsyms_read(int fd, struct symtab *t);

#endif
