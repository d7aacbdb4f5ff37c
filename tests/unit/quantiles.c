/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers shown side by side are consistent: p50 <= p99 <= the exact maximum, and none exceeds the sum. */
#include "ticks.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "model/wait.h"
#include "query/latency.h"
#include "query/wakers.h"

#define FAIL(...)                            \
	do {                                 \
		print_error(__VA_ARGS__);    \
		_fail(__FILE__, __LINE__);   \
	} while (0)

#define ROUNDS 3000
#define MOST 40

static uint64_t state;

static uint64_t random_number(void)
{
	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return state >> 20;
}

/* From 1 ns to some seconds, equally many in each factor of two. */
static uint64_t duration(void)
{
	return 1 + (random_number() & ((2ULL << random_number() % 40) - 1));
}

static void count(struct hist *h, enum hist_id id, uint64_t ns)
{
	int slot = hists[id].first;

	while (slot < hists[id].last && ns >> (slot + 1))
		slot++;
	h->n[slot]++;
}

static uint64_t irq_quantile(const struct irq_values *v, double q)
{
	return hist_quantile(&v->hist, HIST_IRQ, q, v->max_ns);
}

static void in_order(uint64_t p50, uint64_t p99, uint64_t max, const char *what, int nr)
{
	if (p50 > p99 || p99 > max)
		FAIL("%s of %d: p50 %" PRIu64 " p99 %" PRIu64 " max %" PRIu64, what, nr, p50, p99, max);
}

/* Within a factor of two, however long: the last slot has no upper end. */
static void near(uint64_t p99, uint64_t max, const char *what)
{
	if (p99 < max / 2)
		FAIL("p99 of one %s of %" PRIu64 " is %" PRIu64, what, max, p99);
}

/* For rows of all kinds, on the screen, in tables, JSON, traces and filters; for sources of interrupts; for columns
 * of a heatmap. */
TEST(quantiles, never_above_the_longest)
{
	for (int round = 0; round < ROUNDS; round++) {
		int nr = 1 + random_number() % MOST;
		struct irq_values irq = { .count = nr };
		struct values v = { 0 };
		struct hist wait = { 0 };
		uint64_t max = 0;

		for (int i = 0; i < nr; i++) {
			uint64_t ns = duration();

			max = ns > max ? ns : max;
			irq.ns += ns;
			count(&v.hist[HIST_RUNQ], HIST_RUNQ, ns);
			count(&irq.hist, HIST_IRQ, ns);
			count(&wait, HIST_SLEEP, ns);
		}
		v.v[METRIC_RUNQ_MAX] = irq.max_ns = max;
		in_order(values_value(&v, METRIC_RUNQ_P50), values_value(&v, METRIC_RUNQ_P99), max, "waits", nr);
		in_order(irq_quantile(&irq, 0.5), irq_quantile(&irq, 0.99), max, "interrupts", nr);
		in_order(hist_quantile(&wait, HIST_SLEEP, 0.5, max), hist_quantile(&wait, HIST_SLEEP, 0.99, max), max,
			 "a map's", nr);
		if (nr == 1 && max >= 2048) {
			near(irq_quantile(&irq, 0.99), max, "interrupt");
			near(values_value(&v, METRIC_RUNQ_P99), max, "wait");
			near(hist_quantile(&wait, HIST_SLEEP, 0.99, max), max, "wait of a map");
		}
	}
}

/* An interrupt of 12 us is no shorter at p99. */
TEST(quantiles, of_a_single_one)
{
	struct irq_values v = { .count = 1, .ns = 12345, .max_ns = 12345 };

	count(&v.hist, HIST_IRQ, v.ns);
	assert_int_equal(irq_quantile(&v, 0.99), 12345);
}

static struct cgroup root = { .id = 1, .path = "/" };

/* The table beside the heatmap: count, total, p99 and maximum of each thread and source. */
static void contributors(const struct tick *t, enum hist_id kind, int low, int high)
{
	struct latency_range r = { kind, t->seq, t->seq, low, high };
	struct latency_contributors p = { 0 };
	uint64_t all = 0;

	assert_int_equal(latency_contributors_find(&p, t, &r), 0);
	for (size_t i = 0; i < p.nr; i++) {
		const struct latency_contributor *who = p.at[i];
		uint64_t p99 = latency_contributor_quantile(who, kind, 0.99), max = who->max_ns && !who->hidden ? who->max_ns : p99;

		all += who->count;
		in_order(latency_contributor_quantile(who, kind, 0.5), p99, max, hists[kind].name, who->count);
		in_order(p99, max, who->ns, "longest and total", who->count);
		if (p99 > 2ULL << high && high < hists[kind].last)
			FAIL("p99 %" PRIu64 " in a range up to %llu", p99, 2ULL << high);
	}
	assert_int_equal(all, p.count);
	latency_contributors_fini(&p);
}

