/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Forgets files of which no frame is in use any more, also in the symbols helper, before other files get their ids. */
#include "sym/names_internal.h"

#include <stdlib.h>

#include "unwind.h"

/* Whether a helper is working on it. */
static bool is_busy(const struct names *n, const struct file *f)
{
	return (worker_busy(&n->open) && n->opening == f) || (worker_busy(&n->symbols) && n->reading == f);
}

void forget_begin(struct names *n, struct file *f)
{
	if (is_busy(n, f))
		return;
	file_forget_wanted(n, f);
	f->state = FILE_GONE;
	f->forget = f->table_asked = true;
	f->reopen = f->reopen_debug = false;
	f->slices = 0;
	f->again_at = 0;
	file_wake(n, f);
}

static bool is_in(const uint64_t *set, uint64_t id)
{
	return id < UNWIND_FILES && set[id / 64] >> id % 64 & 1;
}

/* Forgets the frames of files in @set. */
static bool forget_frames(struct names *n, const uint64_t *set)
{
	struct map kept = { 0 };
	struct frame *f;

	for (size_t i = 0; i < n->frames.room; i++) {
		f = n->frames.entries[i].value;
		if (f && !is_in(set, f->frame >> FRAME_FILE_SHIFT) && map_put(&kept, n->frames.entries[i].key, f)) {
			map_fini(&kept);
			return false;
		}
	}
	MAP_EACH (&n->frames, f)
		if (is_in(set, f->frame >> FRAME_FILE_SHIFT))
			frame_free(n, f);
	map_fini(&n->frames);
	n->frames = kept;
	n->generation++;
	for (int i = 0; i < SOURCES; i++)
		if (is_in(set, n->sources[i].frame >> FRAME_FILE_SHIFT))
			n->sources[i] = (struct source){ 0 };
	return true;
}

bool names_forget(struct names *n, const uint32_t *ids, size_t nr)
{
	uint64_t *set = calloc(UNWIND_FILES / 64, sizeof(*set));
	bool done = set;

	for (size_t i = 0; set && i < nr; i++) {
		struct file *f = map_get(&n->files, ids[i]);

		if (ids[i] < UNWIND_FILES)
			set[ids[i] / 64] |= 1ULL << ids[i] % 64;
		if (f && !f->forget)
			forget_begin(n, f);
		done = done && !f;
	}
	if (set && !done)
		ask_next(n);
	done = done && forget_frames(n, set);
	free(set);
	return done;
}

/* Forgets the active files that are in n->request, or, @all, all that are to be forgotten. */
static void forget(struct names *n, bool all)
{
	size_t kept = 0;

	for (uint32_t i = 0; !all && i < n->request.nr; i++) {
		struct file *f = map_get(&n->files, n->request.at[i]);

		if (f && f->forget)
			f->state = FILE_NEW; /* serves as a mark: it is freed below */
	}
	for (size_t i = 0; i < n->nr_active; i++) {
		struct file *f = n->active[i];

		if (f->forget && (all || f->state == FILE_NEW))
			file_free(n, f);
		else
			n->active[kept++] = f;
	}
	n->nr_active = kept;
}

void forget_next(struct names *n)
{
	struct symbols_request r = { .what = SYMBOLS_FORGET };

	for (size_t i = 0; i < n->nr_active && r.nr < SYMBOLS_BATCH; i++)
		if (n->active[i]->forget)
			r.at[r.nr++] = n->active[i]->id;
	if (!r.nr)
		return;
	n->request = r;
	n->reading = NULL;
	if (n->symbols.helper.socket < 0) /* a helper that has ended knows nothing */
		forget(n, true);
	else if (worker_ready(&n->symbols) && !worker_ask(&n->symbols, &r, sizeof(r), -1))
		symbols_gone(n);
}

void forget_answered(struct names *n)
{
	forget(n, false);
}
