/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ticks.h"

#include "collect/blocked.h"
#include "model/sample.h"

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

int main(void)
{
	RUN_TESTS(cmocka_unit_test(blocked_all_sleepers_are_reported_while_stacks_are_shed));
}
