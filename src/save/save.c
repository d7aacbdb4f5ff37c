/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "save/save.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "collect/collect.h"
#include "export/exporter.h"
#include "helper/helper.h"
#include "helper/proto.h"
#include "model/tick.h"
#include "query/stack_walk.h"
#include "record/rings.h"
#include "save/capture_metadata.h"
#include "save/destination.h"
#include "save/process_info.h"
#include "sym/names.h"
#include "util/clock.h"
#include "util/format.h"
#include "util/text.h"

/* Longest wait for the next name, and for all of them. On a busy host the helpers wait for a CPU, too. */
#define NEXT_NAME_NS 3000000000ULL
#define ALL_NAMES_NS 20000000000ULL

/* Longest wait for the next tick, which knows the newest threads. */
#define TICK_NS 1200000000ULL

/* A helper that sends nothing for this long is given up. */
#define SILENT_NS 20000000000ULL

/* So is one that reports the same progress this many times. */
#define IDLE_TALK_MAX 100000
/* After a signal to end, a reader that takes no output for this long is given up. */
#define READER_NS 1000000000ULL

/* The rings are copied at once; the trace is written when the names and the next tick are there. */
enum state { SAVE_IDLE, SAVE_NAMES, SAVE_WRITING };

struct save {
	struct save_options o;
	enum state state;
	struct helper helper;
	char path[PATH_MAX], safe[PATH_MAX], text[PATH_MAX + 1024], reason[512];
	char temporary[32];      /* name of the unfinished file; "": it has none */
	struct save_failure failure;
	char cause[160];         /* the same in words */
	struct save_end end;     /* of the window */
	const struct exporter *exporter; /* of the current save */
	struct save_part part;   /* of the current save */
	uint32_t percent, idle_talk; /* last reported, and how often since */
	bool content;            /* save_content(): no window of the recorder */
	bool handed;             /* the file was opened by the caller: there is nothing to clean up */
	uint64_t began, heard;   /* CLOCK_MONOTONIC ns */
	uint64_t named;          /* when the last names came, at that generation of names: */
	uint64_t generation;
	const struct tick *tick; /* the newest one */
	struct process_info_table *who;   /* processes at the end of the window; NULL: unknown */
};

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

/* Removes the temporary file that a killed helper left, if there is one. */
static void remove_rest(struct save *s)
{
	static struct write_request r = { .what = WRITE_REMOVE };
	struct helper h;

	if (!*s->temporary || helper_open(s->o.role, &h))
		return;
	snprintf(r.path, sizeof(r.path), "%s", s->path);
	snprintf(r.temporary, sizeof(r.temporary), "%s", s->temporary);
	helper_send(h.socket, &r, sizeof(r), -1);
	helper_leave(&h);
}

/* If a helper did not start, the error is that its socket is closed. */
static void name_cause(struct save *s)
{
	const char *trouble = helper_trouble();
	struct save_failure f = s->failure;
	struct rlimit limit;

	if (f.err == -EPIPE && helper_error(s->helper.id))
		f.err = helper_error(s->helper.id);
	if (f.err == -EFBIG && !getrlimit(RLIMIT_FSIZE, &limit)) /* the helper has the same limit */
		f.room = limit.rlim_cur;
	if (f.err == -ETIMEDOUT && s->handed)
		snprintf(s->cause, sizeof(s->cause), "its reader takes nothing");
	else if (f.err == -ECANCELED)
		snprintf(s->cause, sizeof(s->cause), "cancelled");
	else if ((f.err == -EAGAIN || f.err == -EPIPE) && *trouble)
		snprintf(s->cause, sizeof(s->cause), "%s", trouble);
	else
		save_cause(&f, s->cause, sizeof(s->cause));
}

/* @said: the helper ended by itself, or will, and leaves no file. */
static void end(struct save *s, int err, bool said)
{
	if (err == -ETIMEDOUT || s->handed)
		helper_kill(&s->helper);
	else
		helper_leave(&s->helper); /* it cleans up by itself */
	if (!said)
		remove_rest(s);
	process_info_free(s->who);
	s->who = NULL;
	s->state = SAVE_IDLE;
	s->failure.err = err;
	name_cause(s);
	if (err == -ECANCELED)
		snprintf(s->text, sizeof(s->text), "not saved: cancelled");
	else if (err)
		snprintf(s->text, sizeof(s->text), "cannot save %s: %s", s->safe, s->cause);
}

