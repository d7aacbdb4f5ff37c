/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Requests to the symbols helper, and what happens with its answers. */
#include "sym/names_internal.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "util/clock.h"
#include "util/file.h"
#include "util/vec.h"

/* The kernel's and JIT compilers' symbols grow while in use: they are read again for missing names, at most this
 * often. Only the new part of a JIT's file is read, but all of the kernel's. */
#define AGAIN_KERNEL_NS 2000000000ULL
#define AGAIN_DOUBLINGS 5 /* of that time, while new places lack names: with net.core.bpf_jit_harden BPF programs have none */
#define AGAIN_BPF_NS 10000000000ULL /* new places in BPF programs are met all the time */
#define AGAIN_TRAMPOLINE_NS 300000000000ULL /* without a new program: attaching an old one can make a trampoline */
#define AGAIN_JIT_NS 400000000ULL

/* If more processes than this have JIT code and no file of names, their files are looked for less often: 40 a second in all. */
#define MISSING_OFTEN 16

/* Reading a file is given up after this CPU time; and, as a slow disk or a busy host can leave little of it, after this many
 * slices, of 200 ms each. */
#define FILE_CPU_NS 30000000000ULL
#define SLICES_MAX 3000

/* Further attempts to read a file whose file system did not answer. */
#define LATE_MAX 2

/* A file is to blame if two helpers end within this time while they work on it. A second attempt takes less. */
#define ENDED_NS 600000000000ULL

/* --- Asking */

/* Returns whether it was sent. */
static bool ask_symbols(struct names *n, struct file *f, const struct symbols_request *r, int fd)
{
	f->used_ns = clock_ns(CLOCK_MONOTONIC);
	n->request = *r;
	n->reading = f;
	/* The helper exits by itself before that. */
	n->symbols.cpu_max_ns = 1500000ULL * (r->what == SYMBOLS_KERNEL ? SYMBOLS_KERNEL_CPU_MS : SYMBOLS_CPU_MS);
	if (worker_ask(&n->symbols, r, sizeof(*r), fd))
		return true;
	symbols_gone(n);
	return false;
}

bool ask_file(struct names *n, struct file *f, enum symbols_what what)
{
	struct symbols_request r = { .what = what, .file = f->id };

	return ask_symbols(n, f, &r, what == SYMBOLS_KERNEL ? n->o.kallsyms_fd : -1);
}

static uint32_t newest_program(const struct names *n)
{
	return n->o.newest_program ? n->o.newest_program(n->o.arg) : 0;
}

static void ask_names_file(struct names *n, struct file *f, enum symbols_what what)
{
	if (f == &n->kernel)
		n->kernel_program = newest_program(n);
	if (!ask_file(n, f, what))
		return;
	n->kernel_reads += f == &n->kernel;
	f->state = what == SYMBOLS_DEBUG ? FILE_DEBUG_READING : FILE_READING;
}

static void ask_names(struct names *n, struct file *f)
{
	struct symbols_request r = { .what = SYMBOLS_RESOLVE, .file = f->id };

	while (r.nr < SYMBOLS_BATCH && r.nr < f->nr_wanted) {
		r.at[r.nr] = f->wanted[f->nr_wanted - 1 - r.nr];
		r.nr++;
	}
	if (ask_symbols(n, f, &r, -1))
		f->nr_wanted -= r.nr;
}

/* The names requested last will not be answered: requests them again. */
static void want_asked(struct names *n, struct file *f)
{
	for (uint32_t i = 0; n->request.what == SYMBOLS_RESOLVE && i < n->request.nr; i++)
		if (VEC_PUSH(f->wanted, f->nr_wanted, f->wanted_room, n->request.at[i]))
			n->pending -= !!n->pending;
	n->request.nr = 0;
}

static uint64_t again_ns(const struct names *n, const struct file *f)
{
	if (f == &n->kernel)
		return AGAIN_KERNEL_NS << n->kernel_in_vain;
	return AGAIN_JIT_NS * (f->missing ? 1 + n->nr_missing / MISSING_OFTEN : 1);
}

/* Reads the kernel's symbols again if a place in BPF programs got its name from older ones, and programs have been loaded since,
 * or trampolines may have been made. All other places in them are then looked up again, too. */
static void look_at_bpf(struct names *n)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	struct file *f = &n->kernel;

	if (!n->bpf_met || f->state != FILE_READY || now < n->bpf_look_at)
		return;
	n->bpf_look_at = now + AGAIN_BPF_NS;
	if (n->kernel_program && newest_program(n) == n->kernel_program && now < f->read_ns + AGAIN_TRAMPOLINE_NS)
		return;
	if (file_want(n, f, n->bpf_met)) {
		n->bpf_met = 0;
		f->state = FILE_OPEN;
	}
}

