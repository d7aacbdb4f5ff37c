/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_COLLECT_COLLECT_H
#define SYSTOP_COLLECT_COLLECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "stack.h"

struct cgroup;
struct cgroups;
struct collect;
struct cpu_slot;
struct file_key;
struct health;
struct map;
struct memory_facts;
struct model;
struct rings;
struct tick;

/* A cgroup whose subtree is in scope. */
struct collect_cgroup {
	const char *controller; /* v1 controller ("cpu"), NULL: v2 */
	uint64_t id;
};

struct collect_options {
	const char *shown_controller; /* v1 controller whose hierarchy is shown, NULL: v2, */
	const char *limits_controller; /* and the one whose hierarchy has the CPU limits */
	const struct collect_cgroup *cgroups; /* narrow to these, until collect_scope_cgroups() */
	size_t nr_cgroups;
	const pid_t *pids;            /* narrow to these processes and what they fork from now on */
	size_t nr_pids;
	const pid_t *tids;            /* and to these threads */
	size_t nr_tids;
	const uid_t *uids;            /* narrow to these users */
	size_t nr_uids;
	int frequency;                /* samples per second on each CPU, 0: none */
	bool all_cpus;                /* also on isolated CPUs, */
	bool cpu_clock;               /* by the CPUs' clocks instead of their cycles */
	bool self;                    /* also samples systop itself: */
	pid_t starter;                /* this process and its children */
	int peek_role;                /* helper that reads the stacks of blocked threads */
	int commands_role;            /* helper that reads command lines */
	int facts_role;               /* helper that reads facts about what the screen shows */
	int table_mib;                /* memory for the unwinder's tables */
	unsigned int save_s;          /* last seconds that are saved at any time, */
	unsigned int window_s;        /* and those kept by the recorder, 0: none, */
	uint64_t window_bytes;        /* in this much memory; 0: chosen by systop, */
	uint64_t memory_spare;        /* of at most this many bytes */
	uint64_t wait_ns;             /* record which threads ran instead in runqueue waits of at least this */
	void (*report_step)(const char *step); /* reports each step of the start, "load BPF programs"; NULL: no reports */
	uint64_t max_cpu;             /* limit of systop's cost in 1/1000 % of one CPU, */
	uint64_t max_memory;          /* and in bytes; 0: no limit */
	bool window_now;              /* record from the start on; otherwise slightly later: it takes 5 ms per CPU */
};

/*
 * collect_new - loads the BPF programs, attaches them and enters the existing threads. @o: borrowed for this call.
 * @model, @cgroups: borrowed for the collector's life
 * Returns NULL after fail() has reported the reason.
 */
struct collect *collect_new(const struct collect_options *o, struct model *model,
			    struct cgroups *cgroups);

/* collect_free - detaches and unloads everything. Accepts NULL. */
void collect_free(struct collect *c);

/* collect_scope_cgroups - sets the cgroups in scope, of hierarchies that were named at the start. If they changed, the
 * scope of all threads is decided again. What fails is tried again at the next call, and shown by collect_health(). */
void collect_scope_cgroups(struct collect *c, const struct collect_cgroup *cgroups, size_t nr);

/* collect_scope_ended - the process, or @thread, with this number has ended: another one that gets it is not in
 * scope. */
void collect_scope_ended(struct collect *c, pid_t id, bool thread);

/* collect_scope_lives - whether a thread in scope lives now. */
bool collect_scope_lives(const struct collect *c);

/* collect_harvest - every 250 ms: reads the final values of threads that died, and what else cannot wait for the next tick;
 * nothing if all of it can. Returns 0; 1 if there are more at @deadline (CLOCK_MONOTONIC ns), which wait for the next call;
 * or -errno. */
int collect_harvest(struct collect *c, uint64_t deadline);

/* collect_crowded - whether so many threads died that the next tick would take long: collect_harvest() and
 * collect_early() before it do part of the work in advance. Returns like collect_harvest(). */
bool collect_crowded(const struct collect *c);
int collect_early(struct collect *c, uint64_t deadline);

/* collect_tick - the activity since the last call (the first: since collect_new). Returns the tick, held for the
 * caller, or NULL with errno. */
const struct tick *collect_tick(struct collect *c);

/* collect_since - when the activity of the next tick began, CLOCK_MONOTONIC ns. */
uint64_t collect_since(const struct collect *c);

/* collect_files_fd - readable when new files were seen; collect_files reports them. */
typedef void collect_file(void *arg, const struct file_event *e);
int collect_files_fd(const struct collect *c);
void collect_files(struct collect *c, collect_file *report, void *arg);

