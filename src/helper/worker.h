/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_HELPER_WORKER_H
#define SYSTOP_HELPER_WORKER_H

#include <stdbool.h>
#include <stdint.h>

#include "helper/helper.h"

/* Number of stuck helpers at which the role is switched off, until one of them has ended. */
#define WORKER_STUCK_MAX 4

/* A helper that handles one request at a time. If it ends, or does not answer in time, it is replaced, at most once
 * a second: that costs an answer, but never blocks. */
struct worker {
	struct helper helper;
	int role;
	uint64_t timeout_ns;
	uint64_t cpu_max_ns;   /* limit of the helper's CPU time for an answer; 0: none */
	uint64_t cpu_before;   /* its CPU time at the request */
	uint64_t deadline;     /* of the expected answer; 0: none is expected */
	uint64_t start_after;  /* CLOCK_MONOTONIC ns */
	uint32_t stuck[WORKER_STUCK_MAX]; /* ids of helpers */
	int nr_stuck;
	uint64_t failures;     /* since the start */
	int extensions;        /* times this deadline was extended */
	bool off;              /* too many are stuck */
};

/* worker_events - an epoll descriptor: readable when an answer to any worker, or a message of the starter, has arrived. */
int worker_events(void);

/* worker_init - the first worker_ready() starts it. */
void worker_init(struct worker *w, int role, uint64_t timeout_ns);
void worker_stop(struct worker *w);

/* worker_ready - whether it can take a request now; starts it, and restarts it when that is due. */
bool worker_ready(struct worker *w);
static inline bool worker_busy(const struct worker *w)
{
	return w->deadline;
}

/* worker_ask - sends a request; only if it is ready. @fd: sent along, -1: none. False: it is gone. */
bool worker_ask(struct worker *w, const void *request, size_t bytes, int fd);

/* worker_answer - as helper_receive(): -EAGAIN: none yet. It takes the next request only after worker_done(), which
 * the caller calls when the answer is complete. */
int worker_answer(struct worker *w, void *answer, size_t room, int *fd);
void worker_done(struct worker *w);

/* worker_is_stuck - whether the helper @id was given up, and has not ended yet. */
bool worker_is_stuck(const struct worker *w, uint32_t id);

/* worker_late - whether the answer is overdue, though the helper had a CPU. worker_spent - whether it used more CPU
 * time than allowed. worker_cpu_ns - CPU time that it has used since the request, if that is limited; 0: it has ended. */
bool worker_late(struct worker *w);
bool worker_spent(const struct worker *w);
uint64_t worker_cpu_ns(const struct worker *w);

/* worker_failed - it is late, has ended, or gave a wrong answer: kills it. */
void worker_failed(struct worker *w);

#endif
