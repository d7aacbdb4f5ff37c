/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The screen's host functions (tui/screen/host.h) for the scene. */
#include "scene.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/event.h"
#include "model/health.h"
#include "model/memory_facts.h"
#include "model/sample.h"
#include "sym/names.h"

#define SEC 1000000000ULL

static void user_name(unsigned int uid, char *buf, size_t size)
{
	if (uid == 33)
		snprintf(buf, size, "www-data");
	else if (!uid)
		snprintf(buf, size, "root");
	else if (uid == 65534)
		snprintf(buf, size, "дмитрий");
	else
		snprintf(buf, size, "%u", uid);
}

static int user_find(const char *name, unsigned int *uid)
{
	*uid = strcmp(name, "www-data") ? strtoul(name, NULL, 10) : 33;
	return *uid ? 0 : -ENOENT;
}

static void affinity(pid_t tid, char *buf, size_t size)
{
	(void)tid;
	snprintf(buf, size, "0-3");
}

/* Another thread has the TID of the one that ended, and a kworker is one of high priority. */
static bool scheduling(pid_t tid, int *policy, int *priority)
{
	if (tid == 4002)
		*policy = 1;
	if (tid == 4002 || tid == 480)
		*priority = tid == 4002 ? 89 : 100;
	return tid == 4002 || tid == 480;
}

static void health(void *arg, struct health *h)
{
	(void)arg;
	health_add(h, "Probes", "sched_switch", HEALTH_ON, "where every thread's time goes");
	health_add(h, "Probes", "sample", HEALTH_OFF, "no perf events: user and kernel time are -");
	health_add(h, "Maps", "slots", HEALTH_DEGRADED, "65535 of 65535 were in use at once: 100 %%");
	health_add(h, "Lost since the start", "waits", HEALTH_FACT, "2  long waits beyond the budget");
	health_add(h, "Repaired since the start", "gap", HEALTH_FACT, "7  switches the kernel did not report");
	health_add(h, "Rights", "CAP_BPF", HEALTH_ON, "kept");
}

static void write_config(void *arg, const struct settings *s, char *said, size_t size)
{
	(void)arg;
	(void)s;
	snprintf(said, size, "config written: /home/me/.config/systop/systoprc");
}

/* Frames of this scene are numbers of functions. */
static const struct symbol *symbol(void *arg, uint64_t frame, uint32_t tgid)
{
	static const struct symbol symbols[] = {
		{ "main", "api-server", SYMBOL_USER, true, .id = 101 },
		{ "api::handle_req(api::Request const&)", "api-server", SYMBOL_USER, true, .id = 102 },
		{ "serde_json::ser::to_writer", "api-server", SYMBOL_USER, true, .id = 103 },
		{ "libssl.so.3+0x4a1c0", "libssl.so.3", SYMBOL_USER, false, .id = 104 },
		{ "entry_SYSCALL_64", "[kernel]", SYMBOL_KERNEL, true, .id = 105 },
		{ "do_epoll_wait", "[kernel]", SYMBOL_KERNEL, true, .id = 106 },
		{ "LazyCompile:~render", "[jit]", SYMBOL_JIT, true, .id = 107 },
	};

	static const struct symbol unnamed = { "[kernel]+0x1840", "[kernel]", SYMBOL_KERNEL, false, .id = 108 };
	const struct scene *s = arg;

	(void)tgid;
	if (s->early)
		return &unnamed;
	return &symbols[(frame & 0xff) % (sizeof(symbols) / sizeof(symbols[0]))];
}

static uint64_t scene_names_generation(void *arg)
{
	const struct scene *s = arg;

	return s->early;
}

static const char *scene_code(void *arg, uint64_t frame)
{
	(void)arg;
	return frame == 2 ? "ser.rs:212\nto_writer inlined in flush at writer.rs:40" : "";
}

static void scene_build_id(void *arg, uint64_t frame, char *buf, size_t size)
{
	(void)arg;
	snprintf(buf, size, "%s", frame == 3 ? "-" : "9f3c2b7d88aa01e4");
}

static void scene_irq_name(void *arg, unsigned int irq, char *buf, size_t size)
{
	(void)arg;
	snprintf(buf, size, "%s", irq == 24 ? "nvme0q1" : "");
}

static void scene_thread_name(void *arg, pid_t tid, char *buf, size_t size)
{
	(void)arg;
	snprintf(buf, size, "%s", tid == 4004 ? "spinner" : "");
}

static bool scene_without_starter(void *arg)
{
	(void)arg;
	return false;
}

static uint64_t scene_recorded(void *arg)
{
	(void)arg;
	return 28000000000;
}

/* A softirq every 100 ms, on both sides of a thread, with a sample in between. Over a long time, it hits many threads. */
static int scene_recorded_events(void *arg, uint64_t from, uint64_t to, uint64_t *since,
				 int (*fn)(void *fn_arg, int cpu, const struct event *e), void *fn_arg)
{
	bool many = to - from > 10 * SEC;
	int err = 0;

	(void)arg;
	*since = from;
	for (int cpu = 0; cpu < 2; cpu++)
		for (uint64_t at = from - from % (SEC / 10) + SEC / 10; at < to && !err; at += SEC / 10) {
			uint32_t nr = at / (SEC / 10) % 4;
			const struct event events[] = {
				{ .at = at, .kind = RING_SWITCH, .tid = 2001, .other = 2002, .state = RING_PREEMPTED },
				{ .at = at + 1000, .kind = RING_SAMPLE, .tid = 2001, .user_mode = true },
				{ .at = at + 90000, .kind = RING_IRQ, .source = 3, .off_ns = 80000 - 9000 * nr,
				  .tid = many && cpu ? 10000 + at / (SEC / 10) % 25 : (uint32_t[]){ 2001, 2002, 3000, 0 }[nr] },
				{ .at = at + 10000000, .kind = RING_SWITCH, .tid = 2002, .other = 2001,
				  .state = RING_SLEEP },
			};

			for (size_t i = 0; i < sizeof(events) / sizeof(events[0]) && !err; i++)
				err = fn(fn_arg, cpu, &events[i]);
		}
	return err;
}

