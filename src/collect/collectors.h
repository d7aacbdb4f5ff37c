/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_COLLECT_COLLECTORS_H
#define SYSTOP_COLLECT_COLLECTORS_H

#include "collect/collector.h"

/* The rows, for the list of them in collectors.c. */
#define _(name, type, frees) extern const struct collector collector_##name;
COLLECTORS(_)
#undef _

/* collectors_close - frees all states, in the reverse of the order in which they open. */
void collectors_close(struct collect *c);

#endif
