/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Talks to the helper that writes what is saved: requests, its answers, and its end. */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "collect/collect.h"
#include "export/exporter.h"
#include "helper/helper.h"
#include "helper/proto.h"
#include "record/rings.h"
#include "save/capture_metadata.h"
#include "save/destination.h"
#include "save/process_info.h"
#include "save/save_internal.h"
#include "save/write.h"
#include "util/clock.h"
#include "util/file.h"
#include "util/format.h"
#include "util/text.h"

/* A helper that reports the same progress this many times is given up. */
#define IDLE_TALK_MAX 100000

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

/* Puts the cause of a failure into words. If a helper could not be started, the only error known so far is that its socket is
 * closed. */
static void name_cause(struct save *s)
{
	const char *trouble = helper_trouble();
	struct save_failure f = s->failure;
	int start = f.err == -EPIPE ? helper_error(s->helper.id) : 0;
	struct rlimit limit;

	if (start)
		f.err = start;
	if (f.err == -EFBIG && !getrlimit(RLIMIT_FSIZE, &limit)) /* the helper has the same limit */
		f.room = limit.rlim_cur;
	if (f.err == -ETIMEDOUT && s->handed)
		snprintf(s->cause, sizeof(s->cause), "its reader does not read");
	else if (f.err == -ECANCELED)
		snprintf(s->cause, sizeof(s->cause), "cancelled");
	else if ((f.err == -EAGAIN || f.err == -EPIPE) && *trouble)
		snprintf(s->cause, sizeof(s->cause), "%s", trouble);
	else if (start)
		snprintf(s->cause, sizeof(s->cause), "%s", strerror(-start));
	else
		save_cause(&f, s->cause, sizeof(s->cause));
}

void save_close(struct save *s, int err, bool said)
{
	if (err == -ETIMEDOUT || s->handed)
		helper_kill(&s->helper);
	else
		helper_leave(&s->helper); /* it cleans up by itself */
	if (!said)
		remove_rest(s);
	process_info_free(s->who);
	s->who = NULL;
	if (s->state == SAVE_NAMES)
		collect_hold_rings(s->o.collect, false);
	s->state = SAVE_IDLE;
	s->failure.err = err;
	if (err == -ECANCELED && *s->reason)
		trigger_cancelled(&s->o.trigger);
	name_cause(s);
	if (err == -ECANCELED)
		snprintf(s->text, sizeof(s->text), "not saved: cancelled");
	else if (err)
		snprintf(s->text, sizeof(s->text), "cannot save %s: %s", s->safe, s->cause);
}

static int send_request(struct save *s, const struct write_request *r, int fd)
{
	size_t bytes = r->what == WRITE_PATH ? sizeof(*r) : offsetof(struct write_request, path);
	int sent;

	/* The requests for the rings of many CPUs do not fit into the socket at once; the helper takes them without delay. */
	for (int i = 0; i < 50 && (sent = helper_send(s->helper.socket, r, bytes, fd)) == -EAGAIN; i++) {
		struct pollfd p = { .fd = s->helper.socket, .events = POLLOUT };

		poll(&p, 1, 1);
	}
	return sent < 0 ? sent : 0;
}

static int request_ring(struct save *s, struct write_request *r, int cpu)
{
	const struct rings *rings = collect_rings(s->o.collect);

	r->what = WRITE_RING;
	r->cpu = cpu;
	r->end = s->end.cpus[cpu].head;
	r->from = rings_place(rings, cpu, s->end.from);
	return r->from <= r->end ? send_request(s, r, rings_fd(rings, cpu)) : 0;
}

