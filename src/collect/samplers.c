/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/samplers.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "model/health.h"
#include "slot.h"
#include "stack.h"
#include "util/clock.h"
#include "util/file.h"
#include "util/online.h"

/* CPUs tried again in a refresh: a host can have a thousand that refuse a sampler. */
#define RETRIES 16

/* A CPU that runs threads for this long, and for this many periods, without a sample has no sampler any more. */
#define SILENT_NS 2000000000ULL
#define SILENT_PERIODS 20

/* Changes of the frequency that are remembered: --max-cpu and keys make few in the time that the recorder keeps. */
#define RATES 64

struct sampler {
	struct bpf_link *link;
	int fd;
	bool wanted;
	bool tickless;
	uint32_t events; /* see samplers_period() */
	uint64_t samples, run_ns; /* see samplers_silent(): the CPU's sums when the first one last grew */
};

struct samplers {
	struct bpf_program *prog;
	int nr_cpus, frequency;
	struct sampler_rate {
		uint64_t since;
		int frequency;
	} rates[RATES];  /* a ring buffer: the frequency's changes */
	unsigned int nr_rates;
	uint32_t gap_ns; /* see samplers_gap() */
	long rate; /* the kernel's limit, at the start */
	const struct online *online;
	bool all, hardware;
	bool mediated;   /* see pmu_is_mediated() */
	bool counts;     /* runs the program at events of a kind, rather than at times: */
	uint64_t event;  /* PERF_COUNT_SW_*, */
	uint64_t period; /* one in this many */
	uint64_t kind;   /* enum stack_kind */
	int next;        /* CPU to try again first */
	struct sampler *cpus;
};

/* Excludes the CPUs of a list such as "0-3,7" from sampling. */
static void leave_out(struct samplers *s, const char *name)
{
	char list[4096];
	const char *at = list;
	int first, last;

	file_line(list, sizeof(list), ONLINE_FILES "%s", name);
	while (cpulist_next(&at, &first, &last))
		for (int cpu = first; cpu <= last && cpu < s->nr_cpus; cpu++)
			s->cpus[cpu].wanted = false;
}

static int sampler_open(const struct samplers *s, int cpu)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = s->hardware ? PERF_TYPE_HARDWARE : PERF_TYPE_SOFTWARE,
		.config = s->counts ? s->event : s->hardware ? PERF_COUNT_HW_CPU_CYCLES : PERF_COUNT_SW_CPU_CLOCK,
		.freq = !s->counts,
		.sample_freq = s->counts ? s->period : (uint64_t)s->frequency, /* or the period */
	};

	return syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static void sampler_start(struct samplers *s, int cpu)
{
	LIBBPF_OPTS(bpf_perf_event_opts, opts, .bpf_cookie = s->kind);
	struct sampler *one = &s->cpus[cpu];

	one->fd = sampler_open(s, cpu);
	if (one->fd < 0)
		return;
	one->link = bpf_program__attach_perf_event_opts(s->prog, one->fd, &opts);
	if (!one->link)
		close(one->fd); /* otherwise it belongs to the link */
}

static void sampler_stop(struct sampler *one)
{
	bpf_link__destroy(one->link);
	one->link = NULL;
}

/* Whether there is a counter of cycles: tried on the first CPU that is online. */
static bool has_cycles(struct samplers *s)
{
	int cpu = 0, fd;

	while (cpu < s->nr_cpus && !online_is(s->online, cpu))
		cpu++;
	s->hardware = true;
	fd = sampler_open(s, cpu);
	if (fd < 0)
		return false;
	close(fd);
	return true;
}

/* Whether KVM gives the counters of the CPUs to its guests: no guest starts while an event counts cycles in guests, too. */
static bool pmu_is_mediated(void)
{
	char intel[4], amd[4];

	file_line(intel, sizeof(intel), "/sys/module/kvm_intel/parameters/enable_mediated_pmu");
	file_line(amd, sizeof(amd), "/sys/module/kvm_amd/parameters/enable_mediated_pmu");
	return *intel == 'Y' || *amd == 'Y';
}

/* The list is fixed at boot. */
static void find_tickless(struct samplers *s)
{
	char list[4096];
	const char *at = list;
	int first, last;

	file_line(list, sizeof(list), ONLINE_FILES "nohz_full");
	while (cpulist_next(&at, &first, &last))
		for (int cpu = first; cpu <= last && cpu < s->nr_cpus; cpu++)
			s->cpus[cpu].tickless = true;
}

bool samplers_tickless(const struct samplers *s, int cpu)
{
	return s->cpus[cpu].tickless;
}

static void choose(struct samplers *s)
{
	for (int cpu = 0; cpu < s->nr_cpus; cpu++)
		s->cpus[cpu].wanted = online_is(s->online, cpu) && (s->counts || s->frequency);
	if (s->all)
		return;
	leave_out(s, "isolated");
	leave_out(s, "nohz_full");
}