struct recorded {
	int (*fn)(void *fn_arg, const struct stack_sample *s, uint64_t from, uint64_t until);
	void *arg;
	uint64_t at;
};

static int report_recorded(void *arg, const struct stack_sample *s)
{
	const struct recorded *r = arg;

	return r->fn(r->arg, s, r->at, r->at + s->weight);
}

/* The last refresh's samples, repeated each second. */
static int scene_recorded_samples(void *arg, const struct tick *any, uint64_t from, uint64_t to, uint64_t *since,
				  int (*fn)(void *fn_arg, const struct stack_sample *s, uint64_t from, uint64_t until),
				  void *fn_arg)
{
	struct recorded r = { fn, fn_arg, from };
	int err = 0;

	(void)arg;
	*since = from;
	for (; r.at < to && !err; r.at += SEC)
		err = tick_samples_of(any, any->seq, any->seq, report_recorded, &r);
	return err;
}

static void scene_save(void *arg, uint64_t from, uint64_t until, char *said, size_t size)
{
	(void)arg;
	if (until)
		snprintf(said, size, "saving %.1f s: Esc cancels", (until - from) / 1e9);
	else
		snprintf(said, size, "saving: Esc cancels");
}

static int count_sample(void *arg, const struct stack_sample *s)
{
	(void)s;
	++*(size_t *)arg;
	return 0;
}

static void scene_save_samples(void *arg, const struct sample_set *set, char *said, size_t size)
{
	size_t nr = 0;

	(void)arg;
	set->each(set->arg, count_sample, &nr);
	snprintf(said, size, "saving %zu samples of %.1f s: Esc cancels", nr, set->duration_ns / 1e9);
}

static bool scene_save_cancel(void *arg, char *said, size_t size)
{
	(void)arg;
	(void)said;
	(void)size;
	return false;
}

static const struct topology *topology(void *arg)
{
	return &((const struct scene *)arg)->topology;
}

static uint64_t scene_cpu_hz(void *arg, int cpu)
{
	(void)arg;
	return cpu % 4 == 3 ? VALUE_NA : 2900000000 - 100000000ULL * (cpu % 4);
}

static void scene_want_sleepers(void *arg)
{
	(void)arg;
}

static const struct memory_facts *scene_memory_facts(void *arg, pid_t tgid, const struct cgroup *cgroup)
{
	static const struct memory_facts process = { { 245 << 20, 240 << 20, 200 << 20, VALUE_NA, VALUE_NA, VALUE_NA, 0 } };
	static const struct memory_facts of_cgroup = {
		{ VALUE_NA, VALUE_NA, 180 << 20, 90 << 20, 2 << 20, 12 << 20, 0 }, { { 250, 0 }, { 12, 3 }, { VALUE_NA, VALUE_NA } }
	};

	(void)arg, (void)cgroup;
	return tgid ? &process : &of_cgroup;
}

static const char *scene_package(void *arg, uint64_t frame)
{
	(void)arg;
	(void)frame;
	return "nginx-dbgsym";
}

static void scene_want_memory(void *arg, const pid_t *tgids, size_t nr)
{
	(void)arg;
	(void)tgids;
	(void)nr;
}

static void scene_want_commands(void *arg, const pid_t *tgids, size_t nr)
{
	(void)arg;
	(void)tgids;
	(void)nr;
}

static void scene_freeze_commands(void *arg, bool frozen)
{
	(void)arg;
	(void)frozen;
}

static int scene_frequency(void *arg, int hz)
{
	(void)arg;
	return hz ? hz : 99;
}

static int scene_samples(void *arg)
{
	return scene_frequency(arg, 0);
}

const struct host scene_host = {
	.name = "web-07",
	.kernel = "6.18.0",
	.version = "0.1.0",
	.scope = "all",
	.wait_ns = 100000,
	.source = {
		.symbol = symbol,
		.names_generation = scene_names_generation,
		.code = scene_code,
		.build_id = scene_build_id,
		.irq_name = scene_irq_name,
		.thread_name = scene_thread_name,
		.recorded = scene_recorded,
		.recorded_events = scene_recorded_events,
		.recorded_samples = scene_recorded_samples,
	},
	.topology = topology,
	.cpu_hz = scene_cpu_hz,
	.want_sleepers = scene_want_sleepers,
	.package = scene_package,
	.want_memory = scene_want_memory,
	.want_commands = scene_want_commands,
	.freeze_commands = scene_freeze_commands,
	.memory_facts = scene_memory_facts,
	.frequency = scene_frequency,
	.samples = scene_samples,
	.user_name = user_name,
	.user_find = user_find,
	.affinity = affinity,
	.scheduling = scheduling,
	.health = health,
	.write_config = write_config,
	.without_starter = scene_without_starter,
	.save = scene_save,
	.save_samples = scene_save_samples,
	.save_cancel = scene_save_cancel,
};
