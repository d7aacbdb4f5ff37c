/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/budget.h"

/* Nothing is taken back above this part of the limit. */
#define CALM_OF(limit) ((limit) / 4 * 3)

static void add_row(struct budget *b, const struct collector_shed *row)
{
	int at = b->nr;

	for (; at && b->rows[at - 1]->place > row->place; at--)
		b->rows[at] = b->rows[at - 1];
	b->rows[at] = row;
	b->nr++;
}

void budget_init(struct budget *b, const struct collector *const *rows, int nr, const struct collect_options *o,
		 const uint64_t limits[BUDGET_KINDS])
{
	*b = (struct budget){ .nr = 0 };
	for (int kind = 0; kind < BUDGET_KINDS; kind++)
		b->parts[kind] = (struct budget_part){ .limit = limits[kind], .wait_ns = BUDGET_WAIT_LEAST_NS };
	for (int i = 0; i < nr; i++)
		for (int k = 0; k < COLLECTOR_SHEDS; k++) {
			const struct collector_shed *row = &rows[i]->sheds[k];

			if (row->name && (!row->can || row->can(o)))
				add_row(b, row);
		}
}

/* The next row to shed for the budget, or, @gone, to take back; -1: there is none. */
static int find_row(const struct budget *b, enum budget_kind kind, bool gone)
{
	int found = -1;

	for (int i = 0; i < b->nr; i++) {
		if (!(b->rows[i]->of & SHEDS(kind)) || gone != !!(b->shed[i] & SHEDS(kind)))
			continue;
		found = i;
		if (!gone)
			break;
	}
	return found;
}

static const struct collector_shed *shed_one(struct budget *b, enum budget_kind kind, bool *shed)
{
	struct budget_part *p = &b->parts[kind];
	int i = find_row(b, kind, false);
	unsigned int before;

	p->calm_ns = 0;
	if (p->tried) { /* it was taken back too early */
		p->wait_ns = 2 * p->wait_ns < BUDGET_WAIT_MOST_NS ? 2 * p->wait_ns : BUDGET_WAIT_MOST_NS;
		p->tried = false;
	}
	if (i < 0)
		return NULL;
	before = b->shed[i];
	b->shed[i] |= SHEDS(kind);
	*shed = true;
	return before ? NULL : b->rows[i];
}

static const struct collector_shed *take_back(struct budget *b, enum budget_kind kind, bool *shed)
{
	struct budget_part *p = &b->parts[kind];
	int i = find_row(b, kind, true);

	if (p->tried || i < 0) /* the row taken back before fits */
		p->wait_ns = BUDGET_WAIT_LEAST_NS;
	p->calm_ns = 0;
	p->tried = i >= 0;
	if (i < 0)
		return NULL;
	b->shed[i] &= ~SHEDS(kind);
	*shed = false;
	return b->shed[i] ? NULL : b->rows[i];
}

const struct collector_shed *budget_step(struct budget *b, enum budget_kind kind, uint64_t cost, uint64_t ns, bool *shed)
{
	struct budget_part *p = &b->parts[kind];

	if (!p->limit)
		return NULL;
	p->cost = cost;
	if (cost > p->limit)
		return shed_one(b, kind, shed);
	if (cost > CALM_OF(p->limit)) {
		p->calm_ns = 0;
		return NULL;
	}
	p->calm_ns += ns;
	return p->calm_ns >= p->wait_ns ? take_back(b, kind, shed) : NULL;
}

const struct collector_shed *budget_shed(const struct budget *b, int i)
{
	for (int at = 0; at < b->nr; at++)
		if (b->shed[at] && !i--)
			return b->rows[at];
	return NULL;
}

bool budget_over(const struct budget *b, enum budget_kind kind)
{
	const struct budget_part *p = &b->parts[kind];

	return p->limit && p->cost > p->limit && find_row(b, kind, false) < 0;
}
