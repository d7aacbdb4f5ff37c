/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ticks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/sample.h"
#include "model/wait.h"
#include "query/blocked.h"
#include "query/pairs.h"
#include "sym/names.h"
#include "tui/screen/host.h"
#include "tui/term/paint.h"
#include "tui/view/flame/flame_view.h"
#include "tui/view/latency/latency_view.h"

#define MS 1000000ULL

static struct cgroup root = { .id = 1, .path = "/" };

/* In a refresh: @n waits of [2^slot, 2^(slot+1)) ns. */
static void waited(struct model *m, struct life *l, int slot, uint32_t n)
{
	struct values v = { 0 };

	v.v[METRIC_RUNQ] = v.v[METRIC_ALIVE] = SEC;
	v.hist[HIST_RUNQ].n[slot] = n;
	assert_int_equal(model_thread(m, l, STATE_SLEEP, false, &v), 0);
}

static const struct tick *end(struct model *m)
{
	tick_cgroup(m, &root, NULL);
	return tick_end(m);
}

struct made {
	struct model *m;
	struct life *a, *b;
	const struct tick *t; /* the last of three, in which a and b waited, slept, and were in D state */
};

static struct made make(void)
{
	static const struct irq_source net = { IRQ_SOFT, 3, "NET_RX", "" }, timer = { IRQ_VECTOR, 10, "LOC", "" };
	struct irq_values v = { .source = &net, .count = 5, .ns = 9000, .max_ns = 70000, .max_cpu = 1, .nr_cpus = 1 };
	struct made g = { .m = model_new(1 << 20) };

	g.a = tick_life(g.m, 10, "a", &root);
	g.b = tick_life(g.m, 20, "b", &root);
	for (int i = 1; i <= 3; i++) {
		const struct wait waits[] = {
			{ g.a, g.b, NULL, 3000, 1, WAIT_BEHIND },
			{ g.a, NULL, NULL, 1000, 1, WAIT_SEVERAL },
		};
		const struct away aways[] = {
			{ g.a, 40000000, 2, HIST_D, 24 },
			{ g.b, 7000000, 1, HIST_SLEEP, 22 },
		};

		tick_begin(g.m);
		waited(g.m, g.a, 20, 10);
		waited(g.m, g.b, i == 2 ? 20 : 15, 3);
		for (int k = 0; k < 2; k++) {
			assert_int_equal(model_wait(g.m, &waits[k]), 0);
			assert_int_equal(model_away(g.m, &aways[k]), 0);
		}
		v.source = &net;
		v.hist.n[15] = 5;
		assert_int_equal(model_irq(g.m, &v), 0);
		v.source = &timer;
		assert_int_equal(model_irq(g.m, &v), 0);
		if (g.t)
			tick_put(g.t);
		g.t = end(g.m);
	}
	return g;
}

static void drop(struct made *g)
{
	tick_put(g->t);
	model_life_end(g->m, g->a);
	model_life_end(g->m, g->b);
	model_free(g->m);
}

TEST(latency_range, threads_that_waited_so_long)
{
	struct latency_range r = { HIST_RUNQ, 1, 3, 20, 21 };
	struct latency_contributors p = { 0 };
	struct made g = make();

	assert_int_equal(latency_contributors_find(&p, g.t, &r), 0);
	assert_int_equal(p.nr, 2);
	assert_int_equal(p.count, 33);
	assert_int_equal(p.at[0]->life.tid, 10);
	assert_string_equal(p.at[0]->row.thread->comm, "a");
	assert_int_equal(p.at[0]->count, 30);
	assert_int_equal(p.at[0]->ns, 30 * 3 * (1ULL << 19));
	assert_int_equal(p.at[1]->count, 3); /* only those of the second refresh */
	assert_int_equal(p.at[0]->nr_behind, 2);
	assert_string_equal(p.at[0]->behind[0].name, "b");
	assert_int_equal(p.at[0]->behind[0].ns, 9000);
	assert_string_equal(p.at[0]->behind[1].name, "[several]");
	assert_int_equal(p.at[0]->behind_ns, 12000);
	r.low = r.high = 15;
	r.last = 2;
	assert_int_equal(latency_contributors_find(&p, g.t, &r), 0);
	assert_int_equal(p.nr, 1);
	assert_int_equal(p.at[0]->life.tid, 20);
	assert_int_equal(p.count, 3);
	drop(&g);
	assert_string_equal(p.at[0]->cgroup.path, "/"); /* it outlives its refreshes */
	latency_contributors_fini(&p);
}

