/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_MODEL_AGGREGATE_H
#define SYSTOP_MODEL_AGGREGATE_H

#include "model/tick.h"

/* Adds up values of threads to values of processes, cgroups and the host, by the metrics' kinds. */

/* values_add - adds @from to @to. Unknown user and kernel time adds nothing: values_split() corrects the sum. */
void values_add(struct values *to, const struct values *from);

/* values_add_idle - adds @nr threads that spent all of @interval_ns in @state. */
void values_add_idle(struct values *to, enum thread_state state, uint64_t nr, uint64_t interval_ns);

/* tick_steal - ns stolen from all CPUs; VALUE_NA: the kernel does not report it. */
uint64_t tick_steal(const struct tick *t);

/* values_split - makes user + kernel = run by scaling the known parts to the running time; VALUE_NA if a running
 * time other than 0 has no known part. */
void values_split(struct values *v);

/* values_split_by - the same, in the ratio @user to @known (0: nothing is known). */
void values_split_by(struct values *v, double user, double known);

#endif