static int report_where(struct save *s, int fd)
{
	static struct write_request r;

	r.what = fd < 0 ? WRITE_PATH : WRITE_TO;
	r.exporter = exporter_index(s->exporter);
	r.beside = s->beside;
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

int save_begin_window(struct save *s, int fd)
{
	int err = helper_open(s->o.role, &s->helper);

	return err ? err : request_rings(s, fd);
}

int save_begin_content(struct save *s, int fd, int content)
{
	static const struct write_request what = { .what = WRITE_CONTENT };
	int err = helper_open(s->o.role, &s->helper);

	if (!err)
		err = report_where(s, fd);
	if (!err)
		err = send_request(s, &what, content);
	return err;
}

/* Whether the rings no longer had the beginning of the part that was asked for. */
static bool is_cut(const struct save *s, const struct write_answer *a)
{
	uint64_t asked = a->to - s->part.from;

	if (!s->part.from || a->to <= a->from) /* no part, or nothing recorded */
		return false;
	return a->to - a->from < asked - asked / 20;
}

static void done(struct save *s, const struct write_answer *a)
{
	char without[128] = "";

	s->failure = (struct save_failure){ .need = a->need, .room = a->room };
	if (a->err) {
		save_close(s, a->err > 0 || a->err < -4095 ? -EIO : a->err, true);
		return;
	}
	save_close(s, 0, true);
	if (*s->reason)
		trigger_saved(&s->o.trigger);
	if (s->beside && a->number) {
		write_numbered(s->path, sizeof(s->path), s->exporter->suffix, a->number);
		text_safe(s->safe, sizeof(s->safe), s->path, strlen(s->path));
	}
	snprintf(s->text, sizeof(s->text), "saved %s: %s", s->safe, BYTES_TEXT(a->bytes));
	if (s->content)
		return;
	if (s->without)
		snprintf(without, sizeof(without), "; %d CPU%s not recorded: %s", s->without, s->without == 1 ? " was" : "s were",
			 s->why_without);
	text_add(s->text, sizeof(s->text), ", %.1f s, %s events, %" PRIu64 " lost, %" PRIu64 " gap%s%s%s%s%s",
		 (a->to - a->from) / 1e9, COUNT_TEXT(a->events), a->lost, a->gaps, a->gaps == 1 ? "" : "s",
		 *s->reason ? "; " : "", s->reason, is_cut(s, a) ? "; more did not fit: see --window-mem" : "", without);
}

static void report_percent(struct save *s, const struct write_answer *a)
{
	uint32_t percent = a->percent;

	s->stream = a->stream;
	if (percent != s->percent)
		s->idle_talk = 0;
	s->percent = percent;
	snprintf(s->text, sizeof(s->text), "saving: %u %%", percent < 100 ? percent : 100);
}

bool save_read_answers(struct save *s)
{
	struct write_answer a;
	bool heard = false;
	int got;

	while (s->state != SAVE_IDLE && (got = helper_receive(s->helper.socket, &a, sizeof(a), NULL)) != -EAGAIN) {
		heard = true;
		s->heard = clock_ns(CLOCK_MONOTONIC);
		if (got != sizeof(a))
			save_close(s, got < 0 ? got : -EIO, false);
		else if (a.done)
			done(s, &a);
		else if (a.percent == s->percent && ++s->idle_talk > IDLE_TALK_MAX)
			save_close(s, -EIO, false);
		else
			report_percent(s, &a);
	}
	return heard;
}

void save_write_now(struct save *s)
{
	static struct write_request r = { .what = WRITE_INDEX };
	int index, err;

	r.exporter = exporter_index(s->exporter);
	index = capture_metadata(&s->o, s->tick, &s->end, s->who, s->reason);
	err = index < 0 ? index : send_request(s, &r, index);
	file_close(&index);
	if (err == -EPIPE && save_read_answers(s) && s->state == SAVE_IDLE) /* its message gave the reason */
		return;
	if (err) {
		save_close(s, err, false);
		return;
	}
	collect_hold_rings(s->o.collect, false);
	s->state = SAVE_WRITING;
	s->heard = clock_ns(CLOCK_MONOTONIC);
	snprintf(s->text, sizeof(s->text), "saving: 0 %%");
}
