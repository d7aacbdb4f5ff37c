/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ticks.h"

#include <stdio.h>
#include <string.h>

#include "model/event.h"
#include "query/interrupted.h"
#include "query/irq_history.h"
#include "util/clock.h"

#define REFRESHES 3

static const struct irq_source net = { IRQ_SOFT, 3, "NET_RX", "" };
static const struct irq_source timer = { IRQ_VECTOR, IRQ_LOC, "LOC", "" };
static struct cgroup root = { .id = 1, .path = "/" };
static struct cgroup web = { .id = 2, .path = "/web", .parent = &root, .depth = 1 };

struct past_of {
	struct model *model;
	struct life *life, *ksoftirqd;
	const struct tick *ticks[REFRESHES];
};

/* Refreshes 1, 2, 3: NET_RX took 10, 20, 30 ms, the longest 1, 2, 3 ms; the timer occurred only in the first. CPU 1
 * had no timer for 60 ms in the second, in which its ksoftirqd waited 70 ms. */
static void refresh(struct past_of *p, uint64_t nr)
{
	struct cpu_values cpu = { .cpu = 1, .run_ns = SEC, .gap_ns = nr == 2 ? 60000000 : nr == 3 ? VALUE_NA : 40000000,
				  .gap_at = nr * SEC, .gap_tid = 10 };
	struct irq_values v = { .source = &net, .count = nr, .ns = nr * 10000000, .max_ns = nr * 1000000,
				.max_at = nr * SEC - SEC / 2, .max_cpu = 1, .max_tid = 10, .nr_cpus = 1 };
	struct values waited = { 0 };

	waited.v[METRIC_ALIVE] = SEC;
	waited.v[METRIC_RUNQ_MAX] = nr == 2 ? 70000000 : 1000;
	v.hist.n[11] = nr;
	tick_begin_at(p->model, nr * SEC);
	assert_int_equal(model_idle(p->model, p->life, STATE_SLEEP), 0);
	assert_int_equal(model_thread(p->model, p->ksoftirqd, STATE_SLEEP, false, &waited), 0);
	assert_int_equal(model_cpu(p->model, &cpu), 0);
	assert_int_equal(model_irq(p->model, &v), 0);
	v.source = &timer;
	v.max_ns = 5000;
	if (nr == 1)
		assert_int_equal(model_irq(p->model, &v), 0);
	tick_cgroup(p->model, &root, NULL);
	tick_cgroup(p->model, &web, NULL);
	p->ticks[nr - 1] = tick_end(p->model);
}

static struct past_of make(void)
{
	struct identity id = { .tid = 10, .tgid = 10, .start_ns = 1, .comm = "nginx" };
	struct identity kernel = { .tid = 22, .tgid = 22, .start_ns = 1, .comm = "ksoftirqd/1",
				   .flags = PF_KTHREAD, .cpu = 1 };
	struct past_of p = { .model = model_new(1 << 20) };

	p.life = model_life(p.model, &id, &web);
	p.ksoftirqd = model_life(p.model, &kernel, &root);
	for (int nr = 1; nr <= REFRESHES; nr++)
		refresh(&p, nr);
	return p;
}

static void drop(struct past_of *p)
{
	for (int i = 0; i < REFRESHES; i++)
		tick_put(p->ticks[i]);
	model_life_end(p->model, p->life);
	model_life_end(p->model, p->ksoftirqd);
	model_free(p->model);
}

TEST(irq_history, the_longest_come_first)
{
	struct irq_bursts b = { 0 };

	for (uint64_t i = 0; i < 3 * IRQ_BURSTS; i++) {
		const struct irq_burst one = { &net, i * 7 % (3 * IRQ_BURSTS), 0, { .tid = 1 } };

		irq_bursts_add(&b, &one);
	}
	assert_int_equal(b.nr, IRQ_BURSTS);
	for (int i = 0; i < IRQ_BURSTS; i++)
		assert_int_equal(b.at[i].ns, 3 * IRQ_BURSTS - 1 - i);
}

