/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ticks.h"

#include <stdlib.h>
#include <string.h>

#include "model/sample.h"
#include "model/wait.h"
#include "query/order.h"
#include "query/subject.h"

/* root - web, and web - api */
static struct cgroup root = { .id = 1, .path = "/" };
static struct cgroup web = { .id = 2, .path = "/web", .parent = &root, .depth = 1 };
static struct cgroup api = { .id = 3, .path = "/web/api", .parent = &web, .depth = 2 };

static struct life *life(struct model *m, pid_t tid, pid_t tgid, const char *comm,
			 struct cgroup *cgroup)
{
	static uint64_t start;
	struct identity id = { .tid = tid, .tgid = tgid, .start_ns = ++start };

	strcpy(id.comm, comm);
	return model_life(m, &id, cgroup);
}

static const struct tick *end(struct model *m)
{
	static const struct cgroup_limit some = { 3, 7 };

	tick_cgroup(m, &root, NULL);
	tick_cgroup(m, &web, NULL);
	tick_cgroup(m, &api, &some);
	return tick_end(m);
}

static void thread(struct model *m, struct life *l, uint64_t run, uint64_t user, bool exited)
{
	struct values v = { 0 };

	v.v[METRIC_RUN] = run;
	v.v[METRIC_USER] = user;
	v.v[METRIC_KERNEL] = user == VALUE_NA ? VALUE_NA : run - user;
	v.v[METRIC_SLEEP] = SEC - run;
	v.v[METRIC_ALIVE] = SEC;
	v.v[METRIC_RUNQ_MAX] = run / 10;
	v.v[METRIC_VOLUNTARY] = 1;
	v.hist[HIST_RUNQ].n[HIST_SHIFT + 4] = 2;
	assert_int_equal(model_thread(m, l, exited ? STATE_DEAD : STATE_SLEEP, exited, &v), 0);
}

static const struct row *process_row(const struct tick *t, pid_t pid)
{
	size_t i = 0;

	while (i < t->nr_processes && t->processes[i].number != pid)
		i++;
	assert_true(i < t->nr_processes);
	return &t->processes[i];
}

/* Threads of one cgroup belong to another one in the hierarchy of CPU limits: they are added there, too, and to the
 * host only once. */
TEST(model, cgroups_aside)
{
	static struct cgroup top = { .id = 2, .path = "cpu:/", .aside = true };
	static struct cgroup tenant = { .id = 3, .path = "cpu:/tenant7", .parent = &top, .depth = 1, .aside = true };
	static struct cgroup job = { .id = 4, .path = "cpu:/tenant7/job", .parent = &tenant, .depth = 2, .aside = true };
	static const struct cgroup_limit limit = { 5, 70, 20, 100 };
	struct cgroup *const limiters[] = { &top, &tenant, &job, &job };
	struct model *m = model_new(1 << 20);
	struct life *lives[4];
	const struct row *aside;
	struct values history[2];
	struct wait wait = { .kind = WAIT_LIMIT, .ns = 5 };
	const struct tick *t, *was;

	for (int i = 0; i < 4; i++) {
		struct identity id = { .tid = i + 1, .tgid = i + 1, .start_ns = i + 1, .comm = "x", .limiter = limiters[i] };

		lives[i] = model_life(m, &id, &web);
		assert_ptr_equal(lives[i]->limiter, limiters[i]);
		assert_int_equal(limiters[i]->living, i < 3 ? 1 : 2);
	}
	tick_begin(m);
	for (int i = 0; i < 3; i++)
		thread(m, lives[i], 100 << i, 0, false);
	model_idle(m, lives[3], STATE_SLEEP);
	wait.life = lives[2];
	assert_int_equal(model_wait(m, &wait), 0);
	tick_cgroup(m, &root, NULL);
	tick_cgroup(m, &web, NULL);
	tick_cgroup(m, &tenant, &limit);
	tick_cgroup(m, &job, NULL);
	t = tick_end(m);
	aside = &t->cgroups[2];
	assert_int_equal(t->total.v[METRIC_RUN], 700);
	assert_int_equal(t->nr_aside, 2);
	assert_int_equal(t->cgroups[1].values->v[METRIC_RUN], 700);
	assert_int_equal(aside->values->v[METRIC_RUN], 600);
	assert_int_equal(aside->own->v[METRIC_RUN], 200);
	assert_int_equal(aside->nr_threads, 3);
	assert_int_equal(aside->limit->quota_ns, 20);
	assert_int_equal(t->cgroups[3].own_threads, 2);
	assert_int_equal(t->cgroups[3].own->v[METRIC_SLEEP], 2 * SEC - 400);
	assert_ptr_equal(t->waits[0].limit, &tenant);
	assert_int_equal(tick_history(t, &aside, 1, 2, false, history), 0);
	assert_int_equal(history[1].v[METRIC_RUN], 600);
	assert_int_equal(tick_history(t, &aside, 1, 2, true, history), 0);
	assert_int_equal(history[1].v[METRIC_RUN], 200);
	assert_true(cgroup_key(&tenant) != cgroup_key(&api)); /* has the same id */
	tick_put(t);
	tick_begin(m);
	t = tick_end(m);
	was = tick_at(t, t->seq - 1);
	assert_non_null(was);
	assert_int_equal(was->cgroups[3].own_threads, 2);
	assert_int_equal(was->cgroups[3].own->v[METRIC_SLEEP], 2 * SEC - 400);
	assert_int_equal(was->cgroups[2].nr_threads, 3);
	tick_put(was);
	tick_put(t);
	for (int i = 0; i < 4; i++)
		model_life_end(m, lives[i]);
	model_free(m);
	assert_int_equal(tenant.refs | job.refs | top.refs, 0);
	assert_int_equal(tenant.living | job.living | top.living, 0);
}

