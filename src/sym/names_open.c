/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Requests to the open helper, and which files the symbols helper has open. This process opens none of them, as
 * closing a file can take as long as its file system likes. */
#include "sym/names_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "helper/link.h"
#include "util/clock.h"
#include "util/vec.h"

/* Times that a file which could not be opened is requested again. */
#define ASK_MAX 20

/* If its file system did not answer, it is requested again and again, after a pause that doubles up to LATE_DOUBLED times. */
#define LATE_NS 1000000000ULL
#define LATE_DOUBLED 5

/* A file is closed after this long without use, so that its disk space can be freed and its mount unmounted. With
 * more than HELD_MAX files open, the one unused for longest is closed. */
#define IDLE_NS 15000000000ULL
#define HELD_MAX 64

/* The pause after the symbols helper did not take a file. */
#define PAUSE_NS 100000000ULL

void file_path(const struct file *f, char *buf, size_t size)
{
	size_t used = 0;

	*buf = '\0';
	for (int i = FILE_NAMES - 1; i >= 0; i--)
		if (f->event.names[i][0] && used < size)
			used += snprintf(buf + used, size - used, "/%s", f->event.names[i]);
	/* If names were cut, or upper folders are missing, the path leads elsewhere: the check of the file found
	 * there notices. */
}

bool file_want(struct names *n, struct file *f, uint64_t at)
{
	if (VEC_PUSH(f->wanted, f->nr_wanted, f->wanted_room, at))
		return false;
	n->pending++;
	file_wake(n, f);
	return true;
}

void file_forget_wanted(struct names *n, struct file *f)
{
	n->pending -= f->nr_wanted < n->pending ? f->nr_wanted : n->pending;
	f->nr_wanted = 0;
}

/* --- Files with something to do */

void file_wake(struct names *n, struct file *f)
{
	if (!f->active && f != &n->kernel)
		f->active = !VEC_PUSH(n->active, n->nr_active, n->active_room, f);
}

/* Whether there is nothing to do for it until a name is requested or a mapping is reported. */
static bool rests(const struct file *f)
{
	if (f->held || f->debug_held || f->reopen || f->reopen_debug || f->again_at || f->forget)
		return false;
	switch (f->state) {
	case FILE_GONE:
		return true;
	case FILE_BAD:
		return !f->nr_wanted;
	case FILE_CLOSED:
		return !f->nr_wanted && f->table_asked;
	case FILE_READY:
		return !f->nr_wanted && !f->nr_unknown;
	default:
		return false;
	}
}

/* There may be tens of thousands of files at rest. */
static void let_rest(struct names *n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n->nr_active; i++) {
		struct file *f = n->active[i];

		f->active = !rests(f);
		if (f->active) {
			n->active[kept++] = f;
		} else if (!f->nr_wanted) {
			free(f->wanted);
			f->wanted = NULL;
			f->wanted_room = 0;
		}
	}
	n->nr_active = kept;
}

/* --- Blocked file systems and processes */

void file_sick(struct names *n, const struct file *f, const struct worker *w, uint32_t helper, bool process)
{
	struct sick *s = n->sick;

	while (s < n->sick + 2 * WORKER_STUCK_MAX && s->worker && worker_is_stuck(s->worker, s->helper))
		s++;
	if (s == n->sick + 2 * WORKER_STUCK_MAX)
		return;
	*s = (struct sick){ w, helper, f->event.key.device, process || f->id & JIT_FILE ? f->event.tgid : 0 };
}

bool file_is_sick(const struct names *n, const struct file *f)
{
	for (int i = 0; i < 2 * WORKER_STUCK_MAX; i++) {
		const struct sick *s = &n->sick[i];

		if (s->worker && (s->tgid ? s->tgid == f->event.tgid : s->device == f->event.key.device) &&
		    worker_is_stuck(s->worker, s->helper))
			return true;
	}
	return false;
}

/* --- Files that the symbols helper has open */

static void hold(struct names *n, struct file *f, bool *held)
{
	n->nr_held += !*held;
	*held = true;
	f->used_ns = clock_ns(CLOCK_MONOTONIC);
}

void file_release(struct names *n, bool *held)
{
	n->nr_held -= *held;
	*held = false;
}