void save_free(struct save *s)
{
	if (!s)
		return;
	if (s->state != SAVE_IDLE)
		end(s, -ECANCELED, true);
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
	if (s->state != SAVE_IDLE)
		end(s, -ECANCELED, true);
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

/* --- The helper */

static int send_request(struct save *s, const struct write_request *r, int fd)
{
	size_t bytes = r->what == WRITE_PATH ? sizeof(*r) : offsetof(struct write_request, path);
	int sent;

	/* The rings of many CPUs do not fit into the socket: the helper takes them at once. */
	for (int i = 0; i < 50 && (sent = helper_send(s->helper.socket, r, bytes, fd)) == -EAGAIN; i++) {
		struct pollfd p = { .fd = s->helper.socket, .events = POLLOUT };

		poll(&p, 1, 1);
	}
	return sent < 0 ? sent : 0;
}

static int request_ring(struct save *s, struct write_request *r, int cpu)
{
	const struct rings *rings = collect_rings(s->o.collect);
	uint64_t window_ns = s->o.window_s * 1000000000ULL;

	r->what = WRITE_RING;
	r->cpu = cpu;
	r->end = s->end.cpus[cpu].head;
	r->from = rings_place(rings, cpu, s->end.at > window_ns ? s->end.at - window_ns : 0);
	return r->from <= r->end ? send_request(s, r, rings_fd(rings, cpu)) : 0;
}

static int report_where(struct save *s, int fd)
{
	static struct write_request r;

	r.what = fd < 0 ? WRITE_PATH : WRITE_TO;
	r.exporter = exporter_place(s->exporter);
	snprintf(r.path, sizeof(r.path), "%s", s->path);
	snprintf(r.temporary, sizeof(r.temporary), "%s", s->temporary);
	return send_request(s, &r, fd);
}

static int request_rings(struct save *s, int fd)
{
	static struct write_request r;
	const struct rings *rings = collect_rings(s->o.collect);
	int nr = collect_nr_cpus(s->o.collect), err;

	r.what = WRITE_CPUS;
	r.cpu = nr;
	r.slots = rings_slots(rings);
	err = send_request(s, &r, collect_cpus_fd(s->o.collect));
	for (int cpu = 0; cpu < nr && !err; cpu++)
		if (rings_fd(rings, cpu) >= 0)
			err = request_ring(s, &r, cpu);
	return err ? err : report_where(s, fd);
}

static void note_end(struct save *s)
{
	int nr = collect_nr_cpus(s->o.collect);

	s->end.at = clock_ns(CLOCK_BOOTTIME);
	for (int cpu = 0; cpu < nr; cpu++)
		collect_cpu_now(s->o.collect, cpu, &s->end.cpus[cpu].head, &s->end.cpus[cpu].current);
}

/* The helper copies the rings as soon as it knows the destination. */
static int begin(struct save *s, int fd)
{
	int err = helper_open(s->o.role, &s->helper);

	return err ? err : request_rings(s, fd);
}

/* Unpredictable, so that no other user can create it first, and known in case the helper leaves it. Its suffix is none
 * that collectors of files look for. */
static void name_temporary(struct save *s, int fd)
{
	uint64_t random = 0;

	*s->temporary = '\0';
	if (fd >= 0)
		return;
	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		random = clock_ns(CLOCK_MONOTONIC);
	snprintf(s->temporary, sizeof(s->temporary), ".systop-%016" PRIx64 ".part", random);
}

/* Where it goes, as save_start() and save_content() are asked. */
static void name_file(struct save *s, const struct exporter *as, const char *path, int fd, const char *reason)
{
	char when[32];
	struct tm tm;
	time_t now = time(NULL);

	gmtime_r(&now, &tm);
	strftime(when, sizeof(when), "%Y%m%dT%H%M%SZ", &tm);
	if (path && *path && path[strlen(path) - 1] != '/')
		snprintf(s->path, sizeof(s->path), "%s", path);
	else
		snprintf(s->path, sizeof(s->path), "%ssystop-%s-%s.%s", path ? path : "", s->o.uname->nodename, when, as->suffix);
	text_safe(s->safe, sizeof(s->safe), s->path, strlen(s->path));
	snprintf(s->reason, sizeof(s->reason), "%s", reason);
	s->exporter = as;
	s->failure = (struct save_failure){ 0 };
	s->handed = fd >= 0;
	s->began = s->heard = s->named = clock_ns(CLOCK_MONOTONIC);
	s->percent = s->idle_talk = 0;
	name_temporary(s, fd);
}

int save_start(struct save *s, const struct exporter *as, const char *path, int fd, const char *reason,
	       const struct save_part *part)
{
	int err;

	if (s->state != SAVE_IDLE)
		return -EBUSY;
	if (!rings_slots(collect_rings(s->o.collect)))
		return -EOPNOTSUPP;
	note_end(s);
	s->part = part ? *part : s->o.part;
	s->content = false;
	name_file(s, as, path, fd, reason);
	err = begin(s, fd);
	if (err && err != -EPIPE) { /* then its answer says why */
		end(s, err, false);
		return err;
	}
	s->state = SAVE_NAMES;
	s->who = s->tick ? process_info_request(s->o.process_info_role, s->tick, s->o.arguments) : NULL;
	collect_stacks(s->o.collect, ask_stack, s);
	snprintf(s->text, sizeof(s->text), "saving: fetching function names");
	return 0;
}

int save_content(struct save *s, const struct exporter *as, const char *path, int fd, int content)
{
	static const struct write_request what = { .what = WRITE_CONTENT };
	int err;

	if (s->state != SAVE_IDLE)
		return -EBUSY;
	s->content = true;
	name_file(s, as, path, fd, "");
	err = helper_open(s->o.role, &s->helper);
	if (!err)
		err = report_where(s, fd);
	if (!err)
		err = send_request(s, &what, content);
	if (err && err != -EPIPE) {
		end(s, err, false);
		return err;
	}
	s->state = SAVE_WRITING;
	snprintf(s->text, sizeof(s->text), "saving: 0 %%");
	return 0;
}

static void done(struct save *s, const struct write_answer *a)
{
	char bytes[16], events[16];

	s->failure = (struct save_failure){ .need = a->need, .room = a->room };
	if (a->err) {
		end(s, a->err > 0 || a->err < -4095 ? -EIO : a->err, true);
		return;
	}
	end(s, 0, true);
	format_value(bytes, sizeof(bytes), UNIT_BYTES, a->bytes, 0);
	if (s->content) {
		snprintf(s->text, sizeof(s->text), "saved %s: %s", s->safe, bytes);
		return;
	}
	format_value(events, sizeof(events), UNIT_COUNT, a->events, 0);
	snprintf(s->text, sizeof(s->text), "saved %s: %s, %.1f s, %s events, %" PRIu64 " lost, %" PRIu64 " gaps%s%s",
		 s->safe, bytes, (a->to - a->from) / 1e9, events, a->lost, a->gaps, *s->reason ? "; " : "", s->reason);
}

static void report_percent(struct save *s, uint32_t percent)
{
	if (percent != s->percent)
		s->idle_talk = 0;
	s->percent = percent;
	snprintf(s->text, sizeof(s->text), "saving: %u %%", percent < 100 ? percent : 100);
}

/* Takes the helper's messages. Returns whether there were any. */
static bool read_answers(struct save *s)
{
	struct write_answer a;
	bool heard = false;
	int fd, got;

	while (s->state != SAVE_IDLE && (got = helper_receive(s->helper.socket, &a, sizeof(a), &fd)) != -EAGAIN) {
		if (fd >= 0)
			close(fd);
		heard = true;
		s->heard = clock_ns(CLOCK_MONOTONIC);
		if (got != sizeof(a))
			end(s, got < 0 ? got : -EIO, false);
		else if (a.done)
			done(s, &a);
		else if (a.percent == s->percent && ++s->idle_talk > IDLE_TALK_MAX)
			end(s, -EIO, false);
		else
			report_percent(s, a.percent);
	}
	return heard;
}

static void write_now(struct save *s)
{
	static struct write_request r = { .what = WRITE_INDEX };
	int index, err;

	r.exporter = exporter_place(s->exporter);
	index = capture_metadata(&s->o, s->tick, &s->part, &s->end, s->who, s->reason);
	err = index < 0 ? index : send_request(s, &r, index);

	if (index >= 0)
		close(index);
	if (err == -EPIPE && read_answers(s) && s->state == SAVE_IDLE) /* its message said why it ended */
		return;
	if (err) {
		end(s, err, false);
		return;
	}
	s->state = SAVE_WRITING;
	s->heard = clock_ns(CLOCK_MONOTONIC);
	snprintf(s->text, sizeof(s->text), "saving: 0 %%");
}

/* Whether all names of functions and processes that will come are there. */
static bool names_are_there(struct save *s)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	if (s->generation != names_generation(s->o.names))
		s->named = now;
	s->generation = names_generation(s->o.names);
	if (s->who && !process_info_done(s->who))
		return false;
	return !names_pending(s->o.names) || now - s->named > NEXT_NAME_NS || now - s->began > ALL_NAMES_NS;
}