TEST(model, processes_and_cgroups_add_up)
{
	struct model *m = model_new(0);
	struct life *a = life(m, 10, 10, "web", &web), *b = life(m, 11, 10, "worker", &api);
	struct life *c = life(m, 20, 20, "api", &api);
	const struct row *process;
	const struct tick *t;

	tick_begin(m);
	thread(m, a, 300, 100, false);
	thread(m, b, 200, 200, false);
	assert_int_equal(model_idle(m, c, STATE_SLEEP), 0);
	t = end(m);
	assert_int_equal(t->nr_active + t->nr_idle, 3);
	assert_int_equal(t->nr_active, 2);
	assert_int_equal(t->nr_processes, 2);
	process = process_row(t, 10);
	assert_string_equal(process->process->comm, "web");
	assert_int_equal(process->nr_threads, 2);
	assert_true(row_value(process, METRIC_RUN) == 500);
	assert_true(row_value(process, METRIC_USER) == 300);
	assert_true(row_value(process, METRIC_RUNQ_MAX) == 30); /* the maximum, not a sum */
	assert_int_equal(process->values->hist[HIST_RUNQ].n[HIST_SHIFT + 4], 4);
	assert_int_equal(process->state, STATE_SLEEP);
	assert_true(row_value(process_row(t, 20), METRIC_SLEEP) == SEC);

	assert_int_equal(t->nr_cgroups, 3);
	assert_true(t->cgroups[0].values->v[METRIC_RUN] == 500);
	assert_true(t->cgroups[0].own->v[METRIC_RUN] == 0);
	assert_int_equal(t->cgroups[0].nr_threads, 3);
	assert_int_equal(t->cgroups[0].own_threads, 0);
	assert_true(t->cgroups[1].values->v[METRIC_RUN] == 500);
	assert_true(t->cgroups[1].own->v[METRIC_RUN] == 300);
	assert_true(t->cgroups[2].own->v[METRIC_RUN] == 200);
	assert_true(t->cgroups[2].own->v[METRIC_ALIVE] == 2 * SEC);
	assert_int_equal(t->cgroups[2].own_threads, 2);
	assert_int_equal(t->cgroups[2].limit->nr_throttled, 3);
	assert_true(t->total.v[METRIC_VOLUNTARY] == 2);
	tick_put(t);
	model_life_end(m, a);
	model_life_end(m, b);
	model_life_end(m, c);
	model_free(m);
}

/* A thread whose split is unknown adds its running time, split like the others'. */
TEST(model, unknown_split)
{
	struct model *m = model_new(0);
	struct life *a = life(m, 10, 10, "a", &web), *b = life(m, 11, 10, "b", &web);
	struct life *c = life(m, 12, 12, "c", &api);
	const struct tick *t;

	tick_begin(m);
	thread(m, a, 100, 75, false);
	thread(m, b, 300, VALUE_NA, false);
	thread(m, c, 50, VALUE_NA, false);
	t = end(m);
	assert_true(row_value(&t->active[1], METRIC_USER) == VALUE_NA);
	assert_true(row_value(&t->processes[0], METRIC_USER) == 300);
	assert_true(row_value(&t->processes[0], METRIC_KERNEL) == 100);
	assert_true(row_value(&t->processes[1], METRIC_USER) == VALUE_NA);
	tick_put(t);
	model_life_end(m, a);
	model_life_end(m, b);
	model_life_end(m, c);
	model_free(m);
}