void file_closed(struct names *n, struct file *f)
{
	file_release(n, &f->held);
	file_release(n, &f->debug_held);
	if (f->state == FILE_OPEN)
		f->state = FILE_CLOSED;
}

static bool is_idle(const struct names *n, const struct file *f)
{
	if (!(f->held || f->debug_held) || f->forget || f->reopen || (f->reopen_debug && !places_pause(n, f->debug_where)) ||
	    (worker_busy(&n->open) && n->opening == f))
		return false;
	return f->state == FILE_GONE || f->state == FILE_BAD ||
	       ((f->state == FILE_OPEN || f->state == FILE_READY) && !f->nr_wanted && f->table_asked);
}

void close_next(struct names *n)
{
	struct file *oldest = NULL;

	for (size_t i = 0; i < n->nr_active; i++) {
		struct file *f = n->active[i];

		if (is_idle(n, f) && (!oldest || f->used_ns < oldest->used_ns) && !file_is_sick(n, f))
			oldest = f;
	}
	if (oldest && (n->nr_held >= HELD_MAX || clock_ns(CLOCK_MONOTONIC) >= oldest->used_ns + IDLE_NS))
		ask_file(n, oldest, SYMBOLS_CLOSE);
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

	if (f->path)
		snprintf(r.path, sizeof(r.path), "%s", f->path);
	file_path(f, r.inside, sizeof(r.inside));
	memcpy(r.build_id, f->about.build_id, sizeof(r.build_id));
	memcpy(r.debuglink, f->about.debuglink, sizeof(r.debuglink));
	for (int i = OPEN_FOUND_HOST; i < OPEN_FOUNDS; i++)
		r.skip |= (uint32_t)places_pause(n, i) << i;
	if (!worker_ask(&n->open, &r, sizeof(r), -1)) {
		worker_failed(&n->open);
		return;
	}
	n->opening = f;
	n->opening_what = what;
	n->opening_found = 0;
	if (what != OPEN_DEBUG && !f->reopen)
		f->state = FILE_OPENING;
}

static bool wants_open(const struct file *f)
{
	return f->state == FILE_NEW || (f->state == FILE_CLOSED && (f->nr_wanted || !f->table_asked)) || f->reopen;
}

/* Requests for source lines wait while the place of the debug information is left alone. */
static bool wants_debug_open(const struct names *n, const struct file *f)
{
	return !f->debug_held && (f->state == FILE_DEBUG || (f->reopen_debug && !places_pause(n, f->debug_where)));
}

/* The file did not answer, and may do so now. Another process may have it mapped. */
static void late_again(struct names *n, struct file *f)
{
	f->again_at = 0;
	sources_again(n, f);
	if (n->o.ask_again)
		n->o.ask_again(n->o.arg, &f->event.key);
}

/* Opens new files first, then those that failed before, as a sick process's files fail each time, then debug
 * information; last it looks for debug information again. */
void open_next(struct names *n)
{
	struct file *next = NULL, *debug = NULL;
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	let_rest(n);
	if (!worker_ready(&n->open) || !link_helpers(&n->open, &n->symbols, n->linked) || now < n->pause_until)
		return;
	for (size_t i = 0; i < n->nr_active; i++) {
		struct file *f = n->active[i];

		if (f->again_at && now >= f->again_at && !file_is_sick(n, f))
			late_again(n, f);
		if (wants_open(f) && (!next || f->asked < next->asked) && !file_is_sick(n, f))
			next = f;
		else if (wants_debug_open(n, f) && !file_is_sick(n, f))
			debug = f;
	}
	if (next && n->nr_held < HELD_MAX)
		ask_open(n, next, next->id & JIT_FILE ? OPEN_PERF_MAP : OPEN_MAPPED);
	else if (debug || (debug = debug_due(n)))
		ask_open(n, debug, OPEN_DEBUG);
}

/* --- Answers */

/* Nobody waits for the requested names any more; they are requested again when the file is there. */
static void put_off(struct names *n, struct file *f)
{
	for (size_t i = 0; i < f->nr_wanted; i++)
		if (!names_asks_again(n, f, f->wanted[i]))
			VEC_PUSH(f->unknown, f->nr_unknown, f->unknown_room, f->wanted[i]);
	file_forget_wanted(n, f);
}

