/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ticks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/health.h"
#include "model/sample.h"
#include "model/wait.h"
#include "util/clock.h"

#define MEMORY (32 << 20)

/* Memory runs out at the allocation after so many; -1: never. */
static int allocations_left = -1;

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t nr, size_t bytes);
void *__libc_realloc(void *p, size_t bytes);

static bool runs_out(void)
{
	if (allocations_left > 0)
		allocations_left--;
	return !allocations_left;
}

void *malloc(size_t bytes)
{
	return runs_out() ? NULL : __libc_malloc(bytes);
}

void *calloc(size_t nr, size_t bytes)
{
	return runs_out() ? NULL : __libc_calloc(nr, bytes);
}

void *realloc(void *p, size_t bytes)
{
	return runs_out() ? NULL : __libc_realloc(p, bytes);
}

void *reallocarray(void *p, size_t nr, size_t bytes)
{
	return runs_out() ? NULL : __libc_realloc(p, nr * bytes);
}

static struct cgroup root = { .id = 1, .path = "/" };
static struct cgroup web = { .id = 2, .path = "/web", .parent = &root, .depth = 1 };

static struct identity identity(pid_t tid, pid_t tgid, const char *comm)
{
	struct identity id = { .tid = tid, .tgid = tgid, .start_ns = 1000 + tid };

	strcpy(id.comm, comm);
	return id;
}

static struct life *life(struct model *m, pid_t tid, pid_t tgid, const char *comm,
			 struct cgroup *cgroup)
{
	struct identity id = identity(tid, tgid, comm);

	return model_life(m, &id, cgroup);
}

static const struct tick *end(struct model *m)
{
	static const struct cgroup_limit some = { 3, 7 };
	struct cpu_values cpu = { .cpu = 1, .run_ns = 5 };

	assert_int_equal(model_cpu(m, &cpu), 0);
	tick_cgroup(m, &root, NULL);
	tick_cgroup(m, &web, &some);
	return tick_end(m);
}

static void run(struct model *m, struct life *l, uint64_t ns, bool exited)
{
	struct values v = { 0 };

	v.v[METRIC_RUN] = ns;
	v.v[METRIC_USER] = v.v[METRIC_KERNEL] = VALUE_NA;
	v.v[METRIC_SLEEP] = SEC - ns;
	v.v[METRIC_ALIVE] = SEC;
	v.v[METRIC_RUNQ_MAX] = ns / 2;
	v.hist[HIST_RUNQ].n[HIST_SHIFT + 3] = 70000;
	v.hist[HIST_RUNQ].n[HIST_SHIFT + 22] = 1;
	assert_int_equal(model_thread(m, l, exited ? STATE_DEAD : STATE_SLEEP, exited, &v), 0);
}

static const struct row *find(const struct row *rows, size_t nr, pid_t number)
{
	for (size_t i = 0; i < nr; i++)
		if (rows[i].number == number)
			return &rows[i];
	return NULL;
}

/* The past is restored unchanged: rows, sums, identities, dead threads. */
TEST(history, ticks_come_back)
{
	struct model *m = model_new(MEMORY);
	struct life *a = life(m, 10, 10, "sh", &web), *b = life(m, 11, 10, "worker", &web);
	struct life *c = life(m, 20, 20, "idle", &root), *d;
	struct identity make = identity(10, 10, "make");
	const struct tick *t, *was;
	const struct row *r;

	tick_begin(m); /* 1 */
	run(m, a, 100, false);
	run(m, b, 200, true);
	model_life_end(m, b);
	assert_int_equal(model_idle(m, c, STATE_STOPPED), 0);
	tick_put(end(m));
	d = life(m, 21, 20, "young", &root); /* 2 */
	tick_begin(m);
	a = model_life_update(m, a, &make, &root); /* exec, and into another cgroup */
	run(m, a, 300, false);
	assert_int_equal(model_idle(m, c, STATE_SLEEP), 0);
	assert_int_equal(model_idle(m, d, STATE_SLEEP), 0);
	t = end(m);

	was = tick_at(t, 1);
	assert_non_null(was);
	assert_int_equal(was->seq, 1);
	assert_int_equal(was->nr_active, 2);
	assert_int_equal(was->nr_idle, 1);
	assert_int_equal(was->nr_cpus, 1);
	assert_int_equal(was->cpus[0].run_ns, 5);
	assert_int_equal(was->idle[0].number, 20);
	assert_int_equal(was->idle[0].state, STATE_STOPPED);
	r = find(was->active, was->nr_active, 10);
	assert_string_equal(r->thread->comm, "sh");
	assert_ptr_equal(r->cgroup, &web);
	assert_true(row_value(r, METRIC_RUN) == 100);
	assert_true(row_value(r, METRIC_USER) == VALUE_NA);
	assert_true(row_value(r, METRIC_RUNQ_P99) != VALUE_NA);
	assert_int_equal(r->values->hist[HIST_RUNQ].n[HIST_SHIFT + 3], 70000);
	assert_int_equal(r->values->hist[HIST_RUNQ].n[HIST_SHIFT + 22], 1);
	r = find(was->active, was->nr_active, 11);
	assert_true(r->exited);
	assert_string_equal(r->thread->comm, "worker");
	r = find(was->processes, was->nr_processes, 10);
	assert_true(row_value(r, METRIC_RUN) == 300);
	assert_int_equal(was->nr_cgroups, 2);
	assert_int_equal(was->cgroups[1].limit->nr_throttled, 3);
	assert_true(was->cgroups[1].values->v[METRIC_RUN] == 300);
	assert_true(was->total.v[METRIC_RUN] == 300);

	assert_string_equal(find(t->active, t->nr_active, 10)->thread->comm, "make");
	assert_true(t->cgroups[1].values->v[METRIC_RUN] == 0);
	assert_null(tick_at(t, 3));
	tick_put(was);
	tick_put(t);
	model_life_end(m, a);
	model_life_end(m, c);
	model_life_end(m, d);
	model_free(m);
	assert_int_equal(web.refs, 0);
	assert_int_equal(root.refs, 0);
}

