/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What every thread did up to the end of a tick. If a thread switches before its slot is read, it is known how long ago the
 * instant was, but not which states the thread has been in since. So the slots are copied before anything else is done.
 */
#include "collect/slots_internal.h"

static void capture(struct slots *s, uint32_t index)
{
	struct capture *c;

	if (s->nr_captures == CAPTURES_MAX)
		return;
	c = &s->captures[s->nr_captures++];
	c->read = slot_read(&s->mem.slots[index], &c->copy);
	if (!c->read)
		return;
	slot_take_longest(&s->shown[index], &s->mem.slots[index], &c->copy);
	c->taken = slots_taken(s, index, &c->copy);
}

/* Finds the threads that did something since the last tick, or have to be shown as asleep now. */
static void capture_all(struct slots *s)
{
	uint32_t used = slots_used(s->mem.shared, s->mem.max);

	s->nr_active = s->nr_captures = 0;
	for (uint32_t i = 1; i <= used; i++) {
		const struct slot *slot = &s->mem.slots[i], *ahead = slot + PREFETCH; /* past the end it is not read */

		__builtin_prefetch(&ahead->seq);
		__builtin_prefetch(&ahead->wakeups);
		if (slots_rests(slot, &s->resting[i]))
			continue;
		if (slots_quiet(slot, &s->readers[i])) {
			s->active[s->nr_active++] = i | ACTIVE_QUIET;
		} else if (slot->state != SLOT_FREE) {
			s->active[s->nr_active++] = i;
			capture(s, i);
		}
	}
}

int slots_capture(struct slots *s, uint64_t now)
{
	int err;

	s->until = now;
	err = slots_harvest_until(s, now, 0);
	capture_all(s);
	s->captured_at = now;
	return err;
}

const struct capture *slots_captured(const struct slots *s, uint32_t nr, const struct slot *slot)
{
	const struct capture *c = nr < s->nr_captures ? &s->captures[nr] : NULL;

	return c && c->read && c->copy.start_ns == slot->start_ns ? c : NULL;
}