/* Each wait counts as the middle of its slot, which begins at 0 for the shortest. */
TEST(latency_range, the_shortest_waits)
{
	const int first = hists[HIST_RUNQ].first;
	struct latency_range r = { HIST_RUNQ, 1, 1, first, first };
	struct values v = { .v = { [METRIC_ALIVE] = SEC, [METRIC_RUNQ_MAX] = 5000000 } };
	struct latency_contributors p = { 0 };
	struct model *m = model_new(1 << 20);
	struct life *l = tick_life(m, 10, "a", &root);
	const struct tick *t;

	v.hist[HIST_RUNQ].n[first] = 10;
	v.hist[HIST_RUNQ].n[22] = 1;
	tick_begin(m);
	assert_int_equal(model_thread(m, l, STATE_SLEEP, false, &v), 0);
	t = end(m);
	assert_int_equal(latency_contributors_find(&p, t, &r), 0);
	assert_int_equal(p.count, 10);
	assert_int_equal(p.ns, 10 * (1ULL << first));
	latency_contributors_fini(&p);
	tick_put(t);
	model_life_end(m, l);
	model_free(m);
}

/* A wait of each length behind threads of other names, the shortest first: the longest are listed, and shares are of all. */
TEST(latency_range, what_ran_instead_most_first)
{
	enum { NAMES = 40 };
	struct latency_range r = { HIST_RUNQ, 1, 1, 20, 20 };
	struct latency_contributors p = { 0 };
	struct model *m = model_new(1 << 20);
	struct life *l = tick_life(m, 10, "a", &root), *by[NAMES];
	const struct tick *t;

	tick_begin(m);
	waited(m, l, 20, NAMES);
	for (int i = 0; i < NAMES; i++) {
		char name[16];

		snprintf(name, sizeof(name), "by%d", i);
		by[i] = tick_life(m, 100 + i, name, &root);
		assert_int_equal(model_wait(m, &(struct wait){ l, by[i], NULL, 1000 * (i + 1), 1, WAIT_BEHIND }), 0);
	}
	t = end(m);
	assert_int_equal(latency_contributors_find(&p, t, &r), 0);
	assert_string_equal(p.at[0]->behind[0].name, "by39");
	assert_int_equal(p.at[0]->behind[0].ns, 40000);
	assert_string_equal(p.at[0]->behind[2].name, "by37");
	assert_int_equal(p.at[0]->behind_ns, 1000 * NAMES * (NAMES + 1) / 2);
	latency_contributors_fini(&p);
	tick_put(t);
	for (int i = 0; i < NAMES; i++)
		model_life_end(m, by[i]);
	model_life_end(m, l);
	model_free(m);
}

static int count_samples(void *arg, const struct stack_sample *sample)
{
	struct stack_sample *sum = arg;

	sum->count += sample->count;
	sum->weight += sample->weight;
	return 0;
}

/* The flamegraph of a range has as many blocks as the range, even if some have no stack. */
TEST(latency_range, flamegraph_counts_all)
{
	const struct latency_range r = { HIST_D, 1, 3, 24, 24 };
	struct made g = make();
	struct view_context c = { .tick = g.t };
	struct flame_view *view = calloc(1, view_flame.state_size);
	struct stack_sample sum = { 0 };
	struct opening o = { 0 };

	assert_true(latency_flame(&o, &r, &c));
	o.init(view, o.arg);
	view->context = &c;
	assert_int_equal(flame_source_samples(view, count_samples, &sum), 0);
	assert_int_equal(sum.count, 6);
	assert_int_equal(sum.weight, 120000000);
	view_flame.fini(view);
	free(view);
	drop(&g);
}

static int hertz(void *arg)
{
	(void)arg;
	return 99;
}

static void no_sleepers(void *arg)
{
	(void)arg;
}

static uint64_t same_names(void *arg)
{
	(void)arg;
	return 0;
}