/* Short threads: of 40 that ran for 10 each, a tick of 100 found one in user mode and one in the kernel three times as
 * often. A long one, whose split was known, stands for itself. */
TEST(model, split_by_ticks)
{
	struct model *m = model_new(4 << 20);
	struct life *lives[42];
	const struct tick *t, *was;
	struct values out[2];
	const struct row *row;

	for (int i = 0; i < 42; i++)
		lives[i] = life(m, 10 + i, i < 41 ? 10 : 60, "short", &web);
	tick_begin(m);
	for (int i = 0; i < 40; i++) {
		struct values v = { .v = { [METRIC_RUN] = 10, [METRIC_USER] = VALUE_NA, [METRIC_KERNEL] = VALUE_NA,
					   [METRIC_ALIVE] = SEC } };

		if (i % 10 == 0) {
			v.v[METRIC_USER] = i ? 0 : 10;
			v.v[METRIC_KERNEL] = i ? 10 : 0;
			v.ticked = (struct ticked){ i ? 0 : 100, i ? 100 : 0 };
		}
		assert_int_equal(model_thread(m, lives[i], STATE_SLEEP, false, &v), 0);
	}
	thread(m, lives[40], 600, 600, false);
	thread(m, lives[41], 1000, 0, false);
	t = end(m);
	assert_int_equal(row_value(&t->active[0], METRIC_USER), 10); /* its own is what is known of it */
	assert_int_equal(row_value(process_row(t, 10), METRIC_RUN), 1000);
	assert_int_equal(row_value(process_row(t, 10), METRIC_USER), 700);
	assert_int_equal(row_value(process_row(t, 10), METRIC_KERNEL), 300);
	assert_int_equal(t->cgroups[0].values->v[METRIC_USER], 700);
	assert_int_equal(t->total.v[METRIC_USER], 700);
	assert_int_equal(t->total.v[METRIC_KERNEL], 1300);
	row = process_row(t, 10);
	assert_int_equal(tick_history(t, &row, 1, 1, false, out), 0);
	assert_int_equal(out[0].v[METRIC_USER], 700);
	was = tick_at(t, t->seq);
	assert_int_equal(was->total.v[METRIC_USER], 700);
	tick_put(was);
	tick_put(t);
	tick_begin(m);
	t = end(m);
	was = tick_at(t, t->seq - 1);
	assert_non_null(was);
	assert_int_equal(was->total.v[METRIC_USER], 700);
	assert_int_equal(process_row(was, 10)->values->v[METRIC_USER], 700);
	tick_put(was);
	tick_put(t);
	for (int i = 0; i < 42; i++)
		model_life_end(m, lives[i]);
	model_free(m);
}

/* Dead threads and their process stay readable while a tick that shows them is held. */
TEST(model, held_ticks_keep_the_dead)
{
	struct model *m = model_new(0);
	struct life *dead = life(m, 10, 10, "gone", &api);
	const struct tick *first, *second;

	tick_begin(m);
	thread(m, dead, 5, 5, true);
	model_life_end(m, dead);
	first = end(m);
	for (int i = 0; i < 3; i++) {
		struct life *other = life(m, 10, 10, "other", &api);

		tick_begin(m);
		thread(m, other, 9, 9, true);
		model_life_end(m, other);
		second = end(m);
		tick_put(second);
	}
	tick_begin(m); /* a thread of another process with that number, seen before its leader */
	dead = life(m, 11, 10, "thread", &api);
	thread(m, dead, 1, 1, true);
	model_life_end(m, dead);
	tick_put(end(m));
	assert_true(first->active[0].exited);
	assert_string_equal(first->active[0].thread->comm, "gone");
	assert_string_equal(first->processes[0].process->comm, "gone");
	assert_true(first->processes[0].exited);
	assert_ptr_equal(first->active[0].cgroup, &api);
	tick_put(first);
	model_free(m);
	assert_int_equal(api.refs, 0);
}

