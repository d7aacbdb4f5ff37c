/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes a small trace to its standard output with everything that the writer can express: trace.sh compares protoc's
 * output for it with trace.textproto.
 *
 * Two CPUs and two seconds from 1002 s on. A web server's worker reads from a disk, wakes a database's thread, and
 * starts a helper that comes and goes; another thread is blocked all the time. The form is that of a hand-written trace
 * that Perfetto's trace processor reads without a complaint, with liberties that should not matter to it: the order of
 * packets; the numbering of tracks; interned names of events; times on tracks of threads and labels of processes; every
 * CPU's record begins with the trace, not with the recorder's memory of that CPU, and nothing earlier is written; no
 * event for fork, which does nothing there.
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "export/perfetto/perfetto.h"
#include "export/perfetto/perfetto_cpu.h"
#include "export/perfetto/perfetto_stacks.h"
#include "export/perfetto/perfetto_tree.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#define SEC   1000000000ULL
#define START (1002 * SEC)
#define END   (1004 * SEC)
#define AT(ms) (START + (ms) * 1000000ULL)

enum state { RUNNABLE = 0, S = 1, D = 2, X = 0x10, IDLE_KTHREAD = 0x80, PREEMPTED = 0x100 };

static const struct perfetto_task
	idle0 = { 0, 120, "swapper/0" },
	idle1 = { 0, 120, "swapper/1" },
	kworker = { 40, 120, "kworker/0:1" },
	worker = { 1201, 120, "web-worker" },
	child = { 1250, 120, "web-worker" },
	helper = { 1250, 120, "helper" },
	db = { 1300, 120, "db" },
	flush = { 1301, 120, "db-flush" },
	outside0 = { PERFETTO_OUTSIDER(0), 120, PERFETTO_OUTSIDER_COMM },
	outside1 = { PERFETTO_OUTSIDER(1), 120, PERFETTO_OUTSIDER_COMM };

static void host(struct perfetto *p)
{
	static const struct utsname uname = {
		.sysname = "Linux", .version = "#1 SMP", .release = "6.12.3-demo", .machine = "x86_64"
	};
	static const struct perfetto_system system = {
		.uname = &uname, .host = "demo-host", .hz = 1000, .page_size = 4096, .nr_cpus = 2,
		.utc_offset_min = 60, .ram_bytes = 8ULL << 30
	};
	static const struct perfetto_value attributes[] = {
		{ "systop.version", "0.0-demo" },
		{ "systop.filter", "cgroup=/web.slice" },
		{ "systop.window_ns", .number = 4 * SEC },
		{ "systop.lost.cpu_samples", .number = 3 },
		{ "systop.lost.sched_events", .number = 0 },
	};

	perfetto_system(p, &system);
	perfetto_uuid(p, 0x0123456789abcdef, 0x0fedcba987654321);
	perfetto_attributes(p, attributes, ARRAY_SIZE(attributes));
}

/* Clocks of a host that was suspended for 100 s. */
static void clocks(struct perfetto *p, uint64_t now, uint64_t slewed)
{
	struct perfetto_clocks c = {
		.boottime_ns = now,
		.realtime_ns = 1799999000 * SEC + now + slewed,
		.monotonic_ns = now - 100 * SEC,
		.monotonic_raw_ns = now - 100 * SEC - 10000000
	};

	perfetto_clocks(p, &c);
}