/* The health page says if there is no room for more ticks, and counts @early lives that were dropped early. */
static void assert_past(const struct model *m, bool is_short, int early)
{
	struct health h = { 0 };
	char count[32];

	model_health(m, &h);
	assert_int_equal(h.nr, 1);
	assert_int_equal(h.lines->verdict, is_short || early ? HEALTH_DEGRADED : HEALTH_ON);
	assert_int_equal(!!strstr(h.lines->text, ": room for only "), is_short);
	snprintf(count, sizeof(count), "; %d ended threads", early);
	assert_int_equal(!!strstr(h.lines->text, count), !!early);
	health_fini(&h);
}

/* The history has a limit; a held tick stays complete, whichever others are dropped. */
TEST(history, is_bounded)
{
	struct model *m = model_new(64 << 10);
	const struct tick *first = NULL, *t = NULL, *last;
	uint64_t oldest;

	for (int i = 0; i < 300; i++) {
		tick_begin(m);
		for (int n = 0; n < 20; n++) {
			struct life *l = life(m, 1000 + n, 1000 + n, "short", &root);

			run(m, l, 1, true);
			model_life_end(m, l);
		}
		tick_put(t);
		t = end(m);
		if (!first)
			first = tick_get(t);
	}
	assert_true(tick_past(t, &oldest) <= 64 << 10);
	assert_true(oldest > 1 && oldest < t->seq);
	assert_true(tick_past_short(t));
	assert_past(m, true, 0);
	last = tick_at(t, oldest);
	assert_non_null(last);
	tick_put(last);
	assert_null(tick_at(t, oldest - 1));
	assert_string_equal(first->active[0].thread->comm, "short");
	tick_put(first);
	tick_put(t);
	model_free(m);
}

TEST(history, no_more_than_its_ticks)
{
	struct model *m = model_new(MEMORY);
	const struct tick *t = NULL;
	uint64_t oldest;

	for (int i = 0; i < HISTORY_TICKS + 5; i++) {
		tick_begin(m);
		tick_put(t);
		t = end(m);
	}
	tick_past(t, &oldest);
	assert_int_equal(oldest, 6);
	assert_false(tick_past_short(t));
	assert_past(m, false, 0);
	tick_put(t);
	model_free(m);
}

#define STACKS 100
#define FRAMES 256

/* A tick with deep stacks, whose frames are in this file. @key: of one of them. */
static const struct tick *with_stacks(struct model *m, struct life *l, uint64_t file, uint64_t *key)
{
	struct stack *like = calloc(1, sizeof(*like) + FRAMES * sizeof(like->frames[0]));
	struct stack_sample s = { .life = l, .metric = METRIC_RUN, .weight = 1, .count = 1 };

	assert_non_null(like);
	tick_begin(m);
	run(m, l, STACKS, false);
	for (uint64_t i = 0; i < STACKS; i++) {
		*like = (struct stack){ .hash = (file << 8 | i) << 1, .nr = FRAMES };
		like->frames[0] = file << FRAME_FILE_SHIFT;
		*key = model_stack_key(like);
		s.user = tick_stack(m, like);
		assert_int_equal(model_sample(m, &s), 0);
	}
	free(like);
	return end(m);
}

