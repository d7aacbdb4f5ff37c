/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Known functions with known shares of the time. Built with frame pointers.
 * usage: burn cpu [SECONDS=5]      alpha 50 %, beta 30 %, gamma_ 20 % of a CPU
 *        burn block [SECONDS=5] [MS=100]  in turns of MS: 40 % in D in vfork_here, 60 % asleep in nap_here
 *        burn distinct [SECONDS=5] [DEPTH=14] 2^DEPTH stacks, all equally often
 * prints {"tid"} at start, and at the end {"d_ns", "sleep_ns"} for block */
#include <sys/wait.h>

#include "load.h"

#define NOINLINE __attribute__((noinline, noclone))

static volatile uint64_t sink;

static uint64_t cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec * SEC + ts.tv_nsec;
}

/* Measured by the thread's running time, so that preemption changes no share. */
static NOINLINE uint64_t work(uint64_t ns)
{
	uint64_t began = cpu_ns(), end = began + ns, now;

	while ((now = cpu_ns()) < end)
		for (int i = 0; i < 2000; i++)
			sink += i;
	return now - began;
}

/* Works for @ns on average: a halt of the whole virtual machine counts as running time of the thread, and can be
 * long. If one call took too long, the next ones are shorter. */
#define WORK_ON_AVERAGE(ns)                      \
	do {                                     \
		static int64_t due;              \
						 \
		due += (ns);                     \
		if (due > 0)                     \
			due -= work(due);        \
		sink++;                          \
	} while (0)

static NOINLINE void alpha(void)
{
	WORK_ON_AVERAGE(5 * MS);
}

static NOINLINE void beta(void)
{
	WORK_ON_AVERAGE(3 * MS);
}

static NOINLINE void gamma_(void)
{
	WORK_ON_AVERAGE(2 * MS);
}

static uint64_t percent_ns, blocked_ns, asleep_ns;

static NOINLINE void vfork_here(void)
{
	uint64_t began = now_ns();
	pid_t child = vfork();

	if (!child) {
		sleep_ns(40 * percent_ns);
		_exit(0);
	}
	blocked_ns += now_ns() - began;
	waitpid(child, NULL, 0);
}

static NOINLINE void nap_here(void)
{
	uint64_t began = now_ns();

	sleep_ns(60 * percent_ns);
	asleep_ns += now_ns() - began;
}

static void zero(uint32_t path, int depth);
static void one(uint32_t path, int depth);

static NOINLINE void branch(uint32_t path, int depth)
{
	if (!depth)
		work(20000);
	else if (path & 1)
		one(path >> 1, depth - 1);
	else
		zero(path >> 1, depth - 1);
	sink++;
}

static NOINLINE void zero(uint32_t path, int depth)
{
	branch(path, depth);
	sink++;
}

static NOINLINE void one(uint32_t path, int depth)
{
	branch(path, depth);
	sink++;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "cpu";
	uint64_t end = now_ns() + argument(argc, argv, 2, 5) * SEC;
	int depth = argument(argc, argv, 3, 14);
	uint32_t path = 0;

	percent_ns = argument(argc, argv, 3, 100) * MS / 100;
	printf("{\"tid\": %d}\n", getpid());
	fflush(stdout);
	while (now_ns() < end) {
		if (!strcmp(what, "cpu")) {
			alpha();
			beta();
			gamma_();
			rest();
		} else if (!strcmp(what, "block")) {
			vfork_here();
			nap_here();
		} else {
			branch(path++, depth);
		}
	}
	printf("{\"d_ns\": %llu, \"sleep_ns\": %llu}\n", (unsigned long long)blocked_ns,
	       (unsigned long long)asleep_ns);
	return 0;
}
