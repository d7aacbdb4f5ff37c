/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_COLLECT_SAMPLERS_H
#define SYSTOP_COLLECT_SAMPLERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bpf_program;
struct cpu_slot;
struct health;
struct online;
struct samplers;

/*
 * samplers_new - a timer on every CPU that runs @prog: hardware cycles where the CPU has such a
 * counter, else, and with @cpu_clock, the CPU's clock. CPUs that are isolated or nohz_full are left alone unless @all.
 * @online: borrowed for their life; @frequency: samples a second
 * Returns NULL when out of memory; CPUs where none can be had are tried again.
 */
struct samplers *samplers_new(struct bpf_program *prog, const struct online *online, int frequency, bool all,
			      bool cpu_clock);
void samplers_free(struct samplers *s);

/* samplers_set_frequency - from now on. */
void samplers_set_frequency(struct samplers *s, int frequency);

/* samplers_follow - once a refresh: CPUs that came or went, if the list of those online @changed, and once more those
 * where no sampler could be had. */
void samplers_follow(struct samplers *s, bool changed);

/* samplers_entry - where samples are NMIs, which can come in the kernel's entry code: its addresses, 0 where
 * they are not, or it is not known. */
void samplers_entry(const struct samplers *s, uint64_t *from, uint64_t *to);

/* samplers_tickless - whether a CPU's timer may stay away while a single thread is busy there (nohz_full). */
bool samplers_tickless(const struct samplers *s, int cpu);

/* samplers_cycles - whether samples are by the processor's cycles, else by a clock. */
bool samplers_cycles(const struct samplers *s);

/* samplers_rate - kernel.perf_event_max_sample_rate when the samplers were new, and now; 0: it cannot be read. */
void samplers_rate(const struct samplers *s, long *start, long *now);

/* samplers_state - on how many CPUs of those that are wanted, how often, and by what: "cycles",
 * "cpu-clock". */
void samplers_state(const struct samplers *s, int *running, int *wanted, int *frequency,
		    const char **event);

/* samplers_health - where they are, and what the @nr CPUs did when they were sampled. */
void samplers_health(const struct samplers *s, const struct cpu_slot *cpus, int nr, struct health *h);

#endif
