/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include <errno.h>

#include "export/perfetto/perfetto_cpu.h"
#include "export/perfetto/perfetto_stacks.h"
#include "export/perfetto/perfetto_tree.h"
#include "trace.h"

#define BUNDLE_MAX 4096

static const struct perfetto_task idle = { 0, 120, "swapper/0" }, web = { 1201, 120, "web" },
				  db = { 1300, 110, "db" };

static const PB(FtraceEventBundle) *bundle(size_t nr)
{
	for (size_t i = 0; i < trace.read->n_packet; i++) {
		const PB(TracePacket) *packet = trace.read->packet[i];

		if (packet->data_case == PERFETTO__PROTOS__TRACE_PACKET__DATA_FTRACE_EVENTS && !nr--)
			return packet->ftrace_events;
	}
	return NULL;
}

TEST(perfetto, nothing_told_is_an_empty_file)
{
	struct perfetto *p = begin();

	perfetto_tree_begin(p, 0);
	perfetto_tree_end(p);
	end(p);
	assert_int_equal(trace.size, 0);
	forget();
	perfetto_free(NULL);
}

TEST(perfetto, an_empty_list_of_attributes_is_whole)
{
	struct perfetto *p = begin();

	perfetto_attributes(p, NULL, 0);
	perfetto_uuid(p, 1, 2);
	end(p);
	assert_int_equal(trace.read->n_packet, 2);
	assert_int_equal(trace.read->packet[0]->trace_attributes->n_attribute, 0);
	assert_int_equal(trace.read->packet[1]->trace_uuid->lsb, 2);
	forget();
}

static void everything_at(struct perfetto *p, uint64_t t)
{
	perfetto_cpu_switch(p, t, 1, &web);
	perfetto_cpu_waking(p, t, &web, 0, 0);
	perfetto_cpu_blocked_reason(p, t, 1201, "schedule", false);
	perfetto_cpu_newtask(p, t, 1201, &db, true);
	perfetto_cpu_exec(p, t, 1201, 1201, "/bin/web");
	perfetto_cpu_rename(p, t, 1201, "web", "web2");
	perfetto_cpu_freed(p, t, &web);
	perfetto_cpu_irq(p, t, t, 9, "acpi");
	perfetto_cpu_softirq(p, t, t, 1);
}

TEST(perfetto, only_the_first_switch_is_at_the_start)
{
	const PB(FtraceEventBundle__CompactSched) *compact;
	const PB(FtraceEventBundle) *b;
	struct perfetto *p = begin();

	perfetto_cpu_begin(p, 3, &db);
	everything_at(p, 0);
	everything_at(p, START - 1);
	everything_at(p, START);
	everything_at(p, START + 1);
	perfetto_cpu_end(p);
	end(p);

	b = bundle(0);
	assert_int_equal(b->cpu, 3);
	assert_true(b->has_previous_bundle_end_timestamp);
	assert_int_equal(b->previous_bundle_end_timestamp, START);
	assert_int_equal(b->n_event, 1 + 9);
	assert_int_equal(b->event[0]->event_case, PERFETTO__PROTOS__FTRACE_EVENT__EVENT_SCHED_SWITCH);
	assert_int_equal(b->event[0]->timestamp, START);
	assert_string_equal(b->event[0]->sched_switch->prev_comm, "swapper/3");
	assert_int_equal(b->event[0]->sched_switch->prev_pid, 0);
	assert_int_equal(b->event[0]->sched_switch->next_pid, 1300);
	assert_int_equal(b->event[0]->sched_switch->next_prio, 110);
	for (size_t i = 1; i < b->n_event; i++) {
		assert_int_equal(b->event[i]->timestamp, START + 1);
		assert_true(b->event[i]->has_pid);
	}
	compact = b->compact_sched;
	assert_int_equal(compact->n_switch_timestamp, 1);
	assert_int_equal(compact->switch_timestamp[0], START + 1);
	assert_int_equal(compact->n_waking_timestamp, 1);
	assert_int_equal(compact->waking_timestamp[0], START + 1);
	assert_null(bundle(1));
	forget();
}

static void check_arrays(const PB(FtraceEventBundle__CompactSched) *c)
{
	assert_int_equal(c->n_switch_prev_state, c->n_switch_timestamp);
	assert_int_equal(c->n_switch_next_pid, c->n_switch_timestamp);
	assert_int_equal(c->n_switch_next_prio, c->n_switch_timestamp);
	assert_int_equal(c->n_switch_next_comm_index, c->n_switch_timestamp);
	assert_int_equal(c->n_waking_pid, c->n_waking_timestamp);
	assert_int_equal(c->n_waking_target_cpu, c->n_waking_timestamp);
	assert_int_equal(c->n_waking_prio, c->n_waking_timestamp);
	assert_int_equal(c->n_waking_comm_index, c->n_waking_timestamp);
	assert_int_equal(c->n_waking_common_flags, c->n_waking_timestamp);
	for (size_t i = 0; i < c->n_switch_timestamp; i++)
		assert_true(c->switch_next_comm_index[i] < c->n_intern_table);
	for (size_t i = 0; i < c->n_waking_timestamp; i++)
		assert_true(c->waking_comm_index[i] < c->n_intern_table);
}