TEST(quantiles, of_a_range)
{
	static const struct irq_source net = { IRQ_SOFT, 3, "NET_RX", "" };
	struct model *m = model_new(1 << 20);
	struct life *a = tick_life(m, 10, "a", &root);

	for (int round = 0; round < ROUNDS / 10; round++) {
		int nr = 1 + random_number() % MOST, low;
		struct irq_values irq = { .source = &net, .count = nr, .nr_cpus = 1 };
		struct values v = { 0 };
		const struct tick *t;

		tick_begin(m);
		for (int i = 0; i < nr; i++) {
			uint64_t ns = duration();
			struct away away = { a, ns, 1, HIST_SLEEP, 63 - __builtin_clzll(ns) };

			irq.ns += ns;
			irq.max_ns = v.v[METRIC_RUNQ_MAX] = ns > irq.max_ns ? ns : irq.max_ns;
			count(&v.hist[HIST_RUNQ], HIST_RUNQ, ns);
			count(&irq.hist, HIST_IRQ, ns);
			if (ns >= 1000000)
				assert_int_equal(model_away(m, &away), 0);
		}
		v.v[METRIC_RUNQ] = v.v[METRIC_ALIVE] = SEC;
		assert_int_equal(model_thread(m, a, STATE_SLEEP, false, &v), 0);
		assert_int_equal(model_irq(m, &irq), 0);
		tick_cgroup(m, &root, NULL);
		t = tick_end(m);
		low = 10 + random_number() % 20;
		contributors(t, HIST_RUNQ, low, low + random_number() % 4);
		contributors(t, HIST_SLEEP, low, low + random_number() % 4);
		contributors(t, HIST_SOFTIRQ, low - 2, low - 2 + random_number() % 4);
		contributors(t, HIST_RUNQ, hists[HIST_RUNQ].first, hists[HIST_RUNQ].last);
		tick_put(t);
	}
	model_life_end(m, a);
	model_free(m);
}

static void known(int all, const char *wanted)
{
	struct life life = { .comm = "api" };
	struct latency_contributor who = { .life = life, .count = 185, .ns = 1000 }, *list[] = { &who };
	const struct latency_contributors p = { .at = list, .nr = 1, .count = 185, .ns = 1000, .all = all,
						.range = { .kind = HIST_SLEEP } };
	char text[256];

	latency_contributors_text(&p, text, sizeof(text));
	assert_string_equal(text, wanted);
}

/* If some have no known owner, both numbers are shown: the list and the flamegraph use the known ones. */
TEST(quantiles, whose_is_known_of_some)
{
	known(487, "487 sleeps; threads known for 185, 1 thread: api 100%");
	known(185, "185 sleeps, 1 thread: api 100%");
}

/* A share that would show as 0% is left out. */
TEST(quantiles, wakers_that_woke_often)
{
	struct waker at[] = { { WAKE_TIMER, .count = 1000 }, { WAKE_CONTEXTS, .count = 4 } };
	struct wakers w = { .at = at, .nr = 2, .count = 1004 };
	struct tick t = { .seq = 1 };
	char text[256];

	wakers_text(&w, &t, NULL, text, sizeof(text));
	assert_string_equal(text, "timer 100%");
	w.at[1].count += 96;
	w.count += 96;
	wakers_text(&w, &t, NULL, text, sizeof(text));
	assert_string_equal(text, "timer 91%   waking not seen 9%");
	t.timers_unseen = true;
	wakers_text(&w, &t, NULL, text, sizeof(text));
	assert_string_equal(text, "(timers not seen) timer 91%   waking not seen 9%");
}

/* A waker that is met late, after many others and between them, is counted in full. */
TEST(quantiles, wakers_are_all_counted)
{
	struct wakers w = { 0 };
	uint64_t sum = 0;

	for (uint32_t i = 1; i <= 1000; i++) {
		wakers_add_woken(&w, &(struct woken){ .context = WAKE_THREAD, .number = i, .count = 1 });
		if (i > 500)
			wakers_add_woken(&w, &(struct woken){ .context = WAKE_THREAD, .number = 5000, .count = 2 });
	}
	wakers_sort(&w);
	for (size_t i = 0; i < w.nr; i++)
		sum += w.at[i].count;
	assert_int_equal(w.count, 2000);
	assert_int_equal(sum, w.count);
	assert_int_equal(w.at[0].number, 5000);
	assert_int_equal(w.at[0].count, 1000);
	wakers_fini(&w);
}

int main(void)
{
	RUN_TESTS(cmocka_unit_test(quantiles_never_above_the_longest), cmocka_unit_test(quantiles_of_a_single_one),
		  cmocka_unit_test(quantiles_of_a_range), cmocka_unit_test(quantiles_whose_is_known_of_some),
		  cmocka_unit_test(quantiles_wakers_that_woke_often),
		  cmocka_unit_test(quantiles_wakers_are_all_counted));
}
