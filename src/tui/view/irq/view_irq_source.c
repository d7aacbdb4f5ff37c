/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One source of interrupts: its CPUs, its victims, its longest runs, and the durations of all. */
#include <stdio.h>
#include <stdlib.h>

#include "model/tick.h"
#include "query/interrupted.h"
#include "query/irq_history.h"
#include "tui/screen/host.h"
#include "tui/screen/view.h"
#include "tui/term/paint.h"
#include "tui/view/irq/irq_view.h"
#include "tui/widget/bar.h"
#include "tui/widget/pager.h"
#include "util/format.h"
#include "util/text.h"

#define SHOWN 20 /* victims, and their cgroups */
#define CPU_CELLS 40 /* "   12   31.2  41.2K/s   64%" */
#define READ_EVERY_NS 5000000000ULL /* reading costs up to 40 ms */

struct irq_source_view {
	const struct irq_source *source;
	struct pager pager;
	struct interrupted victims;
	struct irq_bursts bursts; /* of the victims; without victims, the longest of each refresh */
	bool again;               /* read the recorder at the next update */
	uint64_t read_seq;        /* the refresh it was read for; 0: not read */
	uint64_t read_ns;         /* the time of that: CLOCK_MONOTONIC */
};

/* --- Data */

/* Whether to read the recorder: live every READ_EVERY_NS, back in time for each other refresh. */
static bool is_due(const struct irq_source_view *s, const struct view_context *c)
{
	if (!s->read_seq || s->again)
		return true;
	return c->tick->seq != s->read_seq &&
	       (c->tick->seq != c->newest->seq || c->now_ns - s->read_ns >= READ_EVERY_NS);
}

static int read_victims(struct irq_source_view *s, const struct view_context *c)
{
	int err;

	s->again = false;
	s->read_seq = c->tick->seq;
	s->read_ns = c->now_ns;
	err = interrupted_read(&s->victims, s->source, &c->host->source, c->tick, c->newest);
	s->bursts = s->victims.bursts;
	if (err || s->bursts.nr)
		return err;
	irq_history_bursts(c->tick, s->source->index, &s->bursts);
	return irq_bursts_name(c->tick, &s->bursts);
}

static int source_update(void *state, const struct view_context *c)
{
	struct irq_source_view *s = state;

	return is_due(s, c) ? read_victims(s, c) : 0;
}

/* --- Drawing */

static int draw_now(const struct irq_source_view *s, const struct view_context *c, const struct paint *p, int y)
{
	const struct irq_values none = { .source = s->source }, *v = irq_values_of(c->tick, s->source->index);
	char handler[80], text[160];
	enum hist_id id = irq_hist(s->source->kind);
	uint64_t ns[HISTORY_TICKS], most;
	int width = p->width - 6 < HISTORY_TICKS ? p->width - 6 : HISTORY_TICKS;

	v = v ? v : &none;
	paint_format(p, y++, 0, ROLE_TITLE, "%s  %s  %s", s->source->name, irq_kind_names[s->source->kind],
		     irq_handler_text(s->source, handler, sizeof(handler)));
	snprintf(text, sizeof(text), "in %s: %s%% of a CPU  %s/s  avg %s p50 %s p99 %s max %s",
		 NS_TEXT(c->tick->interval_ns), SHARE_TEXT(v->ns, c->tick->interval_ns),
		 VALUE_TEXT(UNIT_RATE, v->count, c->tick->interval_ns), NS_TEXT(v->count ? v->ns / v->count : VALUE_NA),
		 ABOUT_TEXT(hist_quantile(&v->hist, id, 0.5, v->max_ns)), ABOUT_TEXT(hist_quantile(&v->hist, id, 0.99, v->max_ns)),
		 NS_TEXT(v->count ? v->max_ns : VALUE_NA));
	y = paint_wrapped(p, y, 0, text);
	most = irq_history_time(c->tick, s->source->index, width, ns);
	paint_text(p, y, 0, p->width, ROLE_DIM, "past");
	for (int i = 0; i < width; i++)
		if (ns[i] != VALUE_NA && most)
			paint_eighths(p, y, 6 + i, ROLE_USER, ns[i] ? 1 + 7 * ns[i] / most : 0);
	return y + 2;
}

static int draw_cpus(const struct irq_source_view *s, const struct view_context *c, const struct paint *p, int y)
{
	const struct tick *t = c->tick;
	const struct irq_values *v = irq_values_of(t, s->source->index);
	int columns = p->width / CPU_CELLS ? p->width / CPU_CELLS : 1, nr = 0;

	for (int i = 0; v && i < columns && i < v->nr_cpus; i++)
		paint_format(p, y, i * CPU_CELLS, ROLE_TITLE, "%6s %7s %7s %7s", "CPU", "TIME%", "/s", "SHARE%");
	for (size_t i = 0; v && i < t->nr_irq_cpus; i++) {
		const struct irq_cpu *on = &t->irq_cpus[i];

		if (on->source != s->source->index || !on->count)
			continue;
		paint_format(p, y + 1 + nr / columns, nr % columns * CPU_CELLS, ROLE_TEXT, "%6d %7s %7s %7s", on->cpu,
			     SHARE_TEXT(on->ns, t->interval_ns), VALUE_TEXT(UNIT_RATE, on->count, t->interval_ns),
			     SHARE_TEXT(on->ns, v->ns));
		nr++;
	}
	if (!nr)
		paint_text(p, y, 0, p->width, ROLE_TEXT, "on no CPU in this refresh");
	return y + 2 + (nr + columns - 1) / columns;
}