/* Requests names again that were missing when a growing table was last read. */
static void want_unknown(struct names *n, struct file *f)
{
	if (f->state != FILE_READY || clock_ns(CLOCK_MONOTONIC) < f->read_ns + again_ns(n, f))
		return;
	if (f == &n->kernel)
		n->kernel_in_vain = f->nr_unknown ? n->kernel_in_vain + (n->kernel_in_vain < AGAIN_DOUBLINGS) : 0;
	if (!f->nr_unknown)
		return;
	file_want_unnamed(n, f);
	f->state = f == &n->kernel ? FILE_OPEN : FILE_NEW;
}

/* What a file's symbols need next; -1: nothing. */
static int need_of(struct names *n, struct file *f)
{
	if (f == &n->kernel)
		look_at_bpf(n);
	if (file_grows(n, f))
		want_unknown(n, f);
	if (f->nr_wanted && f->state == FILE_BAD)
		file_forget_wanted(n, f);
	if (f->state == FILE_DEBUG ? f->debug_held : f->state == FILE_DEBUG_READING && f->slices)
		return SYMBOLS_DEBUG;
	if (f->state == FILE_OPEN ? f->nr_wanted : f->state == FILE_READING && f->slices)
		return f == &n->kernel ? SYMBOLS_KERNEL : f->id & JIT_FILE ? SYMBOLS_PERF_MAP : SYMBOLS_FILE;
	return f->nr_wanted && f->state == FILE_READY ? SYMBOLS_RESOLVE : -1;
}

/* Order of work: names in files already read, small files, debug information. */
static uint64_t cost_of(const struct names *n, const struct file *f, int need)
{
	if (need == SYMBOLS_RESOLVE || f == &n->kernel)
		return need != SYMBOLS_RESOLVE;
	return f->event.key.size | (need == SYMBOLS_DEBUG ? 1ULL << 63 : 2);
}

/* A large file is read in slices; after each slice another file gets a turn. */
static void symbols_next(struct names *n)
{
	struct file *next = NULL, *slice = NULL;
	size_t missing = 0;
	int need;

	for (size_t i = 0; i <= n->nr_active; i++) {
		struct file *f = i ? n->active[i - 1] : &n->kernel;

		missing += f->missing;
		need = need_of(n, f);
		if (need < 0)
			continue;
		if (f->slices && (!slice || f->slices < slice->slices))
			slice = f;
		else if (!f->slices && (!next || cost_of(n, f, need) < cost_of(n, next, need_of(n, next))))
			next = f;
	}
	n->nr_missing = missing;
	if (slice && (!next || n->slice_next))
		next = slice;
	n->slice_next = slice && next != slice;
	if (!next)
		return;
	need = need_of(n, next);
	if (need == SYMBOLS_RESOLVE)
		ask_names(n, next);
	else
		ask_names_file(n, next, need);
}

/* Unwind tables come before the names of files, small files first: stacks are cut until they exist. The kernel's names come
 * before both, as they take less than one large table, and most stacks have some. */
static void table_next(struct names *n)
{
	struct file *next = NULL;

	if (need_of(n, &n->kernel) >= 0)
		return;
	for (size_t i = 0; i < n->nr_active; i++) {
		struct file *f = n->active[i];

		if (f->held && !f->table_asked && f->state != FILE_BAD &&
		    (!next || f->event.key.size < next->event.key.size))
			next = f;
	}
	if (!next)
		return;
	next->table_asked = ask_file(n, next, SYMBOLS_TABLE);
}

/* Requests a source, or, if its file must be opened first, the file. */
static void ask_source(struct names *n, struct source *s, struct file *f)
{
	struct symbols_request r = { .what = SYMBOLS_SOURCE, .file = f->id, .nr = 1, .debug = f->debug_lines };

	r.at[0] = s->frame & FRAME_OFFSET_MASK;
	if (f->no_lines) {
		s->asked = true;
	} else if (f->debug_lines ? f->debug_held : f->held) {
		s->asked = ask_symbols(n, f, &r, -1);
	} else if (f->debug_lines || f->about.lines) {
		f->reopen = !f->debug_lines;
		f->reopen_debug = f->debug_lines;
		file_wake(n, f);
	} else {
		s->asked = true;
	}
}

/* A helper that was replaced had read the closed files whose names are all known: one of these is requested again, so that the
 * file is read. */
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
		else if (f->state == FILE_CLOSED && !f->nr_wanted)
			file_want(n, f, s->frame & FRAME_OFFSET_MASK);
	}
}

/* --- Answers */

