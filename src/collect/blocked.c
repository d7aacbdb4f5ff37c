/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/blocked.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>

#include "collect/peek.h"
#include "collect/selftest.h"
#include "collect/slot_values.h"
#include "helper/worker.h"
#include "model/health.h"
#include "model/model.h"
#include "model/sample.h"
#include "util/clock.h"

/* Timeout for all threads of a request. If a thread's memory does not answer, its user stack is not requested again. */
#define PEEK_TIMEOUT_NS 1000000000ULL

/* Maximum number of threads in a request: 33 us each. */
#define ASK_MAX 1024

/* A stack that was cut is read again, TRIES_MAX times in all and at this interval, as the unwind tables of its files are being
 * made. On a busy host that takes longer: then the stack is read once more after each tick in which tables arrived, READS_MAX
 * times in all. */
#define TRIES_MAX 4
#define AGAIN_NS 150000000ULL
#define READS_MAX 24

/* Ticks for which sleeping threads are read after a request for them. */
#define SLEEPERS_TICKS 3

/* A blocked thread that the model has. */
struct known {
	uint64_t since; /* of the slot; 0: none */
	struct block *block;
	bool without_user;
	bool waits_for_tables; /* is in the list of cut stacks */
	bool unasked;          /* is in no list: the lists had no room, or stacks are shed */
	uint8_t reads;         /* how often its stack was read and cut */
};

struct blocked {
	struct blocked_options o;
	struct known *known;   /* one per slot */
	uint32_t asked[ASK_MAX], nr_asked; /* slots of the current pass, or of the next one */
	uint32_t again[ASK_MAX], nr_again; /* slots to read again soon, as their stack was cut, and slots that found no
	                                    * room in the pass */
	uint32_t cut[ASK_MAX], nr_cut;     /* slots to read again when unwind tables arrive */
	bool tables_arrived;   /* since the last tick without a pass */
	uint64_t passed_ns;    /* end of the last pass */
	struct worker peek;
	bool shed;             /* no stacks are read */
	int sleepers;          /* remaining ticks with sleeping threads */
	uint64_t refused;      /* user stacks that could not be read in time */
	struct selftest selftest;
	uint32_t test_slot;    /* slot of the starter while it is being read; 0: it is not */
	uint64_t test_since;
};

struct blocked *blocked_new(const struct blocked_options *o)
{
	struct blocked *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	b->o = *o;
	b->sleepers = SLEEPERS_TICKS; /* finds the files in use on the host at once, so that their tables are made */
	b->known = calloc(o->max_slots, sizeof(*b->known));
	worker_init(&b->peek, o->role, PEEK_TIMEOUT_NS);
	if (b->known)
		return b;
	blocked_free(b);
	return NULL;
}

void blocked_free(struct blocked *b)
{
	if (!b)
		return;
	worker_stop(&b->peek);
	free(b->known);
	free(b);
}

void blocked_sleepers(struct blocked *b)
{
	b->sleepers = SLEEPERS_TICKS;
}

static bool blocked_is(const struct blocked *b, uint32_t index, uint64_t since)
{
	return b->known[index].since == since;
}

/* Whether the slot belongs to systop's own starter, which sleeps: its stack tests the unwinder. */
static bool wants_test(const struct blocked *b, const struct slot *s)
{
	return s->tgid == b->o.starter_tgid && b->o.starter_tgid && b->o.link_fd >= 0 &&
	       selftest_wanted(&b->selftest) && !worker_busy(&b->peek) && !b->test_slot;
}

static void ask_test(struct blocked *b, uint32_t index, uint64_t since)
{
	if (b->nr_asked == ASK_MAX)
		return;
	b->test_slot = index;
	b->test_since = since;
	b->asked[b->nr_asked++] = index;
}

void blocked_end(struct blocked *b, uint32_t index, struct life *l)
{
	struct known *k = &b->known[index];

	if (!k->since)
		return;
	if (l->block && l->block->until == BLOCK_ON)
		model_block_end(b->o.model, l);
	b->o.wanted[index] = 0;
	*k = (struct known){ 0 };
}

