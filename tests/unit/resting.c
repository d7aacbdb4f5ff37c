/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Idle threads are kept from refresh to refresh: whatever happens, a refresh shows them as if all were reported anew. */
#include "ticks.h"

#include <stdlib.h>

#include "model/aggregate.h"

#define THREADS 300
#define PROCESSES 40
#define CGROUPS 3
#define REFRESHES 400

static struct cgroup cgroups[CGROUPS] = { { .id = 1, .path = "/" }, { .id = 2, .path = "/a", .parent = &cgroups[0], .depth = 1 },
					  { .id = 3, .path = "/b", .parent = &cgroups[0], .depth = 1 } };

/* What the test knows about each thread. */
static struct thread {
	struct life *life;       /* NULL: none now */
	enum thread_state state; /* in the present refresh: STATE_RUNNING, STATE_SLEEP or STATE_STOPPED; STATE_COUNT: not shown */
	int cgroup;
} threads[THREADS];

static struct identity identity_of(int i, uint64_t start)
{
	struct identity id = { .tid = 1000 + i, .tgid = 1000 + i % PROCESSES, .start_ns = start, .comm = "x" };

	return id;
}

/* Something happens to a thread, before or in a refresh. */
static void happens(struct model *m, int i, uint64_t seq)
{
	struct thread *t = &threads[i];
	struct identity id = identity_of(i, t->life ? t->life->start_ns : seq);
	struct values ran = { .v = { [METRIC_RUN] = 10, [METRIC_ALIVE] = SEC } };

	if (!t->life) {
		t->cgroup = random() % CGROUPS;
		t->life = model_life(m, &id, &cgroups[t->cgroup]);
		assert_non_null(t->life);
	}
	switch (random() % 8 + (i < PROCESSES)) {
	case 0: /* not a leader: another one would be another process */
		model_life_end(m, t->life);
		*t = (struct thread){ .state = STATE_COUNT };
		return;
	case 1:
		model_not_idle(m, t->life);
		t->state = STATE_COUNT;
		return;
	case 2: /* moves; it is shown from the next report on */
		t->cgroup = random() % CGROUPS;
		t->state = t->life->cgroup == &cgroups[t->cgroup] ? t->state : STATE_COUNT;
		t->life = model_life_update(m, t->life, &id, &cgroups[t->cgroup]);
		assert_non_null(t->life);
		return;
	case 3:
	case 4:
		t->state = STATE_RUNNING;
		assert_int_equal(model_thread(m, t->life, t->state, false, &ran), 0);
		return;
	case 5:
		t->state = STATE_STOPPED;
		break;
	default:
		t->state = STATE_SLEEP;
	}
	assert_int_equal(model_idle(m, t->life, t->state), 0);
}

/* Number of threads in this state, of a process and a cgroup, if given. */
static size_t count(enum thread_state state, pid_t tgid, const struct cgroup *cgroup)
{
	size_t nr = 0;

	for (int i = 0; i < THREADS; i++)
		nr += threads[i].life && threads[i].state == state && (!tgid || threads[i].life->tgid == tgid) &&
		      (!cgroup || threads[i].life->cgroup == cgroup);
	return nr;
}

static void check_idle(const struct tick *t)
{
	bool met[THREADS] = { false };

	assert_int_equal(t->nr_active, count(STATE_RUNNING, 0, NULL));
	assert_int_equal(t->nr_stopped, count(STATE_STOPPED, 0, NULL));
	assert_int_equal(t->nr_idle, t->nr_stopped + count(STATE_SLEEP, 0, NULL));
	for (size_t i = 0; i < t->nr_idle; i++) {
		const struct row *r = &t->idle[i];
		int at = r->number - 1000;

		assert_false(met[at]);
		met[at] = true;
		assert_ptr_equal(r->thread, threads[at].life);
		assert_ptr_equal(r->cgroup, &cgroups[threads[at].cgroup]);
		assert_int_equal(r->state, threads[at].state);
		assert_int_equal(r->state == STATE_STOPPED, i < t->nr_stopped);
		assert_true(row_value(r, METRIC_ALIVE) == SEC);
		assert_true(row_value(r, r->state == STATE_STOPPED ? METRIC_STOPPED : METRIC_SLEEP) == SEC);
		assert_true(row_value(r, METRIC_RSS) == (uint64_t)r->process->tgid);
	}
}

