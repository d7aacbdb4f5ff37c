/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_COLLECT_MOVES_H
#define SYSTOP_COLLECT_MOVES_H

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

/* moves_work - at least every 250 ms: reads the threads that were moved since, and passes them to slots_moved(). Costs
 * about 50 us for each moved thread or process, at most a run over all threads. 0 or -errno. */
int moves_work(struct moves *m);

#endif