/* A process has exited when all its threads have, in whatever order they are shown. */
TEST(model, exited_with_the_last_thread)
{
	for (int dead = 0; dead < 4; dead++) { /* a bit for each thread */
		struct model *m = model_new(0);
		struct life *lives[] = { life(m, 10, 10, "a", &api), life(m, 11, 10, "b", &api) };
		const struct tick *t;

		tick_begin(m);
		for (int i = 0; i < 2; i++) {
			thread(m, lives[i], 5, 5, dead >> i & 1);
			model_life_end(m, lives[i]);
		}
		t = end(m);
		assert_int_equal(t->processes[0].exited, dead == 3);
		assert_int_equal(t->processes[0].state, dead == 3 ? STATE_DEAD : STATE_SLEEP);
		tick_put(t);
		model_free(m);
	}
}

/* What all threads of a process share follows its leader, and after that any thread that is left; its name stays. */
TEST(model, a_process_outlives_its_leader)
{
	struct model *m = model_new(0);
	struct life *leader = life(m, 10, 10, "leader", &api), *other = life(m, 11, 10, "other", &api);
	struct identity id = { .tid = 11, .tgid = 10, .start_ns = other->start_ns, .comm = "other", .ppid = 7, .uid = 33 };
	struct identity leads = { .tid = 10, .tgid = 10, .start_ns = leader->start_ns, .comm = "leader" };
	const struct process *p = other->process;
	const struct tick *t;
	struct life *part;

	tick_begin(m);
	thread(m, leader, 5, 5, false);
	thread(m, other, 5, 5, false);
	tick_put(end(m));
	other = model_life_update(m, other, &id, &web); /* it left alone, as with threaded cgroups */
	assert_ptr_equal(p->cgroup, &api);
	assert_int_equal(p->ppid, 0);
	for (int i = 0; i < 3; i++) /* it is as it was, at each refresh */
		assert_ptr_equal(model_life_update(m, leader, &leads, &api), leader);
	tick_begin(m);
	part = leader;
	leader = model_life_part(m, part, SEC / 2, 0); /* it moves: the first part of its life ends */
	model_life_end(m, part);
	other = model_life_update(m, other, &id, &root);
	assert_ptr_equal(p->cgroup, &api);
	thread(m, leader, 5, 5, true);
	model_life_end(m, leader);
	thread(m, other, 5, 5, false);
	tick_put(end(m));
	other = model_life_update(m, other, &id, &web);
	tick_begin(m);
	thread(m, other, 5, 5, false);
	t = end(m);
	assert_ptr_equal(process_row(t, 10)->process, p);
	assert_ptr_equal(p->cgroup, &web);
	assert_int_equal(p->ppid, 7);
	assert_int_equal(p->uid, 33);
	assert_string_equal(p->comm, "leader");
	tick_put(t);
	model_free(m);
}

static bool by_run(const void *a, const void *b, const void *arg)
{
	(void)arg;
	return row_value(a, METRIC_RUN) > row_value(b, METRIC_RUN);
}

/* Cgroups of both hierarchies can have the same number. */
TEST(model, keys_of_both_hierarchies)
{
	const struct subject one = { SUBJECT_CGROUP, 7, 0 }, aside = { SUBJECT_CGROUP, 7 | 1ULL << 63, 0 };

	assert_int_not_equal(subject_key(&one), subject_key(&aside));
}

/* In the tick being built, the thread is in D state for @ns. @age: at the end it has been for this long; 0: it is not
 * any more. */
static void in_d(struct model *m, struct life *l, uint64_t ns, uint64_t age)
{
	const struct stack_sample s = { .life = l, .weight = ns, .metric = METRIC_D,
					.flags = NOTE_NO_STACK | (age ? NOTE_GOES_ON : 0) };
	struct values v = { 0 };

	v.v[METRIC_D] = v.v[METRIC_ALIVE] = ns;
	if (age && !l->block)
		assert_int_equal(model_block(m, l, METRIC_D, age, false), 0);
	assert_int_equal(model_thread(m, l, age ? STATE_D : STATE_SLEEP, false, &v), 0);
	assert_int_equal(model_sample(m, &s), 0);
}

