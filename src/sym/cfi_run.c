/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Call frame instructions (DWARF 5, 6.4.2, and the GNU ones), as far as a stack walk needs them. */
#include "sym/cfi_run.h"

#include <dwarf.h>
#include <errno.h>
#include <string.h>

/* --- States: two words, so that comparing or saving one costs next to nothing */

/* Bits of cfi_state.cfa: the offset of the CFA, and `more`. */
enum { OFFSET = 0, MORE = 32 };

/* Bits of cfi_state.saved. */
enum { FP_OFFSET = 0, BX_OFFSET = 16, FP = 32, BX = 40, KIND = 48, ODD = 56 };

/* What a rule cannot express, in ODD. */
enum {
	RA_ELSEWHERE = 1, /* the return address is not where the call put it */
	RA_IN_ARG = 2,    /* it is in the register of the first argument */
	RA_NONE = 4,      /* it is undefined: the outermost function */
	SIGNAL = 8,       /* a signal frame */
};

#define SIGNAL_CFA 160

#define RA_ODD (RA_ELSEWHERE | RA_IN_ARG | RA_NONE)
#define FP_BITS (0xffULL << FP | 0xffffULL << FP_OFFSET)
#define BX_BITS (0xffULL << BX | 0xffffULL << BX_OFFSET)
#define RA_BITS ((uint64_t)RA_ODD << ODD)
#define KIND_BITS (0xffULL << KIND)
#define OFFSET_BITS (0xffffffffULL << OFFSET)
#define MORE_BITS (0xffffffffULL << MORE)

/* Sentinel for offsets that do not fit; no real offset has this value. */
#define WIDE_32 INT32_MIN
#define WIDE_16 INT16_MIN

static inline void set(uint64_t *word, uint64_t bits, uint64_t value)
{
	*word = (*word & ~bits) | value;
}

/* Whether a call puts the return address in a register: BX then stands for that one. */
static inline bool has_link(const struct cie *c)
{
	return c->bx == c->ra;
}

/* The bits of `saved` for a register: none if it is not followed. */
static inline uint64_t bits_of(const struct cie *c, uint64_t reg)
{
	return reg == c->fp ? FP_BITS : (reg == c->bx ? BX_BITS : 0) | (reg == c->ra ? RA_BITS : 0);
}

static inline uint64_t narrow_32(int64_t v)
{
	return (uint32_t)(v == (int32_t)v ? v : WIDE_32);
}

static inline uint64_t narrow_16(int64_t v)
{
	return (uint16_t)(v == (int16_t)v ? v : WIDE_16);
}

/* @offset is 0 if @saved has none. */
static inline void set_place(const struct cie *c, struct cfi_state *s, uint64_t reg, enum cfi_saved saved,
			     int64_t offset)
{
	if (reg == c->fp)
		set(&s->saved, FP_BITS, (uint64_t)saved << FP | narrow_16(offset) << FP_OFFSET);
	else if (reg == c->bx)
		set(&s->saved, BX_BITS, (uint64_t)saved << BX | narrow_16(offset) << BX_OFFSET);
	else if (reg == c->ra)
		set(&s->saved, RA_BITS, saved == CFI_AT_CFA && offset == -8 ? 0 : (uint64_t)RA_ELSEWHERE << ODD);
}

/* The register is saved in another one: followed only for the return address. */
static void set_register(const struct cie *c, struct cfi_state *s, uint64_t reg, uint64_t in)
{
	set_place(c, s, reg, CFI_LOST, 0);
	if (reg == c->ra && in == c->arg)
		set(&s->saved, RA_BITS, (uint64_t)(RA_ELSEWHERE | RA_IN_ARG) << ODD);
}

static void undefine(const struct cie *c, struct cfi_state *s, uint64_t reg)
{
	set_place(c, s, reg, CFI_LOST, 0);
	if (reg == c->ra)
		set(&s->saved, RA_BITS, (uint64_t)(RA_ELSEWHERE | RA_NONE) << ODD);
}

/* Restores a register to its state at the start of the function. */
static inline void restore(const struct cie *c, struct cfi_state *s, uint64_t reg)
{
	uint64_t bits = bits_of(c, reg);

	set(&s->saved, bits, c->initial.saved & bits);
}

static inline void set_cfa_offset(struct cfi_state *s, int64_t offset)
{
	set(&s->cfa, OFFSET_BITS, narrow_32(offset) << OFFSET);
}

static inline void set_cfa_kind(struct cfi_state *s, enum cfi_kind kind, int64_t more)
{
	set(&s->saved, KIND_BITS, (uint64_t)kind << KIND);
	set(&s->cfa, MORE_BITS, narrow_32(more) << MORE);
}