/* A comparison shows the refreshes since its base, as far as they are remembered. */
TEST(flame, refreshes_that_are_compared)
{
	const struct paint paint = { .width = 80 };
	const struct host host = { .samples = hertz, .want_sleepers = no_sleepers, .source = { .names_generation = same_names } };
	struct view_context c = { .paint = &paint, .host = &host, .search = "" };
	struct flame_view *view = calloc(1, view_flame.state_size);
	struct model *m = model_new(1 << 20);
	const struct tick *t = NULL;
	char text[200], want[40];

	view->base_seq = 1;
	view->compares = true;
	for (int i = 1; i <= HISTORY_TICKS + 10; i++) {
		tick_begin(m);
		tick_put(t);
		c.tick = t = end(m);
		c.nr_shown = i;
		assert_int_equal(view_flame.update(view, &c), 0);
		view_flame.status(view, &c, text, sizeof(text));
		if (i == 4)
			assert_non_null(strstr(text, ", 3 refreshes, 99 Hz"));
	}
	snprintf(want, sizeof(want), ", %d refreshes, 99 Hz", HISTORY_TICKS);
	assert_non_null(strstr(text, want));
	view_flame.fini(view);
	free(view);
	tick_put(t);
	model_free(m);
}

static const struct symbol *wait_symbol(void *arg, uint64_t frame, uint32_t tgid)
{
	static const struct symbol s = { "wait", "[kernel]", SYMBOL_KERNEL, true, .id = 105 };

	(void)arg, (void)frame, (void)tgid;
	return &s;
}

/* A stack of a thread that is blocked is read after the refresh that shows it: the next key finds it there. */
TEST(flame, stacks_that_are_read_late)
{
	static struct {
		struct stack stack;
		uint64_t frames[1];
	} kernel = { .stack = { .nr = 1, .hash = 1 }, .frames = { FRAME_KERNEL } };
	const struct host host = { .want_sleepers = no_sleepers,
				   .source = { .names_generation = same_names, .symbol = wait_symbol } };
	struct flame_view *view = calloc(1, view_flame.state_size);
	struct model *m = model_new(1 << 20);
	struct life *l = tick_life(m, 10, "a", &root);
	const struct calltree *f = &view->flames[TREE_MAIN];
	struct view_context c = { .host = &host, .nr_shown = 1 };

	view->options.metric = METRIC_D;
	tick_begin(m);
	waited(m, l, 20, 1);
	assert_int_equal(model_block(m, l, METRIC_D, MS, false), 0);
	c.tick = end(m);
	assert_int_equal(view_flame.update(view, &c), 0);
	assert_string_equal(calltree_name(&f->nodes[f->nodes[0].child]), "[no stack]");
	model_block_stacks(l->block, NULL, &kernel.stack, 0);
	assert_int_equal(view_flame.update(view, &c), 0);
	assert_string_equal(calltree_name(&f->nodes[f->nodes[0].child]), "wait");
	view_flame.fini(view);
	free(view);
	tick_put(c.tick);
	model_life_end(m, l);
	model_free(m);
}

static const struct symbol *named_frame(void *arg, uint64_t frame, uint32_t tgid)
{
	static struct symbol s = { "", "[kernel]", SYMBOL_KERNEL, true };

	(void)tgid;
	s.name = ((const char *const *)arg)[frame & 0xff];
	return &s;
}

/* The locks of PREEMPT_RT sleep: the caller of the lock is the reason. */
TEST(blocked, in_a_spinlock_of_preempt_rt)
{
	static const char *const stacks[][4] = {
		{ "schedule_rtlock", "rtlock_slowlock_locked", "rt_spin_lock", "do_work" },
		{ "rwbase_write_lock", "rt_write_lock", "rt_write_lock", "do_work" },
		{ "__rwbase_read_lock", "rt_read_lock", "do_work", "main" },
	};
	static struct {
		struct stack stack;
		uint64_t frames[4];
	} kernel = { .stack = { .nr = 4 },
		     .frames = { FRAME_KERNEL, FRAME_KERNEL | 1, FRAME_KERNEL | 2, FRAME_KERNEL | 3 } };
	const struct waiter w = { .at.kernel = &kernel.stack };

	FOR_EACH(stack, stacks) {
		const struct source source = { .arg = (void *)stack, .symbol = named_frame };
		char where[40];

		waiter_where(&w, &source, where, sizeof(where));
		assert_string_equal(where, "do_work");
	}
}