/* When a file that did not answer is worth another attempt. */
static uint64_t late_until(struct file *f)
{
	uint64_t pause = LATE_NS << (f->asked < LATE_DOUBLED ? f->asked : LATE_DOUBLED);

	f->asked += f->asked < LATE_DOUBLED;
	return clock_ns(CLOCK_MONOTONIC) + pause;
}

/* There is no file of a JIT compiler, or none that is trusted. It may be written later. */
static void jit_gone(struct names *n, struct file *f, int err)
{
	f->missing = err == -ENOENT;
	if (f->missing || err == -ETIMEDOUT)
		put_off(n, f);
	file_forget_wanted(n, f);
	f->read_ns = err == -ETIMEDOUT ? late_until(f) : clock_ns(CLOCK_MONOTONIC);
	f->state = FILE_READY;
}

/* Another process may have it mapped. */
static void ask_again(const struct names *n, struct file *f, int err)
{
	if (err == -ETIMEDOUT)
		f->again_at = late_until(f);
	else if (f->asked++ < ASK_MAX && n->o.ask_again)
		n->o.ask_again(n->o.arg, &f->event.key);
}

static void file_gone(struct names *n, struct file *f, int err)
{
	n->generation += !f->missing;
	if (f->id & JIT_FILE) {
		jit_gone(n, f, err);
		return;
	}
	put_off(n, f);
	f->state = FILE_GONE;
	ask_again(n, f, err);
}

/* The requested file cannot be opened. */
static void not_opened(struct names *n, struct file *f, int err)
{
	for (int i = 0; (f->reopen || f->reopen_debug) && i < SOURCES; i++)
		if (n->sources[i].frame >> FRAME_FILE_SHIFT == f->id)
			n->sources[i].asked = true;
	if (f->reopen ? n->opening_what == OPEN_MAPPED : f->reopen_debug && err == -ETIMEDOUT)
		ask_again(n, f, err);
	f->reopen = f->reopen_debug = false;
	if (f->state == FILE_DEBUG)
		debug_not_found(n, f);
	else if (f->state == FILE_OPENING)
		file_gone(n, f, err);
}

static void open_failed(struct names *n)
{
	struct file *f = worker_busy(&n->open) ? n->opening : NULL;
	uint32_t helper = n->open.helper.id;

	worker_failed(&n->open);
	if (!f)
		return;
	if (n->opening_found > OPEN_FOUND)
		places_failed(n, n->opening_found, helper);
	else
		file_sick(n, f, &n->open, helper, !n->opening_found);
	not_opened(n, f, -ETIMEDOUT);
}

static void opened(struct names *n, struct file *f, const struct open_answer *a)
{
	if (n->opening_what == OPEN_DEBUG) {
		hold(n, f, &f->debug_held);
		f->debug_where = n->opening_found;
		f->debug_attempt = a->attempt;
		f->reopen_debug = false;
		f->asked = 0;
		return;
	}
	hold(n, f, &f->held);
	f->missing = f->reopen = false;
	f->asked = 0;
	f->again_at = 0;
	if (f->state == FILE_OPENING)
		f->state = FILE_OPEN;
	if (!f->path && a->path[0] == '/' && memchr(a->path, '\0', sizeof(a->path)))
		f->path = strdup(a->path);
}

static bool open_answered(struct names *n)
{
	struct open_answer a;
	int got = worker_answer(&n->open, &a, sizeof(a), NULL);

	if (got == -EAGAIN)
		return false;
	if (got != sizeof(a) || !worker_busy(&n->open) || a.id != n->opening->id || a.found >= OPEN_FOUNDS) {
		open_failed(n);
		return true;
	}
	if (a.found) {
		n->opening_found = a.found;
		return true;
	}
	worker_done(&n->open);
	if (link_lost(&n->symbols, n->linked, a.err)) {
		n->pause_until = clock_ns(CLOCK_MONOTONIC) + PAUSE_NS;
		if (n->opening->state == FILE_OPENING)
			n->opening->state = FILE_NEW;
	} else if (a.err) {
		not_opened(n, n->opening, a.err);
	} else {
		opened(n, n->opening, &a);
	}
	return true;
}

void open_answers(struct names *n)
{
	while (open_answered(n))
		;
	if (worker_late(&n->open))
		open_failed(n);
}
