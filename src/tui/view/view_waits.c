/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Threads that waited for a CPU, and what ran instead, in the remembered refreshes. */
#include <stdio.h>

#include "query/pairs.h"
#include "tui/screen/host.h"
#include "tui/widget/table.h"

struct waits_view {
	struct table_state table;  /* first; of pairs */
	struct pairs pairs;
	uint64_t nr_shown;         /* struct view_context.nr_shown of these */
};

static void victim_text(const struct table_cell *cell, char *buf, size_t size)
{
	pair_victim_name(cell->item, cell->width, buf, size);
}

static void behind_text(const struct table_cell *cell, char *buf, size_t size)
{
	pair_name(cell->item, cell->width, buf, size);
}

static const struct table_column columns[] = {
	{ "WAITED", 0, 7, .at = TABLE_AT(struct pair, ns), .unit = UNIT_NS },
	{ "%", 1, 5, .at = TABLE_AT(struct pair, ns), .unit = UNIT_SHARE },
	{ "WAITS", 1, 6, .at = TABLE_AT(struct pair, count), .unit = UNIT_COUNT },
	{ "WHAT WAITED", 2, 8, TABLE_LEFT | TABLE_WIDENS, .text = victim_text },
	{ "WHAT RAN INSTEAD", 2, 8, TABLE_LEFT | TABLE_WIDENS, .text = behind_text },
};

static uint64_t key(const void *item)
{
	return ((const struct pair *)item)->key;
}

static uint64_t span(const struct table_cell *cell)
{
	return ((const struct waits_view *)cell->state)->pairs.span_ns;
}

static const struct table_kind kind = {
	.items = { .key = key }, TABLE_COLUMNS(columns), .match = pair_match, .whole = span, .look = TABLE_TEXT,
};

static int waits_update(void *state, const struct view_context *c)
{
	struct waits_view *s = state;
	int err = s->nr_shown == c->nr_shown ? 0 : pairs_find(&s->pairs, c->tick, true, NULL);

	s->nr_shown = err ? 0 : c->nr_shown;
	table_begin(&s->table, &kind, s);
	for (size_t i = 0; !err && i < s->pairs.nr; i++)
		err = table_add(&s->table, &s->pairs.at[i]);
	table_sort(&s->table, c, c->height);
	return err;
}

static void waits_draw(void *state, const struct view_context *c)
{
	char text[80];

	snprintf(text, sizeof(text), "no thread waited %s or longer for a CPU in these refreshes", NS_TEXT(c->host->wait_ns));
	table_draw(state, c, c->top, 0, c->height);
	table_empty(state, c, text);
}

/* Opens the detail of the victim, or the flamegraph of where its waits begin. */
static bool waits_open(void *state, enum action a, const struct view_context *c, struct opening *o)
{
	const struct pair *p = table_selected(state);

	(void)c;
	if (!p || (a != ACTION_ENTER && a != ACTION_FLAME))
		return a == ACTION_ENTER;
	return open_row(a == ACTION_ENTER ? ACTION_DETAIL : a,
			&(struct row){ .kind = ROW_PROCESS, .number = p->victim->tgid, .process = p->victim->process,
				       .cgroup = p->victim->process->cgroup }, o);
}

static void waits_status(void *state, const struct view_context *c, char *buf, size_t size)
{
	const struct waits_view *s = state;

	snprintf(buf, size, "%zu pair%s, waits of %s or more: %s in %s of history", s->pairs.nr, s->pairs.nr == 1 ? "" : "s",
		 NS_TEXT(c->host->wait_ns), NS_TEXT(s->pairs.ns), NS_TEXT(s->pairs.span_ns));
	table_matches(&s->table, c, buf, size);
}

static void waits_fini(void *state)
{
	pairs_fini(&((struct waits_view *)state)->pairs);
	table_fini(state);
}

const struct view view_waits = {
	.legend = "%: of that time",
	.state_size = sizeof(struct waits_view),
	.update = waits_update,
	.draw = waits_draw,
	.act = table_act,
	.search = table_search,
	.click = table_click,
	.open = waits_open,
	.flame = METRIC_RUNQ,
	.status = waits_status,
	.fini = waits_fini,
};
