/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_SYM_PLT_H
#define SYSTOP_SYM_PLT_H

#include "sym/symtab.h"

/* Follows the name of the function that a stub calls. */
#define PLT_SUFFIX "@plt"

/*
 * plt_read - adds the stubs by which an ELF file of x86_64 or arm64 calls functions of other files to @t: "malloc@plt", with
 * their sizes, by their addresses in the file's own address space. Stripping keeps what this needs. The file may hold
 * anything. Returns 0, also if there are none, or -errno, with what could be read.
 */
int plt_read(int fd, struct symtab *t);

#endif
