/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the symbols helper is asked for, and what comes of its answers. */
#include "sym/names_internal.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "util/clock.h"
#include "util/vec.h"

/* What grows while it is used, the kernel's and JITs' symbols, is read again for names it did not have,
 * so often at most. */
#define AGAIN_NS 2000000000ULL

static bool grows(const struct names *n, const struct file *f)
{
	return f == &n->kernel || f->id & JIT_FILE;
}

/* --- Asking */

static void ask_symbols(struct names *n, struct file *f, const struct symbols_request *r, int fd)
{
	if (worker_ask(&n->symbols, r, sizeof(*r), fd))
		n->reading = f;
	else
		worker_failed(&n->symbols);
}

/* What reads @f. */
static void ask_file(struct names *n, struct file *f, enum symbols_what what)
{
	struct symbols_request r = { .what = what, .file = f->id };

	f->used_ns = clock_ns(CLOCK_MONOTONIC);
	ask_symbols(n, f, &r, what == SYMBOLS_KERNEL ? n->o.kallsyms_fd : -1);
}

static void ask_names_file(struct names *n, struct file *f, enum symbols_what what)
{
	ask_file(n, f, what);
	f->state = what == SYMBOLS_DEBUG ? FILE_DEBUG_READING : FILE_READING;
}

static void ask_names(struct names *n, struct file *f)
{
	struct symbols_request r = { .what = SYMBOLS_RESOLVE, .file = f->id };

	while (r.nr < SYMBOLS_BATCH && r.nr < f->nr_wanted) {
		r.at[r.nr] = f->wanted[f->nr_wanted - 1 - r.nr];
		r.nr++;
	}
	f->nr_wanted -= r.nr;
	ask_symbols(n, f, &r, -1);
}

/* Looks again for names that were not there when something that grows was read. */
static void want_unknown(struct names *n, struct file *f)
{
	if (!f->nr_unknown || f->state != FILE_READY || clock_ns(CLOCK_MONOTONIC) < f->read_ns + AGAIN_NS)
		return;
	while (f->nr_unknown &&
	       !VEC_PUSH(f->wanted, f->nr_wanted, f->wanted_room, f->unknown[f->nr_unknown - 1])) {
		f->nr_unknown--;
		n->pending++;
	}
	f->state = f == &n->kernel ? FILE_OPEN : FILE_NEW;
}

static void symbols_of(struct names *n, struct file *f)
{
	if (grows(n, f))
		want_unknown(n, f);
	if (f->state == FILE_DEBUG && f->debug_held)
		ask_names_file(n, f, SYMBOLS_DEBUG);
	else if (f->nr_wanted && f->state == FILE_OPEN)
		ask_names_file(n, f,
			       f == &n->kernel        ? SYMBOLS_KERNEL
			       : f->id & JIT_FILE ? SYMBOLS_PERF_MAP
						  : SYMBOLS_FILE);
	else if (f->nr_wanted && f->state == FILE_READY)
		ask_names(n, f);
	else if (f->nr_wanted && f->state == FILE_BAD)
		file_forget_wanted(n, f);
}

/* Unwind tables come before names, those of small files first: until they are there, stacks are cut. */
static void table_next(struct names *n)
{
	struct file *next = NULL;

	for (size_t i = 0; i < n->nr_active; i++) {
		struct file *f = n->active[i];

		if (f->held && !f->table_asked && f->state != FILE_BAD &&
		    (!next || f->event.key.size < next->event.key.size))
			next = f;
	}
	if (!next)
		return;
	next->table_asked = true;
	ask_file(n, next, SYMBOLS_TABLE);
}

/* Asks for a source, or, if that must be opened, for its file. */
static void ask_source(struct names *n, struct source *s, struct file *f)
{
	struct symbols_request r = { .what = SYMBOLS_SOURCE, .file = f->id, .nr = 1, .debug = f->debug_lines };

	r.at[0] = s->frame & FRAME_OFFSET_MASK;
	if (f->debug_lines ? f->debug_held : f->held) {
		s->asked = true;
		f->used_ns = clock_ns(CLOCK_MONOTONIC);
		ask_symbols(n, f, &r, -1);
	} else if (f->debug_lines || f->about.lines) {
		f->reopen = !f->debug_lines;
		f->reopen_debug = f->debug_lines;
		file_wake(n, f);
	} else {
		s->asked = true;
	}
}

static void source_next(struct names *n)
{
	for (int i = 0; i < SOURCES && worker_ready(&n->symbols); i++) {
		struct source *s = &n->sources[i];
		struct file *f;

		if (!s->frame || s->asked)
			continue;
		f = map_get(&n->files, s->frame >> FRAME_FILE_SHIFT);
		if (!f || f->state == FILE_GONE || f->state == FILE_BAD)
			s->asked = true;
		else if (f->state == FILE_READY)
			ask_source(n, s, f);
	}
}

/* --- Answers */

/* Files that the symbols helper had, or had read, it knows no more: they are opened again when they are needed. */
static void files_again(struct names *n)
{
	for (size_t i = 0; i < n->files.room; i++) {
		struct file *f = n->files.entries[i].value;

		if (!f)
			continue;
		f->held = f->debug_held = f->reopen = f->reopen_debug = false;
		if (f->state == FILE_OPEN || f->state == FILE_READY || f->state == FILE_READING ||
		    f->state == FILE_DEBUG || f->state == FILE_DEBUG_READING)
			f->state = FILE_CLOSED;
	}
	n->nr_held = 0;
	if (n->o.kallsyms_fd >= 0)
		n->kernel.state = FILE_OPEN;
}

