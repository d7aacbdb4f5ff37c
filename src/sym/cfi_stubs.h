/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_SYM_CFI_STUBS_H
#define SYSTOP_SYM_CFI_STUBS_H

/* Stubs through which calls into libraries go (.plt and its kin): not all linkers describe them in .eh_frame, and none does for
 * arm64. */

#include <stdint.h>

#include "sym/cfi_rows.h"

struct cfi_machine;
struct elf_file;

#define CFI_STUBS_MAX 4

struct cfi_stubs {
	int nr;
	struct cfi_stub {
		uint32_t from, to; /* offsets in the file */
		uint64_t address;  /* of `from` */
		uint8_t head;      /* bytes in front of the entries, which lead to the resolver */
		uint8_t pushed;    /* byte of an entry from which its number is on the stack, 0: it never is */
		bool pushes;       /* the head begins by pushing a word */
		uint8_t pushes_link; /* arm64: byte from which the head has pushed two registers, the second one with the
				      * return address; 0: another machine */
	} at[CFI_STUBS_MAX];   /* by `from` */
};

/* cfi_stubs_find - finds those whose code is of a known kind. A file without section headers has none. */
void cfi_stubs_find(const struct elf_file *f, const struct cfi_machine *m, struct cfi_stubs *s);

/* cfi_stubs_add - adds the rows. Returns as cfi_rows_add(). */
int cfi_stubs_add(const struct cfi_stub *s, struct cfi_rows *rows);

#endif
