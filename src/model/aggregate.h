/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_MODEL_AGGREGATE_H
#define SYSTOP_MODEL_AGGREGATE_H

#include "model/tick.h"

/* Adds up values of threads to values of processes, cgroups and the host, by the metrics' kinds. */

/* values_add - adds the sum @from to the sum @to; neither is split yet. values_add_thread - adds the values of a thread.
 * If only this interval's ticks of its user and kernel time are known, these are left out: values_split() adds them. */
void values_add(struct values *to, const struct values *from);
void values_add_thread(struct values *to, const struct values *thread);

/* values_add_idle - adds @nr threads that spent all of @interval_ns in @state. */
void values_add_idle(struct values *to, enum thread_state state, uint64_t nr, uint64_t interval_ns);

/* tick_steal - ns stolen from all CPUs; VALUE_NA: the kernel does not report it. */
uint64_t tick_steal(const struct tick *t);

/* values_split - makes user + kernel = run. The running time without a known split is divided as the ticks in it were; if
 * there were none, as the known part is. A tick rarely sees a thread that ran for less than a tick, and then makes its
 * time much too long: only the sum over all of these threads, seen or not, is right. VALUE_NA if a running time other than 0 has
 * neither. */
void values_split(struct values *v);

/* values_split_by - the same, where @user ns of @known ns (0: nothing is known) are user time. */
void values_split_by(struct values *v, double user, double known);

#endif
