/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What threads read and wrote, and the memory of their processes: read by a program (usages.h), at each tick. */
#include <string.h>

#include "collect/slots_internal.h"
#include "collect/usages.h"
#include "model/model.h"
#include "util/clock.h"

const struct usage_io unknown_io = { USAGE_UNKNOWN, USAGE_UNKNOWN };

void slots_usage(struct slots *s, struct usages *usages)
{
	s->usages = usages;
}

void slots_stretch(struct slots *s, struct stretch *to)
{
	struct usage *asked = s->usages ? usages_asked(s->usages) : NULL;

	to->asked = asked;
	if (!asked)
		return;
	for (uint32_t i = 0; i < to->nr; i++)
		asked[i].slot = to->slots[i];
	usages_read(s->usages, to->nr);
}

void slots_show_usage(struct slots *s, const struct stretch *from, uint32_t at, const struct slot *copy, uint64_t now,
		      struct values *v)
{
	const struct usage *u = from->asked && from->asked[at].read ? &from->asked[at] : NULL;
	uint32_t index = from->slots[at];

	s->readers[index].ran = from->asked && from->seqs[at] != copy->seq;
	slot_show_io(&s->shown[index], u ? &u->io : from->asked ? NULL : &unknown_io, v);
	if (!u)
		return;
	s->io_known |= u->io.write_bytes != USAGE_UNKNOWN;
	slot_show_memory(s->readers[index].life, index, &u->memory, now);
}

/*
 * Memory of processes none of whose threads ran: with few threads that of all processes is read at each tick; otherwise
 * they take turns over several ticks, so that no value is older than MEMORY_AGE_NS. If the time is used up, the rest
 * waits for the next tick: there is MEMORY_COST_NS for each second of a tick's interval, and for a shorter one.
 */
#define MEMORY_AGE_NS 10000000000ULL
#define MEMORY_FEW 4096
#define MEMORY_COST_NS 1000000
#define MEMORY_AT_ONCE 256

/* Whether the memory of this slot's process is to be read. */
static bool memory_is_due(const struct reader *r, uint64_t before)
{
	return r->life && r->in_scope && !(r->life->flags & PF_KTHREAD) && model_levels_at(r->life) < before;
}

/* Reads the memory of the processes of the first @nr requested slots. */
static void memory_read(struct slots *s, uint32_t nr, uint64_t now)
{
	const struct usage *asked = usages_asked(s->usages);

	usages_read(s->usages, nr);
	for (uint32_t i = 0; i < nr; i++)
		if (asked[i].read)
			slot_show_memory(s->readers[asked[i].slot].life, asked[i].slot, &asked[i].memory, now);
}

/* Reads the memory of the processes of up to @look slots, at most MEMORY_AT_ONCE. Returns how many slots it visited. */
static uint32_t memory_some(struct slots *s, uint32_t used, uint32_t look, uint64_t before, uint64_t now)
{
	struct usage *asked = usages_asked(s->usages);
	uint32_t looked = 0, nr = 0;

	for (; looked < look && looked < 16 * MEMORY_AT_ONCE && nr < MEMORY_AT_ONCE; looked++) {
		s->memory_at = s->memory_at < used ? s->memory_at + 1 : 1;
		if (s->memory_at + PREFETCH < used)
			__builtin_prefetch(s->readers[s->memory_at + PREFETCH].life);
		if (!memory_is_due(&s->readers[s->memory_at], before))
			continue;
		model_levels(s->readers[s->memory_at].life, NULL, now, s->memory_at); /* not again for its other threads */
		asked[nr++].slot = s->memory_at;
	}
	memory_read(s, nr, now);
	return looked;
}

/* Reads the memory of the processes on the screen. */
static void memory_shown(struct slots *s, uint64_t now)
{
	struct usage *asked = usages_asked(s->usages);
	uint32_t nr = 0;

	for (uint32_t i = 0; i < s->nr_memory_wanted; i++) {
		const struct process *p = model_process(s->model, s->memory_wanted[i]);
		uint32_t by = p ? model_levels_by(p) : 0;

		if (!by || by >= s->mem.max || !s->readers[by].life || s->readers[by].life->process != p ||
		    !memory_is_due(&s->readers[by], now))
			continue;
		model_levels(s->readers[by].life, NULL, now, by);
		asked[nr++].slot = by;
	}
	s->nr_memory_wanted = 0;
	memory_read(s, nr, now);
}

void slots_memory(struct slots *s, uint64_t now)
{
	uint32_t used = slots_used(s->mem.shared, s->mem.max), look = used;
	uint64_t interval = now - s->since, seconds = interval / 1000000000ULL, before = now;
	uint64_t until = clock_ns(CLOCK_MONOTONIC) + MEMORY_COST_NS * (seconds ? seconds : 1);

	if (!s->usages)
		return;
	memory_shown(s, now);
	if (used > MEMORY_FEW && interval < MEMORY_AGE_NS / 2) {
		look = used * interval / (MEMORY_AGE_NS * 3 / 4) + 1; /* all in 3/4 of the time, */
		before = now > MEMORY_AGE_NS / 5 ? now - MEMORY_AGE_NS / 5 : 1; /* but a process only once, not for each of its
										 * threads */
	}
	while (look && clock_ns(CLOCK_MONOTONIC) < until)
		look -= memory_some(s, used, look, before, now);
}

void slots_want_memory(struct slots *s, const pid_t *tgids, size_t nr)
{
	s->nr_memory_wanted = nr < MEMORY_WANTED ? nr : MEMORY_WANTED;
	memcpy(s->memory_wanted, tgids, s->nr_memory_wanted * sizeof(*tgids));
}