static int draw_bursts(const struct irq_source_view *s, const struct view_context *c, const struct paint *p, int y)
{
	char text[256];

	if (!s->bursts.nr)
		return y;
	paint_format(p, y++, 0, ROLE_TITLE, IRQ_BURST_TITLE "   (the longest%s)",
		     s->victims.count ? "" : " of each refresh");
	for (int i = 0; i < s->bursts.nr; i++)
		paint_text(p, y++, 0, p->width, ROLE_TEXT,
			   irq_burst_text(c->tick, c->host, &s->bursts.at[i], text, sizeof(text)));
	return y + 1;
}

static int draw_more(const struct paint *p, int y, int x, size_t nr)
{
	if (nr > SHOWN)
		paint_format(p, y++, x, ROLE_DIM, "and %zu more", nr - SHOWN);
	return y;
}

static int draw_cgroups(const struct interrupted *v, const struct paint *p, int y)
{
	for (size_t i = 0; i < v->nr_cgroups && i < SHOWN; i++) {
		if (!i)
			paint_format(p, y++, 0, ROLE_TITLE, "%7s %6s  CGROUP", "TIME", "SHARE%");
		paint_format(p, y++, 0, ROLE_TEXT, "%7s %6s  %s", NS_TEXT(v->cgroups[i].ns), SHARE_TEXT(v->cgroups[i].ns, v->ns),
			     *v->cgroups[i].path ? v->cgroups[i].path : "-");
	}
	return draw_more(p, y, 16, v->nr_cgroups) + !!v->nr_cgroups;
}

static int draw_victims(const struct irq_source_view *s, const struct view_context *c, const struct paint *p, int y)
{
	const struct interrupted *v = &s->victims;
	char ago[24];

	if (!v->count) {
		bool off = c->host->source.recorded(c->host->source.arg) == VALUE_NA;

		paint_format(p, y, 0, ROLE_TEXT, "interrupted threads are not known: %s",
			     off ? "the recorder is off" : "the recorder has none of that time");
		return y + 2;
	}
	paint_format(p, y++, 0, ROLE_TITLE, "%7s %6s %7s %7s  INTERRUPTED, of %s in the %s up to %s", "TIME", "SHARE%",
		     "COUNT", "LONGEST", NS_TEXT(v->ns), NS_TEXT(v->to > v->from ? v->to - v->from : 0),
		     irq_ago_text(c->tick, v->to, ago, sizeof(ago)));
	for (size_t i = 0; i < v->nr && i < SHOWN; i++) {
		char who[96], cut[96];

		text_cut(cut, sizeof(cut), interrupted_who_text(&v->at[i].who, &c->host->source, who, sizeof(who)), 22);
		paint_format(p, y++, 0, ROLE_TEXT, "%7s %6s %7s %7s  %s%*s %s", NS_TEXT(v->at[i].ns),
			     SHARE_TEXT(v->at[i].ns, v->ns), COUNT_TEXT(v->at[i].count), NS_TEXT(v->at[i].longest_ns), cut,
			     22 - text_width(cut), "", v->at[i].who.cgroup);
	}
	return draw_cgroups(v, p, draw_more(p, y, 32, v->nr) + 1);
}

static int draw_hist(const struct irq_source_view *s, const struct view_context *c, const struct paint *p, int y)
{
	enum hist_id id = irq_hist(s->source->kind);
	struct hist hist;
	int end;

	irq_history_hist(c->tick, s->source->index, &hist);
	end = bar_hist(p, y + 1, &hist, id, ROLE_USER);
	if (end == y + 1)
		return y;
	paint_text(p, y, 0, p->width, ROLE_TITLE, "    FROM   COUNT  how long they took, in these refreshes");
	return end;
}

static void source_draw(void *state, const struct view_context *c)
{
	struct irq_source_view *s = state;
	int y;

	do {
		struct paint p = pager_begin(&s->pager, c->paint, c->top, c->height);

		y = draw_now(s, c, &p, 0);
		y = draw_cpus(s, c, &p, y);
		y = draw_victims(s, c, &p, y);
		y = draw_bursts(s, c, &p, y);
		y = draw_hist(s, c, &p, y);
	} while (pager_end(&s->pager, y));
}

/* --- Keys */

static bool source_act(void *state, enum action a, const struct view_context *c)
{
	struct irq_source_view *s = state;

	if (a != ACTION_IRQ_AGAIN)
		return pager_act(&s->pager, a, c);
	s->again = true;
	return true;
}

static void source_status(void *state, const struct view_context *c, char *buf, size_t size)
{
	const struct irq_source_view *s = state;
	int nr = c->tick->seq - irq_history_first(c->tick) + 1;

	snprintf(buf, size, "%s in %d refresh%s, of the whole host", s->source->name, nr, nr == 1 ? "" : "es");
}

static bool source_open(void *state, enum action a, const struct view_context *c, struct opening *o)
{
	(void)c;
	return a == ACTION_FLAME && irq_open_flame(((struct irq_source_view *)state)->source, o);
}

static void source_fini(void *state)
{
	interrupted_fini(&((struct irq_source_view *)state)->victims);
}

const struct view view_irq_source = {
	.legend = "~ within a factor of 2",
	.state_size = sizeof(struct irq_source_view),
	.update = source_update,
	.draw = source_draw,
	.act = source_act,
	.status = source_status,
	.open = source_open,
	.fini = source_fini,
};

/* --- Opening */

static void source_init(void *state, void *arg)
{
	((struct irq_source_view *)state)->source = *(const struct irq_source **)arg;
	free(arg);
}

bool irq_open_source(const struct irq_source *source, struct opening *o)
{
	const struct irq_source **arg = malloc(sizeof(*arg));

	*o = (struct opening){ .view = VIEW_IRQ_SOURCE, .init = source_init, .arg = arg };
	snprintf(o->name, sizeof(o->name), "%s", source->name);
	if (arg)
		*arg = source;
	return arg;
}
