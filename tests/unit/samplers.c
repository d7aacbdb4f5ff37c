/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/samplers.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "irq.h"
#include "model/health.h"
#include "stack.h"
#include "unit.h"
#include "util/clock.h"
#include "util/online.h"

/* What was requested, and whether the CPUs count cycles. */
static struct {
	bool counts;
	int cycles, clocks, counted;
} perf;

static const char *cpus_online = "0", *rate = "", *mediated = "";

void __wrap_file_line(char *line, size_t size, const char *path, ...);

void __wrap_file_line(char *line, size_t size, const char *path, ...)
{
	snprintf(line, size, "%s", !strcmp(path, ONLINE_FILES "online") ? cpus_online :
				   !strcmp(path, "/sys/module/kvm_amd/parameters/enable_mediated_pmu") ? mediated : rate);
}

long __wrap_syscall(long number, ...);

/* Only opening the event succeeds: there is no program to attach. */
long __wrap_syscall(long number, ...)
{
	const struct perf_event_attr *attr;
	va_list args;
	int cpu;

	va_start(args, number);
	attr = va_arg(args, const struct perf_event_attr *);
	assert_int_equal(va_arg(args, int), -1);
	cpu = va_arg(args, int);
	va_end(args);
	assert_int_equal(number, SYS_perf_event_open);
	assert_int_equal(cpu, atoi(cpus_online));
	if (attr->type == PERF_TYPE_HARDWARE && attr->config == PERF_COUNT_HW_CPU_CYCLES) {
		if (perf.counts && !perf.cycles++)
			return open("/dev/null", O_RDONLY | O_CLOEXEC);
	} else if (attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_EMULATION_FAULTS) {
		assert_int_equal(attr->freq, 0);
		assert_int_equal(attr->sample_period, 1);
		perf.counted++;
	} else {
		assert_int_equal(attr->type, PERF_TYPE_SOFTWARE);
		assert_int_equal(attr->config, PERF_COUNT_SW_CPU_CLOCK);
		perf.clocks++;
	}
	errno = ENOENT;
	return -1;
}

static const char *event_of(bool counts, bool cpu_clock)
{
	struct online *online = online_new(2);
	struct samplers *s;
	int running, wanted, hz;
	const char *event;

	perf = (typeof(perf)){ .counts = counts };
	assert_non_null(online);
	s = samplers_new(NULL, online, 99, true, cpu_clock);
	assert_non_null(s);
	samplers_state(s, &running, &wanted, &hz, &event);
	assert_int_equal(running, 0);
	assert_int_equal(hz, 99);
	assert_int_equal(samplers_cycles(s), counts && !cpu_clock && *mediated != 'Y');
	samplers_free(s);
	online_free(online);
	return event;
}

TEST(samplers, cycles_where_there_are)
{
	assert_string_equal(event_of(true, false), "cycles");
	assert_true(perf.cycles > 1);
	assert_int_equal(perf.clocks, 0);
	assert_string_equal(event_of(false, false), "cpu-clock");
	assert_true(perf.clocks > 0);
}

TEST(samplers, cycles_of_a_cpu_that_is_online)
{
	cpus_online = "1";
	assert_string_equal(event_of(true, false), "cycles");
	cpus_online = "0";
}

/* --clock=cpu: events that interrupt as an NMI are not even tried. */
TEST(samplers, cpu_clock_where_wanted)
{
	assert_string_equal(event_of(true, true), "cpu-clock");
	assert_int_equal(perf.cycles, 0);
	assert_true(perf.clocks > 0);
}

/* An event of cycles would keep guests from starting, and is not even tried. */
TEST(samplers, cpu_clock_where_guests_have_the_counters)
{
	mediated = "Y";
	assert_string_equal(event_of(true, false), "cpu-clock (enable_mediated_pmu of KVM is Y)");
	assert_int_equal(perf.cycles, 0);
	assert_string_equal(event_of(true, true), "cpu-clock");
	mediated = "N";
	assert_string_equal(event_of(true, false), "cycles");
	mediated = "";
}

/* The present time, which passes. */
static uint64_t passing(void)
{
	uint64_t now = clock_ns(CLOCK_BOOTTIME);

	while (clock_ns(CLOCK_BOOTTIME) == now)
		;
	return now;
}

