/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_COLLECT_COLLECT_H
#define SYSTOP_COLLECT_COLLECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "stack.h"

struct cgroups;
struct collect;
struct cpu_slot;
struct health;
struct model;
struct rings;
struct tick;

/* A cgroup whose subtree is in scope. */
struct collect_cgroup {
	const char *controller; /* v1 controller ("cpu"), NULL: v2 */
	uint64_t id;
};

struct collect_options {
	const char *shown_controller; /* v1 controller whose tree is shown, NULL: v2, */
	const char *limits_controller; /* and whose has the CPU limits */
	const struct collect_cgroup *cgroups; /* narrow to these, until collect_scope_cgroups() */
	size_t nr_cgroups;
	const pid_t *pids;            /* narrow to these processes and what they fork from now on */
	size_t nr_pids;
	const uid_t *uids;            /* narrow to these users */
	size_t nr_uids;
	int frequency;                /* samples a second on each CPU */
	bool all_cpus;                /* also on those that are isolated, */
	bool cpu_clock;               /* by their clocks, not by their cycles */
	bool self;                    /* systop itself is sampled, too: */
	pid_t starter;                /* this process, and that one's children */
	int peek_role;                /* helper that looks at blocked threads */
	int table_mib;                /* memory for the unwinder's tables */
	unsigned int window_s;        /* seconds that the recorder keeps, 0: none, */
	uint64_t window_bytes;        /* in so much memory; 0: what is fit, */
	uint64_t memory_spare;        /* within so many bytes, */
	uint64_t wait_ns;             /* of waits so long and longer it is told who ran instead */
	void (*tell)(const char *step); /* of each step of the start, "load BPF programs"; NULL: nobody */
	uint64_t max_cpu;             /* limit of what systop costs in 1/1000 % of one CPU, */
	uint64_t max_memory;          /* and in bytes; 0: no limit */
	bool window_now;              /* from the start on; else from a moment later: it takes 5 ms a CPU */
};

/*
 * collect_new - loads the BPF programs, attaches them and enters the threads that exist.
 * @model, @cgroups: borrowed for the collector's life
 * Returns NULL after fail() has said why.
 */
struct collect *collect_new(const struct collect_options *o, struct model *model,
			    struct cgroups *cgroups);

/* collect_free - detaches and unloads everything. Accepts NULL. */
void collect_free(struct collect *c);

/* collect_scope_cgroups - the cgroups in scope from now on, of hierarchies that were named at the
 * start. If they changed, all threads are decided again. Returns 0 or -errno. */
int collect_scope_cgroups(struct collect *c, const struct collect_cgroup *cgroups, size_t nr);

/* collect_harvest - every 250 ms: takes the final values of threads that died. 0 or -errno. */
int collect_harvest(struct collect *c);

/* collect_tick - what happened since the last call (the first: since collect_new).
 * Returns the tick, held for the caller, or NULL with errno. */
const struct tick *collect_tick(struct collect *c);

/* collect_files_fd - readable when files were met for the first time; collect_files tells of them. */
typedef void collect_file(void *arg, const struct file_event *e);
int collect_files_fd(const struct collect *c);
void collect_files(struct collect *c, collect_file *tell, void *arg);

/* collect_files_age - every 250 ms: files that nothing needs any more make room, see files_work(). */
typedef bool collect_forget(void *arg, const uint32_t *ids, size_t nr);
void collect_files_age(struct collect *c, collect_forget *forget, void *arg);

/* collect_table - the unwind table of a file, from the symbols helper: see unwind_tables_read(). collect_table_wanted -
 * the next file from @from on whose table has to be made again; 0: none. */
int collect_table(struct collect *c, uint32_t file, int fd);
uint32_t collect_table_wanted(struct collect *c, uint32_t from);

/* collect_ask_file - wants to be told of this file again, when it is met the next time. */
void collect_ask_file(struct collect *c, const struct file_key *key);

/* collect_sleepers - the stacks of threads that sleep are looked at, too, for the next ticks. */
void collect_sleepers(struct collect *c);

/* collect_blocked_fd - readable when collect_blocked_work() has something to do. collect_blocked -
 * threads that are being looked at. */
int collect_blocked_fd(const struct collect *c);
void collect_blocked_work(struct collect *c);
uint32_t collect_blocked(const struct collect *c);

/* collect_thread_name - of a thread that lives, in the scope or not; raw bytes. False: there is none.
 * O(threads). */
bool collect_thread_name(const struct collect *c, pid_t tid, char comm[16]);

/* collect_frequency - of the samplers, as it is wanted; sets it to @hz, if that is not 0. */
int collect_frequency(struct collect *c, int hz);

/* collect_samples - samples a second on each CPU now: fewer than requested where some are shed. */
int collect_samples(const struct collect *c);

/* collect_sample_rate - how often the kernel lets a CPU be sampled at most (kernel.perf_event_max_sample_rate, 1/s), when
 * systop started and now; 0: not known. It lowers that itself where samples take long. */
void collect_sample_rate(const struct collect *c, long *start, long *now);

/* collect_rings - the recorder's rings. collect_cpus - mapped, one a possible CPU; collect_cpus_fd - of their map.
 * collect_cpu_now - how many slots a CPU's ring had so far, and who runs there: 0: the idle thread, -1: not known. */
const struct rings *collect_rings(const struct collect *c);
int collect_nr_cpus(const struct collect *c);
const struct cpu_slot *collect_cpus(const struct collect *c);
int collect_cpus_fd(const struct collect *c);
void collect_cpu_now(const struct collect *c, int cpu, uint64_t *head, int32_t *tid);

/* collect_irq - where interrupts come from, by irq.h's numbers of sources, and what the kernel numbers it; NULL: there
 * are no more. */
const struct irq_source *collect_irq(struct collect *c, uint32_t source, int *number);

/* collect_stacks - see stacks_each(). collect_cycles - whether samples are by processor cycles. */
typedef int collect_stack(void *arg, uint32_t id, const struct stack_entry *e, const uint64_t *frames);
int collect_stacks(const struct collect *c, collect_stack *fn, void *arg);
bool collect_cycles(const struct collect *c);

/* collect_health - probes, maps and helpers, now; collect_health_loss - losses since the start. */
void collect_health(const struct collect *c, struct health *h);
void collect_health_loss(const struct collect *c, struct health *h);

#endif
