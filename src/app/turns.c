/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "app/turns.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "util/clock.h"

#define TURNS_NS 10000000000ULL

/* Length of a turn after which work that can be interrupted stops, and after which other work does not begin. */
#define LONG_NS 50000000ULL
#define USED_NS 10000000ULL

static struct {
	int fd;                    /* of our schedstat */
	uint64_t began, waited;
	uint64_t since;
	struct turns now, before;  /* in the present TURNS_NS, and in the previous */
} turns = { .fd = -1 };

/* ns that the main thread waited for a CPU, 0: not known. */
static uint64_t waited_ns(void)
{
	uint64_t ns = 0;
	char buf[128];
	ssize_t n;

	if (turns.fd < 0)
		turns.fd = open("/proc/self/schedstat", O_RDONLY | O_CLOEXEC);
	n = pread(turns.fd, buf, sizeof(buf) - 1, 0);
	buf[n > 0 ? n : 0] = '\0';
	return sscanf(buf, "%*u %" SCNu64, &ns) == 1 ? ns : 0;
}

static uint64_t most(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

void turns_begin(void)
{
	turns.began = clock_ns(CLOCK_MONOTONIC);
	turns.waited = waited_ns();
}

void turns_end(void)
{
	uint64_t waited = waited_ns() - turns.waited, ended = clock_ns(CLOCK_MONOTONIC), ns = ended - turns.began;

	if (ended - turns.since > TURNS_NS) {
		turns.before = turns.now;
		turns.now = (struct turns){ 0 };
		turns.since = ended;
	}
	turns.now.longest_ns = most(turns.now.longest_ns, ns);
	turns.now.work_ns = most(turns.now.work_ns, ns > waited ? ns - waited : 0);
}

uint64_t turns_until(void)
{
	return turns.began + LONG_NS;
}

bool turns_used(void)
{
	return clock_ns(CLOCK_MONOTONIC) >= turns.began + USED_NS;
}

struct turns turns_get(void)
{
	return (struct turns){ most(turns.now.longest_ns, turns.before.longest_ns),
			       most(turns.now.work_ns, turns.before.work_ns) };
}
