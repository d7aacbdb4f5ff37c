/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "app/services.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "app/check.h"
#include "app/crash.h"
#include "app/systop.h"
#include "app/turns.h"
#include "collect/collect.h"
#include "export/exporter.h"
#include "helper/helper.h"
#include "model/health.h"
#include "model/loss_names.h"
#include "model/model.h"
#include "model/sample.h"
#include "model/tick.h"
#include "owner/containers.h"
#include "proc/user.h"
#include "query/recorded.h"
#include "record/rings.h"
#include "record/window.h"
#include "save/save.h"
#include "sym/names.h"
#include "util/clock.h"
#include "util/map.h"
#include "util/text.h"

/* More than any kernel supports. */
#define CPUS_MAX 8192

/* "0-3,7" */
static void affinity(pid_t tid, char *buf, size_t size)
{
	cpu_set_t *set = CPU_ALLOC(CPUS_MAX);
	size_t bytes = CPU_ALLOC_SIZE(CPUS_MAX), used = 0;

	snprintf(buf, size, "-");
	if (!set)
		return;
	CPU_ZERO_S(bytes, set);
	if (sched_getaffinity(tid, bytes, set)) {
		CPU_FREE(set);
		return;
	}
	for (int cpu = 0; cpu < CPUS_MAX && used < size; cpu++) {
		int last = cpu;

		if (!CPU_ISSET_S(cpu, bytes, set))
			continue;
		while (last + 1 < CPUS_MAX && CPU_ISSET_S(last + 1, bytes, set))
			last++;
		used += snprintf(buf + used, size - used, last > cpu ? "%s%d-%d" : "%s%d",
				 used ? "," : "", cpu, last);
		cpu = last;
	}
	CPU_FREE(set);
}

static bool scheduling(pid_t tid, int *policy, int *priority)
{
	struct {
		uint32_t size, policy;
		uint64_t flags;
		int32_t nice;
		uint32_t priority;
		uint64_t runtime, deadline, period;
	} attr; /* struct sched_attr, whose header excludes <sched.h> */

	if (syscall(SYS_sched_getattr, tid, &attr, sizeof(attr), 0))
		return false;
	*policy = attr.policy;
	*priority = 120 + attr.nice;
	if (attr.policy == SCHED_FIFO || attr.policy == SCHED_RR)
		*priority = 99 - (int)attr.priority;
	else if (attr.policy == SCHED_DEADLINE)
		*priority = -1;
	return true;
}

static void health(void *arg, struct health *h)
{
	const struct systop *s = arg;
	struct turns turns = turns_get();

	collect_health(s->collect, h);
	if (*helper_trouble())
		health_add(h, "Helpers", "starter", HEALTH_OFF, "%s; no trace is saved, helpers that end are not restarted",
			   helper_trouble());
	else
		health_add(h, "Helpers", "starter", HEALTH_ON, "starts the others");
	names_health(s->names, h);
	containers_health(s->containers, h);
	collect_health_loss(s->collect, h);
	health_add(h, "Main loop", "longest turn", HEALTH_FACT, "%.1f ms, in the last seconds; %.1f ms without waits for a CPU",
		   turns.longest_ns / 1e6, turns.work_ns / 1e6);
	health_add(h, "Main loop", "screen", s->output.dropped ? HEALTH_DEGRADED : HEALTH_FACT,
		   "%" PRIu64 " frames dropped: the terminal was not read in time", s->output.dropped);
	check_health(h);
}

void services_note(const struct systop *s, const struct tick *t)
{
	char when[32];
	struct tm tm;

	gmtime_r(&t->wall.tv_sec, &tm);
	strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%SZ", &tm);
	crash_note("%s: %zu threads, %zu cgroups, %" PRIu64 " lost, %" PRIu64 " frames or refreshes dropped, "
		   "longest turn %.1f ms, %" PRIu64 " MiB", when, t->nr_active + t->nr_idle, t->nr_cgroups, loss_sum(t->loss),
		   s->output.dropped, turns_get().longest_ns / 1e6, t->self.rss_bytes >> 20);
}

static bool without_starter(void *arg)
{
	(void)arg;
	return *helper_trouble();
}

static void write_config(void *arg, const struct settings *s, char *said, size_t size)
{
	config_write(&((struct systop *)arg)->config, s, said, size);
}