/* Many events, of threads with the maximum of names: what is read equals what was written. */
TEST(perfetto, long_records_are_cut_into_bundles)
{
	enum { EVENTS = 20000 };
	struct perfetto *p = begin();
	size_t switches = 0, wakings = 0, softirqs = 0, nr = 0;
	char comm[16];
	const PB(FtraceEventBundle) *b;

	perfetto_cpu_begin(p, 0, &web);
	for (int i = 1; i <= EVENTS; i++) {
		struct perfetto_task next = { i, 120, comm };

		snprintf(comm, sizeof(comm), "thread-%d", i % 3000);
		perfetto_cpu_switch(p, START + 3 * i, i % 2, &next);
		perfetto_cpu_waking(p, START + 3 * i + 1, &next, i % 8, i % 2 ? PERFETTO_IN_SOFTIRQ : 0);
		perfetto_cpu_softirq(p, START + 3 * i + 1, START + 3 * i + 2, i % 10);
	}
	perfetto_cpu_end(p);
	end(p);

	for (; (b = bundle(nr)); nr++) {
		const PB(FtraceEventBundle__CompactSched) *c = b->compact_sched;
		uint64_t t = 0;

		check_arrays(c);
		assert_int_equal(b->has_previous_bundle_end_timestamp, nr == 0);
		assert_true(c->n_switch_timestamp + c->n_waking_timestamp + b->n_event <= BUNDLE_MAX);
		for (size_t i = 0; i < c->n_switch_timestamp; i++) {
			switches++;
			snprintf(comm, sizeof(comm), "thread-%zu", switches % 3000);
			t += c->switch_timestamp[i];
			assert_int_equal(t, START + 3 * switches);
			assert_int_equal(c->switch_next_pid[i], switches);
			assert_int_equal(c->switch_prev_state[i], switches % 2);
			assert_string_equal(c->intern_table[c->switch_next_comm_index[i]], comm);
		}
		t = 0;
		for (size_t i = 0; i < c->n_waking_timestamp; i++) {
			wakings++;
			t += c->waking_timestamp[i];
			assert_int_equal(t, START + 3 * wakings + 1);
			assert_int_equal(c->waking_target_cpu[i], wakings % 8);
		}
		softirqs += b->n_event;
	}
	assert_int_equal(switches, EVENTS);
	assert_int_equal(wakings, EVENTS);
	assert_int_equal(softirqs, 2 * EVENTS + 1);
	forget();
}

TEST(perfetto, what_is_out_of_order_keeps_its_time)
{
	struct perfetto *p = begin();

	perfetto_cpu_begin(p, 0, &web);
	perfetto_cpu_switch(p, START + 1000, 1, &db);
	perfetto_cpu_switch(p, START + 900, 1, &web);
	perfetto_cpu_switch(p, START + 950, 1, &db);
	perfetto_cpu_end(p);
	end(p);

	assert_int_equal(bundle(0)->compact_sched->switch_timestamp[0], START + 1000);
	assert_int_equal(bundle(1)->compact_sched->switch_timestamp[0], START + 900);
	assert_int_equal(bundle(1)->compact_sched->switch_timestamp[1], 50);
	assert_false(bundle(1)->has_previous_bundle_end_timestamp);
	assert_null(bundle(2));
	forget();
}

TEST(perfetto, wakings_out_of_order_keep_their_time)
{
	struct perfetto *p = begin();

	perfetto_cpu_begin(p, 0, &web);
	perfetto_cpu_waking(p, START + 1000, &db, 0, 0);
	perfetto_cpu_waking(p, START + 900, &web, 0, 0);
	perfetto_cpu_waking(p, START + 950, &db, 0, 0);
	perfetto_cpu_end(p);
	end(p);

	assert_int_equal(bundle(0)->compact_sched->waking_timestamp[0], START + 1000);
	assert_int_equal(bundle(1)->compact_sched->waking_timestamp[0], START + 900);
	assert_int_equal(bundle(1)->compact_sched->waking_timestamp[1], 50);
	assert_null(bundle(2));
	forget();
}

TEST(perfetto, who_stands_for_others_always_sleeps)
{
	const struct perfetto_task outside = { PERFETTO_OUTSIDER(1), 120, PERFETTO_OUTSIDER_COMM };
	const PB(FtraceEventBundle__CompactSched) *c;
	struct perfetto *p = begin();

	perfetto_cpu_begin(p, 1, &outside);
	perfetto_cpu_switch(p, START + 1, 0x100, &web);
	perfetto_cpu_switch(p, START + 2, 2, &outside);
	perfetto_cpu_switch(p, START + 3, 0, &idle);
	perfetto_cpu_end(p);
	end(p);

	c = bundle(0)->compact_sched;
	assert_int_equal(c->switch_prev_state[0], 1);
	assert_int_equal(c->switch_prev_state[1], 2);
	assert_int_equal(c->switch_prev_state[2], 1);
	forget();
}