static void follow_list(struct samplers *s)
{
	choose(s);
	for (int cpu = 0; cpu < s->nr_cpus; cpu++) {
		if (!s->cpus[cpu].wanted && s->cpus[cpu].link)
			sampler_stop(&s->cpus[cpu]);
		else if (s->cpus[cpu].wanted && !s->cpus[cpu].link)
			sampler_start(s, cpu);
	}
}

static void try_again(struct samplers *s)
{
	int retries = RETRIES;

	for (int i = 0; i < s->nr_cpus && retries; i++) {
		int cpu = s->next;

		s->next = (cpu + 1) % s->nr_cpus;
		if (!s->cpus[cpu].wanted || s->cpus[cpu].link)
			continue;
		sampler_start(s, cpu);
		retries--;
	}
}

void samplers_follow(struct samplers *s, bool changed)
{
	if (changed)
		follow_list(s);
	else
		try_again(s);
}

bool samplers_silent(struct samplers *s, int cpu, uint64_t run_ns, uint64_t samples)
{
	struct sampler *one = &s->cpus[cpu];
	uint64_t least = s->frequency ? SILENT_PERIODS * 1000000000ULL / s->frequency : INT64_MAX;

	if (least < SILENT_NS)
		least = SILENT_NS;
	if (!one->link || samples != one->samples) {
		one->samples = samples;
		one->run_ns = run_ns;
		return false;
	}
	if ((int64_t)(run_ns - one->run_ns) < (int64_t)least)
		return false;
	one->run_ns = run_ns;
	return true;
}

void samplers_restart(struct samplers *s, int cpu)
{
	if (!s->cpus[cpu].link)
		return;
	sampler_stop(&s->cpus[cpu]);
	sampler_start(s, cpu);
}

/* One of the kernel's limits, 0: it cannot be read. */
static long limit_now(const char *name)
{
	char line[32];
	long limit;

	file_line(line, sizeof(line), "/proc/sys/kernel/perf_event_%s", name);
	return sscanf(line, "%ld", &limit) == 1 ? limit : 0;
}

/* Samples per second on a CPU. */
static long rate_now(void)
{
	return limit_now("max_sample_rate");
}

int samplers_depth(void)
{
	long most = limit_now("max_stack");

	return most && most < STACK_KERNEL_MAX ? most : STACK_KERNEL_MAX;
}

int samplers_allowed(int frequency)
{
	long most = rate_now();

	return most && frequency > most ? most : frequency;
}

void samplers_rate(const struct samplers *s, long *start, long *now)
{
	*start = s->rate;
	*now = rate_now();
}

static struct samplers *new_samplers(struct bpf_program *prog, const struct online *online, bool all)
{
	struct samplers *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->prog = prog;
	s->online = online;
	s->nr_cpus = online_possible(online);
	s->all = all;
	s->gap_ns = IRQ_GAP_NS;
	s->cpus = calloc(s->nr_cpus, sizeof(*s->cpus));
	if (!s->cpus) {
		free(s);
		return NULL;
	}
	return s;
}

static void set_rate(struct samplers *s, int frequency)
{
	s->frequency = frequency;
	s->rates[s->nr_rates++ % RATES] = (struct sampler_rate){ clock_ns(CLOCK_BOOTTIME), frequency };
	if (frequency && 2000000000U / frequency > s->gap_ns)
		s->gap_ns = 2000000000U / frequency;
}

uint32_t samplers_gap(const struct samplers *s)
{
	return s->gap_ns;
}

int samplers_frequency_at(const struct samplers *s, uint64_t at)
{
	unsigned int oldest = s->nr_rates > RATES ? s->nr_rates - RATES : 0, i = s->nr_rates - 1;

	while (i > oldest && s->rates[i % RATES].since > at)
		i--;
	return s->rates[i % RATES].frequency;
}

struct samplers *samplers_new(struct bpf_program *prog, const struct online *online, int frequency, bool all,
			      bool cpu_clock)
{
	struct samplers *s = new_samplers(prog, online, all);

	if (!s)
		return NULL;
	set_rate(s, frequency);
	find_tickless(s);
	s->mediated = !cpu_clock && pmu_is_mediated();
	s->hardware = !cpu_clock && !s->mediated && has_cycles(s);
	s->rate = rate_now();
	follow_list(s);
	return s;
}

struct samplers *samplers_count(struct bpf_program *prog, const struct online *online, uint64_t event, uint64_t kind,
				uint64_t period, bool all)
{
	struct samplers *s = new_samplers(prog, online, all);

	if (!s)
		return NULL;
	s->counts = true;
	s->event = event;
	s->kind = kind;
	s->period = period;
	follow_list(s);
	return s;
}

void samplers_free(struct samplers *s)
{
	if (!s)
		return;
	for (int cpu = 0; cpu < s->nr_cpus; cpu++)
		sampler_stop(&s->cpus[cpu]);
	free(s->cpus);
	free(s);
}

static void set_period(const struct sampler *one, unsigned long long value)
{
	if (one->link)
		ioctl(one->fd, PERF_EVENT_IOC_PERIOD, &value);
}

