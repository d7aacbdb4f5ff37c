/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the helpers are asked for, and what comes of their answers. */
#include "sym/names_internal.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "util/clock.h"
#include "util/vec.h"

/* So often a file that could not be opened is asked for again. */
#define ASK_MAX 20

/* What grows while it is used, the kernel's and JITs' symbols, is read again for names it did not have,
 * so often at most. */
#define AGAIN_NS 2000000000ULL

static bool grows(const struct names *n, const struct file *f)
{
	return f == &n->kernel || f->id & JIT_FILE;
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* The kernel gives every process the same image of its own. */
static int vdso_fd(void)
{
	const Elf64_Ehdr *image = (const Elf64_Ehdr *)getauxval(AT_SYSINFO_EHDR);
	size_t size;
	int fd;

	if (!image)
		return -1;
	size = image->e_shoff + (size_t)image->e_shnum * image->e_shentsize;
	fd = memfd_create("vdso", MFD_CLOEXEC);
	if (fd >= 0 && write(fd, image, size) != (ssize_t)size)
		close_fd(&fd);
	return fd;
}

void file_path(const struct file *f, char *buf, size_t size)
{
	size_t used = 0;

	*buf = '\0';
	for (int i = FILE_NAMES - 1; i >= 0; i--)
		if (f->event.names[i][0] && used < size)
			used += snprintf(buf + used, size - used, "/%s", f->event.names[i]);
	/* Names that were cut, or folders above those that were kept, lead nowhere: that is told by
	 * what is found there. */
}

/* Nobody waits for these names any more. */
static void forget_wanted(struct names *n, struct file *f)
{
	n->pending -= f->nr_wanted < n->pending ? f->nr_wanted : n->pending;
	f->nr_wanted = 0;
}

static void file_gone(struct names *n, struct file *f)
{
	f->state = FILE_GONE;
	if (f->id & JIT_FILE) {
		/* Most have no such file: what is asked for later is asked again then. */
		forget_wanted(n, f);
		f->read_ns = clock_ns(CLOCK_MONOTONIC);
		f->state = FILE_READY;
	} else if (f->asked++ < ASK_MAX && n->o.ask_again) {
		n->o.ask_again(n->o.arg, &f->event.key);
	}
}

/* --- Asking */

static void ask_open(struct names *n, struct file *f, enum open_what what)
{
	struct open_request r = {
		.what = what,
		.id = f->id,
		.tgid = f->event.tgid,
		.attempt = f->debug_attempt,
		.start = f->event.start,
		.end = f->event.end,
		.key = f->event.key,
		.build_id_bytes = f->about.build_id_bytes,
	};

	file_path(f, r.path, sizeof(r.path));
	memcpy(r.build_id, f->about.build_id, sizeof(r.build_id));
	memcpy(r.debuglink, f->about.debuglink, sizeof(r.debuglink));
	if (!worker_ask(&n->open, &r, sizeof(r), what == OPEN_DEBUG ? f->fd : -1)) {
		worker_failed(&n->open);
		return;
	}
	n->opening = f;
	if (what != OPEN_DEBUG)
		f->state = FILE_OPENING;
}

/* Opens what is new; what failed before comes after that, as a sick process's files fail each time, and
 * debug information last. */
static void open_next(struct names *n)
{
	struct file *next = NULL, *debug = NULL;

	for (size_t i = 0; i < n->files.room; i++) {
		struct file *f = n->files.entries[i].value;

		if (!f)
			continue;
		if (f->state == FILE_NEW && f->event.key.device == FILE_VDSO) {
			f->fd = vdso_fd();
			f->state = f->fd < 0 ? FILE_BAD : FILE_OPEN;
		} else if (f->state == FILE_NEW && (!next || f->asked < next->asked)) {
			next = f;
		} else if (f->state == FILE_DEBUG && f->debug_fd < 0) {
			debug = f;
		}
	}
	if (next)
		ask_open(n, next, next->id & JIT_FILE ? OPEN_PERF_MAP : OPEN_MAPPED);
	else if (debug)
		ask_open(n, debug, OPEN_DEBUG);
}

static void ask_symbols(struct names *n, struct file *f, const struct symbols_request *r, int fd)
{
	if (worker_ask(&n->symbols, r, sizeof(*r), fd))
		n->reading = f;
	else
		worker_failed(&n->symbols);
}

static void ask_file(struct names *n, struct file *f, enum symbols_what what, int fd)
{
	struct symbols_request r = { .what = what, .file = f->id };

	ask_symbols(n, f, &r, fd);
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
	if (f->state == FILE_DEBUG && f->debug_fd >= 0)
		ask_file(n, f, SYMBOLS_DEBUG, f->debug_fd);
	else if (f->nr_wanted && f == &n->kernel && f->state == FILE_OPEN)
		ask_file(n, f, SYMBOLS_KERNEL, f->fd);
	else if (f->nr_wanted && f->state == FILE_OPEN)
		ask_file(n, f, f->id & JIT_FILE ? SYMBOLS_PERF_MAP : SYMBOLS_FILE, f->fd);
	else if (f->nr_wanted && f->state == FILE_READY)
		ask_names(n, f);
	else if (f->nr_wanted && f->state == FILE_BAD)
		forget_wanted(n, f);
}

/* Unwind tables come before names, those of small files first: until they are there, stacks are cut. */
static void table_next(struct names *n)
{
	struct symbols_request r = { .what = SYMBOLS_TABLE };
	struct file *next = NULL;

	for (size_t i = 0; i < n->files.room; i++) {
		struct file *f = n->files.entries[i].value;

		if (f && f->fd >= 0 && !f->table_asked && !(f->id & JIT_FILE) && f->state != FILE_BAD &&
		    (!next || f->event.key.size < next->event.key.size))
			next = f;
	}
	if (!next || !n->o.table)
		return;
	next->table_asked = true;
	r.file = next->id;
	ask_symbols(n, next, &r, next->fd);
}

static void source_next(struct names *n)
{
	for (int i = 0; i < SOURCES && worker_ready(&n->symbols); i++) {
		struct source *s = &n->sources[i];
		struct symbols_request r = { .what = SYMBOLS_SOURCE, .nr = 1 };
		struct file *f;

		if (!s->frame || s->asked)
			continue;
		f = map_get(&n->files, s->frame >> FRAME_FILE_SHIFT);
		if (!f || f->state == FILE_GONE || f->state == FILE_BAD) {
			s->asked = true;
			continue;
		}
		if (f->state != FILE_READY)
			continue;
		s->asked = true;
		if (!f->debug_lines && !f->about.lines)
			continue;
		r.file = f->id;
		r.at[0] = s->frame & FRAME_OFFSET_MASK;
		ask_symbols(n, f, &r, f->debug_lines ? f->debug_fd : f->fd);
	}
}

void ask_next(struct names *n)
{
	if (worker_ready(&n->open))
		open_next(n);
	if (worker_ready(&n->symbols))
		table_next(n);
	if (worker_ready(&n->symbols))
		symbols_of(n, &n->kernel);
	for (size_t i = 0; i < n->files.room && worker_ready(&n->symbols); i++)
		if (n->files.entries[i].value)
			symbols_of(n, n->files.entries[i].value);
	source_next(n);
}

/* --- Answers */

/* Files that the symbols helper had read, it knows no more. */
static void files_again(struct names *n)
{
	for (size_t i = 0; i < n->files.room; i++) {
		struct file *f = n->files.entries[i].value;

		if (f && (f->state == FILE_READY || f->state == FILE_READING ||
			  f->state == FILE_DEBUG || f->state == FILE_DEBUG_READING))
			f->state = f->id & JIT_FILE ? FILE_NEW : FILE_OPEN;
	}
	if (n->kernel.fd >= 0)
		n->kernel.state = FILE_OPEN;
}

/* It ended, or did not answer: what it was asked for last is to blame. */
static void symbols_failed(struct names *n)
{
	struct file *f = worker_busy(&n->symbols) ? n->reading : NULL;

	worker_failed(&n->symbols);
	files_again(n);
	if (!f || f == &n->kernel)
		return;
	f->state = FILE_BAD;
	forget_wanted(n, f);
}

static void open_failed(struct names *n)
{
	struct file *f = worker_busy(&n->open) ? n->opening : NULL;

	worker_failed(&n->open);
	if (f && f->state == FILE_DEBUG)
		f->state = FILE_READY;
	else if (f)
		file_gone(n, f);
}

static void opened(struct names *n, struct file *f, const struct open_answer *a, int fd)
{
	if (f->state == FILE_DEBUG) {
		f->debug_fd = fd;
		f->debug_attempt = a->attempt;
		if (fd < 0)
			f->state = FILE_READY;
	} else if (fd < 0) {
		file_gone(n, f);
	} else {
		close_fd(&f->fd);
		f->fd = fd;
		f->state = FILE_OPEN;
	}
}

static bool open_answered(struct names *n)
{
	struct open_answer a;
	int fd, got = worker_answer(&n->open, &a, sizeof(a), &fd);

	if (got == -EAGAIN)
		return false;
	if (got != sizeof(a) || !worker_busy(&n->open) || a.id != n->opening->id) {
		close_fd(&fd);
		open_failed(n);
		return true;
	}
	worker_done(&n->open);
	opened(n, n->opening, &a, fd);
	return true;
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
	f->state = f->debug_fd >= 0 || wants_debug(f) ? FILE_DEBUG : FILE_READY;
}

static void loaded(struct file *f, const struct symbols_loaded *a)
{
	f->state = FILE_READY;
	f->read_ns = clock_ns(CLOCK_MONOTONIC);
	switch (a->what) {
	case SYMBOLS_FILE:
		file_loaded(f, a);
		break;
	case SYMBOLS_DEBUG:
		f->debug_lines = !a->err && a->lines;
		if (a->err) { /* it is of another file: the next place */
			close_fd(&f->debug_fd);
			f->debug_attempt++;
			f->state = FILE_DEBUG;
		}
		break;
	case SYMBOLS_PERF_MAP:
		close_fd(&f->fd);
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
		loaded(f, &a->loaded);
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
		close_fd(&fd);
		worker_done(&n->symbols);
		return true;
	}
	close_fd(&fd);
	if (got < (int)sizeof(a.what) || !worker_busy(&n->symbols) || !take(n, n->reading, &a, got))
		symbols_failed(n);
	else
		worker_done(&n->symbols);
	return true;
}

void ask_answers(struct names *n)
{
	while (open_answered(n))
		;
	while (symbols_answered(n))
		;
	if (worker_late(&n->open))
		open_failed(n);
	if (worker_late(&n->symbols))
		symbols_failed(n);
}