TEST(perfetto, who_is_born_has_a_later_tree)
{
	const struct perfetto_process process = {
		.pid = 1250, .comm = "web", .cmdline = "nginx\0\0master\0\0\0", .cmdline_len = 16, .uid = -1,
		.label = "cgroup:/web"
	}, none = { .pid = 1, .uid = 0xfffffffe, .comm = "\033]0;", .cmdline = "\0\0", .cmdline_len = 2 };
	const PB(TracePacket) *packet;
	struct perfetto *p = begin();

	perfetto_tree_begin(p, 0);
	perfetto_tree_process(p, &none);
	perfetto_tree_end(p);
	perfetto_tree_begin(p, START + 500);
	perfetto_tree_process(p, &process);
	perfetto_tree_end(p);
	end(p);

	packet = trace.read->packet[0];
	assert_int_equal(packet->timestamp, START);
	assert_int_equal(packet->process_tree->n_processes, 1);
	assert_true(packet->process_tree->processes[0]->cmdline_is_comm);
	assert_string_equal(packet->process_tree->processes[0]->cmdline[0], "\\x1b]0;");
	packet = trace.read->packet[1];
	assert_int_equal(packet->timestamp, START + 501);
	assert_int_equal(packet->process_tree->processes[0]->n_cmdline, 3);
	assert_string_equal(packet->process_tree->processes[0]->cmdline[2], "master");
	assert_false(packet->process_tree->processes[0]->has_uid);
	packet = trace.read->packet[2];
	assert_int_equal(packet->timestamp, START + 501);
	assert_string_equal(packet->track_descriptor->process->process_labels[0], "cgroup:/web");
	forget();
}

TEST(perfetto, text_is_made_safe)
{
	const struct perfetto_task rude = { 7, 120, "\xff\033[31m" };
	struct perfetto *p = begin();

	perfetto_cpu_begin(p, 0, &rude);
	perfetto_cpu_waking(p, START + 1, &rude, 0, 0);
	perfetto_cpu_end(p);
	end(p);
	assert_string_equal(bundle(0)->event[0]->sched_switch->next_comm, "\\xff\\x1b[31m");
	assert_string_equal(bundle(0)->compact_sched->intern_table[0], "\\xff\\x1b[31m");
	forget();
}

TEST(perfetto, a_full_disk_is_told)
{
	const struct perfetto_frame frame = { .function = "main" };
	FILE *full = fopen("/dev/full", "w");
	struct perfetto *p;
	uint64_t t = START;

	if (!full)
		return;
	p = perfetto_new(full, START);
	perfetto_stacks_begin(p, NULL);
	perfetto_cpu_begin(p, 0, &web);
	assert_int_equal(perfetto_error(p), 0);
	/* Until the buffer is full. */
	for (; !perfetto_error(p) && t < START + 10000000; t++)
		perfetto_cpu_switch(p, t, 1, t % 2 ? &web : &db);
	assert_int_equal(perfetto_error(p), -ENOSPC);
	everything_at(p, t);
	perfetto_cpu_end(p);
	perfetto_cpu_begin(p, 1, &web);
	perfetto_cpu_end(p);
	perfetto_tree_begin(p, 0);
	perfetto_tree_outsider(p, 0);
	perfetto_tree_end(p);
	assert_int_equal(perfetto_stack(p, PERFETTO_OF_SAMPLE, &frame, 1), 0);
	assert_int_equal(perfetto_end(p, NULL), -ENOSPC);
	perfetto_free(p);
	fclose(full);
}

TEST(perfetto, a_disk_that_is_full_at_the_end_is_told)
{
	FILE *full = fopen("/dev/full", "w");
	struct perfetto *p;

	if (!full)
		return;
	p = perfetto_new(full, START);
	perfetto_uuid(p, 1, 2);
	assert_int_equal(perfetto_end(p, NULL), -ENOSPC);
	perfetto_free(p);
	fclose(full);
}

int main(void)
{
	RUN_TESTS(cmocka_unit_test(perfetto_nothing_told_is_an_empty_file),
		  cmocka_unit_test(perfetto_an_empty_list_of_attributes_is_whole),
		  cmocka_unit_test(perfetto_only_the_first_switch_is_at_the_start),
		  cmocka_unit_test(perfetto_long_records_are_cut_into_bundles),
		  cmocka_unit_test(perfetto_what_is_out_of_order_keeps_its_time),
		  cmocka_unit_test(perfetto_wakings_out_of_order_keep_their_time),
		  cmocka_unit_test(perfetto_who_stands_for_others_always_sleeps),
		  cmocka_unit_test(perfetto_who_is_born_has_a_later_tree),
		  cmocka_unit_test(perfetto_text_is_made_safe), cmocka_unit_test(perfetto_a_full_disk_is_told),
		  cmocka_unit_test(perfetto_a_disk_that_is_full_at_the_end_is_told));
}