/* The longest interrupt is known: no quantile is above it. */
TEST(latency_range, quantiles_up_to_the_longest)
{
	struct hist l = { { 0 } };

	l.n[16] = 100;
	assert_true(hist_quantile(&l, HIST_IRQ, 0.99, VALUE_NA) > 70000);
	assert_int_equal(hist_quantile(&l, HIST_IRQ, 0.99, 70000), 70000);
	l.n[16] = 0;
	assert_true(hist_quantile(&l, HIST_IRQ, 0.99, 70000) == VALUE_NA);
}

/* Adding refreshes one by one gives the same as all at once. */
TEST(latency_range, ranges_that_grow)
{
	struct latency_range r = { HIST_RUNQ, 3, 3, 10, 20 };
	struct latency_contributors one = { 0 }, other = { 0 };
	struct made g = make();

	for (; r.first; r.first--)
		assert_int_equal(latency_contributors_find(&one, g.t, &r), 0);
	r.first = 1;
	assert_int_equal(latency_contributors_find(&other, g.t, &r), 0);
	assert_int_equal(one.nr, other.nr);
	assert_int_equal(one.count, 39);
	assert_int_equal(other.count, 39);
	for (size_t i = 0; i < one.nr; i++) {
		assert_int_equal(one.at[i]->life.tid, other.at[i]->life.tid);
		assert_int_equal(one.at[i]->ns, other.at[i]->ns);
		assert_int_equal(one.at[i]->behind_ns, other.at[i]->behind_ns);
		assert_int_equal(one.at[i]->nr_behind, other.at[i]->nr_behind);
		for (size_t k = 0; k < one.at[i]->nr_behind; k++)
			assert_int_equal(one.at[i]->behind[k].ns, other.at[i]->behind[k].ns);
	}
	r.first = 2; /* and removing one */
	assert_int_equal(latency_contributors_find(&one, g.t, &r), 0);
	assert_int_equal(one.count, 26);
	drop(&g);
	latency_contributors_fini(&one);
	latency_contributors_fini(&other);
}

TEST(latency_range, threads_that_slept_or_were_in_d)
{
	struct latency_range r = { HIST_D, 2, 3, 24, 24 };
	struct latency_contributors p = { 0 };
	struct made g = make();

	assert_int_equal(latency_contributors_find(&p, g.t, &r), 0);
	assert_int_equal(p.nr, 1);
	assert_int_equal(p.at[0]->life.tid, 10);
	assert_int_equal(p.at[0]->count, 4);
	assert_int_equal(p.at[0]->ns, 80000000);
	r.kind = HIST_SLEEP;
	assert_int_equal(latency_contributors_find(&p, g.t, &r), 0);
	assert_int_equal(p.nr, 0);
	r.low = 20;
	assert_int_equal(latency_contributors_find(&p, g.t, &r), 0);
	assert_int_equal(p.at[0]->life.tid, 20);
	drop(&g);
	latency_contributors_fini(&p);
}

TEST(latency_range, sources_of_interrupts)
{
	struct latency_range r = { HIST_SOFTIRQ, 1, 3, 15, 15 };
	struct latency_contributors p = { 0 };
	struct made g = make();

	assert_int_equal(latency_contributors_find(&p, g.t, &r), 0);
	assert_int_equal(p.nr, 1);
	assert_string_equal(p.at[0]->life.comm, "NET_RX");
	assert_int_equal(p.at[0]->count, 15);
	assert_int_equal(p.at[0]->max_ns, 70000);
	r.kind = HIST_IRQ;
	assert_int_equal(latency_contributors_find(&p, g.t, &r), 0);
	assert_int_equal(p.nr, 1);
	assert_string_equal(p.at[0]->life.comm, "LOC");
	drop(&g);
	latency_contributors_fini(&p);
}