/* Number of these files in which a stack has frames. */
static int files(const struct model *m, int first, int last)
{
	uint64_t bits[4];
	int nr = 0;

	model_files(m, bits, 256);
	for (int i = first; i <= last; i++)
		nr += bits[i / 64] >> i % 64 & 1;
	return nr;
}

/* Stacks take room from the past, unless only a paused screen keeps them, and go with their ticks. */
TEST(history, stacks_that_all_differ)
{
	struct model *m = model_new(1 << 20);
	struct life *l = life(m, 10, 10, "a", &root);
	const struct tick *t = NULL, *held = NULL;
	uint64_t oldest, oldest_held = 0, key, first_key;

	for (int i = 1; i <= 200; i++) {
		const struct tick *next = with_stacks(m, l, i, &key);

		if (i == 1)
			first_key = key;
		if (i == 49)
			tick_past(next, &oldest_held);
		if (i == 50)
			held = tick_get(next);
		tick_put(t);
		t = next;
		if (i > 5) {
			assert_true(tick_past(t, &oldest) <= 1 << 20);
			assert_within(i - oldest + 1, 4, 5); /* 213 KiB each */
			assert_within(files(m, 51, 200), i > 50 ? 1 : 0, 7);
		}
	}
	assert_true(tick_past_short(t));
	assert_int_equal(files(m, oldest, 200), 200 - oldest + 1);
	assert_int_equal(files(m, oldest_held, 50), 50 - oldest_held + 1);
	assert_null(model_stack_again(m, first_key));
	assert_non_null(model_stack_again(m, key));
	tick_put(held);
	tick_put(t);
	tick_put(with_stacks(m, l, 201, &key));
	assert_int_equal(files(m, 1, 100), 0);
	model_life_end(m, l);
	model_free(m);
}

#define PAUSED_STACKS 50000 /* 3 MB and more */
#define PAUSED_TICKS 64

/* A tick with this many small stacks. Returns the CPU time of its begin, which looks for stacks to free. */
static uint64_t begin_ns(struct model *m, uint64_t number, uint64_t nr, const struct tick **t)
{
	uint64_t from = clock_ns(CLOCK_THREAD_CPUTIME_ID), ns;

	tick_begin(m);
	ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - from;
	for (uint64_t i = 0; i < nr; i++)
		assert_non_null(tick_stack(m, &(struct stack){ .hash = (number << 32 | i) << 1 }));
	tick_put(*t);
	*t = end(m);
	return ns;
}

/* The stacks that a paused screen keeps are not all looked at in each tick: that takes 50 ms if there are many. */
TEST(history, many_stacks_of_a_paused_screen)
{
	struct model *m = model_new(4 << 20);
	const struct tick *t = NULL, *held;
	uint64_t ns[PAUSED_TICKS], longest = 0;
	int nr = 0;

	begin_ns(m, 1, PAUSED_STACKS, &t);
	held = tick_get(t);
	begin_ns(m, 2, PAUSED_STACKS, &t);
	for (int i = 0; i < PAUSED_TICKS; i++) {
		ns[i] = begin_ns(m, 3 + i, 1, &t);
		longest = ns[i] > longest ? ns[i] : longest;
	}
	for (int i = 0; i < PAUSED_TICKS; i++)
		nr += ns[i] > longest / 4;
	assert_within(nr, 1, PAUSED_TICKS / 4);
	tick_put(held);
	tick_put(t);
	model_free(m);
}

/* A stack that many ticks have counts once. */
TEST(history, stacks_that_are_the_same)
{
	struct model *m = model_new(4 << 20);
	struct life *l = life(m, 10, 10, "a", &root);
	const struct tick *t = NULL;
	uint64_t oldest, key;
	size_t bytes;

	for (int i = 0; i < 2 * HISTORY_TICKS; i++) {
		tick_put(t);
		t = with_stacks(m, l, 1, &key);
	}
	bytes = tick_past(t, &oldest);
	assert_true(bytes <= 4 << 20);
	assert_int_equal(oldest, HISTORY_TICKS + 1);
	for (int i = 0; i < 2 * HISTORY_TICKS; i++) {
		tick_begin(m);
		tick_put(t);
		t = end(m);
	}
	assert_true(tick_past(t, &oldest) + STACKS * FRAMES * sizeof(uint64_t) <= bytes);
	assert_int_equal(files(m, 1, 1), 0);
	tick_put(t);
	model_life_end(m, l);
	model_free(m);
}

struct asked {
	pid_t tid;
	const char *in; /* only its lives in this cgroup; NULL: in any */
	int found;
	uint64_t from, to;
};

