/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_COLLECT_MOVES_H
#define SYSTOP_COLLECT_MOVES_H

struct bpf_program;
struct moves;
struct shared;
struct slots;

/*
 * Threads that are moved between cgroups. One that switches is found to be elsewhere then; for those that sleep, or have a
 * CPU all the time, the iterator is run when the kernel says that it moved them.
 */

/* moves_new - @fd: the map that the programs tell in; @iterator: seed_task. All is borrowed. NULL: no memory. */
struct moves *moves_new(int fd, struct bpf_program *iterator, struct shared *shared, struct slots *slots);
void moves_free(struct moves *m);

/* moves_work - at least every 250 ms: the threads that were moved since are looked at, and handed to slots_moved(). Costs
 * some 50 us for each thread or process that somebody moved, at most a run over all threads. 0 or -errno. */
int moves_work(struct moves *m);

#endif