void samplers_set_frequency(struct samplers *s, int frequency)
{
	bool none = !s->frequency;

	set_rate(s, frequency);
	if (none) /* of -F 0: they are opened now */
		follow_list(s);
	/* For a clock, the kernel converts the frequency to a period when the event is opened. */
	for (int cpu = 0; cpu < s->nr_cpus; cpu++)
		set_period(&s->cpus[cpu], s->hardware ? (unsigned long long)frequency : 1000000000ULL / frequency);
}

uint32_t samplers_grew(const struct samplers *s, int cpu, uint32_t events)
{
	return events - s->cpus[cpu].events;
}

void samplers_period(struct samplers *s, int cpu, uint64_t period, uint32_t events)
{
	s->cpus[cpu].events = events;
	set_period(&s->cpus[cpu], period);
}

void samplers_state(const struct samplers *s, int *running, int *wanted, int *frequency,
		    const char **event)
{
	*frequency = s->frequency;
	*running = *wanted = 0;
	*event = s->hardware ? "cycles" : s->mediated ? "cpu-clock (enable_mediated_pmu of KVM is Y)" : "cpu-clock";
	for (int cpu = 0; cpu < s->nr_cpus; cpu++) {
		*running += s->cpus[cpu].link != NULL;
		*wanted += s->cpus[cpu].wanted;
	}
}

void samplers_entry(const struct samplers *s, uint64_t *from, uint64_t *to)
{
	FILE *f = s->hardware ? fopen("/proc/kallsyms", "re") : NULL;
	char line[512], name[256];
	uint64_t address;

	*from = *to = 0;
	while (f && !*to && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%" SCNx64 " %*c %255s", &address, name) != 2)
			continue;
		if (!strcmp(name, "__entry_text_start"))
			*from = address;
		else if (!strcmp(name, "__entry_text_end"))
			*to = address;
	}
	if (f)
		fclose(f);
	if (!*from)
		*to = 0;
}

int samplers_try(void)
{
	struct samplers clock = { .frequency = 1 };
	int fd = sampler_open(&clock, sched_getcpu());

	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

bool samplers_cycles(const struct samplers *s)
{
	return s->hardware;
}

static const char *const sample_classes[SAMPLE_CLASSES] = {
	[SAMPLE_THREAD] = "threads", [SAMPLE_KERNEL] = "kernel threads",
	[SAMPLE_IDLE] = "idle",      [SAMPLE_GUEST] = "virtual machines",
	[SAMPLE_ENTRY] = "entering the kernel",
	[SAMPLE_SELF] = "systop",    [SAMPLE_MISSED] = "between two threads",
};

/* Distributions have a level that demands more rights than systop keeps after its start, from a CPU that comes online. */
static const char *rights(void)
{
	char line[32];

	file_line(line, sizeof(line), "/proc/sys/kernel/perf_event_paranoid");
	return atoi(line) > 2 ? " (kernel.perf_event_paranoid is above 2; fix: start systop again as root, or sysctl kernel.perf_event_paranoid=2)" : "";
}

void samplers_count_health(const struct samplers *s, const char *name, const char *what, struct health *h)
{
	int running, wanted, hz;
	const char *event;

	samplers_state(s, &running, &wanted, &hz, &event);
	if (running < wanted)
		health_add(h, "Probes", name, HEALTH_DEGRADED,
			   "on %d of %d CPUs: perf events cannot be opened on the others%s", running, wanted, rights());
	else
		health_add(h, "Probes", name, HEALTH_ON, "%s, on %d CPUs", what, running);
}

void samplers_health(const struct samplers *s, const struct cpu_slot *cpus, int nr, struct health *h)
{
	int running, wanted, hz;
	const char *event;
	long from, now;

	samplers_state(s, &running, &wanted, &hz, &event);
	samplers_rate(s, &from, &now);
	if (!hz)
		health_add(h, "Probes", "sample", HEALTH_OFF, "by -F 0: + in the flamegraph starts it");
	else if (running < wanted)
		health_add(h, "Probes", "sample", HEALTH_DEGRADED,
			   "on %d of %d CPUs: perf events cannot be opened on the others%s", running, wanted, rights());
	else
		health_add(h, "Probes", "sample", HEALTH_ON, "running threads, %d times per second%s on %d CPUs, by %s", hz,
			   hz == now ? " (kernel.perf_event_max_sample_rate)" : "", running, event);
	if (now < from)
		health_add(h, "Probes", "sample rate", HEALTH_DEGRADED,
			   "kernel.perf_event_max_sample_rate fell from %ld to %ld: samples took long; see --clock=cpu", from, now);
	for (int class = 0; class < SAMPLE_CLASSES; class++) {
		uint64_t sum = 0;

		for (int cpu = 0; cpu < nr; cpu++)
			sum += cpus[cpu].samples[class];
		health_add(h, "Samples since the start", sample_classes[class], HEALTH_FACT,
			   "%10" PRIu64, sum);
	}
}
