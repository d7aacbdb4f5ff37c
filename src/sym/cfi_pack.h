/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_SYM_CFI_PACK_H
#define SYSTOP_SYM_CFI_PACK_H

#include "sym/cfi.h"

/*
 * cfi_pack - writes a table for unwind_tables_read() in collect/unwind_tables.h: struct cfi_packed, the rules, and for
 * each page with code a struct cfi_packed_page and its rows, which refer to the rules by index.
 * Returns 0 or -errno.
 */
int cfi_pack(const struct cfi_table *t, int fd);

#endif