static int on_life(void *arg, const struct life *l, uint64_t from, uint64_t to)
{
	struct asked *a = arg;

	if (l->tid == a->tid && (!a->in || !strcmp(l->cgroup->path, a->in))) {
		a->found++;
		a->from = from;
		a->to = to;
	}
	return 0;
}

static struct asked asked_for(const struct tick *t, pid_t tid)
{
	struct asked a = { .tid = tid };

	assert_int_equal(tick_lives(t, on_life, &a), 0);
	return a;
}

/* Where a thread was, up to the instant of a move in the third tick. Both rows that it has there have its past. */
TEST(history, moved_within_a_tick)
{
	struct model *m = model_new(MEMORY);
	struct life *l = life(m, 10, 10, "sh", &root), *part;
	struct identity moved = identity(10, 10, "sh");
	struct asked before = { .tid = 10, .in = root.path }, after = { .tid = 10, .in = web.path };
	const struct tick *t = NULL;
	const struct row *rows[2];
	struct values past[2][3];

	moved.start_ns = l->start_ns;
	for (int i = 1; i <= 3; i++) {
		tick_begin_at(m, (5 + i) * SEC);
		if (i == 3) {
			part = l;
			l = model_life_part(m, part, SEC / 4, 0);
			assert_non_null(l);
			l = model_life_update(m, l, &moved, &web);
			run(m, part, 1, false);
			model_life_end(m, part);
		}
		run(m, l, 1, false);
		tick_put(t);
		t = end(m);
	}
	assert_int_equal(tick_lives(t, on_life, &before), 0);
	assert_int_equal(tick_lives(t, on_life, &after), 0);
	assert_int_equal(before.found, 1);
	assert_int_equal(after.found, 1);
	assert_int_equal(before.to, 7 * SEC + SEC / 4);
	assert_int_equal(after.from, 7 * SEC + SEC / 4);
	assert_true(after.to == UINT64_MAX);
	assert_int_equal(t->nr_active, 2);
	rows[0] = &t->active[0];
	rows[1] = &t->active[1];
	assert_int_equal(tick_history(t, rows, 2, 3, false, past[0]), 0);
	assert_memory_equal(past[0], past[1], sizeof(past[0]));
	assert_int_equal(past[0][1].v[METRIC_RUN], 1);
	assert_int_equal(past[0][2].v[METRIC_RUN], 2);
	tick_put(t);
	model_life_end(m, l);
	model_free(m);
}

/* Rows of processes are in the cgroup that they were in at the end of each tick: in the first, after a move within the second,
 * and in the third. Another thread stays where it was. */
TEST(history, processes_where_they_were)
{
	struct cgroup *const where[] = { &web, &root, &web };
	struct model *m = model_new(MEMORY);
	struct life *other = life(m, 11, 10, "other", &web), *l = life(m, 10, 10, "sh", &web), *part;
	struct identity moved = identity(10, 10, "sh");
	const struct tick *t = NULL;

	for (int i = 0; i < 3; i++) {
		tick_begin(m);
		part = l;
		if (i == 1)
			l = model_life_part(m, part, SEC / 4, 0);
		l = model_life_update(m, l, &moved, where[i]);
		run(m, l, 1, false);
		if (i == 1) {
			run(m, part, 1, false);
			model_life_end(m, part);
		}
		assert_int_equal(model_idle(m, other, STATE_SLEEP), 0);
		tick_put(t);
		t = end(m);
	}
	for (int i = 0; i < 3; i++) {
		const struct tick *was = tick_at(t, i + 1);

		assert_int_equal(was->nr_processes, 1);
		assert_ptr_equal(was->processes[0].cgroup, where[i]);
		assert_ptr_equal(row_limiter(&was->processes[0]), where[i]);
		tick_put(was);
	}
	tick_put(t);
	model_life_end(m, other);
	model_life_end(m, l);
	model_free(m);
}

/* The thread moves within the tick being built, and the rest of its life is returned. */
static struct life *move(struct model *m, struct life *part, struct cgroup *to)
{
	struct identity moved = identity(part->tid, part->tgid, part->comm);
	struct life *l = model_life_part(m, part, SEC / 4, 0);

	assert_non_null(l);
	return model_life_update(m, l, &moved, to);
}

static void assert_process(const struct tick *t, pid_t tgid, bool exited, enum thread_state state)
{
	const struct row *r = find(t->processes, t->nr_processes, tgid);

	assert_non_null(r);
	assert_int_equal(r->exited, exited);
	assert_int_equal(r->state, state);
}

