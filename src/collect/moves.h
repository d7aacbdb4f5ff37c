/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_COLLECT_MOVES_H
#define SYSTOP_COLLECT_MOVES_H

#include <stdbool.h>

struct bpf_program;
struct moves;
struct shared;
struct slots;

/*
 * Threads that are moved between cgroups. A move of a thread that switches is found then; for threads that sleep, or
 * that keep a CPU, the iterator runs when the kernel reports the move.
 */

/* moves_new - @fd: the map in which programs report moves; @iterator: seed_task. All pointers are borrowed. NULL: no
 * memory. */
struct moves *moves_new(int fd, struct bpf_program *iterator, struct shared *shared, struct slots *slots);
void moves_free(struct moves *m);

/* moves_work - reads the threads that were moved since the last call, and passes them to slots_moved(). Costs about 50 us for
 * each moved thread or process, at most a run over all threads. 0 or -errno. moves_due - whether there are any; ask every
 * 250 ms. */
bool moves_due(const struct moves *m);
int moves_work(struct moves *m);

#endif
