/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "save/save.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#include "collect/collect.h"
#include "export/exporter.h"
#include "model/tick.h"
#include "query/stack_walk.h"
#include "record/rings.h"
#include "save/process_info.h"
#include "save/save_internal.h"
#include "save/write.h"
#include "sym/names.h"
#include "util/clock.h"
#include "util/text.h"

/* Longest wait for the next name. On a busy host the helpers wait for a CPU, too. */
#define NEXT_NAME_NS 3000000000ULL

/* A save that has waited for the next tick for this long asks for one now: save_wants_tick(). */
#define TICK_WAIT_NS 1200000000ULL

/* A helper that sends nothing for this long is given up. */
#define SILENT_NS 20000000000ULL

/* After a signal to end, a reader that takes no output for this long is given up. */
#define READER_NS 1000000000ULL

struct save *save_new(const struct save_options *o)
{
	struct save *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->o = *o;
	s->helper.socket = -1;
	s->end.cpus = calloc(collect_nr_cpus(o->collect), sizeof(*s->end.cpus));
	if (!s->end.cpus) {
		free(s);
		return NULL;
	}
	return s;
}

void save_free(struct save *s)
{
	if (!s)
		return;
	save_cancel(s);
	if (s->tick)
		tick_put(s->tick);
	free(s->end.cpus);
	free(s);
}

/* --- Names */

static int ask_stack(void *arg, uint32_t id, const struct stack_entry *e, const uint64_t *frames)
{
	struct save *s = arg;

	struct stack_walk w;

	(void)id;
	stack_walk_frames(&w, s->o.source, frames, e->nr, e->tgid);
	while (stack_walk_next(&w))
		stack_walk_symbol(&w);
	return 0;
}

void save_cancel(struct save *s)
{
	save_read_answers(s); /* the file may be there already */
	if (s->state != SAVE_IDLE)
		save_close(s, -ECANCELED, true);
}

bool save_busy(const struct save *s)
{
	return s->state != SAVE_IDLE;
}

const char *save_text(const struct save *s)
{
	return s->text;
}

const char *save_why(const struct save *s)
{
	return s->cause;
}

const struct save_failure *save_failure(const struct save *s)
{
	return &s->failure;
}

static void note_window(struct save *s)
{
	uint64_t window_ns = s->o.window_s * 1000000000ULL;
	int nr = collect_nr_cpus(s->o.collect);
	const char *why;

	s->end.at = clock_ns(CLOCK_BOOTTIME);
	if (s->part.until && s->part.until < s->end.at)
		s->end.at = s->part.until;
	s->without = rings_without(collect_rings(s->o.collect), &why);
	snprintf(s->why_without, sizeof(s->why_without), "%s", why);
	s->end.from = s->part.from ? s->part.from : s->end.at > window_ns ? s->end.at - window_ns : 0;
	for (int cpu = 0; cpu < nr; cpu++)
		collect_cpu_now(s->o.collect, cpu, &s->end.cpus[cpu].head, &s->end.cpus[cpu].current);
}

/* Sets the destination that save_start() or save_content() was given. */
static void name_file(struct save *s, const struct exporter *as, const char *path, int fd, const char *reason)
{
	char when[32];
	struct tm tm;
	time_t now = time(NULL);

	gmtime_r(&now, &tm);
	strftime(when, sizeof(when), "%Y%m%dT%H%M%SZ", &tm);
	s->beside = !path || !*path || path[strlen(path) - 1] == '/';
	if (!s->beside)
		snprintf(s->path, sizeof(s->path), "%s", path);
	else
		snprintf(s->path, sizeof(s->path), "%ssystop-%s-%s.%s", path ? path : "", s->o.uname->nodename, when, as->suffix);
	text_safe(s->safe, sizeof(s->safe), s->path, strlen(s->path));
	snprintf(s->reason, sizeof(s->reason), "%s", reason);
	s->exporter = as;
	s->failure = (struct save_failure){ 0 };
	s->handed = fd >= 0;
	s->fd = fd;
	s->stream = false;
	s->began = s->heard = s->named = clock_ns(CLOCK_MONOTONIC);
	s->percent = s->idle_talk = 0;
	*s->temporary = '\0';
	if (fd < 0) /* known here, so that a file that the helper leaves can be removed */
		write_temporary(s->temporary);
}

int save_start(struct save *s, const struct exporter *as, const char *path, int fd, const char *reason,
	       const struct save_part *part)
{
	int err;

	if (s->state != SAVE_IDLE)
		return -EBUSY;
	if (!rings_slots(collect_rings(s->o.collect)) || (!part && !s->o.window_s)) {
		s->failure = (struct save_failure){ 0 };
		snprintf(s->text, sizeof(s->text), "not saved: %s", s->o.window_s ?
			 "the recorder is left out, or has no memory (fix: a higher --max-cpu, --max-mem or --window-mem)" : "--window is 0");
		return -EOPNOTSUPP;
	}
	s->part = part ? *part : (struct save_part){ 0 };
	note_window(s);
	s->content = false;
	name_file(s, as, path, fd, reason);
	err = save_begin_window(s, fd);
	if (err && err != -EPIPE) { /* after -EPIPE the helper's answer gives the reason */
		save_close(s, err, false);
		return err;
	}
	s->state = SAVE_NAMES;
	collect_hold_rings(s->o.collect, true); /* the index is made of their marks and stacks */
	collect_stacks(s->o.collect, ask_stack, s);
	snprintf(s->text, sizeof(s->text), "saving: fetching function names");
	return 0;
}

