/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "export/perfetto/perfetto_cpu.h"
#include "export/perfetto/perfetto_stacks.h"
#include "trace.h"

static const struct perfetto_task idle = { 0, 120, "swapper/0" }, web = { 1201, 120, "web" },
				  db = { 1300, 110, "db" };

/* --- What is interned */

#define IDS_MAX 4096

/* By sequence and field of InternedData. */
#define SEQUENCES 5
static bool known[SEQUENCES][32][IDS_MAX];
static uint32_t sequence; /* of the packet being read */

static void define(int field, uint64_t id)
{
	assert_within(id, 1, IDS_MAX - 1);
	assert_false(known[sequence][field][id]);
	known[sequence][field][id] = true;
}

static void use(int field, bool has, uint64_t id)
{
	assert_true(!has || (id < IDS_MAX && known[sequence][field][id]));
}

static void read_interned(const PB(InternedData) *d)
{
	for (size_t i = 0; i < d->n_function_names; i++)
		define(5, d->function_names[i]->iid);
	for (size_t i = 0; i < d->n_build_ids; i++)
		define(16, d->build_ids[i]->iid);
	for (size_t i = 0; i < d->n_mapping_paths; i++)
		define(17, d->mapping_paths[i]->iid);
	for (size_t i = 0; i < d->n_event_names; i++)
		define(2, d->event_names[i]->iid);
	for (size_t i = 0; i < d->n_event_categories; i++)
		define(1, d->event_categories[i]->iid);
	for (size_t i = 0; i < d->n_kernel_symbols; i++)
		define(26, d->kernel_symbols[i]->iid);
	for (size_t i = 0; i < d->n_mappings; i++) {
		use(16, d->mappings[i]->has_build_id, d->mappings[i]->build_id);
		use(17, true, d->mappings[i]->path_string_ids[0]);
		define(19, d->mappings[i]->iid);
	}
	for (size_t i = 0; i < d->n_frames; i++) {
		use(5, d->frames[i]->has_function_name_id, d->frames[i]->function_name_id);
		use(19, d->frames[i]->has_mapping_id, d->frames[i]->mapping_id);
		define(6, d->frames[i]->iid);
	}
	for (size_t i = 0; i < d->n_callstacks; i++) {
		for (size_t j = 0; j < d->callstacks[i]->n_frame_ids; j++)
			use(6, true, d->callstacks[i]->frame_ids[j]);
		define(7, d->callstacks[i]->iid);
	}
}

static void read_event(const PB(TrackEvent) *e)
{
	use(2, e->has_name_iid, e->name_iid);
	use(7, e->has_callstack_iid, e->callstack_iid);
	for (size_t i = 0; i < e->n_category_iids; i++)
		use(1, true, e->category_iids[i]);
}

static void read_packets(void)
{
	bool begun[SEQUENCES] = { 0 };

	memset(known, 0, sizeof(known));
	for (size_t i = 0; i < trace.read->n_packet; i++) {
		const PB(TracePacket) *packet = trace.read->packet[i];

		sequence = packet->trusted_packet_sequence_id;
		assert_true(sequence < SEQUENCES);
		if (packet->sequence_flags == 1)
			begun[sequence] = true;
		assert_true(packet->sequence_flags != 2 || begun[sequence]);
		if (packet->interned_data)
			read_interned(packet->interned_data);
		if (packet->data_case == PERFETTO__PROTOS__TRACE_PACKET__DATA_TRACK_EVENT)
			read_event(packet->track_event);
		if (packet->data_case == PERFETTO__PROTOS__TRACE_PACKET__DATA_PERF_SAMPLE)
			use(7, packet->perf_sample->has_callstack_iid, packet->perf_sample->callstack_iid);
		if (packet->data_case != PERFETTO__PROTOS__TRACE_PACKET__DATA_FTRACE_EVENTS)
			continue;
		for (size_t j = 0; j < packet->ftrace_events->n_event; j++) {
			const PB(FtraceEvent) *e = packet->ftrace_events->event[j];

			if (e->event_case == PERFETTO__PROTOS__FTRACE_EVENT__EVENT_SCHED_BLOCKED_REASON)
				use(26, e->sched_blocked_reason->has_caller, e->sched_blocked_reason->caller);
		}
	}
}