/* A sample counts for as much time as there was between samples when it was taken. */
TEST(samplers, frequency_of_a_time)
{
	struct online *online = online_new(1);
	uint64_t before, between = 0;
	struct samplers *s;

	perf = (typeof(perf)){ .counts = false };
	before = passing();
	s = samplers_new(NULL, online, 99, true, false);
	assert_non_null(s);
	for (int hz = 100; hz < 300; hz++) {
		between = hz == 290 ? passing() : between;
		samplers_set_frequency(s, hz);
	}
	assert_int_equal(samplers_frequency_at(s, clock_ns(CLOCK_BOOTTIME)), 299);
	assert_int_equal(samplers_frequency_at(s, between), 289);
	assert_true(samplers_frequency_at(s, before) > 99); /* the oldest that is remembered */
	samplers_free(s);
	s = samplers_new(NULL, online, 99, true, false);
	between = passing();
	samplers_set_frequency(s, 24);
	assert_int_equal(samplers_frequency_at(s, before), 99);
	assert_int_equal(samplers_frequency_at(s, between), 99);
	samplers_free(s);
	online_free(online);
}

/* Samples that come seldom are no gap of the timer, neither before nor after they come more often. */
TEST(samplers, gap_of_a_frequency)
{
	static const struct {
		int frequency;
		uint32_t gap_ns;
	} changes[] = { { 499, IRQ_GAP_NS }, { 6, 333333333 }, { 99, 333333333 }, { 1, 2000000000 } };
	struct online *online = online_new(1);
	struct samplers *s;

	assert_non_null(online);
	s = samplers_new(NULL, online, 0, true, true);
	assert_non_null(s);
	assert_int_equal(samplers_gap(s), IRQ_GAP_NS);
	FOR_EACH(change, changes) {
		samplers_set_frequency(s, change->frequency);
		assert_int_equal(samplers_gap(s), change->gap_ns);
	}
	samplers_free(s);
	online_free(online);
}

/* Every event of a counter counts, not a number of samples a second. */
TEST(samplers, counted_one_by_one)
{
	struct online *online = online_new(1);
	struct samplers *s;

	perf = (typeof(perf)){ .counts = true };
	assert_non_null(online);
	s = samplers_count(NULL, online, PERF_COUNT_SW_EMULATION_FAULTS, STACK_COUNTED, 1, true);
	assert_non_null(s);
	assert_true(perf.counted > 0);
	assert_int_equal(perf.cycles + perf.clocks, 0);
	samplers_free(s);
	online_free(online);
}

TEST(samplers, the_longest_kernel_stack)
{
	static const struct {
		const char *limit;
		int frames;
	} limits[] = { { "8", 8 }, { "127", 127 }, { "500", STACK_KERNEL_MAX }, { "", STACK_KERNEL_MAX } };

	FOR_EACH(l, limits) {
		rate = l->limit;
		assert_int_equal(samplers_depth(), l->frames);
	}
}

/* The health page reports that the kernel takes fewer samples than at the start. */
TEST(samplers, a_rate_that_fell)
{
	static const struct {
		const char *now;
		size_t lines;
	} rates[] = { { "100000", 0 }, { "25000", 1 }, { "200000", 0 } };
	struct online *online = online_new(1);
	struct samplers *s;

	assert_non_null(online);
	rate = "100000";
	s = samplers_new(NULL, online, 99, true, true);
	assert_non_null(s);
	for (size_t i = 0; i < ARRAY_SIZE(rates); i++) {
		struct health h = { 0 };
		size_t lines = 0;

		rate = rates[i].now;
		samplers_health(s, NULL, 0, &h);
		for (size_t line = 0; line < h.nr; line++) {
			if (strcmp(h.lines[line].name, "sample rate"))
				continue;
			lines++;
			assert_int_equal(h.lines[line].verdict, HEALTH_DEGRADED);
			assert_non_null(strstr(h.lines[line].text, "fell from 100000 to 25000"));
		}
		assert_int_equal(lines, rates[i].lines);
		health_fini(&h);
	}
	rate = "";
	samplers_free(s);
	online_free(online);
}

int main(void)
{
	RUN_TESTS(cmocka_unit_test(samplers_cycles_where_there_are), cmocka_unit_test(samplers_cycles_of_a_cpu_that_is_online),
		  cmocka_unit_test(samplers_cpu_clock_where_wanted), cmocka_unit_test(samplers_counted_one_by_one),
		  cmocka_unit_test(samplers_frequency_of_a_time), cmocka_unit_test(samplers_gap_of_a_frequency),
		  cmocka_unit_test(samplers_a_rate_that_fell),
		  cmocka_unit_test(samplers_the_longest_kernel_stack),
		  cmocka_unit_test(samplers_cpu_clock_where_guests_have_the_counters));
}
