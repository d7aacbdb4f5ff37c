/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_COLLECT_BUDGET_H
#define SYSTOP_COLLECT_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collect/collector.h"

/*
 * The limits of what systop costs, and the details that it sheds to stay below them, in the order of the collectors' rows.
 * A detail is taken back after the cost was below three quarters of the limit for a while. If that was too early, the next
 * attempt waits twice as long.
 */

#define BUDGET_ROWS (COLLECTOR_COUNT * COLLECTOR_SHEDS)
#define BUDGET_WAIT_LEAST_NS 5000000000ULL
#define BUDGET_WAIT_MOST_NS 160000000000ULL

struct budget {
	const struct collector_shed *rows[BUDGET_ROWS]; /* by place */
	unsigned int shed[BUDGET_ROWS];                  /* SHEDS() of the budgets that each row is shed for */
	int nr;
	struct budget_part {
		uint64_t limit;   /* 0: none */
		uint64_t cost;    /* of the last step */
		uint64_t wait_ns; /* low cost needed before a row is taken back, */
		uint64_t calm_ns; /* and how much of that has passed */
		bool tried;       /* a row was taken back and none shed since */
	} parts[BUDGET_KINDS];
};

/* budget_init - @limits: one per budget in the unit of its cost, 0: none. @rows: @nr collectors, at
 * most COLLECTOR_COUNT. @o: for their can(). */
void budget_init(struct budget *b, const struct collector *const *rows, int nr, const struct collect_options *o,
		 const uint64_t limits[BUDGET_KINDS]);

/* budget_step - @cost: of the last @ns. Returns the row to shed (*@shed is true) or to take back now, NULL: none. */
const struct collector_shed *budget_step(struct budget *b, enum budget_kind kind, uint64_t cost, uint64_t ns, bool *shed);

/* budget_shed - row number @i of those that are shed, NULL: there are no more. budget_over - whether the limit is exceeded
 * with nothing left to shed. */
const struct collector_shed *budget_shed(const struct budget *b, int i);
bool budget_over(const struct budget *b, enum budget_kind kind);

#endif
