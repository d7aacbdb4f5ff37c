/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_COLLECT_SAMPLERS_H
#define SYSTOP_COLLECT_SAMPLERS_H

#include <stdbool.h>
#include <stdint.h>

struct bpf_program;
struct cpu_slot;
struct health;
struct online;
struct samplers;

/*
 * samplers_new - a sampler on every CPU that runs @prog: by hardware cycles if the CPU has such a counter, unless KVM gives
 * it to guests, and without @cpu_clock, otherwise by the CPU's clock. Isolated and nohz_full CPUs are not sampled unless
 * @all.
 * @online: borrowed for the samplers' life; @frequency: samples per second, 0: none
 * Returns NULL when out of memory; CPUs on which the sampler failed are tried again.
 */
struct samplers *samplers_new(struct bpf_program *prog, const struct online *online, int frequency, bool all,
			      bool cpu_clock);

/* samplers_count - runs @prog at each event of a kind, or one in @period, on the same CPUs as samplers_new(). @event:
 * PERF_COUNT_SW_*; @kind: attach cookie, enum stack_kind. NULL: as above. samplers_period - sets @period on one of the CPUs,
 * which it interrupts and which starts counting again. @events: the caller's own count there. samplers_grew - how much that
 * grew since samplers_period() was last called. */
struct samplers *samplers_count(struct bpf_program *prog, const struct online *online, uint64_t event, uint64_t kind,
				uint64_t period, bool all);
void samplers_period(struct samplers *s, int cpu, uint64_t period, uint32_t events);
uint32_t samplers_grew(const struct samplers *s, int cpu, uint32_t events);
void samplers_free(struct samplers *s);

/* samplers_set_frequency - applies from now on. samplers_frequency_at - that of a time, CLOCK_BOOTTIME ns: what was sampled
 * then counts for as much time. */
void samplers_set_frequency(struct samplers *s, int frequency);
int samplers_frequency_at(const struct samplers *s, uint64_t at);

/* samplers_gap - without a sample for this many ns a busy CPU has a gap: IRQ_GAP_NS, or twice the longest period so far, as
 * the first period after a change began before it. */
uint32_t samplers_gap(const struct samplers *s);

/* samplers_follow - once a refresh: adds and removes CPUs if the list of online CPUs @changed; otherwise it tries again
 * some of those where the sampler failed, in turns. */
void samplers_follow(struct samplers *s, bool changed);

/* samplers_silent - whether a CPU ran threads for seconds without an event of samplers_new(). Call it once a refresh.
 * @run_ns, @samples: sums of the CPU. samplers_restart - opens the CPU's event again. When a CPU goes offline the kernel ends
 * its events, and does not resume them when it is back, even if it was offline too briefly to be seen; likewise in a suspend. */
bool samplers_silent(struct samplers *s, int cpu, uint64_t run_ns, uint64_t samples);
void samplers_restart(struct samplers *s, int cpu);

/* samplers_entry - if samples are NMIs, which can hit the kernel's entry code: its addresses; otherwise, or if they are
 * unknown, 0. */
void samplers_entry(const struct samplers *s, uint64_t *from, uint64_t *to);

/* samplers_tickless - whether the timer of a CPU may stop while a single thread is busy there (nohz_full). */
bool samplers_tickless(const struct samplers *s, int cpu);

/* samplers_try - whether this process can open perf events: 0 or -errno. */
int samplers_try(void);

/* samplers_cycles - whether samples are by the processor's cycles, or by a clock. */
bool samplers_cycles(const struct samplers *s);

/* samplers_allowed - @frequency, or the most that the kernel allows now, which refuses more. */
int samplers_allowed(int frequency);

/* samplers_depth - frames of the longest kernel stack that the kernel takes, at most STACK_KERNEL_MAX. */
int samplers_depth(void);

/* samplers_rate - kernel.perf_event_max_sample_rate when the samplers were created, and now; 0: it cannot be read. */
void samplers_rate(const struct samplers *s, long *start, long *now);

/* samplers_state - on how many of the wanted CPUs they run, how often, and by what: "cycles", "cpu-clock", and why. */
void samplers_state(const struct samplers *s, int *running, int *wanted, int *frequency,
		    const char **event);

/* samplers_count_health - adds the number of CPUs on which samplers_count() runs. @name: of the line; @what: what it counts */
void samplers_count_health(const struct samplers *s, const char *name, const char *what, struct health *h);

/* samplers_health - adds the CPUs that are sampled, and what the @nr CPUs were doing in samples. */
void samplers_health(const struct samplers *s, const struct cpu_slot *cpus, int nr, struct health *h);

#endif
