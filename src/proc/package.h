/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_PROC_PACKAGE_H
#define SYSTOP_PROC_PACKAGE_H

#include <stddef.h>
#include <stdint.h>

#include "stack.h"

/*
 * package_debug - the package with the debug information of an installed file, from dpkg's lists of files below @root.
 * @path: of the file, from the root; @key: it has to be that file, and not one of a container
 * @budget_ns: it gives up after this time: 4,000 packages take 0.1 s, but far longer if they first come from a disk
 * Returns 0; -ESTALE: another file is there; -ENOENT: no package has it, or there is no dpkg; -EAGAIN: the time is up.
 */
int package_debug(const char *root, const char *path, const struct file_key *key, uint64_t budget_ns, char *name, size_t size);

#endif
