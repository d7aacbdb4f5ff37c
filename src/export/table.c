/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A tick as plain text: a heading, then one line per thread, with the default columns of a wide screen except its bar. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "export/exporter.h"
#include "export/redact.h"
#include "model/cmdline.h"
#include "model/loss_names.h"
#include "model/owner.h"
#include "model/tick.h"
#include "query/filter.h"
#include "query/order.h"
#include "util/clock.h"
#include "util/file.h"
#include "util/format.h"
#include "util/text.h"

#define USER_WIDTH 8
#define OWNER_WIDTH 24
/* Rows written between two reads of the clock. */
#define SLICE_ROWS 64
/* Columns that a screen drops before those of this priority are left out here, too. */
#define DROP_MAX 7

static bool before(const void *a, const void *b, const void *arg)
{
	enum metric_id sort = *(const enum metric_id *)arg;
	uint64_t va = row_value(a, sort), vb = row_value(b, sort);

	return va != VALUE_NA && (vb == VALUE_NA || va > vb);
}

/* What rows are sorted by is always shown. */
static bool is_column(enum metric_id f, const struct export *o)
{
	if (metrics[f].kind == KIND_LEVEL && !(metrics[f].level & LEVEL_OF_PROCESSES))
		return false;
	return metrics[f].drop <= DROP_MAX || f == o->sort;
}

static void heading(FILE *to, const struct tick *t, const struct export *o, size_t nr)
{
	char day[32];
	uint64_t cpu_run = 0, cpu_all = 0;
	struct tm tm;

	for (size_t i = 0; i < t->nr_cpus; i++) {
		cpu_run += t->cpus[i].run_ns;
		cpu_all += cpu_interval(&t->cpus[i]);
	}
	localtime_r(&t->wall.tv_sec, &tm);
	strftime(day, sizeof(day), "%Y-%m-%d %H:%M:%S", &tm);
	fprintf(to, "systop %s %s  scope %s  CPU %s%% of %zu CPUs  LOSS %" PRIu64
		    "  self %s%% %s  %zu of %zu threads\n",
		o->host, day, redact_scope(o->redact, o->scope), SHARE_TEXT(cpu_run, cpu_all), t->nr_cpus, loss_sum(t->loss),
		SHARE_TEXT(t->self.cpu_ns, t->interval_ns), BYTES_TEXT(t->self.rss_bytes), nr, t->nr_active + t->nr_idle);
	fprintf(to, "%7s %-*s S %-*s", "TID", USER_WIDTH, "USER", OWNER_WIDTH, "UNIT/POD");
	for (int f = 0; f < METRIC_COUNT; f++)
		if (is_column(f, o))
			fprintf(to, " %*s", metrics[f].width, metrics[f].title);
	fprintf(to, " COMMAND\n");
}

/* Writes a text, elided or padded to @width cells. */
static void cell(FILE *to, const char *text, int width)
{
	char elided[256];
	int cells = text_elide(elided, sizeof(elided), text, width);

	fprintf(to, "%s%*s", elided, width - cells, "");
}

static void owner_cell(FILE *to, const struct row *r, const struct export *o)
{
	const char *owner = owner_text(r->cgroup);
	char hashed[512], safe[2048];

	owner = owner ? redact_path(o->redact, owner, hashed, sizeof(hashed)) : "-";
	text_safe(safe, sizeof(safe), owner, strlen(owner));
	cell(to, safe, OWNER_WIDTH);
}

/* Writes the whole command line: no screen limits its width. */
static void command(FILE *to, const struct row *r, const struct export *o)
{
	struct cmdline_look look;
	char hash[REDACT_HASH];

	cmdline_look(&look, o->redact ? NULL : r->process->cmdline, redact_comm(o->redact, r->thread, hash), CMDLINE_MERGED,
		     INT_MAX);
	fprintf(to, " %s\n", look.text);
}

static void line(FILE *to, const struct row *r, const struct tick *t, const struct export *o)
{
	char user[64];

	o->user_name(r->thread->uid, user, sizeof(user));
	fprintf(to, "%7d ", r->thread->tid);
	cell(to, user, USER_WIDTH);
	fprintf(to, " %c ", state_letters[r->state]);
	owner_cell(to, r, o);
	for (int f = 0; f < METRIC_COUNT; f++)
		if (is_column(f, o))
			fprintf(to, " %*s", metrics[f].width,
				VALUE_TEXT(metric_shown(f), row_value(r, f), t->interval_ns));
	command(to, r, o);
}

/* A table, which is written in slices. */
struct table {
	const struct tick *tick;
	FILE *to;
	const struct row **rows;
	size_t nr, at;
};

/* Frees the table, if there is one. Returns @err. */
static int table_end(struct export *o, int err)
{
	struct table *w = o->state;

	if (w) {
		tick_put(w->tick);
		free(w->rows);
		free(w);
	}
	o->state = NULL;
	return err;
}

static int tick(struct export *o, FILE *to, const struct tick *t)
{
	size_t all = t->nr_active + (o->all ? t->nr_idle : 0);
	struct table *w = calloc(1, sizeof(*w));

	if (!w)
		return -ENOMEM;
	o->state = w;
	w->tick = tick_get(t);
	w->to = to;
	w->rows = calloc(all + 1, sizeof(*w->rows));
	if (!w->rows)
		return table_end(o, -ENOMEM);
	for (size_t i = 0; i < all; i++) {
		const struct row *r = i < t->nr_active ? &t->active[i] : &t->idle[i - t->nr_active];

		if (filter_match(o->filter, r, t))
			w->rows[w->nr++] = r;
	}
	rows_order(w->rows, w->nr, 0, w->nr, before, &o->sort);
	heading(to, t, o, w->nr);
	return 1;
}

static int more(struct export *o, uint64_t until)
{
	struct table *w = o->state;
	FILE *to = w->to;

	while (w->at < w->nr) {
		line(to, w->rows[w->at], w->tick, o);
		if (++w->at % SLICE_ROWS == 0 && until && clock_ns(CLOCK_MONOTONIC) >= until)
			return 1;
	}
	fputc('\n', to);
	return table_end(o, file_flush(to));
}

static int end(struct export *o, FILE *to)
{
	(void)to;
	return table_end(o, 0);
}

const struct exporter export_table = {
	.name = "batch",
	.letter = 'b',
	.help = "print plain tables",
	.needs = EXPORT_TICKS | EXPORT_COMMANDS,
	.tick = tick,
	.more = more,
	.end = end,
};
