/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "app/refresh.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "app/run.h"
#include "app/systop.h"
#include "app/turns.h"
#include "collect/collect.h"
#include "export/exporter.h"
#include "helper/helper.h"
#include "model/tick.h"
#include "query/stack_walk.h"
#include "save/save.h"
#include "sym/names.h"
#include "util/clock.h"

/* Longest wait for stacks that are being read, and for names. */
#define STACKS_WAIT_NS 5000000000ULL

int refresh_begin(struct systop *s)
{
	const struct options *o = &s->options;

	s->export = (struct export){
		.host = s->uts.nodename,
		.kernel = s->uts.release,
		.scope = s->target.text,
		.sort = o->sort,
		.all = o->all,
		.filter = s->filter,
		.word = o->word,
		.source = &s->host.source,
		.user_name = s->host.user_name,
		.redact = s->redact,
	};
	return o->exporter && o->exporter->begin ? o->exporter->begin(&s->export) : 0;
}

/* Works on stacks and names for a moment. Returns false at @until, or when a signal ends systop: the wait is over. */
static bool work_until(struct systop *s, uint64_t until)
{
	const struct timespec nap = { .tv_nsec = 2000000 };

	collect_harvest(s->collect, until); /* the rings fill up meanwhile; an error comes again in the next turn */
	run_fetch_names(s);
	nanosleep(&nap, NULL);
	return clock_ns(CLOCK_MONOTONIC) < until && !loop_ending();
}

/* Waits for the stacks of blocked threads and the names of all frames. */
static void wait_for_stacks(struct systop *s, const struct tick *t)
{
	uint64_t until = clock_ns(CLOCK_MONOTONIC) + STACKS_WAIT_NS;

	while (collect_blocked(s->collect) && work_until(s, until))
		;
	stack_walk_ask(&s->host.source, t);
	while (names_pending(s->names) && work_until(s, until))
		;
}

/* Opens the output of the next refresh. NULL: the previous one is not completely sent, with errno 0; or ENOMEM. */
static FILE *output_begin(struct systop *s)
{
	int fd;

	if (!s->options.file)
		return sink_begin(&s->output);
	save_work(s->file);
	s->output.dropped += save_busy(s->file);
	if (save_busy(s->file)) {
		errno = 0;
		return NULL;
	}
	fd = memfd_create("systop-export", MFD_CLOEXEC);
	s->content = fd < 0 ? NULL : fdopen(fd, "w");
	if (!s->content && fd >= 0)
		close(fd);
	return s->content;
}

static int save_output(struct systop *s)
{
	const struct options *o = &s->options;

	return save_content(s->file, o->exporter, strcmp(o->file, "-") ? o->file : "standard output", o->file_fd,
			    fileno(s->content));
}

/* Longest wait for a helper that writes the last file. */
#define HELPER_WAIT_NS 2000000000ULL

/* A helper writes the file; an empty one is not written. @last: none comes after it, so a helper is waited for. */
static int output_end(struct systop *s, bool last)
{
	const struct timespec nap = { .tv_nsec = 10000000 };
	uint64_t until = clock_ns(CLOCK_MONOTONIC) + HELPER_WAIT_NS;
	int err;

	if (!s->options.file)
		return sink_end(&s->output);
	err = fflush(s->content) ? -errno : 0;
	if (!err && ftell(s->content) > 0)
		while ((err = save_output(s)) == -EAGAIN && last && helper_starter() && clock_ns(CLOCK_MONOTONIC) < until)
			nanosleep(&nap, NULL);
	fclose(s->content);
	s->content = NULL;
	return err;
}

/* Sends the refresh when it is complete. @more: result of the exporter's tick() or more(). */
static int send_whole(struct systop *s, int more)
{
	int end;

	s->unfinished = more > 0;
	if (s->unfinished)
		return 0;
	end = output_end(s, false);
	return more ? more : end;
}

static int print_refresh(struct systop *s, const struct tick *t, FILE *to)
{
	const struct exporter *e = s->options.exporter;
	struct turns turns = turns_get();
	int more;

	if (options_need(&s->options, EXPORT_SAMPLES))
		wait_for_stacks(s, t);
	s->export.turn_ns = turns.longest_ns;
	s->export.turn_work_ns = turns.work_ns;
	s->export.dropped = s->output.dropped;
	more = e->tick(&s->export, to, t);
	return more > 0 ? e->more(&s->export, turns_until()) : more;
}

/* Prints nothing while the previous refresh is not completely sent: a pipe's reader may be late. */
int refresh_write(struct systop *s, const struct tick *t)
{
	const struct exporter *e = s->options.exporter;
	int err = s->unfinished ? send_whole(s, e->more(&s->export, 0)) : 0;
	FILE *to;

	if (err)
		return err;
	if (s->options.file && e->skip && *helper_trouble() && helper_starter()) { /* no helper can write it now */
		s->output.dropped++;
		return e->skip(&s->export, t);
	}
	to = output_begin(s);
	if (to)
		return send_whole(s, print_refresh(s, t, to));
	return errno ? -errno : e->skip ? e->skip(&s->export, t) : 0;
}

int refresh_go_on(struct systop *s)
{
	return send_whole(s, s->options.exporter->more(&s->export, turns_until()));
}

int refresh_end(struct systop *s)
{
	const struct exporter *e = s->options.exporter;
	FILE *to;
	int err, sent;

	if (!e || !e->end)
		return 0;
	to = s->unfinished ? NULL : output_begin(s); /* half a refresh is worthless */
	err = e->end(&s->export, to);
	sent = to ? output_end(s, true) : 0;
	return err ? err : sent;
}