/* A new helper knows none of the files that the old one had open or had read: they are opened again when needed. */
void symbols_gone(struct names *n)
{
	struct file *f;

	worker_failed(&n->symbols);
	MAP_EACH (&n->files, f) {
		f->held = f->debug_held = f->reopen = f->reopen_debug = false;
		f->slices = 0;
		if (f->state == FILE_OPEN || f->state == FILE_READY || f->state == FILE_READING ||
		    f->state == FILE_DEBUG || f->state == FILE_DEBUG_READING)
			f->state = FILE_CLOSED;
		if (!file_grows(n, f) && f->state != FILE_GONE)
			file_want_unnamed(n, f);
	}
	n->nr_held = 0;
	if (n->o.kallsyms_fd >= 0)
		n->kernel.state = FILE_OPEN;
}

static void mark_bad(struct names *n, struct file *f, int err)
{
	f->err = err;
	f->state = FILE_BAD;
	n->generation++;
	f->slices = 0;
	file_forget_wanted(n, f);
}

/* The last request cannot be answered for this file: it is not repeated. Others are. */
static void blame(struct names *n, struct file *f, int err)
{
	want_asked(n, f);
	if (f == &n->kernel)
		return;
	switch (n->request.what) {
	case SYMBOLS_SOURCE:
		f->no_lines = true;
		f->err = err;
		break;
	case SYMBOLS_DEBUG:
		f->no_debug = true;
		f->nr_unknown = 0;
		f->err = err;
		break;
	case SYMBOLS_TABLE:
		f->table_err = err;
		break;
	default:
		mark_bad(n, f, err);
	}
}

/* Whether the last request reads the debug information of a file. */
static bool reads_debug(const struct names *n)
{
	return n->request.what == SYMBOLS_DEBUG || (n->request.what == SYMBOLS_SOURCE && n->request.debug);
}

/* The file system of the file, or of its debug information, did not answer: they may differ. */
static void was_late(struct names *n, struct file *f, uint32_t helper)
{
	if (reads_debug(n))
		places_failed(n, f->debug_where, helper);
	else
		file_sick(n, f, &n->symbols, helper, false);
}

/* Whether the last request is repeated: a file system may answer later, and a helper that ended can have been the choice of the
 * kernel when memory ran out. */
static bool try_again(struct names *n, struct file *f, int err)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC), until = f->ended_until;

	if (err == -EOWNERDEAD)
		f->ended_until = now + ENDED_NS;
	if (err == -ETIMEDOUT)
		f->late_what = n->request.what;
	if (err == -ETIMEDOUT ? f->late++ >= LATE_MAX : err != -EOWNERDEAD || now < until)
		return false;
	want_asked(n, f);
	f->table_asked &= n->request.what != SYMBOLS_TABLE;
	if (n->request.what == SYMBOLS_SOURCE)
		sources_again(n, f);
	return true;
}

/* The helper ended, or did not answer (@err). The last request is to blame, unless it is repeated. */
static void symbols_failed(struct names *n, int err)
{
	struct file *f = worker_busy(&n->symbols) ? n->reading : NULL;
	uint32_t helper = n->symbols.helper.id;

	symbols_gone(n);
	if (!f || (n->request.what == SYMBOLS_CLOSE && err != -ETIMEDOUT)) /* nothing of it was read */
		return;
	if (f != &n->kernel && err == -ETIMEDOUT)
		was_late(n, f, helper);
	if (f != &n->kernel && try_again(n, f, err))
		return;
	blame(n, f, err);
	if (f != &n->kernel && err == -ETIMEDOUT && !reads_debug(n))
		mark_bad(n, f, err);
}

/* A file without all its symbols, or without line numbers, may have a debug information file. */
static bool wants_debug(const struct file *f)
{
	return !f->no_debug && (!f->about.whole || !f->about.lines) && (f->about.build_id_bytes || *f->about.debuglink);
}

static void file_loaded(struct file *f, const struct symbols_loaded *a)
{
	f->about = *a;
	f->about.debuglink[sizeof(f->about.debuglink) - 1] = '\0';
	if (f->about.build_id_bytes > sizeof(f->about.build_id))
		f->about.build_id_bytes = 0;
	if (f->about.segments.nr > SYMBOLS_SEGMENTS)
		f->about.segments.nr = 0;
	f->debug_read = false;
	/* Debug information found earlier is read again by a new helper. */
	f->state = f->debug_held || wants_debug(f) ? FILE_DEBUG : FILE_READY;
}

