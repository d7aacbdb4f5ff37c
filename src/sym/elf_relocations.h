/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_SYM_ELF_RELOCATIONS_H
#define SYSTOP_SYM_ELF_RELOCATIONS_H

#include <elf.h>

#include "sym/elf_file.h"

/*
 * elf_relocations - passes the relocations of a 64-bit file to @each, with the section that has their symbols, until it
 * returns other than 0; if there are too many, only the first ones. Returns what @each returned, or -EIO: the
 * file is shorter than it claims.
 */
int elf_relocations(const struct elf_file *f, int (*each)(void *to, uint32_t symbols, const Elf64_Rela *r), void *to);

#endif