static uint64_t recorded(void *arg)
{
	const struct rings *rings = collect_rings(((struct systop *)arg)->collect);

	return rings_slots(rings) ? rings_held(rings, clock_ns(CLOCK_BOOTTIME)) : VALUE_NA;
}

static void save(void *arg, uint64_t from, uint64_t until, char *said, size_t size)
{
	const struct systop *s = arg;
	uint64_t held = recorded(arg), now = clock_ns(CLOCK_BOOTTIME), oldest = held < now ? now - held : 0;
	const struct save_part part = { from > oldest ? from : oldest, until };
	int err;

	if (until && until <= oldest) {
		snprintf(said, size, "no longer recorded: the recorder goes back %.0f s", held / 1e9);
		return;
	}
	err = save_start(s->save, &export_trace, s->options.save_path, s->options.save_fd, "", until ? &part : NULL);
	if (!err && until)
		snprintf(said, size, "saving %.1f s%s: Esc cancels", (until - part.from) / 1e9,
			 from < oldest ? ", the part still recorded" : "");
	else if (!err)
		snprintf(said, size, "saving: Esc cancels");
	else if (err == -EBUSY)
		snprintf(said, size, "a save is already in progress: Esc cancels it");
	else if (err == -EOPNOTSUPP)
		snprintf(said, size, "nothing is recorded: press ! for the reason");
	else
		snprintf(said, size, "cannot save: %s", save_why(s->save));
}

/* Writes samples by their exporter into a file in memory. */
static int export_samples(const struct exporter *as, const struct systop *s, const struct sample_set *set, FILE *to)
{
	struct export e = { .host = s->host.name, .kernel = s->host.kernel, .scope = s->host.scope,
			    .source = &s->host.source, .redact = s->redact };
	int err = as->begin(&e), ended;

	if (err)
		return err;
	err = as->samples(&e, set);
	ended = as->end(&e, err ? NULL : to);
	return err ? err : ended ? ended : fflush(to) ? -errno : 0;
}

static void save_samples(void *arg, const struct sample_set *set, char *said, size_t size)
{
	const struct systop *s = arg;
	const struct exporter *as = &export_pprof;
	int fd = memfd_create("systop-export", MFD_CLOEXEC), err;
	FILE *to = fd < 0 ? NULL : fdopen(fd, "w");

	err = save_busy(s->save) ? -EBUSY : !to ? -ENOMEM : export_samples(as, s, set, to);
	if (!err)
		err = save_content(s->save, as, s->folder, -1, fd);
	if (to)
		fclose(to);
	else if (fd >= 0)
		close(fd);
	if (err == -EBUSY)
		snprintf(said, size, "a save is already in progress: Esc cancels it");
	else if (err)
		snprintf(said, size, "cannot save: %s", strerror(-err));
	else
		snprintf(said, size, "saving: Esc cancels");
}

/* 40 ms of work. */
#define EVENTS_MOST (4U << 20)

static int recorded_events(void *arg, uint64_t from, uint64_t to, uint64_t *since, window_fn *fn, void *fn_arg)
{
	const struct collect *c = ((struct systop *)arg)->collect;
	const struct rings *rings = collect_rings(c);
	uint64_t now = clock_ns(CLOCK_BOOTTIME), oldest = now - rings_held(rings, now);
	int err = window_read(rings, collect_cpus(c), collect_nr_cpus(c), from, to, EVENTS_MOST, since, fn, fn_arg);

	if (*since < oldest)
		*since = oldest;
	return err;
}

static int all_stacks(void *arg, collect_stack *fn, void *fn_arg)
{
	return collect_stacks(((struct systop *)arg)->collect, fn, fn_arg);
}

static int samples_at(void *arg, uint64_t at)
{
	return collect_samples_at(((struct systop *)arg)->collect, at);
}

static int recorded_samples(void *arg, const struct tick *any, uint64_t from, uint64_t to, uint64_t *since,
			    recorded_fn *fn, void *fn_arg)
{
	const struct recorded_source l = {
		.events = recorded_events,
		.stacks = all_stacks,
		.arg = arg,
		.model = ((struct systop *)arg)->model,
		.tick = any,
		.frequency = samples_at,
	};

	return recorded_read(&l, from, to, since, fn, fn_arg);
}

static bool cancel_save(void *arg, char *said, size_t size)
{
	const struct systop *s = arg;

	if (!save_busy(s->save))
		return false;
	save_cancel(s->save);
	snprintf(said, size, "%s", save_text(s->save));
	return true;
}

