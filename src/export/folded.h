/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_EXPORT_FOLDED_H
#define SYSTOP_EXPORT_FOLDED_H

#include <stdint.h>
#include <stdio.h>

struct names;
struct tick;

/* What --folded can be asked for: one kind of time (model/sample.h), or all together. */
enum folded_kind { FOLDED_CPU, FOLDED_RUNQ, FOLDED_SLEEP, FOLDED_D, FOLDED_IRQ, FOLDED_WALL, FOLDED_KINDS };
extern const char *const folded_names[FOLDED_KINDS]; /* cpu runq sleep d irq wall */

/* folded_ask - has the names of the tick's frames looked up, so that they are there later. */
void folded_ask(const struct tick *t, struct names *names);

/*
 * folded_tick - a line "comm;outermost;...;innermost WEIGHT" for each stack of the tick, as FlameGraph
 * reads them; kernel frames end in _[k], what has no stack is [no stack]. Weights are samples for
 * FOLDED_CPU, else ns. Returns 0 or -errno.
 */
int folded_tick(FILE *to, const struct tick *t, enum folded_kind kind, struct names *names);

#endif
