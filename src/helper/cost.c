/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "helper/cost.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "helper/starter.h"
#include "util/file.h"

/* The starter can be stopped in the middle of a change: then the last known value is reported. */
#define TRIES 3

static struct shared {
	uint32_t changes;  /* odd: a change is in progress */
	uint64_t ended_ns; /* of helpers that have ended */
	pid_t pids[HELPER_SLOTS];
} *shared;

static struct {
	uint64_t starter, helpers; /* read last */
} known;

void cost_init(void)
{
	void *memory = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (memory != MAP_FAILED)
		shared = memory;
}

uint64_t process_cpu_ns(pid_t pid)
{
	struct timespec ts;
	clockid_t clock;

	if (!pid || clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &ts))
		return 0;
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

static void change(unsigned int slot, pid_t pid, uint64_t ended_ns)
{
	__atomic_add_fetch(&shared->changes, 1, __ATOMIC_SEQ_CST);
	__atomic_store_n(&shared->pids[slot], pid, __ATOMIC_SEQ_CST);
	__atomic_store_n(&shared->ended_ns, shared->ended_ns + ended_ns, __ATOMIC_SEQ_CST);
	__atomic_add_fetch(&shared->changes, 1, __ATOMIC_SEQ_CST);
}

void cost_started(unsigned int slot, pid_t pid)
{
	if (shared)
		change(slot, pid, 0);
}

void cost_ended(unsigned int slot)
{
	if (shared)
		change(slot, 0, process_cpu_ns(shared->pids[slot]));
}

/* Without the starter nothing notes the end of a helper: its PID may belong to another process. */
static bool is_helper(pid_t pid)
{
	char name[8];

	file_line(name, sizeof(name), "/proc/%d/comm", pid);
	return !strcmp(name, "systop-");
}

static bool read_helpers(bool starter, uint64_t *ns)
{
	uint32_t before = __atomic_load_n(&shared->changes, __ATOMIC_SEQ_CST);

	*ns = __atomic_load_n(&shared->ended_ns, __ATOMIC_SEQ_CST);
	for (int i = 0; i < HELPER_SLOTS; i++) {
		pid_t pid = __atomic_load_n(&shared->pids[i], __ATOMIC_SEQ_CST);

		if (pid && (starter || is_helper(pid)))
			*ns += process_cpu_ns(pid);
	}
	return !(before & 1) && __atomic_load_n(&shared->changes, __ATOMIC_SEQ_CST) == before;
}

uint64_t cost_cpu_ns(pid_t starter)
{
	uint64_t now = process_cpu_ns(starter);

	if (now > known.starter)
		known.starter = now;
	for (int i = 0; shared && i < TRIES; i++) {
		if (!read_helpers(starter, &now))
			continue;
		if (now > known.helpers)
			known.helpers = now;
		break;
	}
	return known.starter + known.helpers;
}

uint64_t process_private_bytes(pid_t pid)
{
	uint64_t resident, shared_pages;
	char line[128];

	file_line(line, sizeof(line), "/proc/%d/statm", pid);
	if (sscanf(line, "%*u %" SCNu64 " %" SCNu64, &resident, &shared_pages) != 2 || shared_pages > resident)
		return 0;
	return (resident - shared_pages) * sysconf(_SC_PAGESIZE);
}

uint64_t cost_private_bytes(pid_t starter)
{
	uint64_t bytes = starter ? process_private_bytes(starter) : 0;

	for (int i = 0; shared && i < HELPER_SLOTS; i++) {
		pid_t pid = __atomic_load_n(&shared->pids[i], __ATOMIC_SEQ_CST);

		if (pid && (starter || is_helper(pid)))
			bytes += process_private_bytes(pid);
	}
	return bytes;
}

char process_state(pid_t tid)
{
	char line[256], *end;

	file_line(line, sizeof(line), "/proc/%d/stat", tid);
	end = strrchr(line, ')'); /* the name may contain any character, including this one */
	return end && strlen(end) > 2 ? end[2] : '\0';
}