/* Processes that move, and then end, in either order of their rows; rest; or are out of scope. */
TEST(history, processes_are_what_they_became_after_a_move)
{
	static const struct values ran = { .v[METRIC_RUN] = 1, .v[METRIC_ALIVE] = SEC };
	struct model *m = model_new(MEMORY);
	struct life *parts[4], *after[4];
	const struct tick *t, *was;

	for (int i = 0; i < 4; i++)
		parts[i] = life(m, 10 + i, 10 + i, "sh", &root);
	for (int seq = 1; seq <= 2; seq++) {
		tick_begin(m);
		for (int i = 0; seq == 2 && i < 4; i++)
			after[i] = move(m, parts[i], &web);
		if (seq == 2)
			run(m, after[1], 1, true);
		for (int i = 0; i < 4; i++)
			assert_int_equal(model_thread(m, parts[i], STATE_RUNNING, false, &ran), 0);
		if (seq == 1)
			tick_put(end(m));
	}
	run(m, after[0], 1, true);
	assert_int_equal(model_idle(m, after[2], STATE_SLEEP), 0);
	for (int i = 0; i < 4; i++)
		model_life_end(m, parts[i]);
	model_life_end(m, after[0]);
	model_life_end(m, after[1]);
	t = end(m);
	was = tick_at(t, 1);
	assert_process(was, 10, false, STATE_RUNNING);
	tick_put(was);
	for (int past = 0; past < 2; past++) {
		assert_process(t, 10, true, STATE_DEAD);
		assert_process(t, 11, true, STATE_DEAD);
		assert_process(t, 12, false, STATE_SLEEP);
		assert_process(t, 13, false, STATE_RUNNING);
		tick_begin(m);
		tick_put(t);
		was = end(m);
		t = tick_at(was, 2);
		tick_put(was);
	}
	tick_put(t);
	model_life_end(m, after[2]);
	model_life_end(m, after[3]);
	model_free(m);
}

static void has_rss(const struct life *l, uint64_t bytes)
{
	struct levels levels;

	levels_unknown(&levels);
	levels.v[METRIC_RSS - METRIC_LEVELS] = bytes;
	model_levels(l, &levels, 1, 1);
}

static uint64_t rss_of(const struct row *rows, size_t nr, pid_t number)
{
	const struct row *r = find(rows, nr, number);

	assert_non_null(r);
	return row_value(r, METRIC_RSS);
}

/* A refresh of the past has the memory of its processes whose threads did something, as it was. That of others is not
 * remembered: it is neither that of now, nor of a refresh that was shown before. */
TEST(history, levels)
{
	struct model *m = model_new(MEMORY);
	struct life *ran[2] = { life(m, 10, 10, "a", &web), life(m, 20, 20, "b", &web) };
	const struct tick *t = NULL, *was;

	for (int seq = 0; seq < 3; seq++) {
		tick_begin(m);
		for (int i = 0; i < 2; i++) {
			has_rss(ran[i], 1000 * (seq + 1) + i);
			if (seq == i)
				run(m, ran[i], 1, false);
			else
				assert_int_equal(model_idle(m, ran[i], STATE_SLEEP), 0);
		}
		tick_put(t);
		t = end(m);
	}
	assert_int_equal(rss_of(t->processes, t->nr_processes, 10), 3000);
	for (int seq = 1; seq >= 0; seq--) {
		was = tick_at(t, seq + 1);
		assert_non_null(was);
		for (int i = 0; i < 2; i++) {
			uint64_t known = seq == i ? 1000ULL * (seq + 1) + i : VALUE_NA;
			bool active = find(was->active, was->nr_active, ran[i]->tid);

			assert_true(rss_of(was->processes, was->nr_processes, ran[i]->tid) == known);
			assert_true(rss_of(active ? was->active : was->idle, active ? was->nr_active : was->nr_idle,
					   ran[i]->tid) == known);
		}
		tick_put(was);
	}
	tick_put(t);
	model_life_end(m, ran[0]);
	model_life_end(m, ran[1]);
	model_free(m);
}

/* Ticks that one thread each lives in; the newest is held, as by the screen. */
static const struct tick *short_lives(struct model *m, int nr)
{
	const struct tick *t = NULL, *next;

	for (int i = 0; i < nr; i++) {
		struct life *l = life(m, 1000 + i, 1000 + i, "short", &web);

		tick_begin_at(m, (5 + i) * SEC);
		run(m, l, 1, true);
		model_life_end(m, l);
		next = end(m);
		tick_put(t);
		t = next;
	}
	return t;
}

