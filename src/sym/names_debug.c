/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Debug information that arrives later: files with frames without a name are looked up again while they are in use. */
#include "sym/names_internal.h"

#include "util/clock.h"
#include "util/vec.h"

/* A file whose names something still asks for, as a flamegraph does at each refresh, is looked up once per LOOK_NS, another
 * one once per UNASKED_LOOK_NS; all together LOOKS_MAX times in LOOK_NS. */
#define LOOK_NS 1000000000ULL
#define UNASKED_LOOK_NS 5000000000ULL
#define LOOKS_MAX 16

/* Reading files that turn out to belong to other files takes at most a 20th of the time. */
#define REFUSED_FACTOR 20

/* Frames without a name that nothing asked for in this time are not in use; the longest refresh interval is 60 s. */
#define IN_USE_NS 90000000000ULL

/* Frames without a name kept for one file; further ones get none later. */
#define UNNAMED_MAX 16384

/* Places are left alone for this long after they did not answer, and for longer each time. */
#define PLACES_PAUSE_NS 10000000000ULL
#define PLACES_PAUSES 5

/* Whether a debug information file can bring more names. */
static bool lacks_names(const struct file *f)
{
	return !f->about.whole && !f->no_debug && !f->debug_read && (f->about.build_id_bytes || *f->about.debuglink);
}

void file_unnamed(struct names *n, struct file *f, uint64_t at)
{
	if (!file_grows(n, f) && (!lacks_names(f) || f->nr_unknown >= UNNAMED_MAX))
		return;
	VEC_PUSH(f->unknown, f->nr_unknown, f->unknown_room, at);
	file_wake(n, f); /* it had nothing to do, as all its names were requested */
}

void file_want_unnamed(struct names *n, struct file *f)
{
	while (f->nr_unknown && file_want(n, f, f->unknown[f->nr_unknown - 1]))
		f->nr_unknown--;
}

/* --- Looking again */

static bool is_due(const struct file *f, uint64_t now)
{
	if (f->state != FILE_READY || !f->nr_unknown || !lacks_names(f) || f->reopen_debug || f->forget ||
	    now >= f->unnamed_ns + IN_USE_NS)
		return false;
	return now >= f->look_at && (f->unnamed_asked || now >= f->looked_ns + UNASKED_LOOK_NS);
}

struct file *debug_due(struct names *n)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	struct file *next = NULL;

	if (now >= n->looks_until) {
		n->looks_until = now + LOOK_NS;
		n->looks = 0;
	}
	if (n->looks == LOOKS_MAX)
		return NULL;
	for (size_t i = 0; i < n->nr_active; i++) {
		struct file *f = n->active[i];

		if (is_due(f, now) && (!next || f->look_at < next->look_at) && !file_is_sick(n, f))
			next = f;
	}
	if (!next)
		return NULL;
	n->looks++;
	next->debug_attempt = 0;
	next->state = FILE_DEBUG;
	return next;
}

/* Another process can have the file mapped: in a container that has its debug information, or when this one has ended. */
void debug_not_found(struct names *n, struct file *f)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	n->generation += !f->look_at;
	f->state = FILE_READY;
	f->unnamed_asked = false;
	if (lacks_names(f) && now / UNASKED_LOOK_NS > f->looked_ns / UNASKED_LOOK_NS && n->o.ask_again)
		n->o.ask_again(n->o.arg, &f->event.key);
	f->looked_ns = now;
	f->look_at = f->looked_ns + LOOK_NS + REFUSED_FACTOR * f->refused_ns;
	f->refused_ns = 0;
}

void debug_arrived(struct names *n, struct file *f)
{
	f->debug_read = true;
	f->refused_ns = 0;
	file_want_unnamed(n, f);
	sources_again(n, f);
}

/* --- Places that do not answer */

void places_failed(struct names *n, enum open_found where, uint32_t helper)
{
	struct debug_places *p = &n->places[where];

	p->stuck = helper;
	p->after = clock_ns(CLOCK_MONOTONIC) + (PLACES_PAUSE_NS << p->failures);
	p->failures += p->failures < PLACES_PAUSES;
}

bool places_pause(const struct names *n, enum open_found where)
{
	const struct debug_places *p = &n->places[where];

	return p->after && (clock_ns(CLOCK_MONOTONIC) < p->after || worker_is_stuck(&n->open, p->stuck) ||
			    worker_is_stuck(&n->symbols, p->stuck));
}
