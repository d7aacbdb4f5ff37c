/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions, each known once; and how frames that are no longer in use, and the functions that only they had, make room
 * for others. */
#include <stdlib.h>
#include <string.h>

#include "sym/names_internal.h"
#include "util/clock.h"
#include "util/hash.h"

/* Frames in use are asked for again within this time; the longest refresh interval is 60 s. */
#define ASKED_AGAIN_NS 120000000000ULL

/* Trees that are shown may still hold a symbol for this long after no frame has it any more. */
#define HELD_NS 120000000000ULL

/* Entries, symbols and places in files looked through by one age_work(): each takes less than 3 ms. */
#define SLICE 16384

struct interned {
	struct symbol symbol; /* first: the part that others see */
	uint32_t frames;      /* number of frames that show it; none: it is in age.unused, */
	uint64_t unused_ns;   /* and since when */
	struct interned *previous, *next;
};

/* --- Functions */

static void list_unused(struct age *a, struct interned *s)
{
	s->unused_ns = clock_ns(CLOCK_MONOTONIC);
	s->previous = a->unused_last;
	s->next = NULL;
	if (s->previous)
		s->previous->next = s;
	else
		a->unused = s;
	a->unused_last = s;
}

static void unlist_unused(struct age *a, struct interned *s)
{
	if (s->previous)
		s->previous->next = s->next;
	else
		a->unused = s->next;
	if (s->next)
		s->next->previous = s->previous;
	else
		a->unused_last = s->previous;
}

const struct symbol *symbol_hold(struct names *n, const char *name, const char *module, uint64_t build,
				 enum symbol_kind kind, enum name_kind what)
{
	/* With the kind, as a file can be called "[kernel]". */
	uint64_t key = hash_add(hash_add(hash_text(hash_text(0, name), module), what == NAME_SYMBOL ? 0 : build), kind);
	struct interned *s = map_get(&n->symbols_by_name, key);
	size_t name_len = strlen(name) + 1, module_len = strlen(module) + 1;
	char *text;

	if (!s) {
		s = calloc(1, sizeof(*s) + name_len + module_len);
		if (!s)
			return NULL;
		text = (char *)(s + 1);
		memcpy(text, name, name_len);
		memcpy(text + name_len, module, module_len);
		s->symbol = (struct symbol){ text, text + name_len, kind, what == NAME_SYMBOL, what == NAME_FUNCTION, key };
		if (map_put(&n->symbols_by_name, key, s)) {
			free(s);
			return NULL;
		}
	} else if (!s->frames) {
		unlist_unused(&n->age, s);
	}
	s->frames++;
	return &s->symbol;
}

static void release(struct names *n, const struct symbol *symbol)
{
	struct interned *s = (struct interned *)symbol;

	if (s && !--s->frames)
		list_unused(&n->age, s);
}

void symbol_change(struct names *n, struct frame *f, const struct symbol *s)
{
	n->generation += s != f->symbol;
	release(n, f->symbol);
	f->symbol = s;
}

void frame_free(struct names *n, struct frame *f)
{
	release(n, f->symbol);
	free(f);
}

static void free_symbols(struct names *n, uint64_t now)
{
	struct age *a = &n->age;

	for (int i = 0; i < SLICE && a->unused && now >= a->unused->unused_ns + HELD_NS; i++) {
		struct interned *s = a->unused;

		unlist_unused(a, s);
		map_del(&n->symbols_by_name, s->symbol.id);
		free(s);
	}
}

/* --- Frames */

static void begin(struct names *n, uint64_t now)
{
	struct age *a = &n->age;

	a->now++;
	n->generation++;
	a->until = now + ASKED_AGAIN_NS;
	a->frame = a->file = 0;
	a->files = false;
}

/* The map may grow meanwhile, and the removal of an entry moves others: those that are missed are freed next time. */
static void free_frames(struct names *n)
{
	struct age *a = &n->age;

	for (size_t end = a->frame + SLICE; a->frame < n->frames.room && a->frame < end;) {
		struct map_entry *e = &n->frames.entries[a->frame];
		struct frame *f = e->value;

		if (f && f->age != a->now) {
			map_del(&n->frames, e->key); /* brings another entry here, or none */
			frame_free(n, f);
		} else {
			a->frame++;
		}
	}
	a->files = a->frame >= n->frames.room;
}

/* Forgets the places without a name that have no frame any more. */
static void forget_places(struct names *n, struct file *f)
{
	size_t kept = 0;

	for (size_t i = 0; i < f->nr_unknown; i++)
		if (map_get(&n->frames, (uint64_t)f->id << FRAME_FILE_SHIFT | f->unknown[i]))
			f->unknown[kept++] = f->unknown[i];
	f->nr_unknown = kept;
}

/* Forgets places without a frame, and processes with a JIT compiler whose frames are gone, some files at a time. */
static void free_places(struct names *n)
{
	struct age *a = &n->age;

	for (size_t work = 0; a->file < n->files.room && work < SLICE; a->file++, work++) {
		struct file *f = n->files.entries[a->file].value;

		if (!f)
			continue;
		work += f->nr_unknown;
		if (!(f->id & JIT_FILE))
			forget_places(n, f); /* a JIT compiler's are dropped anyway when its file is read again */
		else if (f->age != a->now && !f->forget)
			forget_begin(n, f);
	}
}

static void end(struct age *a, size_t frames)
{
	size_t most = FRAMES_MAX - FRAMES_MAX / 8;

	a->until = 0;
	a->begin_at = 2 * frames < FRAMES_MAX / 2 ? FRAMES_MAX / 2 : 2 * frames < most ? 2 * frames : most;
}

void age_work(struct names *n)
{
	struct age *a = &n->age;
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	free_symbols(n, now);
	if (!a->until) {
		if (n->frames.nr >= (a->begin_at ? a->begin_at : FRAMES_MAX / 2))
			begin(n, now);
	} else if (now < a->until) {
		return;
	} else if (!a->files) {
		free_frames(n);
	} else if (a->file < n->files.room) {
		free_places(n);
	} else {
		end(a, n->frames.nr);
	}
}

void age_fini(struct names *n)
{
	map_free(&n->frames);
	map_free(&n->symbols_by_name);
}
