/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_QUERY_STACK_QUALITY_H
#define SYSTOP_QUERY_STACK_QUALITY_H

#include <stddef.h>
#include <stdint.h>

#include "model/sample.h"

struct source;
struct stack_sample;

/*
 * How good the stacks of a weight are, in three numbers:
 *
 *   unwound    the share of the weight whose stacks reach a root: neither the kernel's nor the user's part is cut, and
 *              neither is missing. It shows whether the callers are right.
 *   functions  the sum of each sample's weight times the share of its frames whose function is known, by a symbol or
 *              by where it begins: file`fn_70c00. It shows how much of a flamegraph is functions, and how much is
 *              addresses, file+0xoffset.
 *   named      the same for frames that have a name, which comes from a symbol. Frames whose names have not arrived yet
 *              have none; the mark for frames left out in the middle ([...]) is not a frame.
 *
 * All are shares of the weight that has a stack, or a part of one. Samples without one (a block that was too short or
 * over the budget, no room) are in none; if nothing has a stack, all three are unknown. The numbers cover all frames of
 * the samples, including those that a view hides.
 */

/* Why a stack is cut, that is, does not reach a root. */
enum stack_cut {
	CUT_NONE,
	CUT_CALLER,     /* the caller could not be found */
	CUT_UNREADABLE, /* memory could not be read, as it was paged out */
	CUT_NO_CODE,    /* an address that is no code */
	CUT_TOO_DEEP,
	CUT_NO_RULE,    /* the compiler's rule for the caller is not one that the unwinder follows */
	CUT_EXEC,       /* in the middle of execve() */
	CUT_JIT,        /* in the code of a JIT compiler, without frame pointers */
	CUT_NOT_TAKEN,  /* its user stack was not taken */
	CUT_NO_ROOM,    /* there was no room for one of its parts */
	CUTS
};

struct stack_reason {
	const char *key;  /* of JSON */
	const char *text;
};

extern const struct stack_reason stack_cuts[CUTS];
extern const struct stack_reason stack_lacks[]; /* by enum frame_lack */

struct stack_quality {
	const struct source *source; /* of the names, */
	uint32_t names;   /* and the version of these */
	uint64_t total;   /* weight of all samples, in its unit, */
	uint64_t stacks;  /* weight of those with a stack, */
	uint64_t cut[CUTS]; /* and of those by why they are cut; CUT_NONE: they reach a root */
	double functions; /* weight of frames that are one, */
	double lacks[STACK_LACKS]; /* and of frames by what they lack for a name: enum frame_lack */
};

/* stack_quality_begin - without samples. stack_quality_add - adds a sample, and requests the names of its frames. The names
 * in a stack are counted once until new ones arrive. */
void stack_quality_begin(struct stack_quality *q, const struct source *source);
void stack_quality_add(struct stack_quality *q, const struct stack_sample *s);

/* stack_quality_unwound, _functions, _named - in the unit of the weight; VALUE_NA: nothing has a stack. */
uint64_t stack_quality_unwound(const struct stack_quality *q);
uint64_t stack_quality_functions(const struct stack_quality *q);
uint64_t stack_quality_named(const struct stack_quality *q);

/* stack_quality_cut_text - "cut: 3% JIT without frame pointers, 1% too deep", the largest first; "": none. Returns @buf. */
const char *stack_quality_cut_text(const struct stack_quality *q, char *buf, size_t size);

/* stack_quality_lack_text - "no function: 2% JIT without names; no name: 60% stripped, no debug file", the largest first;
 * "": none. Returns @buf. stack_quality_lack - the weight of one of these, by enum frame_lack. */
const char *stack_quality_lack_text(const struct stack_quality *q, char *buf, size_t size);
uint64_t stack_quality_lack(const struct stack_quality *q, int lack);

/* stack_quality_percent - @part of @whole, as "41%"; "-" if @part is VALUE_NA or @whole is 0. 0 and 100 are exact: a
 * share below 0.5% shows as 1%, and one above 99.5% as 99%. Returns @buf. */
const char *stack_quality_percent(char *buf, size_t size, uint64_t part, uint64_t whole);

/* The same as an argument, in a buffer that lives as long as the block. */
#define STACK_PERCENT(part, whole) stack_quality_percent((char[8]){ 0 }, 8, part, whole)

/* stack_quality_text - "unwound 99% functions 98% named 41%"; if that is wider than @columns, "unwound 99% fn 98% named
 * 41%" or "unwound 99% named 41%". Returns @buf. */
const char *stack_quality_text(const struct stack_quality *q, char *buf, size_t size, int columns);

#endif
