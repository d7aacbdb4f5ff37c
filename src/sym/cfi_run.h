/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_SYM_CFI_RUN_H
#define SYSTOP_SYM_CFI_RUN_H

/* Call frame instructions, which say the rows of a function. */

#include <stdbool.h>
#include <stdint.h>

#include "sym/cfi_rows.h"
#include "sym/reader.h"

#define NO_REGISTER UINT64_MAX

/* What functions have in common. */
struct cie {
	uint64_t code_align;
	int64_t data_align;
	uint64_t sp, fp, bx, ra, arg; /* those of struct cfi_machine, NO_REGISTER */
	uint8_t encoding;             /* of addresses */
	bool augmented;               /* functions have augmentation data, too */
	bool signal;
	struct cfi_state initial;     /* where functions begin */
};

struct cfi_function {
	uint32_t from, to;            /* in the file */
	uint64_t address;             /* of `from` */
	const struct cie *cie;
	struct reader instructions;
};

/* cfi_start - sets c->initial, of what these instructions say. False: they are broken. */
bool cfi_start(struct cie *c, struct reader instructions);

/* cfi_run - adds the rows of a function. Returns 0 or -errno; -EINVAL: its instructions are broken. */
int cfi_run(const struct cfi_function *f, struct cfi_rows *rows);

/* cfi_rule_of - a state in the words of the unwinder; what it has none for is CFI_BAD. */
struct cfi_rule cfi_rule_of(struct cfi_state s);

#endif
