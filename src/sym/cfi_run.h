/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_SYM_CFI_RUN_H
#define SYSTOP_SYM_CFI_RUN_H

/* Call frame instructions, which describe the rows of a function. */

#include <stdbool.h>
#include <stdint.h>

#include "sym/cfi_rows.h"
#include "sym/reader.h"

#define NO_REGISTER UINT64_MAX

/* A CIE: what several functions have in common. */
struct cie {
	uint64_t code_align;
	int64_t data_align;
	uint64_t sp, fp, bx, ra, arg; /* as in struct cfi_machine, or NO_REGISTER */
	uint8_t encoding;             /* of addresses */
	bool augmented;               /* the functions have augmentation data, too */
	bool signal;
	struct cfi_state initial;     /* at the start of a function */
};

struct cfi_function {
	uint32_t from, to;            /* offsets in the file */
	uint64_t address;             /* of `from` */
	const struct cie *cie;
	struct reader instructions;
};

/* cfi_start - sets c->initial from the CIE's instructions. False: they are broken. */
bool cfi_start(struct cie *c, struct reader instructions);

/* cfi_run - adds the rows of a function. Returns 0 or -errno; -EINVAL: its instructions are broken. */
int cfi_run(const struct cfi_function *f, struct cfi_rows *rows);

/* cfi_state_of - the state in which the CFA is @offset above the stack pointer or the frame pointer (@kind: CFI_SP,
 * CFI_FP_AWAY) and, if @fp, the caller's frame pointer is next to the return address; or one without a caller (CFI_STOP), or
 * of a signal frame (CFI_SIGNAL). */
struct cfi_state cfi_state_of(enum cfi_kind kind, int64_t offset, bool fp);

/* cfi_state_of_link - the state in which the CFA is @offset above the stack pointer, and the return address, which a call puts in
 * a register, is next to it. */
struct cfi_state cfi_state_of_link(int64_t offset);

/* cfi_state_of_plt - the state in an entry of .plt: from its byte @pushed, one more word is on the stack. */
struct cfi_state cfi_state_of_plt(int64_t pushed);

/* cfi_rule_of - a state as a rule for the unwinder; CFI_BAD if no rule can express it. */
struct cfi_rule cfi_rule_of(struct cfi_state s);

#endif