/* Requests the thread's stack in the next pass, or in one of those after it. */
static void want(struct blocked *b, uint32_t index)
{
	b->known[index].unasked = false;
	if (b->nr_asked < ASK_MAX && !worker_busy(&b->peek))
		b->asked[b->nr_asked++] = index;
	else if (b->nr_again < ASK_MAX)
		b->again[b->nr_again++] = index;
	else
		b->known[index].unasked = true;
}

/* Reports the thread as blocked. */
static int show(struct blocked *b, uint32_t index, const struct slot *copy, struct life *l, uint64_t now)
{
	struct known *k = &b->known[index];
	bool at_most = copy->flags & SLOT_SINCE_EARLY;
	int err;

	if (k->since == copy->since && k->unasked && !b->shed)
		want(b, index);
	if (k->since == copy->since || (b->o.self_tgid && (copy->tgid == b->o.self_tgid ||
							    copy->tgid == b->o.starter_tgid ||
							    copy->ppid == b->o.starter_tgid)))
		return 0;
	blocked_end(b, index, l);
	err = model_block(b->o.model, l, slot_blocked(copy),
			  now > copy->since ? now - copy->since : 0, at_most);
	if (err)
		return err;
	k->since = copy->since;
	k->block = l->block;
	want(b, index);
	return 0;
}

/* Sleeping threads come after all others. */
int blocked_thread(struct blocked *b, uint32_t index, const struct slot *copy, struct life *l, uint64_t now)
{
	bool still = slot_is_blocked(copy) && blocked_is(b, index, copy->since);

	if (!still)
		blocked_end(b, index, l);
	return slot_is_blocked(copy) && copy->state == SLOT_D ? show(b, index, copy, l, now) : 0;
}

static int show_sleeper(struct blocked *b, uint32_t index, const struct slot *slot, uint64_t now)
{
	struct life *life = b->o.life(b->o.arg, index);
	struct slot copy;

	/* While stacks are shed, known sleepers do not take the room of others: the lists are emptied after each tick. */
	if (!life || (blocked_is(b, index, slot->since) && (!b->known[index].unasked || b->shed)) ||
	    !slot_read(slot, &copy) || !slot_is_blocked(&copy) || copy.since > now)
		return 0;
	return show(b, index, &copy, life, now);
}

int blocked_look(struct blocked *b, uint64_t now)
{
	uint32_t used = slots_used(b->o.shared, b->o.max_slots);
	int err = 0;

	if (!b->sleepers && !selftest_wanted(&b->selftest))
		return 0;
	for (uint32_t i = 1; !err && i <= used; i++) {
		const struct slot *slot = &b->o.slots[i];

		if (slot->state != SLOT_SLEEP)
			continue;
		if (wants_test(b, slot))
			ask_test(b, i, slot->since);
		if (b->sleepers && (b->nr_asked < ASK_MAX || b->nr_again < ASK_MAX))
			err = show_sleeper(b, i, slot, now);
	}
	return err;
}

/* --- The helper */

/* Requests the threads that wait for another pass and are still blocked in the same place. */
static void ask_again(struct blocked *b)
{
	uint32_t kept = 0;

	if (!b->nr_again || clock_ns(CLOCK_MONOTONIC) - b->passed_ns < AGAIN_NS)
		return;
	for (uint32_t i = 0; i < b->nr_again; i++) {
		if (!b->known[b->again[i]].since)
			continue;
		if (b->nr_asked < ASK_MAX)
			b->asked[b->nr_asked++] = b->again[i];
		else
			b->again[kept++] = b->again[i];
	}
	b->nr_again = kept;
}

/* Requests the threads that wait for tables if some have arrived. */
static void ask_cut(struct blocked *b)
{
	uint32_t kept = 0;

	if (worker_busy(&b->peek))
		return; /* it may have read a stack just before the tables that arrived */
	for (uint32_t i = 0; i < b->nr_cut; i++) {
		struct known *k = &b->known[b->cut[i]];

		if (!k->waits_for_tables)
			continue; /* that block is over */
		if (b->tables_arrived && b->nr_again < ASK_MAX) {
			k->waits_for_tables = false;
			b->again[b->nr_again++] = b->cut[i];
		} else {
			b->cut[kept++] = b->cut[i];
		}
	}
	b->nr_cut = kept;
	b->tables_arrived = false;
}

