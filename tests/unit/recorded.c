/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ticks.h"

#include <string.h>

#include "model/sample_list.h"
#include "query/recorded.h"
#include "query/wakers.h"

#define MS 1000000ULL

static struct cgroup root = { .id = 1, .path = "/" };

static const struct tick *tick(struct model *m, uint64_t boottime_ns, struct life *a, struct life *b)
{
	tick_begin_at(m, boottime_ns);
	assert_int_equal(model_idle(m, a, STATE_SLEEP), 0);
	assert_int_equal(model_idle(m, b, STATE_SLEEP), 0);
	tick_cgroup(m, &root, NULL);
	return tick_end(m);
}

/* All have the same low bits. GONE ended before the events. */
#define LOW 10
#define A 1034
#define B 2058
#define GONE 3082

static const struct {
	int cpu;
	struct event e;
} events[] = {
	/* before the first switch */
	{ 0, { .at = 5 * SEC, .kind = RING_SAMPLE, .tid = A & RING_SAMPLE_TID, .user = 3 } },
	{ 0, { .at = 5 * SEC + 1, .kind = RING_SWITCH, .tid = B, .other = A, .state = RING_PREEMPTED } },
	{ 0, { .at = 5 * SEC + 2, .kind = RING_SAMPLE, .tid = B & RING_SAMPLE_TID, .user = 3, .kernel = 4 } },
	{ 0, { .at = 5 * SEC + 3, .kind = RING_SWITCH, .tid = 0, .other = B, .state = RING_SLEEP } },
	{ 0, { .at = 5 * SEC + 4, .kind = RING_SAMPLE, .tid = 1 } }, /* of no thread that existed */
	{ 1, { .at = 5 * SEC, .kind = RING_SAMPLE, .tid = A & RING_SAMPLE_TID, .user = 3 } }, /* on a CPU without a
											       * switch */
	{ 2, { .at = 5 * SEC + 50 * MS, .kind = RING_SWITCH, .tid = A, .other = 0 } },
	{ 2, { .at = 5 * SEC + 50 * MS, .kind = RING_BLOCK, .tid = A & RING_SAMPLE_TID, .in_d = true, .kernel = 9,
	       .off_ns = 40 * MS, .blocked_ns = 30 * MS } },
	{ 2, { .at = 5 * SEC + 60 * MS, .kind = RING_SWITCH, .tid = 99, .other = A } },
	{ 2, { .at = 5 * SEC + 61 * MS, .kind = RING_SAMPLE, .tid = 99 } }, /* an unknown thread */
	{ 3, { .at = 5 * SEC + 70 * MS, .kind = RING_SWITCH, .tid = GONE, .other = 0 } }, /* another one, also unknown */
	{ 3, { .at = 5 * SEC + 71 * MS, .kind = RING_SAMPLE, .tid = GONE & RING_SAMPLE_TID } },
};

static int report_events(void *arg, uint64_t from, uint64_t to, uint64_t *since,
		       int (*fn)(void *fn_arg, int cpu, const struct event *e), void *fn_arg)
{
	int err = 0;

	(void)arg;
	(void)to;
	*since = from;
	FOR_EACH(e, events)
		if (!err)
			err = fn(fn_arg, e->cpu, &e->e);
	return err;
}

static int report_stacks(void *arg,
		       int (*fn)(void *fn_arg, uint32_t id, const struct stack_entry *e, const uint64_t *frames),
		       void *fn_arg)
{
	static const uint64_t frames[] = { 11, 12, 13 };
	const struct stack_entry user = { .hash = 5, .check = 6, .nr = 3 }, kernel = { .hash = 7, .check = 8, .nr = 1 };
	int err = fn(fn_arg, 3, &user, frames);

	(void)arg;
	if (!err)
		err = fn(fn_arg, 77, &user, frames); /* not requested */
	return err ? err : fn(fn_arg, 4, &kernel, frames);
}

/* The second sample was taken when there were fewer. */
static int frequency(void *arg, uint64_t at)
{
	(void)arg;
	return at < 5 * SEC + 2 ? 100 : 25;
}

struct told {
	struct sample_list list;
	uint64_t from[8], until[8];
};

static int on_sample(void *arg, const struct stack_sample *s, uint64_t from, uint64_t until)
{
	struct told *t = arg;

	t->from[t->list.nr] = from;
	t->until[t->list.nr] = until;
	return sample_list_add(&t->list, s);
}

TEST(recorded, samples_of_whoever_ran)
{
	struct model *m = model_new(1 << 20);
	struct life *a = tick_life(m, A, "a", &root), *b = tick_life(m, B, "b", &root);
	struct life *low = tick_life(m, LOW, "low", &root), *gone = tick_life(m, GONE, "gone", &root);
	const struct tick *t = tick(m, 4 * SEC, low, gone);
	struct recorded_source l = { .events = report_events, .stacks = report_stacks, .model = m, .frequency = frequency };
	struct told told = { .list = { .nr = 0 } };
	const struct stack_sample *s;
	const struct stack_sample unseen = { .count = 1, .metric = METRIC_D };
	const struct stack_sample without = { .count = 1, .metric = METRIC_D, .flags = NOTE_NO_STACK };
	struct wakers w = { 0 };
	uint64_t since;

	model_life_end(m, gone);
	tick_put(t);
	l.tick = t = tick(m, 10 * SEC, a, b);
	assert_int_equal(recorded_read(&l, 5 * SEC, 6 * SEC, &since, on_sample, &told), 0);
	tick_put(t); /* the list has copies of all threads, and holds the stacks */
	model_life_end(m, a);
	model_life_end(m, b);
	model_life_end(m, low);

	s = told.list.at;
	assert_int_equal(told.list.nr, 3);
	assert_int_equal(s[0].life->tid, A);
	assert_string_equal(s[0].life->comm, "a");
	assert_string_equal(s[0].life->process->cgroup->path, "/");
	assert_int_equal(s[0].metric, METRIC_RUN);
	assert_int_equal(s[0].weight, SEC / 100);
	assert_int_equal(s[0].user->nr, 3);
	assert_int_equal(s[0].user->frames[2], 13);
	assert_null(s[0].kernel);
	assert_int_equal(s[1].life->tid, B);
	assert_int_equal(s[1].weight, SEC / 25);
	assert_ptr_equal(s[1].user, s[0].user);
	assert_int_equal(s[1].kernel->frames[0], 11);
	assert_int_equal(s[2].life->tid, A);
	assert_int_equal(s[2].metric, METRIC_D);
	assert_int_equal(s[2].weight, 30 * MS);
	assert_int_equal(s[2].flags, NOTE_KERNEL_LOST);
	assert_int_equal(told.from[2], 5 * SEC + 10 * MS);
	assert_int_equal(told.until[2], 5 * SEC + 40 * MS);
	/* Blocks of the recorder, and those without a stack, have no waker; that is different from a waker that was not seen. */
	wakers_add(&w, &s[2]);
	wakers_add(&w, &without);
	assert_int_equal(w.nr, 0);
	wakers_add(&w, &unseen);
	assert_int_equal(w.nr, 1);
	assert_int_equal(w.at[0].context, WAKE_CONTEXTS);
	wakers_fini(&w);
	/* The stacks belong to the model: the list does not free them. */
	assert_ptr_equal(tick_stack(m, s[0].user), s[0].user);
	assert_ptr_equal(tick_stack(m, s[1].kernel), s[1].kernel);
	sample_list_fini(&told.list);
	model_free(m);
}

int main(void)
{
	RUN_TESTS(cmocka_unit_test(recorded_samples_of_whoever_ran));
}