/* Sets the register of the CFA, and keeps its offset. */
static inline void set_cfa_register(const struct cie *c, struct cfi_state *s, uint64_t reg)
{
	set_cfa_kind(s, reg == c->sp ? CFI_SP : reg == c->fp ? CFI_FP : reg == c->bx && !has_link(c) ? CFI_BX : CFI_BAD, 0);
}

struct cfi_state cfi_state_of(enum cfi_kind kind, int64_t offset, bool fp)
{
	struct cfi_state s = { 0 };

	set_cfa_kind(&s, kind == CFI_SIGNAL ? CFI_DEREF_SP : kind == CFI_STOP ? CFI_SP : kind, 0);
	set_cfa_offset(&s, kind == CFI_SIGNAL ? SIGNAL_CFA : offset);
	if (fp)
		s.saved |= (uint64_t)CFI_AT_CFA << FP | narrow_16(-16) << FP_OFFSET;
	if (kind == CFI_STOP || kind == CFI_SIGNAL)
		s.saved |= (uint64_t)(kind == CFI_STOP ? RA_NONE : SIGNAL) << ODD;
	return s;
}

struct cfi_state cfi_state_of_link(int64_t offset)
{
	struct cfi_state s = cfi_state_of(CFI_SP, offset, false);

	s.saved |= (uint64_t)CFI_AT_CFA << BX | narrow_16(-8) << BX_OFFSET;
	return s;
}

struct cfi_state cfi_state_of_plt(int64_t pushed)
{
	struct cfi_state s = cfi_state_of(CFI_PLT, 8, false);

	set_cfa_kind(&s, CFI_PLT, pushed);
	return s;
}

/* Whether the rule is that of the kernel's signal frame, which has the stack pointer at SIGNAL_CFA or, on arm64, a pair of the
 * registers at the frame pointer. Runtimes (OCaml, stacks of coroutines) mark code of their own as signal frames, too: it has
 * ordinary rules. */
static bool is_signal_frame(const struct cfi_rule *r)
{
	if (r->kind == CFI_FP)
		return !r->offset && r->fp == CFI_AT_CFA && !r->fp_offset && r->bx == CFI_AT_CFA && r->bx_offset == 8;
	return r->kind == CFI_DEREF_SP && r->offset == SIGNAL_CFA && !r->more;
}

struct cfi_rule cfi_rule_of(struct cfi_state s)
{
	static const struct cfi_rule bad = { .kind = CFI_BAD };
	struct cfi_rule rule = {
		.kind = s.saved >> KIND,
		.fp = s.saved >> FP,
		.bx = s.saved >> BX,
		.offset = s.cfa >> OFFSET,
		.more = s.cfa >> MORE,
		.fp_offset = s.saved >> FP_OFFSET,
		.bx_offset = s.saved >> BX_OFFSET,
	};
	uint8_t odd = s.saved >> ODD;

	if (odd & SIGNAL && is_signal_frame(&rule))
		return (struct cfi_rule){ .kind = CFI_SIGNAL };
	odd &= ~SIGNAL;
	if (odd & RA_NONE)
		return (struct cfi_rule){ .kind = CFI_STOP };
	if (rule.kind == CFI_BAD || rule.offset == WIDE_32 || rule.more == WIDE_32 || rule.fp_offset == WIDE_16)
		return bad;
	if (odd & RA_IN_ARG && rule.kind == CFI_SP && rule.bx_offset != WIDE_16)
		rule.kind = CFI_RA_DI;
	else if (odd)
		return bad;
	if (rule.bx_offset == WIDE_16) {
		rule.bx = CFI_LOST;
		rule.bx_offset = 0;
	}
	return rule;
}

/* --- Expressions */

/* Reads "register + offset"; false: something else. */
static bool read_breg(struct reader *r, uint64_t *reg, int64_t *offset)
{
	uint8_t op = read_byte(r);

	if (op < DW_OP_breg0 || op > DW_OP_breg31)
		return false;
	*reg = op - DW_OP_breg0;
	*offset = read_sleb(r);
	return !r->failed;
}

/* The expression for lazy binding's jump table: CFA = SP + 8 + ((PC & 15) >= @more) * 8. */
static bool is_plt(const struct reader *r, int64_t *more)
{
	static const uint8_t head[] = { DW_OP_breg7, 8, DW_OP_breg16, 0, DW_OP_lit15, DW_OP_and };
	static const uint8_t tail[] = { DW_OP_ge, DW_OP_lit3, DW_OP_shl, DW_OP_plus };

	if (r->end - r->at != sizeof(head) + 1 + sizeof(tail) || memcmp(r->at, head, sizeof(head)) ||
	    memcmp(r->at + sizeof(head) + 1, tail, sizeof(tail)) || r->at[sizeof(head)] < DW_OP_lit0 ||
	    r->at[sizeof(head)] > DW_OP_lit31)
		return false;
	*more = r->at[sizeof(head)] - DW_OP_lit0;
	return true;
}