/* Lives of the recorder's window outlast the remembered ticks, with the times between which they were seen. */
TEST(history, lives_of_the_window_stay)
{
	struct model *m = model_new(MEMORY);
	const struct tick *t;
	struct asked a;
	uint64_t oldest;

	model_window(m, 200 * SEC);
	t = short_lives(m, 300);
	tick_past(t, &oldest);
	assert_int_equal(oldest, 300 - HISTORY_TICKS + 1);
	assert_int_equal(asked_for(t, 1000 + 90).found, 0);
	a = asked_for(t, 1000 + 110);
	assert_int_equal(a.found, 1);
	assert_int_equal(a.to, t->boottime_ns - (299 - 110) * SEC);
	assert_int_equal(a.from, a.to - SEC);
	assert_past(m, false, 0);
	tick_put(t);
	model_free(m);
	assert_int_equal(web.refs, 0);
}

/* Without memory for both, ticks are remembered rather than lives that none of them shows. */
TEST(history, lives_of_the_window_go_first)
{
	struct model *m = model_new(128 << 10), *without = model_new(128 << 10);
	const struct tick *t, *t_without;
	uint64_t oldest, oldest_without;
	int kept = 0;

	model_window(m, 10000 * SEC);
	t = short_lives(m, 2000);
	t_without = short_lives(without, 2000);
	tick_past(t, &oldest);
	tick_past(t_without, &oldest_without);
	assert_int_equal(oldest, oldest_without);
	assert_int_equal(asked_for(t, 1000).found, 0);
	assert_int_equal(asked_for(t, 1000 + oldest).found, 1);
	for (int i = 0; i < 2000; i++)
		kept += asked_for(t, 1000 + i).found;
	assert_past(m, true, 2000 - kept - 1); /* the newest one before them is still in memory: the oldest tick may name it */
	assert_past(without, true, 0);
	tick_put(t);
	tick_put(t_without);
	model_free(m);
	model_free(without);
}

/* A list made from all remembered ticks while one is held: its threads stay valid though their ticks are forgotten, but are
 * not reported as threads of the time that is remembered. A thread of the oldest tick can have ended in the tick before it. */
TEST(history, held_ticks_keep_those_of_the_ticks_before)
{
	struct model *m = model_new(MEMORY);
	const struct life *was[HISTORY_TICKS];
	const struct tick *t = NULL, *held = NULL;
	uint64_t oldest;

	for (int i = 0; i < 3 * HISTORY_TICKS; i++) {
		struct life *l = life(m, 10 + i, 10 + i, i < HISTORY_TICKS ? "was" : "is", &web);

		if (i < HISTORY_TICKS)
			was[i] = l;
		tick_begin_at(m, (5 + i) * SEC);
		run(m, l, 100, true);
		model_life_end(m, l);
		tick_put(t);
		t = end(m);
		if (i == HISTORY_TICKS - 1)
			held = tick_get(t);
	}
	tick_past(t, &oldest);
	assert_int_equal(oldest, 2 * HISTORY_TICKS + 1); /* it does not keep other ticks */
	for (int i = 0; i < HISTORY_TICKS; i++) {
		assert_int_equal(was[i]->tid, 10 + i);
		assert_string_equal(was[i]->comm, "was");
		assert_int_equal(was[i]->process->tgid, 10 + i);
		assert_int_equal(asked_for(t, 10 + i).found, 0);
	}
	assert_int_equal(asked_for(t, 10 + 2 * HISTORY_TICKS - 1).found, 0);
	assert_int_equal(asked_for(t, 10 + 2 * HISTORY_TICKS).to, (5 + 2 * HISTORY_TICKS) * SEC);
	tick_put(held);
	tick_put(t);
	model_free(m);
}

/* Command lines that only a paused screen keeps take no room from the past; @last: the refresh in which their processes end,
 * in the first one, or after a new name that it does not show. */
static void held_past(int last)
{
	enum { TICKS = 2 * HISTORY_TICKS, PROCESSES = 600 };
	struct model *m = model_new(2 << 20);
	const struct tick *t = NULL, *held = NULL;
	struct life *lives[PROCESSES];
	char line[4000];
	uint64_t oldest;

	memset(line, 'x', sizeof(line));
	for (int i = 0; i < PROCESSES; i++) {
		lives[i] = life(m, 1000 + i, 1000 + i, "first", &web);
		assert_true(model_cmdline(m, lives[i]->process, line, sizeof(line), false));
	}
	for (int seq = 1; seq <= TICKS; seq++) {
		tick_begin_at(m, (5 + seq) * SEC);
		for (int i = 0; seq <= last && i < PROCESSES; i++) {
			struct identity id = identity(1000 + i, 1000 + i, seq == 1 ? "first" : "renamed");

			lives[i] = model_life_update(m, lives[i], &id, &web);
			run(m, lives[i], 1, seq == last);
			if (seq == last)
				model_life_end(m, lives[i]);
		}
		tick_put(t);
		t = end(m);
		if (seq == 1)
			held = tick_get(t);
	}
	assert_true(model_cmdline_bytes(m) >= PROCESSES * sizeof(line));
	tick_past(t, &oldest);
	assert_int_equal(oldest, TICKS - HISTORY_TICKS + 1);
	tick_put(held);
	tick_begin(m);
	tick_put(t);
	tick_put(end(m));
	assert_int_equal(model_cmdline_bytes(m), 0);
	model_free(m);
}