TEST(latency_range, texts)
{
	static const struct {
		struct latency_range r;
		const char *want;
	} cases[] = {
		{ { HIST_RUNQ, 1, 1, 20, 20 }, "1.0ms-2.1ms" },
		{ { HIST_RUNQ, 1, 1, 10, 20 }, "<2.1ms" },
		{ { HIST_SOFTIRQ, 1, 1, 7, 7 }, "<256ns" },
		{ { HIST_SLEEP, 1, 1, 32, 32 }, ">4.3s" },
		{ { HIST_SOFTIRQ, 1, 1, 10, 11 }, "1.0us-4.1us" },
	};
	struct latency_range r = { HIST_RUNQ, 1, 3, 20, 20 };
	struct latency_contributors p = { 0 };
	struct made g = make();
	char text[200];

	FOR_EACH(c, cases)
	{
		latency_range_text(&c->r, text, sizeof(text));
		assert_string_equal(text, c->want);
	}
	assert_int_equal(latency_contributors_find(&p, g.t, &r), 0);
	latency_contributors_text(&p, text, sizeof(text));
	assert_string_equal(text, "33 waits, 2 threads: a 91% b 9%");
	r.low = r.high = 30;
	assert_int_equal(latency_contributors_find(&p, g.t, &r), 0);
	p.all = 1;
	latency_contributors_text(&p, text, sizeof(text));
	assert_string_equal(text, "1 wait, threads unknown");
	drop(&g);
	latency_contributors_fini(&p);
}

/* The last slot has all longer ones. */
TEST(latency_range, durations_that_it_holds)
{
	static const struct {
		int low, high;
		uint64_t ns;
		bool want;
	} cases[] = {
		{ 20, 20, 1 << 20, true },	{ 20, 20, (1 << 21) - 1, true }, { 20, 20, 1 << 21, false },
		{ 20, 21, 1 << 21, true },	{ 20, 20, (1 << 20) - 1, false }, { 10, 10, 5, true },
		{ 32, 32, 1ULL << 35, true },	{ 31, 31, 1ULL << 32, false },
	};

	FOR_EACH(c, cases)
	{
		const struct latency_range r = { HIST_SLEEP, 1, 1, c->low, c->high };

		assert_int_equal(latency_holds(&r, c->ns), c->want);
	}
}

static int sum_weight(void *arg, const struct stack_sample *s)
{
	*(uint64_t *)arg += s->weight;
	return 0;
}

/* If only the sum of some blocks is known, none of them is longer than what the others leave. */
TEST(latency_range, no_longer_than_their_sum_allows)
{
	struct model *m = model_new(1 << 20);
	struct life *l = tick_life(m, 10, "a", &root);
	const uint64_t least = 1 << 20;
	const struct away away = { l, 3 * least + 1000, 3, HIST_D, 20 };
	struct latency_contributors p = { 0 };
	struct latency_range r = { HIST_D, 1, 1, 20, 20 };
	const struct tick *t;

	tick_begin(m);
	waited(m, l, 20, 1);
	assert_int_equal(model_away(m, &away), 0);
	t = end(m);
	assert_int_equal(latency_contributors_find(&p, t, &r), 0);
	assert_int_equal(p.nr, 1);
	assert_int_equal(p.at[0]->count, 3);
	assert_int_equal(p.at[0]->ns, 3 * least + 1000);
	assert_within(latency_contributor_quantile(p.at[0], HIST_D, 0.99), least, least + 1000);
	latency_contributors_fini(&p);
	tick_put(t);
	model_life_end(m, l);
	model_free(m);
}

/* Samples of some refreshes, including some before the shown one. */
TEST(latency_range, samples_of_some_refreshes)
{
	struct model *m = model_new(1 << 20);
	struct life *a = tick_life(m, 10, "a", &root);
	const struct tick *t = NULL;
	static const struct {
		uint64_t first, last, want;
	} cases[] = { { 1, 4, 1111 }, { 2, 3, 110 }, { 4, 4, 1000 }, { 1, 1, 1 }, { 5, 5, 0 } };

	for (uint64_t i = 1, weight = 1; i <= 4; i++, weight *= 10) {
		const struct stack_sample s = { .life = a, .weight = weight, .count = 1, .metric = METRIC_RUN };

		tick_begin(m);
		waited(m, a, 20, 1);
		assert_int_equal(model_sample(m, &s), 0);
		tick_put(t);
		t = end(m);
	}
	FOR_EACH(c, cases)
	{
		uint64_t sum = 0;

		assert_int_equal(tick_samples_of(t, c->first, c->last, sum_weight, &sum), 0);
		assert_int_equal(sum, c->want);
	}
	tick_put(t);
	model_life_end(m, a);
	model_free(m);
}

