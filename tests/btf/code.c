/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the reachable code of a program. Like the verifier it knows constants, including settings that are fixed at
 * load, and ignores code behind a branch that is never taken. Where paths join, a register keeps what both agree on.
 */

#include "btf.h"

#include <stdlib.h>
#include <string.h>

#define STACK_WORDS 64 /* 512 bytes */

struct state {
	bool seen;
	struct value regs[MAX_BPF_REG];
	struct value stack[STACK_WORDS];
};

struct walk {
	struct program *p;
	struct state *before; /* of each instruction */
	size_t *todo;
	bool *queued;
	size_t nr_todo;
};

static bool same(const struct value *a, const struct value *b)
{
	return a->kind == b->kind &&
	       (a->kind == VALUE_NONE || a->kind == VALUE_ANY || (a->n == b->n && a->fd == b->fd));
}

/* Keeps what both agree on. Returns whether @to changed. */
static bool meet(struct value *to, const struct value *from)
{
	if (to->kind == VALUE_ANY || same(to, from))
		return false;
	*to = (struct value){ .kind = VALUE_ANY };
	return true;
}

static void flow(struct walk *w, size_t at, const struct state *state)
{
	struct state *to = &w->before[at < w->p->nr_insns ? at : w->p->nr_insns];
	bool changed = !to->seen;

	if (changed) {
		*to = *state;
		to->seen = true;
	} else {
		for (int r = 0; r < MAX_BPF_REG; r++)
			changed |= meet(&to->regs[r], &state->regs[r]);
		for (int i = 0; i < STACK_WORDS; i++)
			changed |= meet(&to->stack[i], &state->stack[i]);
	}
	if (changed && at < w->p->nr_insns && !w->queued[at]) {
		w->queued[at] = true;
		w->todo[w->nr_todo++] = at;
	}
}

/* Enters a function that may be called with any arguments. */
static void enter(struct walk *w, size_t at, bool main)
{
	struct state s = { 0 };

	for (int r = BPF_REG_1; r <= BPF_REG_5; r++)
		s.regs[r].kind = VALUE_ANY;
	if (main)
		s.regs[BPF_REG_1] = (struct value){ .kind = VALUE_CONTEXT };
	s.regs[BPF_REG_10] = (struct value){ .kind = VALUE_STACK, .n = STACK_WORDS * 8 };
	flow(w, at, &s);
}

static bool arithmetic(uint8_t op, uint64_t *a, uint64_t b, bool wide)
{
	unsigned int bits = wide ? 64 : 32;

	if (!wide) {
		*a = (uint32_t)*a;
		b = (uint32_t)b;
	}
	switch (op) {
	case BPF_ADD: *a += b; break;
	case BPF_SUB: *a -= b; break;
	case BPF_MUL: *a *= b; break;
	case BPF_OR: *a |= b; break;
	case BPF_AND: *a &= b; break;
	case BPF_XOR: *a ^= b; break;
	case BPF_MOV: *a = b; break;
	case BPF_NEG: *a = -*a; break;
	case BPF_LSH: *a <<= b & (bits - 1); break;
	case BPF_RSH: *a >>= b & (bits - 1); break;
	case BPF_ARSH: *a = wide ? (uint64_t)((int64_t)*a >> (b & 63)) : (uint32_t)((int32_t)*a >> (b & 31)); break;
	default: return false;
	}
	if (!wide)
		*a = (uint32_t)*a;
	return true;
}

static void alu(struct state *s, const struct bpf_insn *i)
{
	bool wide = BPF_CLASS(i->code) == BPF_ALU64;
	struct value from = { .kind = VALUE_NUMBER, .n = (int64_t)i->imm }, *to = &s->regs[i->dst_reg];

	if (BPF_SRC(i->code) == BPF_X)
		from = s->regs[i->src_reg];
	if (BPF_OP(i->code) == BPF_MOV && wide) {
		*to = from;
		return;
	}
	if (BPF_OP(i->code) == BPF_MOV && from.kind == VALUE_NUMBER)
		*to = (struct value){ .kind = VALUE_NUMBER };
	if (from.kind == VALUE_NUMBER && to->kind == VALUE_NUMBER &&
	    arithmetic(BPF_OP(i->code), &to->n, from.n, wide))
		return;
	if (from.kind == VALUE_NUMBER && to->kind > VALUE_NUMBER && wide &&
	    (BPF_OP(i->code) == BPF_ADD || BPF_OP(i->code) == BPF_SUB) && arithmetic(BPF_OP(i->code), &to->n, from.n, true))
		return;
	*to = (struct value){ .kind = VALUE_ANY };
}

static int width(uint8_t code)
{
	return BPF_SIZE(code) == BPF_DW ? 8 : BPF_SIZE(code) == BPF_W ? 4 : BPF_SIZE(code) == BPF_H ? 2 : 1;
}

static void load(struct state *s, const struct bpf_insn *i)
{
	struct value *to = &s->regs[i->dst_reg], from = s->regs[i->src_reg];
	uint64_t at = from.n + i->off, n;

	*to = (struct value){ .kind = VALUE_ANY };
	if (from.kind == VALUE_MAP && kernel_constant(from.fd, at, width(i->code), &n))
		*to = (struct value){ .kind = VALUE_NUMBER, .n = n };
	else if (from.kind == VALUE_STACK && BPF_SIZE(i->code) == BPF_DW && !(at % 8) && at / 8 < STACK_WORDS)
		*to = s->stack[at / 8];
	if (to->kind == VALUE_NONE)
		to->kind = VALUE_ANY;
}

