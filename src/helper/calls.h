/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_HELPER_CALLS_H
#define SYSTOP_HELPER_CALLS_H

#include <stddef.h>
#include <stdint.h>

/*
 * Which system calls a process has left (seccomp): memory that is not executable, messages, the clock, and these sets.
 * Nobody has those that start programs, open sockets, trace, load BPF programs, or mount.
 */
enum calls {
	CALLS_PARSE = 1 << 0,   /* read the files that were handed to it, make files in memory */
	CALLS_OPEN = 1 << 1,    /* open files for reading */
	CALLS_WRITE = 1 << 2,   /* make, write, rename and remove files */
	CALLS_ITERATE = 1 << 3, /* make iterators of BPF links that were handed to it */
	CALLS_MEASURE = 1 << 4, /* BPF maps, links and iterators, perf events */
	CALLS_SCREEN = 1 << 5,  /* the terminal, timers, signals to itself */
	CALLS_ASK = 1 << 6,     /* sockets and memory that helpers are given, the end of processes */
	CALLS_START = 1 << 7,   /* start helpers, end them, give up rights */
};

#define CALLS_SETS 8

/* calls_words - what the man page says of a set, by its bit's number. */
const char *calls_words(int set);

/* What becomes of other calls. */
enum calls_else {
	CALLS_KILL,   /* the process ends */
	CALLS_REFUSE, /* EPERM, and it is counted where the architecture lets us */
};

/* calls_limit - nothing but these sets from now on, also for children. 0 or -errno. */
int calls_limit(unsigned int sets, enum calls_else otherwise);

/* calls_refused - how many were, of this process; @last: the name of the last one. */
uint64_t calls_refused(char *last, size_t size);

#endif