static void leave(struct blocked *b, const uint32_t *list, uint32_t *nr)
{
	for (uint32_t i = 0; i < *nr; i++)
		b->known[list[i]].unasked = true;
	*nr = 0;
}

/* Empties all lists, while stacks are shed: the threads are requested again afterwards. */
static void leave_all(struct blocked *b)
{
	for (uint32_t i = 0; i < b->nr_cut; i++)
		b->known[b->cut[i]].waits_for_tables = false;
	leave(b, b->asked, &b->nr_asked);
	leave(b, b->again, &b->nr_again);
	leave(b, b->cut, &b->nr_cut);
	b->test_slot = 0;
}

static void start_pass(struct blocked *b)
{
	struct peek_request r = { 0 };

	if (worker_busy(&b->peek) || b->o.link_fd < 0)
		return;
	if (b->shed)
		leave_all(b);
	ask_again(b);
	if (!b->nr_asked || !worker_ready(&b->peek))
		return;
	for (uint32_t i = 0; i < b->nr_asked; i++) {
		const struct known *k = &b->known[b->asked[i]];

		b->o.wanted[b->asked[i]] = b->asked[i] == b->test_slot ? b->test_since
							: k->since | (k->without_user ? BLOCKED_NO_USER : 0);
	}
	if (!worker_ask(&b->peek, &r, sizeof(r), b->o.link_fd))
		worker_failed(&b->peek);
}

void blocked_shed(struct blocked *b, bool shed)
{
	b->shed = shed;
}

void blocked_ask(struct blocked *b)
{
	b->sleepers -= !!b->sleepers;
	ask_cut(b);
	start_pass(b);
}

void blocked_tables_arrived(struct blocked *b)
{
	b->tables_arrived = true;
}

/* The pass is over: blocks without an answer ended meanwhile. */
static void pass_ends(struct blocked *b)
{
	for (uint32_t i = 0; i < b->nr_asked; i++)
		b->o.wanted[b->asked[i]] = 0;
	b->nr_asked = b->test_slot = 0;
	b->passed_ns = clock_ns(CLOCK_MONOTONIC);
}

static pid_t tgid_of(const struct known *k)
{
	return k->since && k->block->life ? k->block->life->tgid : 0;
}

/* The helper hangs on the memory of one process: its user stacks are not requested again; all others are, once more. */
static void pass_failed(struct blocked *b)
{
	uint32_t kept = 0, sick = b->o.shared->peek_slot;
	pid_t tgid = sick && sick < b->o.max_slots ? tgid_of(&b->known[sick]) : 0;
	bool began = worker_busy(&b->peek); /* otherwise none of them was requested yet */

	worker_failed(&b->peek);
	b->o.shared->peek_slot = 0;
	for (uint32_t i = 0; i < b->nr_asked; i++) {
		uint32_t index = b->asked[i];

		if (!b->known[index].since || (began && !b->o.wanted[index]))
			continue;
		if (index == sick || (tgid && tgid_of(&b->known[index]) == tgid)) {
			b->known[index].without_user = true;
			b->refused++;
		}
		b->o.wanted[index] = 0;
		b->asked[kept++] = index;
	}
	b->nr_asked = kept;
	b->test_slot = 0;
}

/* Hashed like stacks of the dictionary: equal ones are shared. */
static const struct stack *stack_from(struct blocked *b, const uint64_t *frames, int nr, uint32_t tgid,
				      uint8_t end, uint8_t flags)
{
	struct stack_entry e = { .tgid = flags & STACK_ANONYMOUS ? tgid : 0, .nr = nr, .end = end, .flags = flags };

	if (!nr)
		return NULL;
	for (int i = 0; i < nr; i++)
		stack_hash(&e.hash, &e.check, frames[i]);
	stack_hash_end(&e.hash, &e.check, e.tgid, end);
	return model_stack(b->o.model, &e, frames);
}