/* It ended, or did not answer: what it was asked for last is to blame. */
static void symbols_failed(struct names *n)
{
	struct file *f = worker_busy(&n->symbols) ? n->reading : NULL;
	uint32_t helper = n->symbols.helper.id;

	worker_failed(&n->symbols);
	files_again(n);
	if (!f || f == &n->kernel)
		return;
	file_sick(n, f, &n->symbols, helper, false);
	f->state = FILE_BAD;
	file_forget_wanted(n, f);
}

/* A file without all of its symbols, or without line numbers, may have a file of debug information. */
static bool wants_debug(const struct file *f)
{
	return (!f->about.whole || !f->about.lines) && (f->about.build_id_bytes || *f->about.debuglink);
}

static void file_loaded(struct file *f, const struct symbols_loaded *a)
{
	f->about = *a;
	f->about.debuglink[sizeof(f->about.debuglink) - 1] = '\0';
	if (f->about.build_id_bytes > sizeof(f->about.build_id))
		f->about.build_id_bytes = 0;
	/* What was found once is read again by a new helper. */
	f->state = f->debug_held || wants_debug(f) ? FILE_DEBUG : FILE_READY;
}

static void loaded(struct names *n, struct file *f, const struct symbols_loaded *a)
{
	if (a->what == SYMBOLS_CLOSE) {
		file_closed(n, f);
		return;
	}
	f->state = FILE_READY;
	f->read_ns = clock_ns(CLOCK_MONOTONIC);
	switch (a->what) {
	case SYMBOLS_FILE:
		file_loaded(f, a);
		break;
	case SYMBOLS_DEBUG:
		f->debug_lines = !a->err && a->lines;
		if (a->err) { /* it is of another file, and closed: the next place */
			file_release(n, &f->debug_held);
			f->debug_attempt++;
			f->state = FILE_DEBUG;
		}
		break;
	case SYMBOLS_PERF_MAP:
		file_release(n, &f->held);
		break;
	}
}

/* Returns whether the answer is what it should be. */
static bool learn_all(struct names *n, struct file *f, const struct symbols_names *a, int bytes)
{
	int room = bytes - (int)offsetof(struct symbols_names, names), at = 0;

	if (room < 0 || a->nr > SYMBOLS_BATCH || a->file != f->id)
		return false;
	for (uint32_t i = 0; i < a->nr; i++) {
		int len = strnlen(a->names + at, room - at);

		if (len == room - at)
			return false; /* no end */
		names_learn(n, f, a->at[i], a->names + at);
		at += len + 1;
	}
	return true;
}

static bool learn_source(struct names *n, const struct file *f, const struct symbols_source *a)
{
	struct source *s = names_source_of(n, (uint64_t)f->id << FRAME_FILE_SHIFT | a->at);

	if (a->file != f->id || !memchr(a->text, '\0', sizeof(a->text)))
		return false;
	if (s)
		memcpy(s->text, a->text, sizeof(s->text));
	return true;
}

union answer {
	uint32_t what;
	struct symbols_loaded loaded;
	struct symbols_names names;
	struct symbols_source source;
};

/* Returns whether it is an answer to what was asked. */
static bool take(struct names *n, struct file *f, const union answer *a, int bytes)
{
	switch (a->what) {
	case SYMBOLS_RESOLVE:
		return learn_all(n, f, &a->names, bytes);
	case SYMBOLS_SOURCE:
		return bytes == sizeof(a->source) && learn_source(n, f, &a->source);
	default:
		if (bytes != sizeof(a->loaded) || a->loaded.file != f->id)
			return false;
		loaded(n, f, &a->loaded);
		return true;
	}
}

static bool symbols_answered(struct names *n)
{
	static union answer a;
	int fd, got = worker_answer(&n->symbols, &a, sizeof(a), &fd);

	if (got == -EAGAIN)
		return false;
	if (got == sizeof(a.loaded) && a.what == SYMBOLS_TABLE && worker_busy(&n->symbols) &&
	    a.loaded.file == n->reading->id) {
		names_table_answered(n, n->reading, fd, a.loaded.err);
		if (fd >= 0)
			close(fd);
		worker_done(&n->symbols);
		return true;
	}
	if (fd >= 0)
		close(fd);
	if (got < (int)sizeof(a.what) || !worker_busy(&n->symbols) || !take(n, n->reading, &a, got))
		symbols_failed(n);
	else
		worker_done(&n->symbols);
	return true;
}

void ask_answers(struct names *n)
{
	open_answers(n);
	while (symbols_answered(n))
		;
	if (worker_late(&n->symbols))
		symbols_failed(n);
}

/* --- Both */

void ask_next(struct names *n)
{
	open_next(n);
	if (worker_ready(&n->symbols))
		table_next(n);
	if (worker_ready(&n->symbols))
		symbols_of(n, &n->kernel);
	for (size_t i = 0; i < n->nr_active && worker_ready(&n->symbols); i++)
		symbols_of(n, n->active[i]);
	source_next(n);
	if (worker_ready(&n->symbols))
		close_next(n);
}
