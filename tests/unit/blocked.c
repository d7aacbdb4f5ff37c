/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ticks.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collect/blocked.h"
#include "collect/peek.h"
#include "collect/selftest.h"
#include "helper/helper.h"
#include "helper/message.h"
#include "model/sample.h"
#include "unwind.h"

#define SLEEPERS 5000 /* more than two ticks' lists have room for */

static struct cgroup root = { .id = 1, .path = "/" };
static struct slot slots[SLEEPERS + 1];
static struct life *lives[SLEEPERS + 1];

static struct life *life(void *arg, uint32_t slot)
{
	(void)arg;
	return lives[slot];
}

TEST(blocked, all_sleepers_are_reported_while_stacks_are_shed)
{
	static uint64_t wanted[SLEEPERS + 1];
	static struct shared shared = { .slots_used = SLEEPERS };
	struct model *m = model_new(0);
	const struct blocked_options o = { .model = m, .link_fd = 0, .wanted = wanted, .slots = slots,
					   .max_slots = SLEEPERS + 1, .life = life, .shared = &shared };
	struct blocked *b = blocked_new(&o);

	assert_non_null(b);
	for (int i = 1; i <= SLEEPERS; i++) {
		slots[i] = (struct slot){ .state = SLOT_SLEEP, .since = SEC };
		lives[i] = tick_life(m, i, "sleeper", &root);
	}
	blocked_shed(b, true);
	for (int n = 0; n < 3; n++) {
		tick_begin(m);
		blocked_sleepers(b);
		assert_int_equal(blocked_look(b, 2 * SEC), 0);
		tick_put(tick_end(m));
		blocked_ask(b);
		assert_int_equal(blocked_pending(b), 0);
	}
	for (int i = 1; i <= SLEEPERS; i++)
		assert_non_null(lives[i]->block);
	blocked_free(b);
	for (int i = 1; i <= SLEEPERS; i++)
		model_life_end(m, lives[i]);
	model_free(m);
}

/* The helper ends before it has started. */
int __wrap_helper_open(int role, struct helper *h);
int __wrap_helper_open(int role, struct helper *h)
{
	int pair[2];

	(void)role;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	close(pair[1]);
	fcntl(pair[0], F_SETFL, O_NONBLOCK);
	*h = (struct helper){ .socket = pair[0] };
	return 0;
}

TEST(blocked, stacks_are_still_wanted_when_the_helper_did_not_start)
{
	static uint64_t wanted[2];
	static struct shared shared = { .slots_used = 1 };
	struct model *m = model_new(0);
	const struct blocked_options o = { .model = m, .link_fd = 0, .wanted = wanted, .slots = slots, .max_slots = 2, .life = life,
					   .shared = &shared };
	struct blocked *b = blocked_new(&o);

	slots[1] = (struct slot){ .state = SLOT_SLEEP, .since = SEC };
	lives[1] = tick_life(m, 1, "sleeper", &root);
	tick_begin(m);
	assert_int_equal(blocked_look(b, 2 * SEC), 0);
	tick_put(tick_end(m));
	blocked_ask(b);
	assert_int_equal(blocked_pending(b), 1);
	blocked_work(b);
	assert_int_equal(blocked_pending(b), 1);
	blocked_free(b);
	model_life_end(m, lives[1]);
	model_free(m);
}

/* An iterator that cannot be read is not one without threads: the helper ends, and the threads are requested again. */
TEST(blocked, an_iterator_that_fails_is_no_end_of_a_pass)
{
	int pair[2], no_iterator = open("/dev/null", O_RDONLY | O_CLOEXEC);
	const struct peek_request r = { 0 };
	struct peek_answer a;
	pid_t pid;

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	pid = fork();
	if (!pid) {
		close(pair[0]);
		peek_run(pair[1]);
		_exit(0);
	}
	close(pair[1]);
	assert_int_equal(helper_send(pair[0], &r, sizeof(r), no_iterator), sizeof(r));
	assert_int_equal(helper_receive(pair[0], &a, sizeof(a), NULL), -EPIPE);
	close(pair[0]);
	close(no_iterator);
	waitpid(pid, NULL, 0);
}

/* Only attempts with the tables of both files count, however many there are. */
TEST(blocked, tables_that_are_late_are_not_switched_off)
{
	static struct unwind_file files[UNWIND_FILES];
	static struct shared shared;
	const struct peek_answer cut = { .record = { .nr_user = 3, .user_end = STACK_TRUNCATED },
					 .frames = { 1ULL << FRAME_FILE_SHIFT, 2ULL << FRAME_FILE_SHIFT, FRAME_ANONYMOUS | 16 } };
	struct selftest t = { 0 };

	files[1].nr = 1;
	for (int i = 0; i < 100; i++)
		selftest_take(&t, &cut, files, &shared);
	assert_true(selftest_wanted(&t));
	assert_int_equal(shared.tables_off, 0);
	files[2].nr = 1;
	for (int i = 0; i < 100; i++)
		selftest_take(&t, &cut, files, &shared);
	assert_false(selftest_wanted(&t));
	assert_int_equal(shared.tables_off, 1);
}

int main(void)
{
	RUN_TESTS(cmocka_unit_test(blocked_all_sleepers_are_reported_while_stacks_are_shed),
		  cmocka_unit_test(blocked_stacks_are_still_wanted_when_the_helper_did_not_start),
		  cmocka_unit_test(blocked_an_iterator_that_fails_is_no_end_of_a_pass),
		  cmocka_unit_test(blocked_tables_that_are_late_are_not_switched_off));
}
