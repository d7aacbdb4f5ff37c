/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_SYM_CFI_ROOTS_H
#define SYSTOP_SYM_CFI_ROOTS_H

#include <stdint.h>

#include "helper/proto.h"
#include "sym/elf_file.h"

/*
 * cfi_root - the offset in the file of code at which stacks begin, without a rule in .eh_frame that says so: where the kernel enters
 * a dynamic linker; or in glibc for x86_64 the byte before the code to which a coroutine's function returns. 0: there is none.
 * @entry: the file's entry address
 */
uint32_t cfi_root(const struct elf_file *f, const struct elf_segments *segments, uint64_t entry);

#endif