TEST(history, held_ticks_do_not_shorten_it)
{
	held_past(1);
	held_past(3);
}

/* Values of rows, tick by tick: of a thread, its process and its cgroups. */
TEST(history, history)
{
	struct model *m = model_new(MEMORY);
	struct life *a = life(m, 10, 10, "a", &web), *b = NULL;
	struct values out[8];
	const struct tick *t = NULL;
	const struct row *row;

	for (int i = 1; i <= 3; i++) {
		tick_begin(m);
		if (i == 2)
			b = life(m, 11, 10, "b", &web);
		if (i == 2)
			assert_int_equal(model_idle(m, a, STATE_SLEEP), 0);
		else
			run(m, a, 100 * i, false);
		if (b)
			run(m, b, 7, false);
		tick_put(t);
		t = end(m);
	}
	row = find(t->active, t->nr_active, 10);
	assert_int_equal(tick_history(t, &row, 1, 4, false, out), 0);
	assert_true(out[0].v[METRIC_ALIVE] == VALUE_NA); /* before the first tick */
	assert_true(out[0].v[METRIC_RUN] == VALUE_NA && out[1].v[METRIC_RSS] == VALUE_NA);
	assert_true(out[1].v[METRIC_RUNQ_P99] == VALUE_NA && out[2].v[METRIC_READ] == 0);
	assert_true(out[1].v[METRIC_RUN] == 100);
	assert_true(out[2].v[METRIC_RUN] == 0 && out[2].v[METRIC_SLEEP] == SEC);
	assert_true(out[3].v[METRIC_RUN] == 300);
	assert_int_equal(out[3].hist[HIST_RUNQ].n[HIST_SHIFT + 3], 70000);
	row = find(t->active, t->nr_active, 11);
	assert_int_equal(tick_history(t, &row, 1, 3, false, out), 0);
	assert_true(out[0].v[METRIC_ALIVE] == 0); /* not born yet */
	assert_true(out[1].v[METRIC_RUN] == 7);
	row = find(t->processes, t->nr_processes, 10);
	assert_int_equal(tick_history(t, &row, 1, 3, false, out), 0);
	assert_true(out[0].v[METRIC_ALIVE] == SEC && out[2].v[METRIC_ALIVE] == 2 * SEC);
	assert_true(out[1].v[METRIC_RUN] == 7 && out[2].v[METRIC_RUN] == 307);
	row = &t->cgroups[0];
	assert_int_equal(tick_history(t, &row, 1, 3, false, out), 0);
	assert_true(out[2].v[METRIC_RUN] == 307); /* including what is below */
	model_unknown(m, METRIC_READ, true);
	assert_int_equal(tick_history(t, &row, 1, 3, false, out), 0);
	assert_true(out[2].v[METRIC_READ] == VALUE_NA && out[2].v[METRIC_RUN] == 307);
	tick_put(t);
	model_life_end(m, a);
	model_life_end(m, b);
	model_free(m);
}

/* Threads that no tick shows, as they are out of scope, do not shorten the past, with their command lines; one that a
 * tick's waits name is kept. */
TEST(history, out_of_scope)
{
	enum { TICKS = 100, FORKS = 100 };
	struct model *m = model_new(1 << 20);
	struct life *a = life(m, 10, 10, "shown", &web), *named = life(m, 11, 11, "named", &web);
	const struct wait wait = { .life = a, .by = named, .ns = 1000, .count = 1 };
	const struct tick *t = NULL;
	char line[1000];
	uint64_t oldest;

	memset(line, 'x', sizeof(line));
	for (int seq = 1; seq <= TICKS; seq++) {
		struct life *forked[FORKS];

		for (int i = 0; i < FORKS; i++) {
			forked[i] = life(m, 1000 + i, 1000 + i, "forked", &web);
			assert_true(model_cmdline(m, forked[i]->process, line, sizeof(line), false));
		}
		tick_put(t);
		tick_begin(m);
		run(m, a, 100, false);
		if (seq == 2) {
			assert_int_equal(model_wait(m, &wait), 0);
			model_life_end(m, named);
		}
		for (int i = 0; i < FORKS; i++)
			model_life_end(m, forked[i]);
		t = end(m);
	}
	tick_past(t, &oldest);
	assert_int_equal(oldest, 1);
	tick_put(t);
	t = tick_at(t, 2);
	assert_int_equal(t->nr_waits, 1);
	assert_string_equal(t->waits[0].by->comm, "named");
	assert_int_equal(t->nr_active + t->nr_idle, 1);
	tick_put(t);
	assert_true(model_cmdline_bytes(m) < 3 * FORKS * (sizeof(line) + 100));
	model_life_end(m, a);
	model_free(m);
}

