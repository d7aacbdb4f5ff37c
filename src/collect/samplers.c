/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/samplers.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "util/cpulist.h"

#define CPU_FILES "/sys/devices/system/cpu/"

struct sampler {
	struct bpf_link *link;
	int fd;
	bool wanted, online;
};

struct samplers {
	struct bpf_program *prog;
	int nr_cpus, frequency;
	bool all, hardware;
	char online[4096]; /* as the kernel wrote it the last time */
	struct sampler *cpus;
};

/* Whether the CPUs of a list such as "0-3,7" are to be sampled. */
static void want_cpus(const char *list, struct samplers *s, bool wanted)
{
	int first, last;

	while (cpulist_next(&list, &first, &last))
		for (int cpu = first; cpu <= last && cpu < s->nr_cpus; cpu++)
			s->cpus[cpu].wanted = wanted;
}

/* The first line of a file about CPUs, "" if it is not there. */
static void read_list(const char *name, char *buf, size_t size)
{
	char path[128];
	FILE *f;

	*buf = '\0';
	snprintf(path, sizeof(path), CPU_FILES "%s", name);
	f = fopen(path, "re");
	if (!f)
		return;
	if (!fgets(buf, size, f))
		*buf = '\0';
	fclose(f);
}

static int sampler_open(const struct samplers *s, int cpu)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = s->hardware ? PERF_TYPE_HARDWARE : PERF_TYPE_SOFTWARE,
		.config = s->hardware ? PERF_COUNT_HW_CPU_CYCLES : PERF_COUNT_SW_CPU_CLOCK,
		.freq = 1,
		.sample_freq = s->frequency,
	};

	return syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static void sampler_start(struct samplers *s, int cpu)
{
	struct sampler *one = &s->cpus[cpu];

	one->fd = sampler_open(s, cpu);
	if (one->fd < 0)
		return;
	one->link = bpf_program__attach_perf_event(s->prog, one->fd);
	if (!one->link)
		close(one->fd); /* else it belongs to the link */
}

static void sampler_stop(struct sampler *one)
{
	bpf_link__destroy(one->link);
	one->link = NULL;
}

/* Whether there is a counter of cycles: the first CPU's is tried. */
static bool has_cycles(struct samplers *s)
{
	int fd;

	s->hardware = true;
	fd = sampler_open(s, 0);
	if (fd < 0)
		return false;
	close(fd);
	return true;
}

bool samplers_tickless(const struct samplers *s, int cpu)
{
	char list[4096];
	struct samplers of = { .nr_cpus = s->nr_cpus, .cpus = calloc(s->nr_cpus, sizeof(*of.cpus)) };
	bool tickless = false;

	if (of.cpus) {
		read_list("nohz_full", list, sizeof(list));
		want_cpus(list, &of, true);
		tickless = of.cpus[cpu].wanted;
	}
	free(of.cpus);
	return tickless;
}

void samplers_follow(struct samplers *s)
{
	char online[sizeof(s->online)], alone[4096];

	read_list("online", online, sizeof(online));
	if (!strcmp(online, s->online))
		return;
	memcpy(s->online, online, sizeof(online));
	for (int cpu = 0; cpu < s->nr_cpus; cpu++)
		s->cpus[cpu].wanted = false;
	want_cpus(online, s, true);
	for (int cpu = 0; cpu < s->nr_cpus; cpu++)
		s->cpus[cpu].online = s->cpus[cpu].wanted;
	if (!s->all) {
		read_list("isolated", alone, sizeof(alone));
		want_cpus(alone, s, false);
		read_list("nohz_full", alone, sizeof(alone));
		want_cpus(alone, s, false);
	}
	for (int cpu = 0; cpu < s->nr_cpus; cpu++) {
		if (!s->cpus[cpu].wanted && s->cpus[cpu].link)
			sampler_stop(&s->cpus[cpu]);
		else if (s->cpus[cpu].wanted && !s->cpus[cpu].link)
			sampler_start(s, cpu);
	}
}

bool samplers_online(const struct samplers *s, int cpu)
{
	return s->cpus[cpu].online;
}

struct samplers *samplers_new(struct bpf_program *prog, int nr_cpus, int frequency, bool all)
{
	struct samplers *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->prog = prog;
	s->nr_cpus = nr_cpus;
	s->frequency = frequency;
	s->all = all;
	s->cpus = calloc(nr_cpus, sizeof(*s->cpus));
	if (!s->cpus) {
		free(s);
		return NULL;
	}
	for (int cpu = 0; cpu < nr_cpus; cpu++)
		s->cpus[cpu].online = true; /* where it is not told which are */
	s->hardware = has_cycles(s);
	samplers_follow(s);
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

void samplers_set_frequency(struct samplers *s, int frequency)
{
	/* The kernel makes a period of a clock's frequency when it is opened, and knows it as such. */
	unsigned long long value = s->hardware ? (unsigned long long)frequency : 1000000000ULL / frequency;

	s->frequency = frequency;
	for (int cpu = 0; cpu < s->nr_cpus; cpu++)
		if (s->cpus[cpu].link)
			ioctl(s->cpus[cpu].fd, PERF_EVENT_IOC_PERIOD, &value);
}

void samplers_state(const struct samplers *s, int *running, int *wanted, int *frequency,
		    const char **event)
{
	*frequency = s->frequency;
	*running = *wanted = 0;
	*event = s->hardware ? "cycles" : "cpu-clock";
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

bool samplers_cycles(const struct samplers *s)
{
	return s->hardware;
}
