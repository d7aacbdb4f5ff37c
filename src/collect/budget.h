/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_COLLECT_BUDGET_H
#define SYSTOP_COLLECT_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collect/collector.h"

/*
 * What systop may cost, and what it leaves out to stay below that, in the order of the collectors' rows. What is left out
 * comes back when the cost was below three quarters of the limit for a while; if that was too early, the next attempt
 * comes later, twice as long each time.
 */

#define BUDGET_ROWS 16
#define BUDGET_WAIT_LEAST_NS 5000000000ULL
#define BUDGET_WAIT_MOST_NS 160000000000ULL

struct budget {
	const struct collector_shed *rows[BUDGET_ROWS]; /* by place */
	unsigned int shed[BUDGET_ROWS];                  /* SHEDS() of the budgets that each is left out for */
	int nr;
	struct budget_part {
		uint64_t limit;   /* 0: none */
		uint64_t cost;    /* of the last step */
		uint64_t wait_ns; /* until something comes back, */
		uint64_t calm_ns; /* of which so much has passed */
		bool tried;       /* something came back, and nothing went since */
	} parts[BUDGET_KINDS];
};

/* budget_init - @limits: one each, in the unit of the costs, 0: none. @rows: of nr collectors. */
void budget_init(struct budget *b, const struct collector *const *rows, int nr, const uint64_t limits[BUDGET_KINDS]);

/* budget_step - of one budget: what it cost in the last @ns. Returns the row that goes (*@shed) or comes back now, NULL:
 * none. */
const struct collector_shed *budget_step(struct budget *b, enum budget_kind kind, uint64_t cost, uint64_t ns, bool *shed);

/* budget_shed - the row number @i of those that are left out, NULL: there are no more. budget_over - whether it costs more
 * than it may, and there is nothing left to leave out. */
const struct collector_shed *budget_shed(const struct budget *b, int i);
bool budget_over(const struct budget *b, enum budget_kind kind);

#endif