#define MANY 150 /* more than the arrays of a tick have room for at first */

/* A tick of all threads; NULL: out of memory. */
static const struct tick *tick_of(struct model *m, struct life *const lives[MANY], int nr)
{
	static const struct cgroup_limit limit = { VALUE_NA, VALUE_NA };
	static const uint64_t loss[LOSS_COUNT];
	static const struct self_cost self;
	static const struct values ran = { .v[METRIC_RUN] = 7, .v[METRIC_ALIVE] = SEC };
	struct timespec wall = { 0 };
	int err = model_begin(m, SEC, SEC, &wall);

	for (int i = 0; i < nr && !err; i++)
		err = i % 2 ? model_idle(m, lives[i], i % 4 == 3 ? STATE_SLEEP : STATE_STOPPED)
			    : model_thread(m, lives[i], STATE_SLEEP, false, &ran);
	if (!err)
		err = model_cgroup(m, &root, &limit, NULL);
	return err ? NULL : model_end(m, loss, &self);
}

/* How many of the ticks @seq and before are remembered with as many threads as they had. */
static int remembered(const struct tick *any, uint64_t seq)
{
	int nr = 0;

	for (; seq; seq--) {
		const struct tick *t = tick_at(any, seq);

		nr += t && t->nr_active + t->nr_idle == (seq < 3 ? 10 : MANY);
		tick_put(t);
	}
	return nr;
}

/* If any allocation of a tick fails, earlier ticks stay, and the next one is complete. The same holds for a tick of the past. */
TEST(history, memory_runs_out)
{
	bool failed = true, past_failed = true;
	uint32_t refs = root.refs;

	for (int n = 1; failed || past_failed; n++) {
		struct model *m = model_new(MEMORY);
		struct life *lives[MANY];
		const struct tick *held, *t;

		for (int i = 0; i < MANY; i++)
			lives[i] = life(m, 100 + i, 100 + i, "one", &root);
		tick_put(tick_of(m, lives, 10));
		held = tick_of(m, lives, 10);
		assert_non_null(held);
		allocations_left = n;
		t = tick_of(m, lives, MANY);
		failed = !allocations_left;
		allocations_left = -1;
		assert_int_equal(!t, failed);
		if (!t)
			t = tick_of(m, lives, MANY);
		assert_non_null(t);
		assert_int_equal(t->seq, 3);
		assert_int_equal(t->awake_ns, 3 * SEC);
		tick_put(t);
		allocations_left = n;
		t = tick_at(held, 3);
		past_failed = !allocations_left;
		allocations_left = -1;
		assert_int_equal(!t, past_failed);
		tick_put(t);
		assert_int_equal(remembered(held, 3), 3);
		tick_put(held);
		for (int i = 0; i < MANY; i++)
			model_life_end(m, lives[i]);
		model_free(m);
		assert_int_equal(root.refs, refs);
	}
}

int main(void)
{
	RUN_TESTS(cmocka_unit_test(history_ticks_come_back), cmocka_unit_test(history_is_bounded),
		  cmocka_unit_test(history_no_more_than_its_ticks),
		  cmocka_unit_test(history_stacks_that_all_differ),
		  cmocka_unit_test(history_many_stacks_of_a_paused_screen),
		  cmocka_unit_test(history_stacks_that_are_the_same),
		  cmocka_unit_test(history_moved_within_a_tick),
		  cmocka_unit_test(history_processes_where_they_were),
		  cmocka_unit_test(history_processes_are_what_they_became_after_a_move),
		  cmocka_unit_test(history_levels),
		  cmocka_unit_test(history_lives_of_the_window_stay),
		  cmocka_unit_test(history_lives_of_the_window_go_first),
		  cmocka_unit_test(history_held_ticks_keep_those_of_the_ticks_before),
		  cmocka_unit_test(history_held_ticks_do_not_shorten_it),
		  cmocka_unit_test(history_history), cmocka_unit_test(history_out_of_scope),
		  cmocka_unit_test(history_memory_runs_out));
}