TEST(irq_history, only_what_was_up_to_the_refresh)
{
	struct past_of p = make();
	struct irq_bursts all = { 0 }, of_timer = { 0 }, before = { 0 };
	struct hist hist;

	irq_history_bursts(p.ticks[2], IRQ_ALL, &all);
	assert_int_equal(all.nr, 4);
	assert_int_equal(all.at[0].ns, 3000000);
	assert_int_equal(all.at[0].who.tid, 10);
	irq_history_bursts(p.ticks[2], IRQ_LOC, &of_timer);
	assert_int_equal(of_timer.nr, 1);
	assert_ptr_equal(of_timer.at[0].source, &timer);
	irq_history_bursts(p.ticks[1], 3, &before);
	assert_int_equal(before.nr, 2);
	irq_history_hist(p.ticks[2], 3, &hist);
	assert_int_equal(hist.n[11], 6);
	irq_history_hist(p.ticks[1], 3, &hist);
	assert_int_equal(hist.n[11], 3);
	assert_true(irq_history_since(p.ticks[2]) == 0);
	drop(&p);
}

TEST(irq_history, time_is_unknown_before_the_first_and_none_where_nothing_was)
{
	struct past_of p = make();
	uint64_t ns[5];

	assert_int_equal(irq_history_time(p.ticks[2], IRQ_LOC, 5, ns), 10000000);
	assert_true(ns[0] == VALUE_NA && ns[1] == VALUE_NA);
	assert_int_equal(ns[2], 10000000);
	assert_true(!ns[3] && !ns[4]);
	assert_int_equal(irq_history_time(p.ticks[1], 3, 1, ns), 20000000);
	drop(&p);
}

/* The same share of the time in both refreshes. */
TEST(irq_history, time_of_refreshes_of_different_lengths)
{
	struct model *m = model_new(1 << 20);
	struct timespec wall = { 0 };
	const struct tick *t = NULL;
	uint64_t ns[2];

	for (uint64_t length = SEC; length <= 10 * SEC; length *= 10) {
		const struct irq_values v = { .source = &net, .ns = length / 50 };

		assert_int_equal(model_begin(m, length, 20 * SEC, &wall), 0);
		assert_int_equal(model_irq(m, &v), 0);
		tick_put(t);
		t = tick_end(m);
	}
	assert_int_equal(irq_history_time(t, 3, 2, ns), SEC / 50);
	assert_int_equal(ns[0], SEC / 50);
	assert_int_equal(ns[1], SEC / 50);
	tick_put(t);
	model_free(m);
}

TEST(irq_history, short_and_unwatched_gaps_are_none)
{
	struct past_of p = make();
	struct irq_bursts gaps = { 0 };

	irq_history_gaps(p.ticks[2], &gaps);
	assert_int_equal(gaps.nr, 1);
	assert_int_equal(gaps.at[0].ns, 60000000);
	assert_int_equal(gaps.at[0].cpu, 1);
	assert_null(gaps.at[0].source);
	drop(&p);
}

TEST(irq_history, a_ksoftirqd_that_waited_is_remembered)
{
	struct past_of p = make();
	struct irq_bursts now = { 0 }, before = { 0 };

	assert_int_equal(irq_history_starved(p.ticks[2], &now), 0);
	assert_int_equal(now.nr, 1);
	assert_int_equal(now.at[0].ns, 70000000);
	assert_int_equal(now.at[0].who.tid, 22);
	assert_true(now.at[0].who.at == 2 * SEC);
	assert_int_equal(irq_history_starved(p.ticks[0], &before), 0);
	assert_int_equal(before.nr, 0);
	drop(&p);
}

TEST(irq_history, threads_that_run_softirqs)
{
	static const struct {
		struct life life;
		bool runs;
	} cases[] = {
		{ { .comm = "ksoftirqd/1", .flags = PF_KTHREAD }, true },
		{ { .comm = "ktimers/12", .flags = PF_KTHREAD }, true },
		{ { .comm = "ktimers/12" }, false },
		{ { .comm = "kthreadd", .flags = PF_KTHREAD }, false },
	};

	FOR_EACH(c, cases)
		assert_int_equal(life_runs_softirqs(&c->life), c->runs);
}

