/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A tick as plain text: a heading, then one line per thread. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "export/exporter.h"
#include "export/redact.h"
#include "model/loss_names.h"
#include "model/tick.h"
#include "query/filter.h"
#include "query/order.h"
#include "util/format.h"
#include "util/text.h"

#define CGROUP_WIDTH 24
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
	char day[32], run[16], self[16], rss[16];
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
		o->host, day, redact_scope(o->redact, o->scope),
		format_value(run, sizeof(run), UNIT_SHARE, cpu_run, cpu_all), t->nr_cpus, loss_sum(t->loss),
		format_value(self, sizeof(self), UNIT_SHARE, t->self.cpu_ns, t->interval_ns),
		format_value(rss, sizeof(rss), UNIT_BYTES, t->self.rss_bytes, 0), nr,
		t->nr_active + t->nr_idle);
	fprintf(to, "%7s S %-*s", "TID", CGROUP_WIDTH, "CGROUP");
	for (int f = 0; f < METRIC_COUNT; f++)
		if (is_column(f, o))
			fprintf(to, " %*s", metrics[f].width, metrics[f].title);
	fprintf(to, " COMM\n");
}

static void line(FILE *to, const struct row *r, const struct tick *t, const struct export *o)
{
	char cgroup[4096], elided[4 * CGROUP_WIDTH + 1], comm[80], value[16];
	char path[4096], hash[REDACT_HASH];
	const char *shown = redact_path(o->redact, r->cgroup->path, path, sizeof(path));
	int width;

	text_safe(cgroup, sizeof(cgroup), shown, strlen(shown));
	width = text_elide(elided, sizeof(elided), cgroup, CGROUP_WIDTH);
	text_safe(comm, sizeof(comm), redact_comm(o->redact, r->thread, hash), sizeof(r->thread->comm));
	fprintf(to, "%7d %c %s%*s", r->thread->tid, state_letters[r->state], elided,
		CGROUP_WIDTH - width, "");
	for (int f = 0; f < METRIC_COUNT; f++)
		if (is_column(f, o))
			fprintf(to, " %*s", metrics[f].width,
				format_value(value, sizeof(value), metric_shown(f), row_value(r, f), t->interval_ns));
	fprintf(to, " %s\n", comm);
}

static int tick(struct export *o, FILE *to, const struct tick *t)
{
	size_t all = t->nr_active + (o->all ? t->nr_idle : 0), nr = 0;
	const struct row **rows = calloc(all + 1, sizeof(*rows));

	if (!rows)
		return -ENOMEM;
	for (size_t i = 0; i < all; i++) {
		const struct row *r = i < t->nr_active ? &t->active[i] : &t->idle[i - t->nr_active];

		if (filter_match(o->filter, r, t))
			rows[nr++] = r;
	}
	rows_order(rows, nr, 0, nr, before, &o->sort);
	heading(to, t, o, nr);
	for (size_t i = 0; i < nr; i++)
		line(to, rows[i], t, o);
	fputc('\n', to);
	free(rows);
	return fflush(to) || ferror(to) ? -EIO : 0;
}

const struct exporter export_table = {
	.name = "batch",
	.letter = 'b',
	.help = "print plain tables",
	.needs = EXPORT_TICKS | EXPORT_COMMANDS,
	.tick = tick,
};