/* A computed CFA: compilers use it for realigned stacks; others are hand-written. */
static void cfa_expression(const struct cie *c, struct cfi_state *s, struct reader r)
{
	int64_t offset, more = 0;
	uint64_t reg;

	set_cfa_kind(s, CFI_BAD, 0);
	if (is_plt(&r, &more)) {
		set_cfa_kind(s, CFI_PLT, more);
		set_cfa_offset(s, 8);
		return;
	}
	if (!read_breg(&r, &reg, &offset))
		return;
	set_cfa_offset(s, offset);
	if (reg != c->sp && reg != c->fp)
		return;
	if (r.at == r.end) {
		set_cfa_register(c, s, reg);
		return;
	}
	if (read_byte(&r) != DW_OP_deref)
		return;
	if (r.at != r.end) {
		if (read_byte(&r) != DW_OP_plus_uconst)
			return;
		more = read_uleb(&r);
		if (r.failed || r.at != r.end)
			return;
	}
	set_cfa_kind(s, reg == c->sp ? CFI_DEREF_SP : CFI_DEREF_FP, more);
}

/* A register saved at a computed address: only frame pointer + offset is followed. */
static void saved_expression(const struct cie *c, struct cfi_state *s, uint64_t reg, struct reader r)
{
	int64_t offset;
	uint64_t base;

	if (read_breg(&r, &base, &offset) && base == c->fp && r.at == r.end)
		set_place(c, s, reg, CFI_AT_FP, offset);
	else
		set_place(c, s, reg, CFI_LOST, 0);
}

/* --- Instructions. Each runs for an offset in the file, @at, and returns the distance from there to the next row;
 * 0: no new row, below 0: broken or unknown. */

/* An offset in units of @align. It may overflow: a value too large for a rule is caught later. */
static inline int64_t scaled(uint64_t units, int64_t align)
{
	return units * (uint64_t)align;
}

/* Runs a rare instruction; out of line, as the frequent ones are faster without it. */
static __attribute__((noinline)) struct cfi_state run_rare(const struct cfi_function *f, struct cfi_state s,
							   struct reader *r, uint8_t op, uint32_t at, int64_t *advance)
{
	const struct cie *c = f->cie;
	int64_t align = c->data_align;
	uint64_t reg;

	*advance = 0;
	switch (op) {
	case DW_CFA_set_loc:
		*advance = read_pointer(r, c->encoding) - (f->address + (at - f->from));
		if (r->failed)
			*advance = -1;
		break;
	case DW_CFA_advance_loc4:
		*advance = read_unsigned(r, 4) * c->code_align;
		break;
	case DW_CFA_offset_extended:
		reg = read_uleb(r);
		set_place(c, &s, reg, CFI_AT_CFA, scaled(read_uleb(r), align));
		break;
	case DW_CFA_offset_extended_sf:
		reg = read_uleb(r);
		set_place(c, &s, reg, CFI_AT_CFA, scaled(read_sleb(r), align));
		break;
	case DW_CFA_GNU_negative_offset_extended:
		reg = read_uleb(r);
		set_place(c, &s, reg, CFI_AT_CFA, scaled(0 - read_uleb(r), align));
		break;
	case DW_CFA_restore_extended:
		restore(c, &s, read_uleb(r));
		break;
	case DW_CFA_undefined:
		undefine(c, &s, read_uleb(r));
		break;
	case DW_CFA_same_value:
		set_place(c, &s, read_uleb(r), CFI_SAME, 0);
		break;
	case DW_CFA_register:
		reg = read_uleb(r);
		set_register(c, &s, reg, read_uleb(r));
		break;
	case DW_CFA_val_offset:
	case DW_CFA_val_offset_sf:
		set_place(c, &s, read_uleb(r), CFI_LOST, 0);
		read_uleb(r); /* signed or not, it ends at the same byte */
		break;
	case DW_CFA_def_cfa_sf:
		set_cfa_register(c, &s, read_uleb(r));
		set_cfa_offset(&s, scaled(read_sleb(r), align));
		break;
	case DW_CFA_def_cfa_offset_sf:
		set_cfa_offset(&s, scaled(read_sleb(r), align));
		break;
	case DW_CFA_def_cfa_expression:
		cfa_expression(c, &s, read_block(r));
		break;
	case DW_CFA_expression:
		reg = read_uleb(r);
		saved_expression(c, &s, reg, read_block(r));
		break;
	case DW_CFA_val_expression:
		set_place(c, &s, read_uleb(r), CFI_LOST, 0);
		read_block(r);
		break;
	case DW_CFA_AARCH64_negate_ra_state: /* the return address is signed from here on, or no longer */
		if (!has_link(c))
			*advance = -1;
		break;
	case DW_CFA_GNU_args_size:
		read_uleb(r);
		break;
	default:
		*advance = -1;
	}
	return s;
}

