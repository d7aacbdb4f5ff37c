/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables of the contributors to a range: threads, or sources of interrupts. */
#include <stdio.h>
#include <string.h>

#include "tui/view/latency/latency_view.h"
#include "tui/widget/row_table.h"
#include "util/text.h"

static void p99_text(const struct table_cell *cell, char *buf, size_t size)
{
	const struct latency_table *t = cell->state;

	format_value(buf, size, UNIT_NS, latency_contributor_quantile(cell->item, t->kind, 0.99), 0);
}

/* The longest in the range; if the source had longer ones, the bound of the slot. */
static void longest_text(const struct table_cell *cell, char *buf, size_t size)
{
	const struct latency_contributor *who = cell->item;
	int top = LOG2_SLOTS - 1;

	while (top > 0 && !who->n.n[top])
		top--;
	snprintf(buf, size, "%s%s", who->hidden ? "<" : "", NS_TEXT(who->hidden ? 2ULL << top : who->max_ns));
}

/* The device of a source, and the CPU of its longest interrupt. */
static void where_text(const struct table_cell *cell, char *buf, size_t size)
{
	const struct latency_contributor *who = cell->item;
	char path[1024];

	text_safe(path, sizeof(path), who->cgroup.path, strlen(who->cgroup.path));
	if (who->hidden)
		snprintf(buf, size, "%s", path);
	else if (who->max_tid)
		snprintf(buf, size, "CPU %d, during thread %d  %s", who->max_cpu, who->max_tid, path);
	else
		snprintf(buf, size, "CPU %d, idle  %s", who->max_cpu, path);
}

static void behind_text(const struct table_cell *cell, char *buf, size_t size)
{
	const struct latency_contributor *who = cell->item;

	snprintf(buf, size, "%s", who->nr_behind ? "" : "-");
	for (size_t i = 0; i < who->nr_behind && i < 3; i++)
		text_add(buf, size, "%s%s %.0f%%", i ? " " : "", who->behind[i].name,
			 100.0 * who->behind[i].ns / who->behind_ns);
}

#define NUMBERS(total)                                                                                                 \
	{ "COUNT", 0, 6, .at = TABLE_AT(struct latency_contributor, count), .unit = UNIT_COUNT },                      \
	{ total, 1, 7, .at = TABLE_AT(struct latency_contributor, ns), .unit = UNIT_NS },                              \
	{ "~P99", 1, 7, .text = p99_text }
#define THREAD                                                                                                         \
	{ "TID", 1, 7, .text = thread_tid }, { "COMM", 1, 15, TABLE_LEFT, .text = thread_comm }
#define PATH 1, 0, TABLE_LEFT | TABLE_ELIDED | TABLE_WIDENS, .wide = 60

static const struct table_column waits[] = {
	NUMBERS("~TOTAL"), THREAD,
	{ "CGROUP", 1, 16, TABLE_LEFT | TABLE_ELIDED, .from = 100, .wide = 40, .text = thread_cgroup },
	{ "RAN INSTEAD", 1, 0, TABLE_LEFT | TABLE_REST, .text = behind_text },
};
static const struct table_column blocks[] = { NUMBERS("TOTAL"), THREAD, { "CGROUP", PATH, .text = thread_cgroup } };
static const struct table_column sources[] = {
	NUMBERS("~TOTAL"),
	{ "MAX", 1, 7, .text = longest_text },
	{ "IRQ", 1, 15, TABLE_LEFT, .text = thread_comm },
	{ "LONGEST", PATH, .text = where_text },
};

#define KIND(columns) { .items = { .key = row_key }, TABLE_COLUMNS(columns), .match = thread_match, .look = TABLE_TEXT }
static const struct table_kind kinds[] = {
	[HIST_OF_THREADS] = KIND(waits),
	[HIST_OF_BLOCKS] = KIND(blocks),
	[HIST_OF_SOURCES] = KIND(sources),
};

int latency_table_fill(struct latency_table *t, const struct latency_contributors *of, enum hist_id kind)
{
	int err = 0;

	t->kind = kind;
	table_begin(&t->table, &kinds[hists[kind].owner], t);
	for (size_t i = 0; of && i < of->nr && !err; i++)
		err = table_add(&t->table, of->at[i]);
	return err;
}