/* LONGEST of a thread with these blocks, of 1.07 to 2.15 s each, in one refresh. */
static const char *longest(const struct away *ended, const struct stack_sample *samples, size_t nr)
{
	static char text[16];
	struct model *m = model_new(1 << 20);
	struct life *l = tick_life(m, 10, "a", &root);
	struct away away = *ended;
	struct blocked b = { 0 };
	const struct tick *t;

	tick_begin(m);
	waited(m, l, 20, 1);
	away.life = l;
	assert_int_equal(model_away(m, &away), 0);
	for (size_t i = 0; i < nr; i++) {
		struct stack_sample s = samples[i];

		s.life = l;
		assert_int_equal(model_sample(m, &s), 0);
	}
	t = end(m);
	assert_int_equal(blocked_find(&b, t, t->seq), 0);
	assert_int_equal(b.nr, 1);
	waiter_longest(b.at[0], text, sizeof(text));
	blocked_fini(&b);
	tick_put(t);
	model_life_end(m, l);
	model_free(m);
	return text;
}

TEST(blocked, the_longest_block_is_exact_or_a_limit)
{
	const struct away one = { NULL, 1904 * MS, 1, HIST_D, 30 }, two = { NULL, 3100 * MS, 2, HIST_D, 30 };
	const struct stack_sample whole = { .metric = METRIC_D, .weight = 1, .whole = 1900 * MS };
	const struct stack_sample shorter = { .metric = METRIC_D, .weight = 1, .whole = 1200 * MS };
	const struct stack_sample both[] = { whole, shorter };
	const struct stack_sample lasting = { .metric = METRIC_D, .weight = 1, .whole = 1700 * MS,
					      .flags = NOTE_GOES_ON };

	assert_string_equal(longest(&one, NULL, 0), "1.9s");
	assert_string_equal(longest(&one, &lasting, 1), "1.9s"); /* as long as it was when it was seen last */
	assert_string_equal(longest(&two, &shorter, 1), "<2.1s");
	assert_string_equal(longest(&two, &lasting, 1), "<2.1s");
	assert_string_equal(longest(&two, (const struct stack_sample[]){ lasting, shorter }, 2), "<2.1s"); /* one is not known */
	assert_string_equal(longest(&two, both, 2), "1.9s");
}

/* A thread whose blocks ended without a stack has their time; where it was is that of the longest with a stack. */
TEST(blocked, blocks_without_a_stack)
{
	const struct stack_sample without = { .metric = METRIC_D, .weight = 900 * MS, .whole = 900 * MS, .flags = NOTE_NO_STACK };
	struct stack kernel = { .hash = 7, .check = 7 };
	struct model *m = model_new(1 << 20);
	struct life *l = tick_life(m, 10, "a", &root);
	struct away away = { l, 1904 * MS, 2, HIST_D, 29 };
	struct stack_sample samples[] = { without, without };
	struct blocked b = { 0 };
	const struct tick *t;

	tick_begin(m);
	waited(m, l, 20, 1);
	assert_int_equal(model_away(m, &away), 0);
	samples[0].whole = samples[0].weight = 600 * MS;
	samples[0].flags = 0;
	samples[0].kernel = tick_stack(m, &kernel);
	for (int i = 0; i < 2; i++) {
		samples[i].life = l;
		assert_int_equal(model_sample(m, &samples[i]), 0);
	}
	t = end(m);
	assert_int_equal(blocked_find(&b, t, t->seq), 0);
	assert_int_equal(b.nr, 1);
	assert_int_equal(b.at[0]->total_ns, 1904 * MS);
	assert_int_equal(b.at[0]->longest_ns, 900 * MS);
	assert_int_equal(b.at[0]->count, 2);
	assert_ptr_equal(b.at[0]->at.kernel, samples[0].kernel);
	assert_int_equal(b.at[0]->at.flags, 0);
	blocked_fini(&b);
	tick_put(t);
	model_life_end(m, l);
	model_free(m);
}

/* Blocks that are too short do not count, also if one still lasts at the end of the refresh. */
TEST(blocked, short_blocks_are_not_counted)
{
	for (uint64_t age = AWAY_D_NS - 1; age <= AWAY_D_NS; age++) {
		struct values v = { .v = { [METRIC_D] = age, [METRIC_ALIVE] = SEC } };
		struct model *m = model_new(1 << 20);
		struct life *l = tick_life(m, 10, "a", &root);
		struct blocked b = { 0 };
		const struct tick *t;

		tick_begin(m);
		assert_int_equal(model_thread(m, l, STATE_D, false, &v), 0);
		assert_int_equal(model_block(m, l, METRIC_D, age, false), 0);
		t = end(m);
		assert_int_equal(blocked_find(&b, t, t->seq), 0);
		assert_int_equal(b.nr, 1);
		assert_int_equal(b.now, 1);
		assert_int_equal(b.at[0]->now_ns, age);
		assert_true(b.at[0]->count == (age < AWAY_D_NS ? VALUE_NA : 1));
		blocked_fini(&b);
		tick_put(t);
		model_life_end(m, l);
		model_free(m);
	}
}

