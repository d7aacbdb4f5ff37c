/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_HELPER_WORKER_H
#define SYSTOP_HELPER_WORKER_H

#include <stdbool.h>
#include <stdint.h>

#include "helper/helper.h"

/* So many that are stuck in the kernel are left behind; then there are no more of the role. */
#define WORKER_STUCK_MAX 4

/* A helper that is asked one thing at a time. One that ends, or does not answer in its time, is
 * replaced, once a second at most: what it was asked costs an answer, never a wait. */
struct worker {
	struct helper helper;
	int role, epoll_fd;
	uint64_t timeout_ns;
	uint64_t deadline;     /* of the answer that is waited for; 0: none is */
	uint64_t start_after;  /* CLOCK_MONOTONIC ns */
	uint32_t stuck[WORKER_STUCK_MAX]; /* helpers' ids */
	int nr_stuck;
	uint64_t failures;     /* since the start */
	int extensions;        /* of this deadline */
	bool off;              /* too many are stuck */
};

/* worker_start - @epoll_fd: where its answers are waited for. Call first; whether it runs is seen by
 * worker_ready(). */
void worker_start(struct worker *w, int role, uint64_t timeout_ns, int epoll_fd);
void worker_stop(struct worker *w);

/* worker_ready - whether it can be asked now; starts it anew if it is time to. */
bool worker_ready(struct worker *w);
static inline bool worker_busy(const struct worker *w)
{
	return w->deadline;
}

/* worker_ask - only if it is ready. @fd: goes with it, -1: none. False: it is gone. */
bool worker_ask(struct worker *w, const void *request, size_t bytes, int fd);

/* worker_answer - as helper_receive(): -EAGAIN: none yet. It can be asked again only after worker_done(),
 * which the caller calls when it has all of the answer. */
int worker_answer(struct worker *w, void *answer, size_t room, int *fd);
void worker_done(struct worker *w);

/* worker_late - whether the answer did not come in time, though the helper had a CPU. */
bool worker_late(struct worker *w);

/* worker_failed - it is late, ended, or said something else than it was asked: it is ended. */
void worker_failed(struct worker *w);

#endif