/* In the tick being built, the thread slept on for @ns. */
static void sleeps(struct model *m, struct life *l, uint64_t ns)
{
	const struct stack_sample s = { .life = l, .weight = ns, .metric = METRIC_SLEEP, .flags = NOTE_NO_STACK | NOTE_GOES_ON };
	struct values v = { 0 };

	v.v[METRIC_SLEEP] = v.v[METRIC_ALIVE] = ns;
	assert_int_equal(model_thread(m, l, STATE_SLEEP, false, &v), 0);
	assert_int_equal(model_sample(m, &s), 0);
}

static int add_weight(void *arg, const struct stack_sample *s)
{
	*(uint64_t *)arg += s->weight;
	return 0;
}

static uint64_t weight(const struct tick *t, uint64_t ticks)
{
	uint64_t sum = 0;

	assert_int_equal(tick_samples(t, ticks, add_weight, &sum), 0);
	return sum;
}

/* A block counts once in all refreshes together, and in each one, though its thread got another name or cgroup: between
 * two refreshes, within one, or after it ended. */
TEST(model, blocks_of_threads_that_change)
{
	struct identity id = { .tid = 10, .tgid = 10, .start_ns = 1, .comm = "renamed" };
	struct model *m = model_new(1 << 20);
	struct life *l = life(m, 10, 10, "before", &web), *part;
	const struct tick *t;

	id.start_ns = l->start_ns;
	tick_begin(m);
	in_d(m, l, SEC, 3 * SEC);
	tick_put(end(m));
	l = model_life_update(m, l, &id, &web);
	assert_true(l->block && l->block->until == BLOCK_ON);
	tick_begin(m);
	in_d(m, l, SEC, 4 * SEC);
	t = end(m);
	assert_int_equal(weight(t, 1), SEC);
	assert_int_equal(weight(t, 2), 2 * SEC);
	tick_put(t);
	part = l; /* it moves in the middle of the next one */
	l = model_life_part(m, l, SEC / 4, 0);
	tick_begin(m);
	in_d(m, part, SEC / 4, 0);
	in_d(m, l, SEC * 3 / 4, 5 * SEC);
	model_life_end(m, part);
	t = end(m);
	assert_int_equal(l->block->since, -2 * (int64_t)SEC);
	assert_int_equal(weight(t, 1), SEC);
	assert_int_equal(weight(t, 3), 3 * SEC);
	tick_put(t);
	tick_begin(m);
	model_block_end(m, l);
	in_d(m, l, SEC / 2, 0);
	strcpy(id.comm, "again");
	t = end(m);
	l = model_life_update(m, l, &id, &web);
	assert_int_equal(weight(t, 1), SEC / 2);
	assert_int_equal(weight(t, 4), 3 * SEC + SEC / 2);
	tick_put(t);
	model_life_end(m, l);
	model_free(m);
}

static int longest_whole(void *arg, const struct stack_sample *s)
{
	uint64_t *ns = arg;

	*ns = s->whole > *ns ? s->whole : *ns;
	return 0;
}

/* A block that is found after a move is the new cgroup's from the move on: the time before counts once, too. Its length is
 * that of the whole. */
TEST(model, block_found_after_a_move)
{
	struct model *m = model_new(1 << 20);
	struct life *l = life(m, 10, 10, "moved", &web), *part = l;
	const struct tick *t;
	uint64_t whole = 0;

	tick_begin(m);
	sleeps(m, l, SEC);
	tick_put(end(m));
	tick_begin(m);
	l = model_life_part(m, part, SEC / 4, 0);
	sleeps(m, part, SEC / 4);
	sleeps(m, l, SEC * 3 / 4);
	model_life_end(m, part);
	assert_int_equal(model_block(m, l, METRIC_SLEEP, 5 * SEC, false), 0);
	t = end(m);
	assert_int_equal(weight(t, 1), SEC);
	assert_int_equal(weight(t, 2), 2 * SEC);
	assert_int_equal(l->block->since, -3 * (int64_t)SEC);
	assert_int_equal(tick_samples(t, 1, longest_whole, &whole), 0);
	assert_int_equal(whole, 5 * SEC);
	tick_put(t);
	model_life_end(m, l);
	model_free(m);
}

static int count_stacks(void *arg, const struct stack_sample *s)
{
	*(int *)arg += s->kernel && s->kernel->nr == 1 && s->kernel->frames[0] == FRAME_KERNEL + 7;
	return 0;
}

