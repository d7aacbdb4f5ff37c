/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Call frame instructions (DWARF 5, 6.4.2, and the GNU ones), as far as a stack walk needs them. */
#include "sym/cfi_run.h"

#include <dwarf.h>
#include <string.h>

/* Where a register of the caller is. */
struct place {
	uint8_t saved; /* enum cfi_saved; LOST: undefined, or in a way not followed; IN_REGISTER */
	int64_t offset;
};

/* In the register `offset`, which is followed for the return address alone. */
#define IN_REGISTER 255

/* Registers that are followed. */
enum { REG_FP, REG_BX, REG_RA, REGS };

struct state {
	uint8_t kind;     /* of the CFA: enum cfi_kind */
	uint64_t reg;     /* of CFI_SP, while it may be any register */
	int64_t offset, more;
	struct place at[REGS];
	bool ra_undefined;
};

#define STATES_MAX 16

struct machine {
	const struct cie *cie;
	const struct cfi_machine *m;
	struct state now, initial, stack[STATES_MAX];
	int depth;
};

static struct place *place_of(struct machine *x, uint64_t reg)
{
	if (reg == x->m->fp)
		return &x->now.at[REG_FP];
	if (x->m->bx >= 0 && reg == (uint64_t)x->m->bx)
		return &x->now.at[REG_BX];
	if (reg == x->cie->ra)
		return &x->now.at[REG_RA];
	return NULL;
}

static void set_place(struct machine *x, uint64_t reg, enum cfi_saved saved, int64_t offset)
{
	struct place *p = place_of(x, reg);

	if (!p)
		return;
	*p = (struct place){ saved, offset };
	if (p == &x->now.at[REG_RA])
		x->now.ra_undefined = false;
}

static void restore(struct machine *x, uint64_t reg)
{
	struct place *p = place_of(x, reg);

	if (!p)
		return;
	*p = x->initial.at[p - x->now.at];
	if (p == &x->now.at[REG_RA])
		x->now.ra_undefined = x->initial.ra_undefined;
}

static void set_cfa(struct machine *x, uint64_t reg, int64_t offset)
{
	x->now.kind = CFI_SP;
	x->now.reg = reg;
	x->now.offset = offset;
	x->now.more = 0;
}

/* "register + offset" at the reader, false: something else. */
static bool read_breg(struct reader *r, uint64_t *reg, int64_t *offset)
{
	uint8_t op = read_unsigned(r, 1);

	if (op < DW_OP_breg0 || op > DW_OP_breg31)
		return false;
	*reg = op - DW_OP_breg0;
	*offset = read_sleb(r);
	return !r->failed;
}

/* What lazy binding's table of jumps is described with: CFA = SP + 8 + ((PC & 15) >= @more) * 8. */
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

/* A CFA that is computed: what compilers do with stacks that they align, and what is written by hand. */
static void cfa_expression(struct machine *x, struct reader r)
{
	uint64_t reg;

	x->now.kind = CFI_BAD;
	if (is_plt(&r, &x->now.more)) {
		x->now.kind = CFI_PLT;
		x->now.offset = 8;
		return;
	}
	x->now.more = 0;
	if (!read_breg(&r, &reg, &x->now.offset) || (reg != x->m->sp && reg != x->m->fp))
		return;
	if (r.at == r.end) {
		set_cfa(x, reg, x->now.offset);
		return;
	}
	if (read_unsigned(&r, 1) != DW_OP_deref)
		return;
	if (r.at != r.end) {
		if (read_unsigned(&r, 1) != DW_OP_plus_uconst)
			return;
		x->now.more = read_uleb(&r);
		if (r.failed || r.at != r.end)
			return;
	}
	x->now.kind = reg == x->m->sp ? CFI_DEREF_SP : CFI_DEREF_FP;
}

/* A register that is saved at a computed address: frame pointer + offset is followed. */
static void saved_expression(struct machine *x, uint64_t reg, struct reader r)
{
	int64_t offset;
	uint64_t base;

	if (read_breg(&r, &base, &offset) && base == x->m->fp && r.at == r.end)
		set_place(x, reg, CFI_AT_FP, offset);
	else
		set_place(x, reg, CFI_LOST, 0);
}

