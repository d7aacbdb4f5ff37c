/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What every thread did up to the end of a tick. Of a thread that switches between that instant and the read of its slot, the
 * time after it is known, but not in which states it was spent. So all slots are copied at once, before anything else is done
 * with them, and collect_tick() repeats that if systop lost its CPU meanwhile.
 */
#include "collect/slots_internal.h"

static void look_at(struct slots *s, uint32_t index)
{
	struct look *look = s->nr_looks < LOOKS_MAX ? &s->looks[s->nr_looks] : NULL;

	s->nr_looks++;
	if (!look)
		return;
	look->read = slot_read(&s->mem.slots[index], &look->copy);
	if (look->read)
		look->taken = slots_taken(s, index, &look->copy);
}

/* Finds the threads that did something since the last tick, or have to be shown as asleep now. */
static void look_at_all(struct slots *s)
{
	uint32_t used = s->mem.shared->slots_used, end = used + 1 < s->mem.max ? used + 1 : s->mem.max;

	s->nr_active = s->nr_looks = 0;
	for (uint32_t i = 1; i < end; i++) {
		const struct slot *slot = &s->mem.slots[i], *ahead = slot + PREFETCH; /* past the end it is not read */

		__builtin_prefetch(&ahead->seq);
		__builtin_prefetch(&ahead->wakeups);
		if (slots_rests(slot, &s->resting[i]))
			continue;
		if (slots_quiet(slot, &s->readers[i])) {
			s->active[s->nr_active++] = i | ACTIVE_QUIET;
		} else if (slot->state != SLOT_FREE) {
			s->active[s->nr_active++] = i;
			look_at(s, i);
		}
	}
}

int slots_look(struct slots *s, uint64_t now)
{
	int err;

	s->until = now;
	err = slots_harvest_until(s, now, 0);
	look_at_all(s);
	s->looked = now;
	return err;
}

const struct look *slots_looked(const struct slots *s, uint32_t nr)
{
	return nr < s->nr_looks && nr < LOOKS_MAX && s->looks[nr].read ? &s->looks[nr] : NULL;
}
