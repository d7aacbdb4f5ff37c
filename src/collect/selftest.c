/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/selftest.h"

#include "collect/peek.h"
#include "model/health.h"
#include "unwind.h"

/* The unwinder must work within this many attempts that had the tables of all files of the stack. */
#define TRIES_MAX 30
/* The most attempts in all, as a file may never get a table. */
#define ATTEMPTS_MAX 600

/* recvmsg(), the starter's loop, main(), and its callers. */
#define FRAMES_MIN 4

bool selftest_wanted(const struct selftest *t)
{
	return t->result == SELFTEST_RUNS;
}

/* Frames outside of files, which a wrong walk can have, need none. */
static bool has_tables(const struct peek_answer *a, const struct unwind_file *files)
{
	for (uint32_t i = 0; i < a->record.nr_user; i++) {
		uint64_t file = a->frames[i] >> FRAME_FILE_SHIFT;

		if (file && file < UNWIND_FILES && !files[file].nr)
			return false;
	}
	return true;
}

void selftest_take(struct selftest *t, const struct peek_answer *a, const struct unwind_file *files, struct shared *shared)
{
	const struct blocked_record *r = &a->record;

	t->tries += has_tables(a, files);
	t->attempts++;
	t->frames = r->nr_user;
	if (r->notes & STACK_NO_USER)
		return;
	if (shared->tables_off || (r->nr_user >= FRAMES_MIN && r->user_end == STACK_COMPLETE)) {
		t->result = SELFTEST_PASSED;
	} else if (t->tries >= TRIES_MAX) {
		t->result = r->nr_user ? SELFTEST_NO_TABLE : SELFTEST_NO_WALK;
		shared->tables_off = 1;
	} else if (t->attempts >= ATTEMPTS_MAX) {
		t->result = SELFTEST_NOT_POSSIBLE;
	}
}

void selftest_health(const struct selftest *t, struct health *h)
{
	switch (t->result) {
	case SELFTEST_PASSED:
		health_add(h, "Probes", "unwinder", HEALTH_ON,
			   "walks systop's own user stack: %d frames", t->frames);
		break;
	case SELFTEST_NO_WALK:
		health_add(h, "Probes", "unwinder", HEALTH_OFF,
			   "cannot read systop's own address space: unknown kernel layout");
		break;
	case SELFTEST_NO_TABLE:
		health_add(h, "Probes", "unwinder", HEALTH_DEGRADED,
			   "systop's own stack is cut after %d frames: using frame pointers", t->frames);
		break;
	case SELFTEST_NOT_POSSIBLE:
		health_add(h, "Probes", "unwinder", HEALTH_FACT, "not tested: a file of systop's own stack has no unwind table");
		break;
	default:
		health_add(h, "Probes", "unwinder", HEALTH_FACT, "not tested yet, %d tries", t->tries);
	}
}