/* Stack @nr: the same for the same number, from frames that others share. */
static uint64_t stack(struct perfetto *p, enum perfetto_use use, unsigned int nr)
{
	static const char *const files[] = { "[kernel.kallsyms]", "/usr/lib/libc.so.6", "/usr/lib/libc.so.6" };
	static const size_t id_lens[] = { 20, 0, 16 };
	struct perfetto_frame frames[40] = { 0 };
	size_t depth = nr % 40 + 1;
	char names[40][16];

	for (size_t i = 0; i < depth; i++) {
		unsigned int which = (nr + i) % 700;

		snprintf(names[i], sizeof(names[i]), "function_%u", which);
		frames[i] = (struct perfetto_frame){
			.function = which % 10 ? names[i] : NULL,
			.path = which % 11 ? files[which % 3] : NULL,
			.build_id = "0123456789012345678",
			.build_id_len = id_lens[which % 3],
			.rel_pc = which * 16,
			.kind = which % 3 ? PERFETTO_NATIVE : PERFETTO_KERNEL,
		};
	}
	return perfetto_stack(p, use, frames, depth);
}

TEST(perfetto_stacks, what_is_interned_comes_once_and_before_its_use)
{
	enum { STACKS = 1000, CPUS = 1, SAMPLES = 4 };
	static const struct perfetto_sampler sampler = { "cycles", PERFETTO_CPU_CYCLES, 99 };
	struct perfetto_slice slice = { "D", "offcpu" };
	struct perfetto *p = begin();
	uint64_t track, ids[STACKS];
	size_t samples = 0;

	perfetto_stacks_begin(p, &sampler);
	track = perfetto_thread_track(p, START, 1200, 1201);
	perfetto_cpu_begin(p, 0, &web);
	for (unsigned int i = 0; i < 2 * STACKS; i++) {
		struct perfetto_sample s = {
			START + i, 0, 1200, 1201, stack(p, PERFETTO_OF_SAMPLE, i % STACKS), PERFETTO_MODE_USER
		};

		assert_int_not_equal(s.stack, 0);
		if (i < STACKS)
			ids[i] = s.stack;
		assert_int_equal(ids[i % STACKS], s.stack);
		perfetto_sample(p, &s);
		perfetto_cpu_blocked_reason(p, START + i, 1201, i % 3 ? "io_schedule" : "rwsem_wait", i % 2);
	}
	slice.stack = stack(p, PERFETTO_OF_SLICE, 7);
	assert_int_equal(slice.stack, 1); /* numbered separately */
	perfetto_slice_begin(p, START + 5, track, &slice);
	perfetto_slice_end(p, START + 6, track);
	perfetto_cpu_end(p);
	assert_int_equal(perfetto_stack(p, PERFETTO_OF_SAMPLE, NULL, 0), 0);
	end(p);

	read_packets();
	for (size_t i = 0; i < trace.read->n_packet; i++)
		samples += trace.read->packet[i]->data_case == PERFETTO__PROTOS__TRACE_PACKET__DATA_PERF_SAMPLE;
	assert_int_equal(samples, 2 * STACKS);
	assert_true(known[SAMPLES][7][STACKS]);
	assert_false(known[SAMPLES][7][STACKS + 1]);
	assert_true(known[CPUS][26][2]);
	assert_false(known[CPUS][26][3]);
	forget();
}

/* Files, functions and build-ids are all numbered from 1. */
TEST(perfetto_stacks, each_file_has_its_own_mapping)
{
	enum { FILES = 40 };
	struct perfetto *p = begin();
	size_t mappings = 0, frames = 0;

	perfetto_stacks_begin(p, NULL);
	for (int i = 1; i <= FILES; i++) {
		char path[16];
		const struct perfetto_frame frame = { path, path, 16, PERFETTO_NATIVE, { i }, 1 };

		snprintf(path, sizeof(path), "/lib/%d", i);
		assert_int_equal(perfetto_stack(p, PERFETTO_OF_SLICE, &frame, 1), i);
	}
	end(p);

	read_packets();
	for (size_t i = 0; i < trace.read->n_packet; i++) {
		const PB(InternedData) *d = trace.read->packet[i]->interned_data;

		for (size_t k = 0; d && k < d->n_mappings; k++)
			assert_int_equal(d->mappings[k]->path_string_ids[0], ++mappings);
		for (size_t k = 0; d && k < d->n_frames; k++)
			assert_int_equal(d->frames[k]->mapping_id, ++frames);
	}
	assert_int_equal(mappings, FILES);
	assert_int_equal(frames, FILES);
	forget();
}

