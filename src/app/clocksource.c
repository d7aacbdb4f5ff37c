/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "app/clocksource.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "util/clock.h"
#include "util/fail.h"
#include "util/file.h"
#include "util/text.h"

#define CURRENT "/sys/devices/system/clocksource/clocksource0/current_clocksource"

/* Reads of each clock per try, and tries: an interrupt makes one of them longer. */
#define READS 200
#define TRIES 5

/* Counters of the CPU itself, or in memory that a hypervisor keeps. All others are devices behind a bus that serves
 * one CPU at a time. */
static const char *const counters[] = {
	"tsc", "tsc-early", "kvm-clock", "xen", "hyperv_clocksource_tsc_page", "hyperv_clocksource_msr", "arch_sys_counter",
	"timebase", "tod", "riscv_clocksource", "Constant", "MIPS",
};

static bool is_counter(const char *name)
{
	for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++)
		if (!strcmp(name, counters[i]))
			return true;
	return !strcmp(name, "-");
}

/* Reads by system call, as the vDSO reads only some clocks. */
static uint64_t reads_ns(clockid_t clock)
{
	uint64_t began = clock_ns(CLOCK_MONOTONIC);
	struct timespec t;

	for (int i = 0; i < READS; i++)
		syscall(SYS_clock_gettime, clock, &t);
	return clock_ns(CLOCK_MONOTONIC) - began;
}

/* Time of a clock read from the hardware, minus that of one that takes the time of the last tick. */
static double measure(void)
{
	uint64_t fine = UINT64_MAX, coarse = UINT64_MAX, ns;

	for (int i = 0; i < TRIES; i++) {
		ns = reads_ns(CLOCK_MONOTONIC);
		fine = ns < fine ? ns : fine;
		ns = reads_ns(CLOCK_MONOTONIC_COARSE);
		coarse = ns < coarse ? ns : coarse;
	}
	return fine > coarse ? (double)(fine - coarse) / READS : 0;
}

const struct clocksource *clocksource_now(void)
{
	static struct clocksource c;
	char line[32], name[sizeof(c.name)];
	double ns;

	file_line(line, sizeof(line), CURRENT);
	text_safe(name, sizeof(name), *line ? line : "-", sizeof(line));
	if (!strcmp(name, c.name))
		return &c;
	ns = measure();
	snprintf(c.name, sizeof(c.name), "%s", name);
	snprintf(c.text, sizeof(c.text), ns < 1000 ? "%s, %.0f ns a read" : "%s, %.1f us a read", name, ns < 1000 ? ns : ns / 1e3);
	c.counter = is_counter(name);
	return &c;
}

int clocksource_check(bool force)
{
	const struct clocksource *c = clocksource_now();

	if (c->counter || force)
		return 0;
	fail(-EOPNOTSUPP, EXIT_STATUS_KERNEL, "the kernel's clock is %s, at every thread switch", c->text);
	fail_why("it is a device that CPUs wait for, with the runqueue locked");
	return fail_fix("systop --force    # or boot with clocksource=tsc tsc=reliable");
}