/* collect_files_age - every 250 ms: frees the ids of files that are no longer needed, see files_work(). */
typedef bool collect_forget(void *arg, const uint32_t *ids, size_t nr);
void collect_files_age(struct collect *c, collect_forget *forget, void *arg);

/* collect_table - passes the unwind table of a file from the symbols helper: see unwind_tables_read(); -EBADF: @fd is not sealed.
 * collect_table_wanted - the next file from @from on whose table must be made again; 0: none. */
int collect_table(struct collect *c, uint32_t file, int fd);
uint32_t collect_table_wanted(struct collect *c, uint32_t from);

/* collect_ask_file - requests another report of this file when it is next seen. */
void collect_ask_file(struct collect *c, const struct file_key *key);

/* collect_newest_program - highest id of a BPF program so far; 0: not known. A program loaded later has a higher one. */
uint32_t collect_newest_program(struct collect *c);

/* collect_sleepers - reads the stacks of sleeping threads, too, in the next ticks. */
void collect_sleepers(struct collect *c);

/* collect_answers - takes the answers of the collectors' helpers; call it when worker_events() is readable, and four times a second
 * regardless. Returns whether to draw the screen: a command line has changed, or facts_work() returned it. */
bool collect_answers(struct collect *c);

/* collect_blocked - threads whose stacks are being read. */
uint32_t collect_blocked(const struct collect *c);

/* collect_memory_facts - of a process, or, with @tgid 0, of a cgroup; requests them. NULL: not known yet. */
const struct memory_facts *collect_memory_facts(struct collect *c, pid_t tgid, const struct cgroup *cgroup);

/* collect_package - the package with the debug information of the file @path, "": there is none; requests it. NULL: not known
 * yet. */
const char *collect_package(struct collect *c, const char *path, const struct file_key *key);

/* collect_memory_want - see slots_want_memory(). */
void collect_memory_want(struct collect *c, const pid_t *tgids, size_t nr);

/* collect_commands_want - the command lines of these processes are needed now: requests those that were not read for two
 * seconds. */
void collect_commands_want(struct collect *c, const pid_t *tgids, size_t nr);

/* collect_thread_names - fills in the names of live threads, in scope or not. O(threads).
 * @names: TID -> char[16], raw bytes; stays as it is if there is no such thread */
void collect_thread_names(const struct collect *c, const struct map *names);

/* collect_frequency - the requested frequency of the samplers; sets it to @hz, or to the most that the kernel allows, unless
 * @hz is 0. */
int collect_frequency(struct collect *c, int hz);

/* collect_samples - samples per second on each CPU now: fewer than requested if some are shed. collect_samples_at - the same at
 * a time, CLOCK_BOOTTIME ns. */
int collect_samples(const struct collect *c);
int collect_samples_at(const struct collect *c, uint64_t at);

/* collect_sample_rate - the kernel's limit of samples per CPU (kernel.perf_event_max_sample_rate, 1/s), when systop
 * started and now; 0: unknown. The kernel lowers it if samples take long. */
void collect_sample_rate(const struct collect *c, long *start, long *now);

/* collect_rings - the recorder's rings. collect_hold_rings - @held: they and their stacks stay, also above a limit.
 * collect_stop_rings - nothing is recorded any more; what is recorded stays.
 * collect_cpus - mapped, one per possible CPU, of which there are collect_nr_cpus(); collect_cpus_fd - fd of their map.
 * collect_cpu_now - how many slots the CPU's ring has had so far, and the thread on the CPU: 0: idle, -1: unknown. */
const struct rings *collect_rings(const struct collect *c);
void collect_hold_rings(struct collect *c, bool held);
void collect_stop_rings(struct collect *c);
int collect_nr_cpus(const struct collect *c);
const struct cpu_slot *collect_cpus(const struct collect *c);
int collect_cpus_fd(const struct collect *c);
void collect_cpu_now(const struct collect *c, int cpu, uint64_t *head, int32_t *tid);

/* collect_irq - an interrupt source by irq.h's number, and the kernel's number of it; NULL: no more.
 * collect_irq_device - the device of the kernel's number, see irqs_device(). */
const struct irq_source *collect_irq(struct collect *c, uint32_t source, int *number);
const char *collect_irq_device(struct collect *c, uint32_t line);

/* collect_stacks - see stacks_each(). collect_cycles - whether samples are by processor cycles. */
typedef int collect_stack(void *arg, uint32_t id, const struct stack_entry *e, const uint64_t *frames);
int collect_stacks(const struct collect *c, collect_stack *fn, void *arg);
bool collect_cycles(const struct collect *c);

/* collect_health - present state of probes, maps and helpers; collect_health_loss - losses since the start. */
void collect_health(const struct collect *c, struct health *h);
void collect_health_loss(const struct collect *c, struct health *h);

#endif