/* A refresh that is held, as by a paused screen, has the stack of a block that ended with it, however long ago that is. */
TEST(model, held_ticks_keep_blocks)
{
	struct stack *like = calloc(1, sizeof(*like) + sizeof(like->frames[0]));
	struct model *m = model_new(0);
	struct life *l = life(m, 10, 10, "x", &api);
	const struct tick *t;
	int nr = 0;

	like->nr = 1;
	like->hash = 3;
	like->frames[0] = FRAME_KERNEL + 7;
	tick_begin(m);
	in_d(m, l, SEC, SEC);
	model_block_stacks(l->block, NULL, tick_stack(m, like), 0);
	t = end(m);
	tick_begin(m);
	model_block_end(m, l);
	in_d(m, l, 0, 0);
	tick_put(end(m));
	for (int i = 0; i < 50; i++) {
		tick_begin(m);
		tick_put(end(m));
	}
	assert_int_equal(tick_samples(t, 1, count_stacks, &nr), 0);
	assert_int_equal(nr, 1);
	assert_int_equal(weight(t, 1), SEC);
	tick_put(t);
	model_life_end(m, l);
	model_free(m);
	free(like);
}

/* Rows are incomplete in the tick in which threads ended unlisted, and from the first one without a slot on. */
TEST(model, incomplete)
{
	static const struct self_cost self;
	const struct {
		enum loss_cause grows;
		bool incomplete;
	} ticks[] = { { LOSS_GAP, false }, { LOSS_UNLISTED, true }, { LOSS_GAP, false }, { LOSS_UNLISTED, true },
		      { LOSS_NO_STORAGE, true }, { LOSS_GAP, true } };
	uint64_t loss[LOSS_COUNT] = { 0 };
	struct model *m = model_new(0);

	for (size_t i = 0; i < sizeof(ticks) / sizeof(ticks[0]); i++) {
		const struct tick *t;

		loss[ticks[i].grows]++;
		tick_begin(m);
		tick_cgroup(m, &root, NULL);
		t = model_end(m, loss, &self);
		assert_int_equal(t->cgroups[0].incomplete, ticks[i].incomplete);
		tick_put(t);
	}
	model_free(m);
}

/* A process that gets the PID of one that ended is another one: nothing of it is shown as the other's. */
TEST(model, a_pid_that_is_reused)
{
	struct identity again = { .tid = 10, .tgid = 10, .start_ns = 5000, .comm = "second" };
	struct model *m = model_new(1 << 20);
	struct life *l = life(m, 10, 10, "first", &web);
	struct subject first, second;
	const struct tick *t, *was;

	tick_begin(m);
	sleeps(m, l, SEC);
	was = end(m);
	first = subject_of(&was->processes[0]);
	model_life_end(m, l);
	l = model_life(m, &again, &web);
	tick_begin(m);
	sleeps(m, l, SEC);
	t = end(m);
	second = subject_of(&t->processes[0]);
	assert_ptr_equal(subject_row(&first, was), &was->processes[0]);
	assert_null(subject_row(&first, t));
	assert_ptr_equal(subject_row(&second, t), &t->processes[0]);
	assert_true(subject_holds_life(&first, was->active[0].thread));
	assert_false(subject_holds_life(&first, l));
	assert_int_not_equal(subject_key(&first), subject_key(&second));
	tick_put(was);
	tick_put(t);
	model_life_end(m, l);
	model_free(m);
}

/* A thread whose parent is @ppid. */
static struct life *child(struct model *m, pid_t tid, pid_t ppid)
{
	struct identity id = { .tid = tid, .tgid = tid, .ppid = ppid, .start_ns = tid, .comm = "child" };

	return model_life(m, &id, NULL);
}

struct told {
	int nr;
	pid_t tgid;
};

static void on_orphan(void *arg, pid_t tgid)
{
	struct told *told = arg;

	told->nr++;
	told->tgid = tgid;
}

static struct told orphans(struct model *m)
{
	struct told told = { 0 };

	model_orphans(m, on_orphan, &told);
	return told;
}