static void there_at_start(struct perfetto *p)
{
	static const char web_args[] = "/opt/web/web\0--port=80", db_args[] = "/opt/db/db",
			  init_args[] = "/sbin/init";
	static const int32_t nspids[] = { 7, 8, 1, 2 };
	const struct perfetto_process processes[] = {
		{ .pid = 1, .comm = "init", .cmdline = init_args, .cmdline_len = sizeof(init_args) },
		{ .pid = 2, .comm = "kthreadd", .kthread = true },
		{ .pid = 40, .ppid = 2, .comm = "kworker/0:1", .kthread = true },
		{ .pid = 1200, .ppid = 1, .uid = 1000, .comm = "web", .cmdline = web_args,
		  .cmdline_len = sizeof(web_args), .nspids = &nspids[0], .nr_nspids = 1, .start_ns = 500 * SEC,
		  .label = "cgroup:/web.slice/web.service" },
		{ .pid = 1300, .ppid = 1, .uid = 999, .comm = "db", .cmdline = db_args,
		  .cmdline_len = sizeof(db_args), .nspids = &nspids[2], .nr_nspids = 1, .start_ns = 400 * SEC,
		  .label = "cgroup:/db.slice/db.service" },
	};
	const struct perfetto_thread threads[] = {
		{ 1, 1, "init" },
		{ 2, 2, "kthreadd" },
		{ 40, 40, "kworker/0:1" },
		{ 1200, 1200, "web", &nspids[0], 1 },
		{ 1201, 1200, "web-worker", &nspids[1], 1 },
		{ 1300, 1300, "db", &nspids[2], 1 },
		{ 1301, 1300, "db-flush", &nspids[3], 1 },
	};

	perfetto_tree_begin(p, 0);
	for (size_t i = 0; i < ARRAY_SIZE(processes); i++)
		perfetto_tree_process(p, &processes[i]);
	for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
		perfetto_tree_thread(p, &threads[i]);
	perfetto_tree_outsider(p, 0);
	perfetto_tree_outsider(p, 1);
	perfetto_tree_end(p);
	perfetto_blocked(p, &db, true);
}

static void born_later(struct perfetto *p)
{
	static const char args[] = "/opt/web/helper\0--once";
	static const int32_t nspid = 9;
	const struct perfetto_process process = {
		.pid = 1250, .ppid = 1200, .uid = 1000, .comm = "helper", .cmdline = args,
		.cmdline_len = sizeof(args), .nspids = &nspid, .nr_nspids = 1
	};

	perfetto_tree_begin(p, AT(400));
	perfetto_tree_process(p, &process);
	perfetto_tree_end(p);
}

static void cpu0(struct perfetto *p)
{
	perfetto_cpu_begin(p, 0, &worker);
	/* Nothing of this is written: it is before the start. */
	perfetto_cpu_switch(p, START - SEC, S, &idle0);
	perfetto_cpu_switch(p, START, S, &worker);

	perfetto_cpu_switch(p, AT(100), D, &idle0);
	perfetto_cpu_waking(p, AT(151), &worker, 0, PERFETTO_IN_HARDIRQ);
	perfetto_cpu_blocked_reason(p, AT(151) + 500000, 1201, "nvme_wait_demo", true);
	perfetto_cpu_irq(p, AT(150), AT(152), 45, "nvme0q1");
	perfetto_cpu_softirq(p, AT(153), AT(154), 4);
	perfetto_cpu_switch(p, AT(160), RUNNABLE, &worker);
	perfetto_cpu_waking(p, AT(200), &flush, 1, 0);
	perfetto_cpu_switch(p, AT(300), PREEMPTED, &kworker);
	perfetto_cpu_switch(p, AT(310), IDLE_KTHREAD, &worker);
	perfetto_cpu_newtask(p, AT(400), 1201, &child, false);
	perfetto_cpu_waking(p, AT(450), &child, 1, 0);
	perfetto_cpu_switch(p, AT(500), S, &outside0);
	/* Whatever it was: an event that stands for many sleeps. */
	perfetto_cpu_switch(p, AT(600), PREEMPTED, &idle0);
	perfetto_cpu_waking(p, AT(900), &worker, 0, PERFETTO_IN_SOFTIRQ);
	perfetto_cpu_switch(p, AT(910), RUNNABLE, &worker);
	perfetto_cpu_end(p);
}

static void cpu1(struct perfetto *p)
{
	perfetto_cpu_begin(p, 1, &outside1);
	perfetto_cpu_switch(p, AT(220), RUNNABLE, &flush);
	perfetto_cpu_switch(p, AT(460), D, &child);
	perfetto_cpu_exec(p, AT(500), 1250, 1250, "/opt/web/helper");
	perfetto_cpu_rename(p, AT(500) + 1000, 1250, "web-worker", "helper");
	perfetto_cpu_switch(p, AT(710), X, &idle1);
	perfetto_cpu_freed(p, AT(750), &helper);
	perfetto_cpu_switch(p, AT(950), RUNNABLE, &outside1);
	perfetto_cpu_waking(p, AT(1000), &db, 1, 0);
	perfetto_cpu_blocked_reason(p, AT(1000) + 1000, 1300, "web_lock_slow", false);
	perfetto_cpu_switch(p, AT(1100), S, &db);
	perfetto_cpu_switch(p, AT(1200), PREEMPTED, &outside1);
	perfetto_cpu_end(p);
}