static bool fits(int64_t v, int bits)
{
	return v >= -(1LL << (bits - 1)) && v < 1LL << (bits - 1);
}

static bool put_place(const struct place *p, uint8_t *saved, int16_t *offset)
{
	*saved = p->saved;
	*offset = 0;
	if (p->saved != CFI_AT_CFA && p->saved != CFI_AT_FP)
		return true;
	*offset = p->offset;
	return fits(p->offset, 16);
}

/* The state in the words of the unwinder; what it has none for is CFI_BAD. */
static struct cfi_rule rule_of(const struct machine *x)
{
	const struct state *s = &x->now;
	struct cfi_rule rule = { .kind = s->kind, .offset = s->offset, .more = s->more };
	const struct place *ra = &s->at[REG_RA];

	if (x->cie->signal)
		return (struct cfi_rule){ .kind = CFI_SIGNAL };
	if (s->ra_undefined)
		return (struct cfi_rule){ .kind = CFI_STOP };
	if (s->kind == CFI_SP)
		rule.kind = s->reg == x->m->sp                                         ? CFI_SP
			    : s->reg == x->m->fp                                       ? CFI_FP
			    : x->m->bx >= 0 && s->reg == (uint64_t)x->m->bx ? CFI_BX
											 : CFI_BAD;
	if (ra->saved == IN_REGISTER && rule.kind == CFI_SP && ra->offset == x->m->arg && fits(s->offset, 32) &&
	    put_place(&s->at[REG_FP], &rule.fp, &rule.fp_offset) && put_place(&s->at[REG_BX], &rule.bx, &rule.bx_offset)) {
		rule.kind = CFI_RA_DI;
		return rule;
	}
	/* The return address is where the call put it. */
	if (ra->saved != CFI_AT_CFA || ra->offset != -8 || !fits(s->offset, 32) || !fits(s->more, 32) ||
	    !put_place(&s->at[REG_FP], &rule.fp, &rule.fp_offset))
		rule.kind = CFI_BAD;
	if (!put_place(&s->at[REG_BX], &rule.bx, &rule.bx_offset)) {
		rule.bx = CFI_LOST;
		rule.bx_offset = 0;
	}
	return rule.kind == CFI_BAD ? (struct cfi_rule){ .kind = CFI_BAD } : rule;
}

/* An offset in units. Whatever it is: what is too large does not fit into a rule, and is told then. */
static int64_t scaled(uint64_t units, int64_t align)
{
	return units * (uint64_t)align;
}

/* Instructions that have their operand in the low six bits. Returns whether it was one. */
static bool run_short(struct machine *x, struct reader *r, uint8_t op, uint64_t *advance)
{
	switch (op & 0xc0) {
	case DW_CFA_advance_loc:
		*advance = (op & 0x3f) * x->cie->code_align;
		return true;
	case DW_CFA_offset:
		set_place(x, op & 0x3f, CFI_AT_CFA, scaled(read_uleb(r), x->cie->data_align));
		return true;
	case DW_CFA_restore:
		restore(x, op & 0x3f);
		return true;
	default:
		return false;
	}
}

static bool run_stack(struct machine *x, uint8_t op)
{
	if (op == DW_CFA_remember_state) {
		if (x->depth == STATES_MAX)
			return false;
		x->stack[x->depth++] = x->now;
	} else {
		if (!x->depth)
			return false;
		x->now = x->stack[--x->depth];
	}
	return true;
}

static void undefine(struct machine *x, uint64_t reg)
{
	set_place(x, reg, CFI_LOST, 0);
	if (reg == x->cie->ra)
		x->now.ra_undefined = true;
}

