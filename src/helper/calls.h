/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_HELPER_CALLS_H
#define SYSTOP_HELPER_CALLS_H

#include <stddef.h>
#include <stdint.h>

/*
 * The system calls that a process keeps (seccomp): non-executable memory, messages, the clock, and these sets. No
 * process keeps calls that start programs, open sockets, trace, load BPF programs, or mount.
 */
enum calls {
	CALLS_PARSE = 1 << 0,   /* read the files that were handed over, make files in memory */
	CALLS_OPEN = 1 << 1,    /* open files for reading */
	CALLS_WRITE = 1 << 2,   /* make, write, rename and remove files */
	CALLS_ITERATE = 1 << 3, /* make iterators of the BPF links that were handed over */
	CALLS_MEASURE = 1 << 4, /* BPF maps, links and iterators, perf events */
	CALLS_SCREEN = 1 << 5,  /* the terminal, timers, signals to itself */
	CALLS_ASK = 1 << 6,     /* sockets and memory for helpers, waiting for processes to end */
	CALLS_START = 1 << 7,   /* start helpers, end them, give up rights */
};

#define CALLS_SETS 8

/* calls_words - the man page's description of a set, by the number of its bit. */
const char *calls_words(int set);

/* What happens at other calls. */
enum calls_else {
	CALLS_KILL,   /* the process ends */
	CALLS_REFUSE, /* EPERM; counted where the architecture allows */
};

/* calls_limit - allows only these sets from now on, also for children. 0 or -errno. */
int calls_limit(unsigned int sets, enum calls_else otherwise);

/* calls_refused - how many calls of this process were refused; @last: the name of the last one. */
uint64_t calls_refused(char *last, size_t size);

#endif
