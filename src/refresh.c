/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "refresh.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>

#include "collect/collect.h"
#include "export/folded.h"
#include "export/json.h"
#include "export/table.h"
#include "model/tick.h"
#include "sym/names.h"
#include "systop.h"
#include "turns.h"
#include "util/clock.h"
#include "util/text.h"

/* How long --folded waits at its end for stacks that are being read, and for names. */
#define STACKS_WAIT_NS 5000000000ULL

/* How long a turn of the main loop is about the line of --json: a large one is made in several. */
#define LINE_NS 50000000ULL

static void thread_name(void *arg, int tid, char *buf, size_t size)
{
	char comm[16];

	*buf = '\0';
	if (collect_thread_name(((struct systop *)arg)->collect, tid, comm))
		text_safe(buf, size, comm, sizeof(comm));
}

/* Stacks of blocked threads and the names of all frames come while nothing else is done. */
static void wait_for_stacks(struct systop *s, const struct tick *t, refresh_work *work)
{
	struct timespec nap = { .tv_nsec = 2000000 };
	uint64_t waited = 0;

	for (; collect_blocked(s->collect) && waited < STACKS_WAIT_NS; waited += nap.tv_nsec) {
		work(s);
		nanosleep(&nap, NULL);
	}
	folded_ask(t, s->names);
	for (; names_pending(s->names) && waited < STACKS_WAIT_NS; waited += nap.tv_nsec) {
		work(s);
		nanosleep(&nap, NULL);
	}
}

/* It is sent when it is whole. */
static int line_go_on(struct systop *s, uint64_t ns)
{
	int err = json_line_go_on(s->line, ns ? clock_ns(CLOCK_MONOTONIC) + ns : 0), end;

	if (err > 0)
		return 0;
	json_line_free(s->line);
	s->line = NULL;
	end = sink_end(&s->output);
	return err ? err : end;
}

static int write_line(struct systop *s, const struct tick *t, FILE *to)
{
	const struct options *o = &s->options;
	struct turns turns = turns_get();
	struct json_options json = { s->uts.nodename, s->uts.release, s->target.text, o->all, s->filter, thread_name, s,
				     turns.longest_ns, turns.work_ns, s->names, s->output.dropped };

	s->line = json_line_new(to, t, &json);
	if (s->line)
		return line_go_on(s, LINE_NS);
	sink_end(&s->output);
	return -ENOMEM;
}

static int print_refresh(struct systop *s, const struct tick *t, refresh_work *work, FILE *to)
{
	const struct options *o = &s->options;
	struct table_options table = { s->uts.nodename, s->target.text, o->sort, o->all, s->filter };

	if (o->output == OUTPUT_TABLE)
		return table_tick(to, t, &table);
	wait_for_stacks(s, t, work);
	return folded_tick(to, t, o->folded, s->names);
}

/* Nothing is printed while the refresh before is not all sent: a pipe's reader may be late. */
int refresh_write(struct systop *s, const struct tick *t, refresh_work *work)
{
	int err = s->line ? line_go_on(s, 0) : 0, end;
	FILE *to;

	if (err)
		return err;
	to = sink_begin(&s->output);
	if (!to)
		return -errno;
	if (s->options.output == OUTPUT_JSON)
		return write_line(s, t, to);
	err = print_refresh(s, t, work, to);
	end = sink_end(&s->output);
	return err ? err : end;
}

int refresh_go_on(struct systop *s)
{
	return line_go_on(s, LINE_NS);
}