static const struct symbol *symbol(void *arg, uint64_t frame, uint32_t tgid)
{
	return names_frame(((struct systop *)arg)->names, frame, tgid);
}

static int lack(void *arg, uint64_t frame, uint32_t tgid)
{
	return names_lack(((struct systop *)arg)->names, frame, tgid);
}

static uint64_t names_generation_now(void *arg)
{
	return names_generation(((struct systop *)arg)->names);
}

static const char *code(void *arg, uint64_t frame)
{
	return names_source(((struct systop *)arg)->names, frame);
}

static void build_id(void *arg, uint64_t frame, char *buf, size_t size)
{
	names_build_id(((struct systop *)arg)->names, frame, buf, size);
}

static bool place(void *arg, uint64_t frame, struct frame_place *p)
{
	return names_place(((struct systop *)arg)->names, frame, p);
}

static void irq_name(void *arg, unsigned int irq, char *buf, size_t size)
{
	const char *device = collect_irq_device(((struct systop *)arg)->collect, irq);

	text_safe(buf, size, device, strlen(device));
}

static void thread_names(void *arg, const struct map *names)
{
	collect_thread_names(((struct systop *)arg)->collect, names);
}

static void thread_name(void *arg, pid_t tid, char *buf, size_t size)
{
	struct map names = { 0 };
	char comm[16] = "";

	if (tid && !map_put(&names, tid, comm))
		thread_names(arg, &names);
	text_safe(buf, size, comm, sizeof(comm));
	map_fini(&names);
}

static const struct topology *topology(void *arg)
{
	return topology_read(&((struct systop *)arg)->topology);
}

static uint64_t cpu_hz(void *arg, int cpu)
{
	return topology_hz(&((struct systop *)arg)->topology, cpu);
}

static void want_sleepers(void *arg)
{
	collect_sleepers(((struct systop *)arg)->collect);
}

static void want_commands(void *arg, const pid_t *tgids, size_t nr)
{
	collect_commands_want(((struct systop *)arg)->collect, tgids, nr);
}

static void want_memory(void *arg, const pid_t *tgids, size_t nr)
{
	collect_memory_want(((struct systop *)arg)->collect, tgids, nr);
}

static void freeze_commands(void *arg, bool frozen)
{
	model_freeze_cmdlines(((struct systop *)arg)->model, frozen);
}

static const struct memory_facts *memory_facts(void *arg, pid_t tgid, const struct cgroup *cgroup)
{
	return collect_memory_facts(((struct systop *)arg)->collect, tgid, cgroup);
}

static const char *package(void *arg, uint64_t frame)
{
	const struct systop *s = arg;
	struct frame_place p;
	const char *name = names_place(s->names, frame, &p) ? collect_package(s->collect, p.path, &p.key) : NULL;

	return name ? name : "";
}

static int frequency(void *arg, int hz)
{
	return collect_frequency(((struct systop *)arg)->collect, hz);
}

static int samples(void *arg)
{
	struct collect *c = ((struct systop *)arg)->collect;

	return collect_frequency(c, 0) ? collect_samples(c) : 0;
}

void services_init(struct systop *s)
{
	struct host *h = &s->host;

	h->source = (struct source){
		.arg = s,
		.symbol = symbol,
		.lack = lack,
		.names_generation = names_generation_now,
		.code = code,
		.build_id = build_id,
		.place = place,
		.irq_name = irq_name,
		.thread_name = thread_name,
		.thread_names = thread_names,
		.recorded = recorded,
		.recorded_events = recorded_events,
		.recorded_samples = recorded_samples,
	};
	h->arg = s;
	h->want_sleepers = want_sleepers;
	h->want_commands = want_commands;
	h->want_memory = want_memory;
	h->freeze_commands = freeze_commands;
	h->memory_facts = memory_facts;
	h->package = package;
	h->frequency = frequency;
	h->samples = samples;
	h->user_name = user_name;
	h->user_find = user_lookup;
	h->topology = topology;
	h->cpu_hz = cpu_hz;
	h->affinity = affinity;
	h->scheduling = scheduling;
	h->health = health;
	h->write_config = write_config;
	h->without_starter = without_starter;
	h->save = save;
	h->save_samples = save_samples;
	h->save_cancel = cancel_save;
}
