/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The threads or sources of interrupts that contribute to a range of latencies. */
#include <stdio.h>
#include <stdlib.h>

#include "tui/screen/host.h"
#include "tui/screen/view.h"
#include "tui/view/latency/latency_view.h"
#include "util/format.h"

struct range_view {
	struct latency_table list; /* first */
	struct latency_range range;
	struct latency_contributors contributors;
};

/* The refreshes of the range do not change: one search is enough. */
static int range_update(void *state, const struct view_context *c)
{
	struct range_view *s = state;
	int err = 0, err_list;

	if (!s->contributors.range.last)
		err = latency_contributors_find(&s->contributors, c->tick, &s->range);
	err_list = latency_table_fill(&s->list, err ? NULL : &s->contributors, s->range.kind);
	table_sort(&s->list.table, c, c->height);
	return err ? err : err_list;
}

static void range_status(void *state, const struct view_context *c, char *buf, size_t size)
{
	struct range_view *s = state;
	char behind[64] = "", range[40];

	latency_range_text(&s->range, range, sizeof(range));
	if (s->range.kind == HIST_RUNQ && !*c->search)
		snprintf(behind, sizeof(behind), "; RAN INSTEAD: of >= %s", NS_TEXT(c->host->wait_ns));
	snprintf(buf, size, "%s %s of %s, ~%s in all, %zu %s%s%s", COUNT_TEXT(s->contributors.count),
		 hist_word(s->range.kind, s->contributors.count), range, NS_TEXT(s->contributors.ns), s->contributors.nr,
		 latency_is_irq(s->range.kind) ? "source" : "thread", s->contributors.nr == 1 ? "" : "s", behind);
	table_matches(&s->list.table, c, buf, size);
}

/* A source of interrupts has nothing to open. */
static const struct row *range_selected(void *state)
{
	struct range_view *s = state;

	return latency_is_irq(s->range.kind) ? NULL : table_selected(&s->list.table);
}

/* Enter: the thread's detail; f: the flamegraph of the thread in the range. */
static bool range_open(void *state, enum action a, const struct view_context *c, struct opening *o)
{
	struct range_view *s = state;
	const struct row *r = range_selected(s);

	o->within = subject_of(r);
	if (a == ACTION_ENTER && r && !subject_row(&o->within, c->tick)) {
		c->notice(c->notice_arg, "not in the shown refresh any more: step back in time");
		return true;
	}
	if (a == ACTION_ENTER && latency_is_irq(s->range.kind)) {
		c->notice(c->notice_arg, "sources of interrupts have no detail: f shows their flamegraph");
		return true;
	}
	if (a != ACTION_FLAME || !s->contributors.nr)
		return a == ACTION_FLAME;
	return latency_flame(o, &s->range, c);
}

static void range_fini(void *state)
{
	struct range_view *s = state;

	latency_contributors_fini(&s->contributors);
	table_fini(&s->list.table);
}

static void init(void *state, void *arg)
{
	((struct range_view *)state)->range = *(struct latency_range *)arg;
	free(arg);
}

bool view_range_open(struct opening *o, const struct latency_range *r, const struct view_context *c)
{
	struct latency_range *copy = malloc(sizeof(*copy));
	char range[40], time[40];

	if (!copy)
		return false;
	*copy = *r;
	latency_range_text(r, range, sizeof(range));
	latency_time_text(r, c->tick, time, sizeof(time));
	snprintf(o->name, sizeof(o->name), "%s %s, %s", hists[r->kind].name, range, time);
	o->view = VIEW_RANGE;
	o->init = init;
	o->arg = copy;
	return true;
}

const struct view view_range = {
	.legend = "~ within a factor of 2",
	.state_size = sizeof(struct range_view),
	.update = range_update,
	.draw = table_view_draw,
	.act = table_act,
	.search = table_search,
	.click = table_click,
	.status = range_status,
	.selected = range_selected,
	.open = range_open,
	.fini = range_fini,
};
