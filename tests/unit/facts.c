/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Facts about what the screen shows, as a helper's answers come; without a helper. */
#include "collect/facts.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "helper/proto.h"
#include "helper/worker.h"
#include "unit.h"

#define SEC 1000000000ULL

static uint64_t now;
static bool ready, answers;
static pid_t asked; /* 0: nothing */

int __wrap_clock_gettime(clockid_t clock, struct timespec *ts);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ts)
{
	(void)clock;
	*ts = (struct timespec){ .tv_sec = (time_t)(now / SEC) };
	return 0;
}

bool __wrap_worker_ready(struct worker *w);
bool __wrap_worker_ready(struct worker *w)
{
	(void)w;
	return ready;
}

bool __wrap_worker_ask(struct worker *w, const void *request, size_t bytes, int fd);
bool __wrap_worker_ask(struct worker *w, const void *request, size_t bytes, int fd)
{
	assert_int_equal(bytes, sizeof(struct facts_request));
	assert_int_equal(fd, -1);
	asked = ((const struct facts_request *)request)->tgid;
	w->deadline = now + SEC;
	return true;
}

int __wrap_worker_answer(struct worker *w, void *answer, size_t room, int *fd);
int __wrap_worker_answer(struct worker *w, void *answer, size_t room, int *fd)
{
	(void)w;
	(void)fd;
	if (!answers)
		return -EAGAIN;
	memset(answer, 0, room);
	((struct facts_answer *)answer)->memory.bytes[MEMORY_RSS] = asked;
	answers = false;
	return (int)room;
}

/* The screen is drawn again for an answer, for a helper that was not ready, and for one that was busy with another process. */
TEST(facts, draws_what_comes)
{
	struct facts *f = facts_new(0, NULL);
	const struct memory_facts *m;

	now = 100 * SEC;
	ready = false;
	asked = 0;
	assert_non_null(f);
	assert_false(facts_work(f));
	assert_null(facts_of(f, 1, NULL));
	assert_true(facts_work(f));
	assert_false(facts_work(f)); /* it is not shown any more */
	ready = true;
	assert_null(facts_of(f, 1, NULL));
	assert_int_equal(asked, 1);
	assert_false(facts_work(f));
	assert_null(facts_of(f, 2, NULL));
	assert_int_equal(asked, 1);
	answers = true;
	assert_true(facts_work(f));
	assert_null(facts_of(f, 2, NULL));
	assert_int_equal(asked, 2);
	answers = true;
	assert_true(facts_work(f));
	m = facts_of(f, 2, NULL);
	assert_non_null(m);
	assert_int_equal(m->bytes[MEMORY_RSS], 2);
	facts_free(f);
}

/* While they are shown they are read again, and those shown last stay; after a while they are old. */
TEST(facts, old_ones_are_not_shown)
{
	struct facts *f = facts_new(0, NULL);

	now = 100 * SEC;
	ready = true;
	assert_null(facts_of(f, 1, NULL));
	answers = true;
	facts_work(f);
	now += 6 * SEC;
	asked = 0;
	assert_non_null(facts_of(f, 1, NULL));
	assert_int_equal(asked, 1);
	answers = true;
	facts_work(f);
	now += 11 * SEC;
	assert_null(facts_of(f, 1, NULL));
	answers = true;
	facts_work(f);
	assert_non_null(facts_of(f, 1, NULL));
	facts_free(f);
}

int main(void)
{
	RUN_TESTS(cmocka_unit_test(facts_draws_what_comes), cmocka_unit_test(facts_old_ones_are_not_shown));
}