/* --- Size of a trace */

static uint32_t random_below(uint32_t n)
{
	static uint64_t state = 1;

	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (state >> 33) % n;
}

/* The next task of a busy CPU: half of the time one of two hundred threads, with the largest tids, else idle. */
static const struct perfetto_task *somebody(void)
{
	static char comms[200][16];
	static struct perfetto_task tasks[200];
	uint32_t i = random_below(400);

	if (i >= 200)
		return &idle;
	snprintf(comms[i], sizeof(comms[i]), "worker/u8:%u", i);
	tasks[i] = (struct perfetto_task){ 100000 + i * 20000, random_below(20) ? 120 : 98, comms[i] };
	return &tasks[i];
}

static void switches_and_wakings(struct perfetto *p, size_t nr)
{
	static const unsigned int states[] = { 1, 1, 1, 0, 2, 0x100, 0x80, 0x10 };
	uint64_t t = START;

	perfetto_cpu_begin(p, 0, &idle);
	for (size_t i = 0; i < nr; i++) {
		t += random_below(200000);
		if (i % 3)
			perfetto_cpu_switch(p, t, states[random_below(8)], somebody());
		else
			perfetto_cpu_waking(p, t, somebody(), random_below(64), random_below(2) ? 8 : 0);
	}
	perfetto_cpu_end(p);
}

static size_t a_life(struct perfetto *p, uint64_t t, const struct perfetto_task *parent)
{
	perfetto_cpu_newtask(p, t, parent->tid, &db, false);
	perfetto_cpu_exec(p, t + 1000, db.tid, db.tid, "/usr/bin/db");
	perfetto_cpu_freed(p, t + 3000, &db);
	return 3;
}

/* An interrupt, followed by softirqs. */
static size_t interrupts(struct perfetto *p, uint64_t t)
{
	perfetto_cpu_irq(p, t, t + 500, 24, "nvme0q1");
	for (int i = 0; i < 4; i++)
		perfetto_cpu_softirq(p, t + 1000 * i + 600, t + 1000 * i + 900, i);
	return 10;
}

/* Interrupts of a network server, short-lived processes, samples with their stacks. */
static void all_others(struct perfetto *p, size_t nr)
{
	const struct perfetto_task busy = { 3900000, 120, "busy" };
	struct perfetto_sample s = { .cpu = 1, .pid = busy.tid, .tid = busy.tid, .mode = PERFETTO_MODE_KERNEL };
	uint64_t t = START;
	size_t done = 0;

	perfetto_cpu_begin(p, 0, &busy);
	for (int i = 0; done < nr; i++) {
		t += random_below(1000000);
		done += interrupts(p, t);
		if (i % 50 == 0)
			done += a_life(p, t + 5000, &busy);
		if (i % 20)
			continue;
		s.t = t + 9000;
		s.stack = stack(p, PERFETTO_OF_SAMPLE, random_below(500));
		perfetto_sample(p, &s);
		done++;
	}
	perfetto_cpu_end(p);
}

TEST(perfetto_stacks, events_are_small)
{
	enum { EVENTS = 100000 };
	static const struct {
		void (*write)(struct perfetto *, size_t);
		double most;
	} cases[] = { { switches_and_wakings, 12 }, { all_others, 24 } };

	FOR_EACH(c, cases) {
		struct perfetto *p = begin();
		double each;

		perfetto_stacks_begin(p, NULL);
		c->write(p, EVENTS);
		end(p);
		each = (double)trace.size / EVENTS;
		print_message("# %.1f bytes an event\n", each);
		assert_true(each <= c->most);
		forget();
	}
}

int main(void)
{
	RUN_TESTS(cmocka_unit_test(perfetto_stacks_what_is_interned_comes_once_and_before_its_use),
		  cmocka_unit_test(perfetto_stacks_each_file_has_its_own_mapping),
		  cmocka_unit_test(perfetto_stacks_events_are_small));
}