int save_content(struct save *s, const struct exporter *as, const char *path, int fd, int content)
{
	int err;

	if (s->state != SAVE_IDLE)
		return -EBUSY;
	s->content = true;
	name_file(s, as, path, fd, "");
	err = save_begin_content(s, fd, content);
	if (err && err != -EPIPE) {
		save_close(s, err, false);
		return err;
	}
	s->state = SAVE_WRITING;
	snprintf(s->text, sizeof(s->text), "saving: 0 %%");
	return 0;
}

/* Only a tick after the window's end knows its newest threads. If none comes for long, the trace lacks their names. Most outputs
 * get the next one only after an interval. */
static bool threads_are_there(const struct save *s)
{
	return s->tick && (s->tick->boottime_ns >= s->end.at ||
			   clock_ns(CLOCK_MONOTONIC) - s->began > SAVE_NAMES_NS + s->tick->interval_ns);
}

bool save_wants_tick(const struct save *s)
{
	return s->state == SAVE_NAMES && !threads_are_there(s) && clock_ns(CLOCK_MONOTONIC) - s->began > TICK_WAIT_NS;
}

/* Whether all names of functions and processes that can still arrive have arrived. */
static bool names_are_there(struct save *s)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	if (s->generation != names_generation(s->o.names))
		s->named = now;
	s->generation = names_generation(s->o.names);
	if (!s->who) /* only now, as this tick has all processes at the window's end */
		s->who = process_info_request(s->o.process_info_role, s->tick, s->o.arguments);
	if (s->who && !process_info_done(s->who))
		return false;
	return !names_pending(s->o.names) || now - s->named > NEXT_NAME_NS || now - s->began > SAVE_NAMES_NS;
}

/* Returns whether writing has begun. */
static bool write_when_ready(struct save *s)
{
	if (!names_are_there(s)) {
		snprintf(s->text, sizeof(s->text), "saving: %zu names pending", names_pending(s->o.names));
		return false;
	}
	save_write_now(s);
	return true;
}

/* Whether the helper is silent because the reader does not read: our pipe is full, or the helper writes to a FIFO, which only
 * it has open. */
static bool waits_for_reader(const struct save *s)
{
	struct pollfd p = { .fd = s->fd, .events = POLLOUT };

	return s->fd >= 0 ? !poll(&p, 1, 0) : s->stream;
}

bool save_work(struct save *s)
{
	bool changed = save_read_answers(s);

	if (s->state == SAVE_WRITING && clock_ns(CLOCK_MONOTONIC) - s->heard > SILENT_NS) {
		if (waits_for_reader(s)) {
			s->heard = clock_ns(CLOCK_MONOTONIC);
		} else {
			save_close(s, -ETIMEDOUT, false);
			changed = true;
		}
	}
	if (s->state == SAVE_NAMES && threads_are_there(s)) {
		write_when_ready(s);
		changed = true;
	}
	return changed;
}

/* --on. Returns whether there is something new to report: a save was started, or cannot be, for another reason than before. */
static bool begin_if_triggered(struct save *s)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	char why[sizeof(s->reason)];
	int refused = s->refused;

	if (s->state != SAVE_IDLE || !trigger_fires(&s->o.trigger, s->tick, now, why, sizeof(why)))
		return false;
	s->refused = save_start(s, &export_trace, s->o.folder, -1, why, NULL);
	if (!s->refused)
		trigger_saves(&s->o.trigger, now);
	if (s->refused == -EOPNOTSUPP)
		text_add(s->text, sizeof(s->text), "; %s", why);
	return !s->refused || s->refused != refused;
}

bool save_tick(struct save *s, const struct tick *t)
{
	if (s->tick)
		tick_put(s->tick);
	s->tick = tick_get(t);
	if (begin_if_triggered(s))
		return true;
	return s->state == SAVE_NAMES && threads_are_there(s) && write_when_ready(s);
}

/* Whether the reader of the trace has taken nothing for READER_NS. */
static bool is_unread(struct save *s, int fd, uint64_t *since)
{
	struct pollfd p = { .fd = fd, .events = POLLOUT };
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	if (s->state != SAVE_WRITING || poll(&p, 1, 0))
		*since = now;
	return now - *since > READER_NS;
}

void save_finish(struct save *s, const struct tick *t, int reader, void (*work)(void *arg), void *arg)
{
	static const int ending[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	const struct timespec nap = { .tv_nsec = 2000000 };
	uint64_t since = clock_ns(CLOCK_MONOTONIC);
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(ending) / sizeof(ending[0]); i++)
		sigaddset(&set, ending[i]);
	while (save_busy(s)) {
		work(arg);
		if (t)
			save_tick(s, t);
		save_work(s);
		if (sigtimedwait(&set, NULL, &nap) > 0)
			save_cancel(s);
		else if (reader >= 0 && save_busy(s) && is_unread(s, reader, &since))
			save_close(s, -ETIMEDOUT, true);
	}
}