/* Waits of a process are told apart by its cgroup, if it moved; what ran instead of it, by its name. */
TEST(pairs, of_a_process_that_moved)
{
	struct cgroup a = { .id = 2, .path = "/a", .parent = &root }, b = { .id = 3, .path = "/b", .parent = &root };
	struct model *m = model_new(1 << 20);
	struct life *l = tick_life(m, 10, "java", &a), *hogs[] = { tick_life(m, 20, "hog", &root), tick_life(m, 21, "hog", &root) };
	struct identity id = { .tid = 10, .tgid = 10, .start_ns = l->start_ns, .comm = "java" };
	struct pairs p = { 0 };
	const struct tick *t = NULL;
	char name[80];

	for (int i = 0; i < 2; i++) {
		if (i)
			l = model_life_update(m, l, &id, &b);
		tick_put(t);
		tick_begin(m);
		waited(m, l, 20, 1);
		for (int k = 0; k < 2; k++)
			assert_int_equal(model_wait(m, &(struct wait){ l, hogs[k], NULL, 1000 * (2 - i), 1, WAIT_BEHIND }), 0);
		t = end(m);
	}
	assert_int_equal(pairs_find(&p, t, true, NULL), 0);
	assert_int_equal(p.ns, 6000);
	assert_int_equal(p.nr, 2);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(p.at[i].ns, 2000 * (2 - i));
		assert_int_equal(p.at[i].count, 2);
		pair_victim_name(&p.at[i], 0, name, sizeof(name));
		assert_string_equal(name, i ? "java 10 in /b" : "java 10 in /a");
	}
	assert_int_equal(pairs_find(&p, t, false, NULL), 0);
	assert_int_equal(p.nr, 1);
	assert_int_equal(p.at[0].count, 4);
	pairs_fini(&p);
	tick_put(t);
	model_life_end(m, l);
	model_life_end(m, hogs[0]);
	model_life_end(m, hogs[1]);
	model_free(m);
}

/* Whether the model has a stack with a frame in the file. */
static bool has_file(const struct model *m, uint32_t file)
{
	uint64_t bits[3];

	model_files(m, bits, 192);
	return bits[file / 64] >> file % 64 & 1;
}

/* The stacks in the list of a screen that is paused stay, however long, also those that its refresh begins with; those of
 * refreshes after it come and go. */
TEST(blocked, stacks_of_a_paused_screen)
{
	struct model *m = model_new(1 << 20);
	struct life *l = tick_life(m, 10, "a", &root);
	struct stack *made = calloc(1, sizeof(*made) + sizeof(uint64_t));
	struct stack_sample sample = { .life = l, .metric = METRIC_D, .weight = 1, .whole = 2 * MS };
	const struct tick *paused = NULL;

	for (int i = 0; i < 400; i++) {
		const struct tick *t;

		assert_int_equal(model_begin_early(m), 0);
		if (!i || i == 60 || i == 100) {
			*made = (struct stack){ .hash = 7 + i, .nr = 1 };
			made->frames[0] = (77ULL + i) << FRAME_FILE_SHIFT | 0x100;
			sample.user = tick_stack(m, made);
			assert_int_equal(model_sample(m, &sample), 0);
		}
		tick_begin(m);
		waited(m, l, 20, 1);
		t = end(m);
		if (i == 60)
			paused = t;
		else
			tick_put(t);
	}
	assert_true(has_file(m, 77));
	assert_true(has_file(m, 137));
	assert_false(has_file(m, 177));
	tick_put(paused);
	for (int i = 0; i < 200; i++) {
		tick_begin(m);
		waited(m, l, 20, 1);
		tick_put(end(m));
	}
	assert_false(has_file(m, 77));
	assert_false(has_file(m, 137));
	free(made);
	model_life_end(m, l);
	model_free(m);
}