/* A thread, an idle CPU, an unknown thread; other sources and other events do not count. */
TEST(interrupted, are_summed_by_thread_and_cgroup)
{
	const struct event events[] = {
		{ .at = SEC, .kind = RING_IRQ, .source = 3, .off_ns = 100, .tid = 10 },
		{ .at = 2 * SEC, .kind = RING_IRQ, .source = 3, .off_ns = 300, .tid = 10 },
		{ .at = SEC, .kind = RING_IRQ, .source = IRQ_LOC, .off_ns = 9000, .tid = 10 },
		{ .at = SEC, .kind = RING_SWITCH, .tid = 10 },
		{ .at = SEC, .kind = RING_IRQ, .source = 3, .off_ns = 500, .tid = 0 },
		{ .at = SEC, .kind = RING_IRQ, .source = 3, .off_ns = 50, .tid = 77 },
	};
	struct past_of p = make();
	struct interrupted v = { .source = &net };

	FOR_EACH(e, events)
		assert_int_equal(interrupted_event(&v, 1, e), 0);
	assert_int_equal(interrupted_done(&v, p.ticks[2]), 0);
	assert_int_equal(v.count, 4);
	assert_int_equal(v.ns, 950);
	assert_int_equal(v.nr, 3);
	assert_int_equal(v.at[0].who.tid, 0);
	assert_int_equal(v.at[1].ns, 400);
	assert_int_equal(v.at[1].longest_ns, 300);
	assert_string_equal(v.at[1].who.name, "nginx");
	assert_string_equal(v.at[1].who.cgroup, "/web");
	assert_string_equal(v.at[2].who.name, "");
	assert_int_equal(v.nr_cgroups, 2); /* the cgroup of the unknown thread is unknown; idle CPUs have none */
	assert_string_equal(v.cgroups[0].path, "/web");
	assert_int_equal(v.bursts.nr, 4);
	assert_int_equal(v.bursts.at[0].ns, 500);
	assert_true(v.bursts.at[1].who.at == 2 * SEC - 300);
	interrupted_fini(&v);
	drop(&p);
}

/* A thread has the name and the cgroup that it had at the time of its last interrupt, whatever its number had later or before. */
TEST(interrupted, names_at_that_time)
{
	static const struct {
		uint64_t at;
		const char *name, *cgroup;
	} cases[] = { { SEC - 1, "nginx", "/web" }, { 2 * SEC - 1, "renamed", "/" }, { 3 * SEC - 1, "other", "/web" } };
	struct identity renamed = { .tid = 10, .tgid = 10, .start_ns = 1, .comm = "renamed" };
	struct identity other = { .tid = 10, .tgid = 10, .start_ns = 2 * SEC, .comm = "other" };
	struct past_of p = { .model = model_new(1 << 20) };
	struct identity id = { .tid = 10, .tgid = 10, .start_ns = 1, .comm = "nginx" };
	struct identity kernel = { .tid = 22, .tgid = 22, .start_ns = 1, .comm = "ksoftirqd/1", .flags = PF_KTHREAD };

	p.life = model_life(p.model, &id, &web);
	p.ksoftirqd = model_life(p.model, &kernel, &root);
	refresh(&p, 1);
	p.life = model_life_update(p.model, p.life, &renamed, &root);
	refresh(&p, 2);
	model_life_end(p.model, p.life);
	p.life = model_life(p.model, &other, &web);
	refresh(&p, 3);
	FOR_EACH (c, cases) {
		struct interrupted v = { .source = &net };
		const struct event e = { .at = c->at, .kind = RING_IRQ, .source = 3, .off_ns = 100, .tid = 10 };

		assert_int_equal(interrupted_event(&v, 1, &e), 0);
		assert_int_equal(interrupted_done(&v, p.ticks[2]), 0);
		assert_string_equal(v.at[0].who.name, c->name);
		assert_string_equal(v.at[0].who.cgroup, c->cgroup);
		interrupted_fini(&v);
	}
	drop(&p);
}

/* As in the numbers of the refreshes, the length of an interrupt excludes those nested in it. Its end is recorded after theirs;
 * interrupts of another CPU are not nested in it. */
TEST(interrupted, time_is_without_that_of_nested_ones)
{
	static const struct {
		int cpu;
		struct event event;
	} events[] = {
		{ 1, { .at = SEC + 50, .kind = RING_IRQ, .source = IRQ_LOC, .off_ns = 20, .tid = 10 } }, /* before it */
		{ 1, { .at = SEC + 200, .kind = RING_IRQ, .source = IRQ_LOC, .off_ns = 50, .tid = 10 } },
		{ 1, { .at = SEC + 290, .kind = RING_IRQ, .source = IRQ_RES, .off_ns = 10, .tid = 10 } },
		{ 1, { .at = SEC + 300, .kind = RING_IRQ, .source = IRQ_LOC, .off_ns = 60, .tid = 10 } },
		{ 1, { .at = SEC + 500, .kind = RING_IRQ, .source = 3, .off_ns = 400, .tid = 10 } },
		{ 1, { .at = SEC + 900, .kind = RING_IRQ, .source = 3, .off_ns = 100, .tid = 10 } },
		{ 2, { .at = SEC + 950, .kind = RING_IRQ, .source = 3, .off_ns = 600, .tid = 10 } },
	};
	struct past_of p = make();
	struct interrupted v = { .source = &net };

	FOR_EACH(e, events)
		assert_int_equal(interrupted_event(&v, e->cpu, &e->event), 0);
	assert_int_equal(interrupted_done(&v, p.ticks[2]), 0);
	assert_int_equal(v.count, 3);
	assert_int_equal(v.ns, 290 + 100 + 600);
	assert_int_equal(v.at[0].ns, v.ns);
	assert_int_equal(v.at[0].longest_ns, 600);
	assert_int_equal(v.bursts.at[1].ns, 290);
	assert_true(v.bursts.at[1].who.at == SEC + 100);
	interrupted_fini(&v);
	drop(&p);
}