static void stacks(struct perfetto *p)
{
	static const struct perfetto_sampler sampler = { "cpu-clock", PERFETTO_CPU_CLOCK, 99 };
#define WEB .path = "/opt/web/web", .build_id = { 0x4e, 0x5f, 0x60, 0x71 }, .build_id_len = 4
#define KERNEL .path = "[kernel.kallsyms]", .build_id = { 0x0a, 0x1b, 0x2c, 0x3d }, .build_id_len = 4
	static const struct perfetto_frame frames[] = {
		{ .function = "main", WEB, .rel_pc = 0x1000, .kind = PERFETTO_NATIVE },
		{ .function = "handle_request", WEB, .rel_pc = 0x1100, .kind = PERFETTO_NATIVE },
		{ .function = "do_read_demo", KERNEL, .rel_pc = 0x2000, .kind = PERFETTO_KERNEL },
		{ .function = "schedule", KERNEL, .rel_pc = 0x3000, .kind = PERFETTO_KERNEL },
	}, unknown[] = { { .kind = PERFETTO_JIT } };
#undef WEB
#undef KERNEL
	struct perfetto_slice block = { "D: nvme_wait_demo", "offcpu" };
	struct perfetto_sample sample = { AT(320), 0, 1200, 1201, .mode = PERFETTO_MODE_USER };
	uint64_t track;

	perfetto_stacks_begin(p, &sampler);
	sample.stack = perfetto_stack(p, PERFETTO_OF_SAMPLE, frames, 2);
	perfetto_sample(p, &sample);
	block.stack = perfetto_stack(p, PERFETTO_OF_SLICE, frames, 4);
	sample = (struct perfetto_sample){ AT(50), 0, 1200, 1201, perfetto_stack(p, PERFETTO_OF_SAMPLE, frames, 4),
		PERFETTO_MODE_KERNEL };
	perfetto_sample(p, &sample);
	sample = (struct perfetto_sample){
		AT(60), 1, 1300, 1301, perfetto_stack(p, PERFETTO_OF_SAMPLE, unknown, 1), PERFETTO_MODE_USER
	};
	perfetto_sample(p, &sample);
	perfetto_samples_lost(p, AT(1900), 1, 3);

	track = perfetto_thread_track(p, AT(100), 1200, 1201);
	perfetto_slice_begin(p, AT(100), track, &block);
	perfetto_slice_end(p, AT(160), track);
}

static void numbers(struct perfetto *p)
{
	uint64_t cgroups = perfetto_group(p, 0, "cgroups"), loss = perfetto_group(p, 0, "systop loss"),
		 web = perfetto_counter(p, cgroups, "/web.slice on-cpu", PERFETTO_NS),
		 database = perfetto_counter(p, cgroups, "/db.slice on-cpu", PERFETTO_NS),
		 lost = perfetto_counter(p, loss, "lost cpu samples", PERFETTO_COUNT);

	perfetto_count(p, START, web, 0);
	perfetto_count(p, AT(1000), web, 430000000);
	perfetto_count(p, AT(1000), database, 240000000);
	perfetto_count(p, END, lost, 3);
	perfetto_instant(p, END, perfetto_group(p, 0, "systop"), "dump end");
}

int main(void)
{
	struct perfetto *p = perfetto_new(stdout, START);
	int err;

	if (!p)
		return EXIT_FAILURE;
	clocks(p, START, 0);
	host(p);
	there_at_start(p);
	born_later(p);
	cpu0(p);
	cpu1(p);
	stacks(p);
	numbers(p);
	clocks(p, END, 1000);
	err = perfetto_end(p, NULL);
	perfetto_free(p);
	if (err)
		fprintf(stderr, "trace: %s\n", strerror(-err));
	return err ? EXIT_FAILURE : EXIT_SUCCESS;
}
