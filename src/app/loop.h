/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_APP_LOOP_H
#define SYSTOP_APP_LOOP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

/*
 * The main loop: one thread, epoll over a timer for refreshes, one for harvests, signals and the terminal. It knows no
 * collector and no screen; run.c connects them.
 */

enum loop_verdict {
	LOOP_GO_ON,
	LOOP_STOP,   /* done: exit status 0 or the command's */
	LOOP_FAILED, /* after fail() */
};

struct loop_ops {
	enum loop_verdict (*tick)(void *arg);    /* an interval ended */
	enum loop_verdict (*last)(void *arg);    /* duration_ns have passed */
	enum loop_verdict (*harvest)(void *arg); /* four times a second */
	enum loop_verdict (*input)(void *arg);   /* the terminal is readable */
	void (*work)(void *arg);                 /* one of work_fds is readable */
	void (*resize)(void *arg);               /* SIGWINCH */
	void (*suspend)(void *arg);              /* before stopping for SIGTSTP */
	void (*resume)(void *arg);               /* SIGCONT */
	void (*save)(void *arg);                 /* SIGUSR1 */
	uint64_t (*interval)(void *arg);         /* ns between ticks from now on; 0: it does not change */
	bool (*unsent)(void *arg);               /* whether output waits for its reader */
	enum loop_verdict (*send)(void *arg);    /* its reader accepts more of it now */
	bool (*unfinished)(void *arg);           /* whether a turn ended before its work was complete */
	enum loop_verdict (*go_on)(void *arg);   /* the next turns continue it */
};

#define LOOP_WORK_FDS 2

struct loop_options {
	uint64_t first_ns;    /* time to the first tick, */
	uint64_t interval_ns; /* and between ticks, */
	clockid_t clock;      /* by this clock */
	uint64_t duration_ns; /* the loop ends after it; 0: it does not end by itself */
	int terminal_fd;  /* -1: none; its end stops the loop */
	int work_fds[LOOP_WORK_FDS]; /* -1: none */
	int output_fd;    /* where unsent output goes */
	pid_t child;      /* the loop stops one tick after its end; 0: none */
};

/*
 * loop_block_signals - blocks the signals that the loop handles. Call it before anything is started, so that no signal
 * is lost or kills systop half-way.
 */
void loop_block_signals(void);
void loop_unblock_signals(void); /* in a child, before exec */

/*
 * loop_run - runs until an op or a signal ends it.
 * @signal: set to the signal that ended it (HUP, INT, TERM, QUIT), 0 for none
 * @status: wait status of the child once it ended
 * Returns LOOP_STOP or LOOP_FAILED.
 */
enum loop_verdict loop_run(const struct loop_options *o, const struct loop_ops *ops, void *arg,
			   int *signal, int *status);

/* loop_ending - whether a signal has come that will end the loop: whatever waits in a turn must not wait any longer. */
bool loop_ending(void);

/* loop_suspend - stops this process like Ctrl-Z: suspend op, SIGSTOP, resume op. */
void loop_suspend(const struct loop_ops *ops, void *arg);

#endif