/* More interrupts than can be nested pass before one that has none nested in it. */
TEST(interrupted, one_after_many_others_is_whole)
{
	struct past_of p = make();
	struct interrupted v = { .source = &net };

	for (int i = 1; i <= 1000; i++) {
		struct event e = { .at = SEC + 100 * i, .kind = RING_IRQ, .source = IRQ_LOC, .off_ns = 20, .tid = 10 };

		assert_int_equal(interrupted_event(&v, 1, &e), 0);
	}
	assert_int_equal(interrupted_event(&v, 1, &(struct event){ .at = SEC + 100300, .kind = RING_IRQ, .source = 3,
								   .off_ns = 400, .tid = 10 }), 0);
	assert_int_equal(v.ns, 380);
	interrupted_fini(&v);
	drop(&p);
}

#define VICTIMS 60000
#define VICTIMS_NS 2000000000ULL /* usually 150 ms; 6 s if each looks at all cgroups before its own */

/* Each thread is in a cgroup of its own, and the paths have most characters in common. */
TEST(interrupted, many_are_summed_in_no_time)
{
	static struct cgroup pods[VICTIMS];
	static char paths[VICTIMS][64];
	static struct life *lives[VICTIMS];
	struct model *m = model_new(64 << 20);
	struct interrupted v = { .source = &net };
	const struct tick *t;
	uint64_t from;

	for (int i = 0; i < VICTIMS; i++) {
		snprintf(paths[i], sizeof(paths[i]), "/kubepods.slice/kubepods-burstable.slice/pod%05d", i);
		pods[i] = (struct cgroup){ .id = 10 + i, .path = paths[i], .parent = &root, .depth = 1 };
		lives[i] = tick_life(m, 1 + i, "server", &pods[i]);
	}
	tick_begin_at(m, SEC);
	for (int i = 0; i < VICTIMS; i++)
		assert_int_equal(model_idle(m, lives[i], STATE_SLEEP), 0);
	t = tick_end(m);
	from = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	for (int i = 0; i < VICTIMS; i++) {
		const struct event e = { .at = SEC / 2 + 100 * i, .kind = RING_IRQ, .source = 3, .off_ns = 20, .tid = 1 + i };

		assert_int_equal(interrupted_event(&v, 1, &e), 0);
	}
	assert_int_equal(interrupted_done(&v, t), 0);
	assert_true(clock_ns(CLOCK_THREAD_CPUTIME_ID) - from < VICTIMS_NS);
	assert_int_equal(v.nr_cgroups, VICTIMS);
	assert_string_equal(v.cgroups[VICTIMS - 1].path, paths[VICTIMS - 1]);
	interrupted_fini(&v);
	tick_put(t);
	for (int i = 0; i < VICTIMS; i++)
		model_life_end(m, lives[i]);
	model_free(m);
}

int main(void)
{
	RUN_TESTS(cmocka_unit_test(irq_history_the_longest_come_first),
		  cmocka_unit_test(irq_history_only_what_was_up_to_the_refresh),
		  cmocka_unit_test(irq_history_time_is_unknown_before_the_first_and_none_where_nothing_was),
		  cmocka_unit_test(irq_history_time_of_refreshes_of_different_lengths),
		  cmocka_unit_test(irq_history_short_and_unwatched_gaps_are_none),
		  cmocka_unit_test(irq_history_a_ksoftirqd_that_waited_is_remembered),
		  cmocka_unit_test(irq_history_threads_that_run_softirqs),
		  cmocka_unit_test(interrupted_are_summed_by_thread_and_cgroup),
		  cmocka_unit_test(interrupted_names_at_that_time),
		  cmocka_unit_test(interrupted_time_is_without_that_of_nested_ones),
		  cmocka_unit_test(interrupted_one_after_many_others_is_whole),
		  cmocka_unit_test(interrupted_many_are_summed_in_no_time));
}