/* One instruction. False: it is broken, or not known. */
static bool run_one(struct machine *x, struct reader *r, uint64_t *advance)
{
	uint8_t op = read_unsigned(r, 1);
	int64_t align = x->cie->data_align;
	uint64_t reg;

	if (run_short(x, r, op, advance))
		return !r->failed;
	switch (op) {
	case DW_CFA_nop:
		break;
	case DW_CFA_advance_loc1:
		*advance = read_unsigned(r, 1) * x->cie->code_align;
		break;
	case DW_CFA_advance_loc2:
		*advance = read_unsigned(r, 2) * x->cie->code_align;
		break;
	case DW_CFA_advance_loc4:
		*advance = read_unsigned(r, 4) * x->cie->code_align;
		break;
	case DW_CFA_offset_extended:
		reg = read_uleb(r);
		set_place(x, reg, CFI_AT_CFA, scaled(read_uleb(r), align));
		break;
	case DW_CFA_offset_extended_sf:
		reg = read_uleb(r);
		set_place(x, reg, CFI_AT_CFA, scaled(read_sleb(r), align));
		break;
	case DW_CFA_GNU_negative_offset_extended:
		reg = read_uleb(r);
		set_place(x, reg, CFI_AT_CFA, scaled(0 - read_uleb(r), align));
		break;
	case DW_CFA_restore_extended:
		restore(x, read_uleb(r));
		break;
	case DW_CFA_undefined:
		undefine(x, read_uleb(r));
		break;
	case DW_CFA_same_value:
		set_place(x, read_uleb(r), CFI_SAME, 0);
		break;
	case DW_CFA_register:
		reg = read_uleb(r);
		set_place(x, reg, reg == x->cie->ra ? IN_REGISTER : CFI_LOST, read_uleb(r));
		break;
	case DW_CFA_val_offset:
	case DW_CFA_val_offset_sf:
		set_place(x, read_uleb(r), CFI_LOST, 0);
		read_uleb(r); /* signed or not, it ends at the same byte */
		break;
	case DW_CFA_remember_state:
	case DW_CFA_restore_state:
		return run_stack(x, op);
	case DW_CFA_def_cfa:
		reg = read_uleb(r);
		set_cfa(x, reg, read_uleb(r));
		break;
	case DW_CFA_def_cfa_sf:
		reg = read_uleb(r);
		set_cfa(x, reg, scaled(read_sleb(r), align));
		break;
	case DW_CFA_def_cfa_register:
		/* After an expression, too, as exceptions are unwound. */
		set_cfa(x, read_uleb(r), x->now.offset);
		break;
	case DW_CFA_def_cfa_offset:
		x->now.offset = read_uleb(r);
		break;
	case DW_CFA_def_cfa_offset_sf:
		x->now.offset = scaled(read_sleb(r), align);
		break;
	case DW_CFA_def_cfa_expression:
		cfa_expression(x, read_block(r));
		break;
	case DW_CFA_expression:
		reg = read_uleb(r);
		saved_expression(x, reg, read_block(r));
		break;
	case DW_CFA_val_expression:
		set_place(x, read_uleb(r), CFI_LOST, 0);
		read_block(r);
		break;
	case DW_CFA_GNU_args_size:
		read_uleb(r);
		break;
	default:
		return false;
	}
	return !r->failed;
}

bool cfi_run(const struct cie *cie, const struct cfi_machine *m, struct reader instructions, uint64_t from,
	     uint64_t to, cfi_emit *emit, void *arg)
{
	struct machine x = { .cie = cie, .m = m };
	struct reader initial = cie->initial;
	uint64_t advance = 0;

	x.now.kind = CFI_BAD;
	x.now.at[REG_RA].saved = CFI_LOST;
	while (initial.at < initial.end)
		if (!run_one(&x, &initial, &advance) || advance)
			return false;
	x.initial = x.now;
	while (instructions.at < instructions.end) {
		struct cfi_rule rule;

		advance = 0;
		if (*instructions.at == DW_CFA_set_loc) {
			uint64_t at;

			instructions.at++;
			at = read_pointer(&instructions, cie->encoding);
			if (instructions.failed || at < from)
				return false;
			advance = at - from;
		} else if (!run_one(&x, &instructions, &advance)) {
			return false;
		}
		if (!advance)
			continue;
		rule = rule_of(&x);
		if (!emit(arg, from, &rule))
			return false;
		from += advance;
		if (from >= to)
			return true;
	}
	if (from < to) {
		struct cfi_rule rule = rule_of(&x);

		return emit(arg, from, &rule);
	}
	return true;
}