/* Plans the next reading of a thread whose stack was cut (@cut), or found callers by frame pointers for lack of a table: functions
 * without one are missing then. Half of the room is kept for cut ones, as a JIT compiler's code never gets a table. */
static void read_later(struct blocked *b, uint32_t index, bool cut)
{
	struct known *k = &b->known[index];

	k->reads++;
	if (cut && k->reads < TRIES_MAX && b->nr_again < ASK_MAX) {
		b->again[b->nr_again++] = index;
	} else if (k->reads < READS_MAX && b->nr_cut < (cut ? ASK_MAX : ASK_MAX / 2)) {
		k->waits_for_tables = true;
		b->cut[b->nr_cut++] = index;
	}
}

static void take(struct blocked *b, const struct peek_answer *a)
{
	const struct blocked_record *r = &a->record;
	struct known *k = &b->known[r->slot];

	b->o.wanted[r->slot] = 0;
	if (r->slot == b->test_slot) {
		selftest_take(&b->selftest, a, b->o.files, b->o.shared);
		return;
	}
	if (k->since != r->since || !k->block->life)
		return; /* the block is over */
	if (r->nr_user && (r->user_end != STACK_COMPLETE || r->user_flags & STACK_BY_FP))
		read_later(b, r->slot, r->user_end != STACK_COMPLETE);
	model_block_stacks(k->block,
			   stack_from(b, a->frames, r->nr_user, r->tgid, r->user_end, r->user_flags),
			   stack_from(b, a->frames + r->nr_user, r->nr_kernel, 0,
				      r->nr_kernel < b->o.kernel_max ? STACK_COMPLETE : STACK_TOO_DEEP, 0),
			   r->notes & STACK_NO_USER ? NOTE_NO_USER : 0);
}

static bool is_sound(const struct blocked *b, const struct peek_answer *a, int bytes)
{
	const struct blocked_record *r = &a->record;

	return bytes >= (int)offsetof(struct peek_answer, frames) &&
	       (a->last || (r->slot && r->slot < b->o.max_slots && r->nr_user <= STACK_USER_MAX &&
			    r->nr_kernel <= STACK_KERNEL_MAX &&
			    bytes == (int)(offsetof(struct peek_answer, frames) +
					   (r->nr_user + r->nr_kernel) * sizeof(a->frames[0]))));
}

void blocked_work(struct blocked *b)
{
	static struct peek_answer a;
	int got;

	while ((got = worker_answer(&b->peek, &a, sizeof(a), NULL)) != -EAGAIN) {
		if (got < 0 || !worker_busy(&b->peek) || !is_sound(b, &a, got)) {
			pass_failed(b);
			return;
		}
		if (a.last) {
			worker_done(&b->peek);
			pass_ends(b);
			return;
		}
		take(b, &a);
	}
	if (worker_late(&b->peek))
		pass_failed(b);
	if (b->nr_asked || b->nr_again)
		start_pass(b);
}

uint32_t blocked_pending(const struct blocked *b)
{
	return b->o.link_fd >= 0 && !b->peek.off ? b->nr_asked + b->nr_again : 0;
}

void blocked_health(const struct blocked *b, struct health *h)
{
	selftest_health(&b->selftest, h);
	if (b->o.link_fd < 0)
		health_add(h, "Helpers", "peek", HEALTH_OFF,
			   "the kernel has no sleepable iterator: blocked threads get their stacks when they wake");
	else if (b->peek.off)
		health_add(h, "Helpers", "peek", HEALTH_OFF, "%d are stuck in the kernel: no more are started",
			   b->peek.nr_stuck);
	else if (b->refused)
		health_add(h, "Helpers", "peek", HEALTH_DEGRADED, "%" PRIu64 " user stacks could not be read in time",
			   b->refused);
	else
		health_add(h, "Helpers", "peek", HEALTH_ON, "reads the stacks of threads that are blocked now");
}