static void store(struct state *s, const struct bpf_insn *i)
{
	struct value to = s->regs[i->dst_reg], what = s->regs[i->src_reg];
	uint64_t at = to.n + i->off;

	if (to.kind != VALUE_STACK || at / 8 >= STACK_WORDS)
		return;
	if (BPF_CLASS(i->code) == BPF_ST)
		what = (struct value){ .kind = VALUE_NUMBER, .n = (int64_t)i->imm };
	if (BPF_SIZE(i->code) != BPF_DW || BPF_MODE(i->code) != BPF_MEM || at % 8)
		what = (struct value){ .kind = VALUE_ANY };
	s->stack[at / 8] = what;
}

/* Whether a branch is taken: 1 or 0; -1: not known. */
static int taken(const struct state *s, const struct bpf_insn *i)
{
	bool wide = BPF_CLASS(i->code) == BPF_JMP;
	struct value a = s->regs[i->dst_reg], b = { .kind = VALUE_NUMBER, .n = (int64_t)i->imm };
	int64_t sa, sb;

	if (BPF_SRC(i->code) == BPF_X)
		b = s->regs[i->src_reg];
	if (a.kind != VALUE_NUMBER || b.kind != VALUE_NUMBER)
		return -1;
	sa = wide ? (int64_t)a.n : (int32_t)a.n;
	sb = wide ? (int64_t)b.n : (int32_t)b.n;
	if (!wide) {
		a.n = (uint32_t)a.n;
		b.n = (uint32_t)b.n;
	}
	switch (BPF_OP(i->code)) {
	case BPF_JEQ: return a.n == b.n;
	case BPF_JNE: return a.n != b.n;
	case BPF_JGT: return a.n > b.n;
	case BPF_JGE: return a.n >= b.n;
	case BPF_JLT: return a.n < b.n;
	case BPF_JLE: return a.n <= b.n;
	case BPF_JSET: return !!(a.n & b.n);
	case BPF_JSGT: return sa > sb;
	case BPF_JSGE: return sa >= sb;
	case BPF_JSLT: return sa < sb;
	case BPF_JSLE: return sa <= sb;
	default: return -1;
	}
}

/* A call may write to whatever its arguments point to. */
static void call(struct state *s)
{
	for (int r = BPF_REG_1; r <= BPF_REG_5; r++)
		for (uint64_t word = s->regs[r].n / 8; s->regs[r].kind == VALUE_STACK && word < STACK_WORDS; word++)
			s->stack[word] = (struct value){ .kind = VALUE_ANY };
	for (int r = BPF_REG_0; r <= BPF_REG_5; r++)
		s->regs[r] = (struct value){ .kind = VALUE_ANY };
}

static void step(struct walk *w, size_t at)
{
	const struct bpf_insn *i = &w->p->insns[at];
	struct state s = w->before[at];
	int way;

	switch (BPF_CLASS(i->code)) {
	case BPF_ALU:
	case BPF_ALU64:
		alu(&s, i);
		break;
	case BPF_LDX:
		load(&s, i);
		break;
	case BPF_LD: /* 64 bits in two instructions */
		s.regs[i->dst_reg] = (struct value){ .kind = VALUE_ANY };
		if (!i->src_reg)
			s.regs[i->dst_reg] = (struct value){ .kind = VALUE_NUMBER,
							     .n = (uint32_t)i[0].imm | (uint64_t)i[1].imm << 32 };
		else if (i->src_reg == BPF_PSEUDO_MAP_VALUE)
			s.regs[i->dst_reg] = (struct value){ .kind = VALUE_MAP, .fd = i[0].imm, .n = i[1].imm };
		else if (i->src_reg == BPF_PSEUDO_FUNC)
			enter(w, at + i->imm + 1, false);
		flow(w, at + 2, &s);
		return;
	case BPF_ST:
	case BPF_STX:
		store(&s, i);
		if (BPF_MODE(i->code) == BPF_ATOMIC && i->imm & BPF_FETCH)
			s.regs[i->imm == BPF_CMPXCHG ? BPF_REG_0 : i->src_reg] = (struct value){ .kind = VALUE_ANY };
		break;
	default:
		if (BPF_OP(i->code) == BPF_EXIT)
			return;
		if (BPF_OP(i->code) == BPF_CALL) {
			if (i->src_reg == BPF_PSEUDO_CALL)
				enter(w, at + i->imm + 1, false);
			call(&s);
			break;
		}
		way = BPF_OP(i->code) == BPF_JA ? 1 : taken(&s, i);
		if (way)
			flow(w, at + 1 + i->off, &s);
		if (way != 1)
			flow(w, at + 1, &s);
		return;
	}
	flow(w, at + 1, &s);
}

int code_walk(struct program *p, code_see *see, void *arg)
{
	struct walk w = {
		.p = p,
		.before = calloc(p->nr_insns + 1, sizeof(*w.before)),
		.todo = calloc(p->nr_insns + 1, sizeof(*w.todo)),
		.queued = calloc(p->nr_insns + 1, sizeof(*w.queued)),
	};
	bool enough = w.before && w.todo && w.queued;

	if (enough)
		enter(&w, 0, true);
	while (enough && w.nr_todo) {
		size_t at = w.todo[--w.nr_todo];

		w.queued[at] = false;
		step(&w, at);
	}
	for (size_t at = 0; enough && at < p->nr_insns; at++) {
		p->reached[at] = w.before[at].seen;
		if (w.before[at].seen)
			see(arg, p, at, w.before[at].regs);
	}
	free(w.before);
	free(w.todo);
	free(w.queued);
	return enough ? 0 : -1;
}