/* Returns whether writing has begun. */
static bool write_when_ready(struct save *s)
{
	if (!names_are_there(s)) {
		snprintf(s->text, sizeof(s->text), "saving: %zu names pending", names_pending(s->o.names));
		return false;
	}
	write_now(s);
	return true;
}

bool save_work(struct save *s)
{
	bool changed = read_answers(s);

	if (s->state == SAVE_WRITING && clock_ns(CLOCK_MONOTONIC) - s->heard > SILENT_NS) {
		end(s, -ETIMEDOUT, false);
		changed = true;
	}
	if (s->state == SAVE_NAMES && s->tick && clock_ns(CLOCK_MONOTONIC) - s->began > TICK_NS) {
		write_when_ready(s);
		changed = true;
	}
	return changed;
}

/* --on. Returns whether a save was started. */
static bool begin_if_triggered(struct save *s)
{
	char why[sizeof(s->reason)];

	return s->state == SAVE_IDLE &&
	       trigger_fires(&s->o.trigger, s->tick, clock_ns(CLOCK_MONOTONIC), why, sizeof(why)) &&
	       !save_start(s, &export_trace, NULL, -1, why, NULL);
}

bool save_tick(struct save *s, const struct tick *t)
{
	if (s->tick)
		tick_put(s->tick);
	s->tick = tick_get(t);
	if (begin_if_triggered(s))
		return true;
	return s->state == SAVE_NAMES && write_when_ready(s);
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
			end(s, -ETIMEDOUT, true);
	}
}
