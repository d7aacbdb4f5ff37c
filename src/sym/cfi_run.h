/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_SYM_CFI_RUN_H
#define SYSTOP_SYM_CFI_RUN_H

/* What cfi.c (which functions there are) runs: their call frame instructions (cfi_run.c). */

#include <stdbool.h>
#include <stdint.h>

#include "sym/cfi.h"
#include "sym/reader.h"

/* What functions have in common. */
struct cie {
	uint64_t code_align;
	int64_t data_align;
	uint64_t ra;
	uint8_t encoding;   /* of addresses */
	bool augmented;     /* functions have augmentation data, too */
	bool signal;
	struct reader initial;
};

/* A row that begins at @address. False: stop. */
typedef bool cfi_emit(void *arg, uint64_t address, const struct cfi_rule *rule);

/* cfi_run - the rows of a function [from, to). False: its instructions are broken, or emit said so. */
bool cfi_run(const struct cie *cie, const struct cfi_machine *m, struct reader instructions, uint64_t from,
	     uint64_t to, cfi_emit *emit, void *arg);

#endif