/* An orphan is reported once for each parent that ended. */
TEST(model, orphans_are_told_of_once)
{
	struct model *m = model_new(0);
	struct life *init = child(m, 1, 0), *parent = child(m, 10, 1), *thread, *orphan = child(m, 11, 10);
	struct identity id = { .tid = 20, .tgid = 10, .ppid = 1, .start_ns = 20, .comm = "thread" };
	struct told told;

	thread = model_life(m, &id, NULL);
	assert_int_equal(orphans(m).nr, 0);
	model_life_end(m, parent); /* its other thread lives on */
	assert_int_equal(orphans(m).nr, 0);
	model_life_end(m, thread);
	told = orphans(m);
	assert_int_equal(told.nr, 1);
	assert_int_equal(told.tgid, 11);
	assert_int_equal(orphans(m).nr, 0);
	/* another one ends, while the new parent is not known yet */
	model_life_end(m, child(m, 12, 1));
	assert_int_equal(orphans(m).nr, 0);
	id = (struct identity){ .tid = 11, .tgid = 11, .ppid = 1, .start_ns = 11, .comm = "child" };
	orphan = model_life_update(m, orphan, &id, NULL);
	assert_int_equal(orphan->ppid, 1);
	model_life_end(m, init);
	assert_int_equal(orphans(m).nr, 1);
	model_life_end(m, orphan);
	/* its parent ended before it was seen */
	orphan = child(m, 13, 10);
	told = orphans(m);
	assert_int_equal(told.nr, 1);
	assert_int_equal(told.tgid, 13);
	assert_int_equal(orphans(m).nr, 0);
	model_life_end(m, orphan);
	model_free(m);
}

/* Many orphans are reported in parts. */
TEST(model, many_orphans)
{
	struct model *m = model_new(0);
	struct life *parent = child(m, 10, 0), *lives[100];
	int nr = 0, times = 0;

	for (int i = 0; i < 100; i++)
		lives[i] = child(m, 100 + i, 10);
	model_life_end(m, parent);
	for (struct told told; (told = orphans(m)).nr; times++)
		nr += told.nr;
	assert_int_equal(nr, 100);
	assert_within(times, 2, 10);
	for (int i = 0; i < 100; i++)
		model_life_end(m, lives[i]);
	model_free(m);
}

TEST(model, order_of_a_part_is_that_of_all)
{
	enum { NR = 500 };
	struct model *m = model_new(0);
	const struct row *all[NR], *some[NR];
	const struct tick *t;
	const struct order by = { by_run, NULL, row_tie };
	struct life *lives[NR];

	srandom(1);
	tick_begin(m);
	for (int i = 0; i < NR; i++) {
		lives[i] = life(m, NR - i, NR - i, "x", &root);
		thread(m, lives[i], random() % 50, 0, false);
	}
	t = end(m);
	for (int i = 0; i < NR; i++)
		all[i] = &t->active[i];
	rows_order(all, NR, 0, NR, by_run, NULL);
	for (int i = 1; i < NR; i++) {
		uint64_t before = row_value(all[i - 1], METRIC_RUN), run = row_value(all[i], METRIC_RUN);

		assert_true(before > run ||
			    (before == run && all[i - 1]->thread->tid < all[i]->thread->tid));
		assert_int_equal(items_rank((const void **)all, NR, all[i], &by), i);
	}
	for (int first = 0; first <= NR; first += 50) {
		for (int i = 0; i < NR; i++)
			some[i] = &t->active[i];
		rows_order(some, NR, first, 40, by_run, NULL);
		for (int i = first; i < first + 40 && i < NR; i++)
			assert_ptr_equal(some[i], all[i]);
	}
	tick_put(t);
	for (int i = 0; i < NR; i++)
		model_life_end(m, lives[i]);
	model_free(m);
}

int main(void)
{
	RUN_TESTS(cmocka_unit_test(model_processes_and_cgroups_add_up),
		  cmocka_unit_test(model_unknown_split),
		  cmocka_unit_test(model_split_by_ticks),
		  cmocka_unit_test(model_cgroups_aside),
		  cmocka_unit_test(model_held_ticks_keep_the_dead),
		  cmocka_unit_test(model_exited_with_the_last_thread),
		  cmocka_unit_test(model_a_process_outlives_its_leader),
		  cmocka_unit_test(model_blocks_of_threads_that_change),
		  cmocka_unit_test(model_block_found_after_a_move),
		  cmocka_unit_test(model_held_ticks_keep_blocks),
		  cmocka_unit_test(model_incomplete),
		  cmocka_unit_test(model_a_pid_that_is_reused),
		  cmocka_unit_test(model_orphans_are_told_of_once),
		  cmocka_unit_test(model_many_orphans),
		  cmocka_unit_test(model_keys_of_both_hierarchies),
		  cmocka_unit_test(model_order_of_a_part_is_that_of_all));
}