#define STATES_MAX 16

/* The remembered states. Their words are in separate arrays: if they were adjacent, compilers would also keep the
 * current state in a vector register, from which each instruction has to extract it. */
struct states {
	int nr;
	uint64_t cfa[STATES_MAX], saved[STATES_MAX];
};

static inline int64_t push(struct states *states, struct cfi_state s)
{
	if (states->nr == STATES_MAX)
		return -1;
	states->cfa[states->nr] = s.cfa;
	states->saved[states->nr++] = s.saved;
	return 0;
}

static inline int64_t pop(struct states *states, struct cfi_state *s)
{
	if (!states->nr)
		return -1;
	s->cfa = states->cfa[--states->nr];
	s->saved = states->saved[states->nr];
	return 0;
}

/* An instruction with an operand in its low six bits. */
static inline int64_t run_short(const struct cie *c, struct cfi_state *s, struct reader *r, uint8_t op)
{
	if (op < DW_CFA_offset)
		return (op & 0x3f) * c->code_align;
	if (op < DW_CFA_restore)
		set_place(c, s, op & 0x3f, CFI_AT_CFA, scaled(read_uleb(r), c->data_align));
	else
		restore(c, s, op & 0x3f);
	return 0;
}

static inline __attribute__((always_inline)) int64_t run_one(const struct cfi_function *f, const struct cie *c,
							     struct cfi_state *s, struct states *states,
							     struct reader *r, uint32_t at)
{
	uint8_t op = read_byte(r);
	struct reader rest;
	int64_t advance;

	if (op >= DW_CFA_advance_loc)
		return run_short(c, s, r, op);
	switch (op) {
	case DW_CFA_nop:
		return 0;
	case DW_CFA_advance_loc1:
		return read_byte(r) * c->code_align;
	case DW_CFA_advance_loc2:
		return read_unsigned(r, 2) * c->code_align;
	case DW_CFA_remember_state:
		return push(states, *s);
	case DW_CFA_restore_state:
		return pop(states, s);
	case DW_CFA_def_cfa:
		set_cfa_register(c, s, read_uleb(r));
		set_cfa_offset(s, read_uleb(r));
		return 0;
	case DW_CFA_def_cfa_register:
		/* After an expression, too, like the exception unwinder. */
		set_cfa_register(c, s, read_uleb(r));
		return 0;
	case DW_CFA_def_cfa_offset:
		set_cfa_offset(s, read_uleb(r));
		return 0;
	}
	/* A copy: a reader whose address is not taken stays in registers. */
	rest = *r;
	*s = run_rare(f, *s, &rest, op, at, &advance);
	*r = rest;
	return advance;
}

int cfi_run(const struct cfi_function *f, struct cfi_rows *rows)
{
	const struct cie *c = f->cie;
	struct cfi_state now = c->initial;
	struct reader r = f->instructions;
	uint32_t at = f->from;
	struct states states;

	states.nr = 0;
	while (r.at < r.end) {
		int64_t advance = run_one(f, c, &now, &states, &r, at);
		int err;

		if (advance < 0)
			return -EINVAL;
		if (!advance)
			continue;
		err = cfi_rows_add(rows, at, now);
		if (err || advance >= f->to - at)
			return err;
		at += advance;
	}
	/* A failed read moves to the end. */
	return r.failed ? -EINVAL : cfi_rows_add(rows, at, now);
}

bool cfi_start(struct cie *c, struct reader instructions)
{
	struct cfi_function f = { .cie = c };
	struct states states = { 0 };
	struct cfi_state s = { 0 };

	set_cfa_kind(&s, CFI_BAD, 0);
	s.saved |= (uint64_t)((has_link(c) ? 0 : RA_ELSEWHERE) | (c->signal ? SIGNAL : 0)) << ODD;
	c->initial = s; /* these instructions can restore it, too */
	while (instructions.at < instructions.end)
		if (run_one(&f, c, &s, &states, &instructions, 0))
			return false;
	c->initial = s;
	return !instructions.failed;
}