/* A thread with another name is another life, but the same waiter. */
TEST(blocked, a_thread_with_two_names)
{
	const struct away away = { NULL, 2 * MS, 1, HIST_D, 20 };
	struct identity renamed = { .tid = 10, .tgid = 10, .comm = "b" };
	struct model *m = model_new(1 << 20);
	struct life *l = tick_life(m, 10, "a", &root);
	struct blocked b = { 0 };
	const struct tick *t = NULL;

	renamed.start_ns = l->start_ns;
	for (int i = 0; i < 2; i++) {
		struct away one = away;

		if (t)
			tick_put(t);
		tick_begin(m);
		if (i)
			l = model_life_update(m, l, &renamed, &root);
		one.life = l;
		waited(m, l, 20, 1);
		assert_int_equal(model_away(m, &one), 0);
		t = end(m);
	}
	assert_int_equal(blocked_find(&b, t, t->seq), 0);
	assert_int_equal(b.nr, 1);
	assert_int_equal(b.at[0]->count, 2);
	assert_string_equal(b.at[0]->row.thread->comm, "b");
	blocked_fini(&b);
	tick_put(t);
	model_life_end(m, l);
	model_free(m);
}

/* The timer ended two blocks, each in a refresh of its own. */
static void interrupted(uint32_t first, uint32_t second, uint32_t named)
{
	const uint32_t tids[] = { first, second };
	struct model *m = model_new(1 << 20);
	struct life *l = tick_life(m, 10, "a", &root);
	struct blocked b = { 0 };
	const struct tick *t = NULL;

	for (int i = 0; i < 2; i++) {
		const struct stack_sample s = { .life = l, .metric = METRIC_D, .weight = 1, .whole = 2 * MS, .count = 1,
						.wake_context = WAKE_TIMER, .waker = WAKER(0, tids[i]) };

		tick_begin(m);
		assert_int_equal(model_sample(m, &s), 0);
		waited(m, l, 20, 1);
		tick_put(t);
		t = end(m);
	}
	assert_int_equal(blocked_find(&b, t, t->seq), 0);
	assert_int_equal(b.at[0]->wakers.nr, 1);
	assert_int_equal(b.at[0]->wakers.at[0].count, 2);
	assert_int_equal(b.at[0]->wakers.at[0].during, named);
	blocked_fini(&b);
	tick_put(t);
	model_life_end(m, l);
	model_free(m);
}

/* "timer, during java 4711 95%" would be read as the share of those that interrupted java. */
TEST(blocked, thread_that_the_waker_interrupted_each_time)
{
	interrupted(52, 52, 52);
	interrupted(51, 52, 0);
	interrupted(0, 52, 0);
}

int main(void)
{
	RUN_TESTS(cmocka_unit_test(latency_range_threads_that_waited_so_long), cmocka_unit_test(latency_range_the_shortest_waits),
		  cmocka_unit_test(latency_range_what_ran_instead_most_first),
		  cmocka_unit_test(latency_range_ranges_that_grow),
		  cmocka_unit_test(latency_range_flamegraph_counts_all),
		  cmocka_unit_test(flame_refreshes_that_are_compared), cmocka_unit_test(flame_stacks_that_are_read_late),
		  cmocka_unit_test(latency_range_quantiles_up_to_the_longest),
		  cmocka_unit_test(latency_range_threads_that_slept_or_were_in_d),
		  cmocka_unit_test(latency_range_sources_of_interrupts), cmocka_unit_test(latency_range_texts),
		  cmocka_unit_test(latency_range_durations_that_it_holds),
		  cmocka_unit_test(latency_range_no_longer_than_their_sum_allows),
		  cmocka_unit_test(latency_range_samples_of_some_refreshes),
		  cmocka_unit_test(blocked_the_longest_block_is_exact_or_a_limit),
		  cmocka_unit_test(blocked_blocks_without_a_stack), cmocka_unit_test(blocked_short_blocks_are_not_counted),
		  cmocka_unit_test(pairs_of_a_process_that_moved),
		  cmocka_unit_test(blocked_a_thread_with_two_names),
		  cmocka_unit_test(blocked_thread_that_the_waker_interrupted_each_time),
		  cmocka_unit_test(blocked_stacks_of_a_paused_screen),
		  cmocka_unit_test(blocked_in_a_spinlock_of_preempt_rt));
}
