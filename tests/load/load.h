/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_TESTS_LOAD_H
#define SYSTOP_TESTS_LOAD_H

/* Shared by the load generators: clocks, pinning, arguments. */

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MS 1000000ULL
#define SEC 1000000000ULL

static inline uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * SEC + ts.tv_nsec;
}

static inline void sleep_ns(uint64_t ns)
{
	struct timespec ts = { ns / SEC, ns % SEC };

	while (nanosleep(&ts, &ts) && errno == EINTR)
		;
}

static inline void spin_until(uint64_t end_ns)
{
	while (now_ns() < end_ns)
		;
}

/* Sleeps after some work, so that the thread takes LOAD_PERCENT of a CPU, if the environment has that: a load that only
 * has to exist need not take all of the machine. */
static inline void rest(void)
{
	static __thread uint64_t rested_ns;
	static double percent;
	struct timespec ts;
	uint64_t worked_ns;

	if (!percent)
		percent = getenv("LOAD_PERCENT") ? atof(getenv("LOAD_PERCENT")) : 100;
	if (percent >= 100)
		return;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	worked_ns = ts.tv_sec * SEC + ts.tv_nsec - rested_ns;
	sleep_ns((uint64_t)(worked_ns * (100 - percent) / percent));
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	rested_ns = ts.tv_sec * SEC + ts.tv_nsec;
}

static inline void pin(pid_t tid, int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(tid, sizeof(set), &set)) {
		perror("sched_setaffinity");
		exit(1);
	}
}

static inline pid_t my_tid(void)
{
	return syscall(SYS_gettid);
}

/* The number at argv[i], or the default if there are fewer. */
static inline double argument(int argc, char **argv, int i, double otherwise)
{
	return i < argc ? atof(argv[i]) : otherwise;
}

static inline void start_thread(void *(*function)(void *), void *arg)
{
	pthread_t t;

	if (pthread_create(&t, NULL, function, arg)) {
		perror("pthread_create");
		exit(1);
	}
}

#endif