static void check_processes(const struct tick *t)
{
	size_t nr = 0;

	for (size_t i = 0; i < t->nr_processes; i++) {
		const struct row *r = &t->processes[i];
		size_t run = count(STATE_RUNNING, r->number, NULL), sleep = count(STATE_SLEEP, r->number, NULL);
		size_t stopped = count(STATE_STOPPED, r->number, NULL);

		nr += r->nr_threads;
		assert_int_equal(r->nr_threads, run + sleep + stopped);
		assert_int_equal(r->own_threads, r->nr_threads);
		assert_int_equal(r->state, run ? STATE_RUNNING : sleep ? STATE_SLEEP : STATE_STOPPED);
		assert_false(r->exited);
		assert_true(row_value(r, METRIC_RUN) == 10 * run);
		assert_true(row_value(r, METRIC_SLEEP) == sleep * SEC);
		assert_true(row_value(r, METRIC_STOPPED) == stopped * SEC);
		assert_true(row_value(r, METRIC_ALIVE) == r->nr_threads * SEC);
		assert_true(row_value(r, METRIC_RSS) == (uint64_t)r->number);
	}
	assert_int_equal(nr, t->nr_active + t->nr_idle);
}

static void check_cgroups(const struct tick *t)
{
	for (size_t i = 0; i < t->nr_cgroups; i++) {
		const struct row *r = &t->cgroups[i];

		assert_int_equal(r->own_threads, count(STATE_RUNNING, 0, r->cgroup) + count(STATE_SLEEP, 0, r->cgroup) +
							 count(STATE_STOPPED, 0, r->cgroup));
		assert_true(r->own->v[METRIC_SLEEP] == SEC * count(STATE_SLEEP, 0, r->cgroup));
		assert_true(r->own->v[METRIC_STOPPED] == SEC * count(STATE_STOPPED, 0, r->cgroup));
	}
	assert_int_equal(t->cgroups[0].nr_threads, t->nr_active + t->nr_idle);
}

/* Each process has its number as its memory. */
static void set_levels(void)
{
	for (int i = 0; i < THREADS; i++) {
		struct levels levels;

		if (!threads[i].life)
			continue;
		levels_unknown(&levels);
		levels.v[METRIC_RSS - METRIC_LEVELS] = threads[i].life->tgid;
		model_levels(threads[i].life, &levels, 1, 1);
	}
}

static const struct tick *refresh(struct model *m, uint64_t seq)
{
	const struct tick *t;
	int nr = random() % 4 ? random() % 20 : THREADS;

	for (int i = 0; i < THREADS; i++)
		if (threads[i].life && threads[i].state == STATE_RUNNING)
			threads[i].state = STATE_COUNT;
	tick_begin(m);
	for (int i = 0, at = random() % THREADS; i < nr; i++, at = (at + 1) % THREADS)
		happens(m, at, seq);
	set_levels();
	for (int i = 0; i < CGROUPS; i++)
		tick_cgroup(m, &cgroups[i], NULL);
	t = tick_end(m);
	check_idle(t);
	check_processes(t);
	check_cgroups(t);
	return t;
}

/* As on a screen that is paused now and then, and that shows the past. */
TEST(resting, shown_as_if_reported_anew)
{
	struct model *m = model_new(1 << 20);
	const struct tick *shown = NULL, *paused = NULL;

	srandom(1);
	for (int i = 0; i < THREADS; i++)
		threads[i].state = STATE_COUNT;
	for (uint64_t seq = 1; seq <= REFRESHES; seq++) {
		const struct tick *t = refresh(m, seq);

		tick_put(shown);
		shown = t;
		if (seq % 50 == 10)
			paused = tick_get(t);
		if (seq % 50 == 30) {
			tick_put(paused);
			tick_put(tick_at(t, seq - 20));
		}
	}
	for (int i = 0; i < THREADS; i++)
		if (threads[i].life)
			model_life_end(m, threads[i].life);
	tick_put(shown);
	model_free(m);
	for (int i = 0; i < CGROUPS; i++) {
		assert_int_equal(cgroups[i].resting[0] | cgroups[i].resting[1], 0);
		assert_int_equal(cgroups[i].refs, 0);
	}
}

int main(void)
{
	RUN_TESTS(cmocka_unit_test(resting_shown_as_if_reported_anew));
}
