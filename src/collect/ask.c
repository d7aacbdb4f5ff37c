/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions of collect.h that concern single collectors. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>

#include "collect/blocked.h"
#include "collect/collect_internal.h"
#include "collect/commands.h"
#include "collect/facts.h"
#include "collect/files.h"
#include "collect/irqs.h"
#include "collect/samplers.h"
#include "collect/scope.h"
#include "collect/seed.h"
#include "collect/slot_values.h"
#include "collect/slots.h"
#include "collect/stacks.h"
#include "collect/unwind_tables.h"
#include "record/rings.h"
#include "slot.h"
#include "util/clock.h"
#include "util/file.h"
#include "util/map.h"

#include "systop.skel.h"

void collect_scope_cgroups(struct collect *c, const struct collect_cgroup *cgroups, size_t nr)
{
	scope_set_cgroups(c->scope, cgroups, nr);
	if (!c->scope->changed)
		return;
	__atomic_fetch_add(&c->shared->scope_gen, 1, __ATOMIC_RELAXED);
	c->scope->changed = seed_iterate(c->skel->progs.seed_task, 0, false);
}

void collect_scope_ended(struct collect *c, pid_t id, bool thread)
{
	scope_uncover(c->scope, id, thread ? SCOPE_THREAD : SCOPE_PROCESS);
}

bool collect_scope_lives(const struct collect *c)
{
	return slots_any(c->sched);
}

int collect_files_fd(const struct collect *c)
{
	return ring_buffer__epoll_fd(c->file_events);
}

void collect_files(struct collect *c, collect_file *report, void *arg)
{
	c->report_file = report;
	c->report_arg = arg;
	ring_buffer__consume(c->file_events);
}

void collect_files_age(struct collect *c, collect_forget *forget, void *arg)
{
	files_work(c->files, rings_held(c->recorder, clock_ns(CLOCK_BOOTTIME)) / 1000000000ULL, forget, arg);
}

int collect_table(struct collect *c, uint32_t file, int fd)
{
	int err = file_sealed(fd) ? unwind_tables_read(c->tables, file, fd) : -EBADF; /* a read of a sealed memfd cannot
	                                                                               * block */

	if (!err)
		blocked_tables_arrived(c->blocked);
	return err;
}

uint32_t collect_table_wanted(struct collect *c, uint32_t from)
{
	return unwind_tables_wanted(c->tables, from);
}

void collect_ask_file(struct collect *c, const struct file_key *key)
{
	uint32_t one = 1;

	if (!bpf_map_update_elem(bpf_map__fd(c->skel->maps.files_asked), key, &one, BPF_NOEXIST))
		__atomic_fetch_add(&c->shared->files_asked, 1, __ATOMIC_RELAXED);
}

uint32_t collect_newest_program(struct collect *c)
{
	return seed_iterate(c->skel->progs.newest_program, 0, false) ? 0 : c->shared->newest_program;
}

void collect_sleepers(struct collect *c)
{
	blocked_sleepers(c->blocked);
}

uint32_t collect_blocked(const struct collect *c)
{
	return blocked_pending(c->blocked);
}

const struct memory_facts *collect_memory_facts(struct collect *c, pid_t tgid, const struct cgroup *cgroup)
{
	return facts_of(c->facts, tgid, cgroup);
}

const char *collect_package(struct collect *c, const char *path, const struct file_key *key)
{
	return facts_package(c->facts, path, key);
}

void collect_memory_want(struct collect *c, const pid_t *tgids, size_t nr)
{
	slots_want_memory(c->sched, tgids, nr);
}

void collect_commands_want(struct collect *c, const pid_t *tgids, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		commands_want(c->commands, tgids[i]);
}

bool collect_answers(struct collect *c)
{
	blocked_work(c->blocked);
	return commands_work(c->commands) | facts_work(c->facts);
}

void collect_thread_names(const struct collect *c, const struct map *names)
{
	size_t missing = names->nr;

	for (uint32_t i = 1; missing && i <= slots_used(c->shared, c->max_threads); i++) {
		const struct slot *s = &c->threads[i];
		char *comm = map_get(names, s->tid);

		if (!comm || s->state == SLOT_FREE || s->state == SLOT_DEAD)
			continue;
		memcpy(comm, s->comm, 16);
		missing--;
	}
}

int collect_frequency(struct collect *c, int hz)
{
	if (hz) {
		c->frequency = samplers_allowed(hz);
		samplers_set_frequency(c->samplers, collect_samples(c));
		c->shared->sampler_gap_ns = samplers_gap(c->samplers);
	}
	return c->frequency;
}

int collect_samples(const struct collect *c)
{
	int hz = c->frequency / c->rarely / c->more_rarely;

	return hz ? hz : 1;
}

int collect_samples_at(const struct collect *c, uint64_t at)
{
	return samplers_frequency_at(c->samplers, at);
}

void collect_sample_rate(const struct collect *c, long *start, long *now)
{
	samplers_rate(c->samplers, start, now);
}

const struct rings *collect_rings(const struct collect *c)
{
	return c->recorder;
}

void collect_hold_rings(struct collect *c, bool held)
{
	rings_hold(c->recorder, held);
	stacks_hold(c->stacks, held);
}

void collect_stop_rings(struct collect *c)
{
	rings_stop(c->recorder);
}

int collect_nr_cpus(const struct collect *c)
{
	return c->nr_cpus;
}

const struct cpu_slot *collect_cpus(const struct collect *c)
{
	return c->cpus_memory;
}

int collect_cpus_fd(const struct collect *c)
{
	return bpf_map__fd(c->skel->maps.cpus);
}

void collect_cpu_now(const struct collect *c, int cpu, uint64_t *head, int32_t *tid)
{
	const struct cpu_slot *s = &c->cpus_memory[cpu];
	uint32_t slot = s->current_slot;

	*head = __atomic_load_n(&s->records, __ATOMIC_ACQUIRE);
	*tid = s->current_idle ? 0 : slot && slot < c->max_threads ? (int32_t)c->threads[slot].tid : -1;
}

const struct irq_source *collect_irq(struct collect *c, uint32_t source, int *number)
{
	return irqs_source(c->irqs, source, number);
}

const char *collect_irq_device(struct collect *c, uint32_t line)
{
	return irqs_device(c->irqs, line);
}

int collect_stacks(const struct collect *c, collect_stack *fn, void *arg)
{
	return stacks_each(c->stacks, fn, arg);
}

bool collect_cycles(const struct collect *c)
{
	return samplers_cycles(c->samplers);
}