static void loaded(struct names *n, struct file *f, const struct symbols_loaded *a)
{
	if (a->what == SYMBOLS_CLOSE) {
		file_closed(n, f);
		return;
	}
	if (a->what == SYMBOLS_DEBUG)
		f->refused_ns += clock_ns(CLOCK_MONOTONIC) - f->used_ns;
	f->cpu_ns = (f->slices ? f->cpu_ns : 0) + worker_cpu_ns(&n->symbols);
	if (a->err == -EAGAIN && ++f->slices <= SLICES_MAX && f->cpu_ns <= FILE_CPU_NS)
		return;
	f->slices = 0;
	f->state = FILE_READY;
	if (a->err == -EAGAIN) {
		blame(n, f, -ETIME);
		return;
	}
	f->read_ns = clock_ns(CLOCK_MONOTONIC);
	n->generation += f == &n->kernel;
	if (a->err != -ESTALE)
		f->err = a->err;
	switch (a->what) {
	case SYMBOLS_FILE:
		file_loaded(f, a);
		break;
	case SYMBOLS_DEBUG:
		f->debug_lines = !a->err && a->lines;
		if (a->err) { /* it belongs to another file, and is closed: try the next place */
			file_release(n, &f->debug_held);
			f->debug_attempt++;
			f->state = FILE_DEBUG;
		} else {
			debug_arrived(n, f);
		}
		break;
	case SYMBOLS_PERF_MAP:
		file_release(n, &f->held);
		break;
	}
}

/* Returns whether the answer is well formed. */
static bool learn_all(struct names *n, struct file *f, const struct symbols_names *a, int bytes)
{
	int room = bytes - (int)offsetof(struct symbols_names, names), at = 0;

	if (room < 0 || a->nr > SYMBOLS_BATCH || a->file != f->id)
		return false;
	for (uint32_t i = 0; i < a->nr; i++) {
		int len = strnlen(a->names + at, room - at);

		if (len == room - at || a->kinds[i] > NAME_SYMBOL)
			return false; /* no terminating NUL, or no kind */
		names_learn(n, f, a->at[i], a->kinds[i], a->names + at);
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

/* The helper has forgotten the file's symbols: reads it again. */
static void read_again(struct names *n, struct file *f)
{
	want_asked(n, f);
	f->state = f->held ? FILE_OPEN : FILE_CLOSED;
}

/* Its unwind table arrived in @fd, or @err says why there is none. */
static void take_table(struct names *n, struct file *f, int fd, int err)
{
	if (fd >= 0 && !err && n->o.table)
		err = n->o.table(n->o.arg, f->id, fd);
	f->table_err = err == -ENOSPC ? 0 : err;
}

/* Returns whether the answer fits the request. */
static bool take(struct names *n, struct file *f, const union answer *a, int bytes, int fd)
{
	if (a->what != n->request.what)
		return false;
	if (f && a->what == f->late_what)
		f->late = 0;
	if (a->what == SYMBOLS_RESOLVE && bytes == sizeof(a->loaded) && a->loaded.err == -ESTALE && a->loaded.file == f->id &&
	    !file_grows(n, f)) {
		read_again(n, f);
		return true;
	}
	switch (a->what) {
	case SYMBOLS_FORGET:
		if (bytes != sizeof(a->loaded))
			return false;
		forget_answered(n);
		return true;
	case SYMBOLS_RESOLVE:
		return learn_all(n, f, &a->names, bytes);
	case SYMBOLS_SOURCE:
		return bytes == sizeof(a->source) && learn_source(n, f, &a->source);
	default:
		if (bytes != sizeof(a->loaded) || a->loaded.file != f->id)
			return false;
		if (a->what == SYMBOLS_TABLE)
			take_table(n, f, fd, a->loaded.err);
		else
			loaded(n, f, &a->loaded);
		return true;
	}
}

/* Whether the helper reports that it exits, as the request has used up its budget. */
static bool is_spent(const union answer *a, int bytes)
{
	return bytes == sizeof(a->loaded) && a->loaded.err == -ETIME;
}

static bool symbols_answered(struct names *n)
{
	static union answer a;
	int fd, got = worker_answer(&n->symbols, &a, sizeof(a), &fd);

	if (got == -EAGAIN)
		return false;
	if (got >= (int)sizeof(a.what) && worker_busy(&n->symbols) && !is_spent(&a, got) &&
	    take(n, n->reading, &a, got, fd))
		worker_done(&n->symbols);
	else
		symbols_failed(n, is_spent(&a, got) ? -ETIME : -EOWNERDEAD);
	file_close(&fd);
	return true;
}

void ask_answers(struct names *n)
{
	open_answers(n);
	while (symbols_answered(n))
		;
	if (worker_late(&n->symbols))
		symbols_failed(n, worker_spent(&n->symbols) ? -ETIME : -ETIMEDOUT);
}

/* --- Both */

void ask_next(struct names *n)
{
	open_next(n);
	if (worker_ready(&n->symbols))
		table_next(n);
	if (worker_ready(&n->symbols))
		symbols_next(n);
	source_next(n);
	if (worker_ready(&n->symbols))
		close_next(n);
	if (!worker_busy(&n->symbols))
		forget_next(n);
}
