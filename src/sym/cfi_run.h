/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_SYM_CFI_RUN_H
#define SYSTOP_SYM_CFI_RUN_H

/* How cfi.c (which functions there are) reads, and runs their call frame instructions (cfi_run.c). */

#include <stdbool.h>
#include <stdint.h>

#include "sym/cfi.h"

/* Bytes that are read once, from the first to the last. A read behind the end gives 0, and is told. */
struct reader {
	const uint8_t *at, *end;
	const uint8_t *start;  /* of the section, */
	uint64_t address;      /* which is there */
	bool failed;
};

uint64_t read_unsigned(struct reader *r, int bytes);
uint64_t read_uleb(struct reader *r);
int64_t read_sleb(struct reader *r);
/* read_skip - over so many bytes. */
void read_skip(struct reader *r, uint64_t bytes);
/* read_pointer - by its DW_EH_PE encoding; one that is not known, or that needs memory, fails. */
uint64_t read_pointer(struct reader *r, uint8_t encoding);
uint64_t read_address(const struct reader *r);

#define ENCODING_OMIT 0xff

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
