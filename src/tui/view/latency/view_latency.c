/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Durations of waits, sleeps and interrupts over the remembered refreshes: a heatmap of their numbers by length, and
 * the contributors to a range. */
#include <errno.h>
#include <stdio.h>

#include "tui/screen/view.h"
#include "tui/term/paint.h"
#include "tui/view/latency/latency_view.h"
#include "tui/widget/heatmap.h"
#include "util/format.h"

#define LABEL_WIDTH 9   /* "> 131us |" */
#define COUNT_WIDTH 8   /* "| 18.2K" */
#define AROUND_LINES 5  /* title, axis, legend, quantiles, selection; */
#define AROUND_LINES_LOW 2 /* a low screen only has the first and the last */
#define LOW 10
#define ROWS_MIN 14     /* the list below the map leaves it this many rows, */
#define LIST_LINES_MIN 6 /* and needs this many lines itself */

struct latency_view {
	enum hist_id kind;
	struct heatmap map;
	struct hist sum;      /* of the shown columns */
	uint64_t max_ns;         /* the longest of them; VALUE_NA: not known */
	int known;               /* number of remembered columns */
	uint64_t nr_shown;       /* struct view_context.nr_shown of map, sum, max_ns and known; 0: of another kind */
	struct latency_contributors contributors;
	struct latency_table list;
};

/* --- What is shown */

static int columns_shown(const struct view_context *c)
{
	int columns = c->paint->width - LABEL_WIDTH - COUNT_WIDTH;

	return columns < HISTORY_TICKS ? columns : HISTORY_TICKS;
}

static int rows_max(const struct view_context *c)
{
	int lines = c->height - (c->height < LOW ? AROUND_LINES_LOW : AROUND_LINES);

	if (lines >= ROWS_MIN + LIST_LINES_MIN)
		lines -= LIST_LINES_MIN;
	return lines > 1 ? lines : 1;
}

static uint64_t longest(const struct tick *t, enum hist_id kind)
{
	uint64_t max = 0;

	if (hists[kind].longest != METRIC_NONE)
		return values_value(&t->total, hists[kind].longest);
	if (!latency_is_irq(kind))
		return VALUE_NA;
	for (size_t i = 0; i < t->nr_irqs; i++)
		if (irq_hist(t->irqs[i].source->kind) == kind && t->irqs[i].max_ns > max)
			max = t->irqs[i].max_ns;
	return max;
}

/* Rows from the shortest to the longest duration that occurs; as many as fit if there is none. */
static int shape(struct latency_view *s, const struct view_context *c, uint64_t first, int columns)
{
	int low = hists[s->kind].first, last = hists[s->kind].last, high = last;

	while (high >= low && !s->sum.n[high])
		high--;
	if (high < low)
		high = low + rows_max(c) - 1 < last ? low + rows_max(c) - 1 : last;
	else
		while (!s->sum.n[low])
			low++;
	return heatmap_shape(&s->map, first, columns, low, high - low + 1);
}

static void fill(struct latency_view *s, const struct view_context *c)
{
	struct heatmap *h = &s->map;

	for (int column = 0; column < h->columns; column++) {
		const struct tick *t = tick_head(c->tick, h->first + column);

		if (!t)
			continue;
		h->at[column].per = t->interval_ns / 1e9;
		h->at[column].until_ns = t->boottime_ns;
		for (int row = 0; row < h->rows; row++)
			*heatmap_cell(h, column, row) = t->hist[s->kind].n[h->low + row];
	}
}

static void sum_up(struct latency_view *s, const struct tick *shown, uint64_t first)
{
	s->sum = (struct hist){ { 0 } };
	s->max_ns = 0;
	s->known = 0;
	for (uint64_t seq = first; seq <= shown->seq; seq++) {
		const struct tick *t = tick_head(shown, seq);
		uint64_t max = t ? longest(t, s->kind) : 0;

		if (!t)
			continue;
		hist_add(&s->sum, &t->hist[s->kind]);
		s->max_ns = max > s->max_ns ? max : s->max_ns;
		s->known++;
	}
}

static struct latency_range range_of(const struct latency_view *s)
{
	struct heat_range r = heatmap_range(&s->map);

	return (struct latency_range){ s->kind, r.first, r.last, r.low, r.high };
}

static bool same(const struct latency_range *a, const struct latency_range *b)
{
	return a->kind == b->kind && a->first == b->first && a->last == b->last && a->low == b->low &&
	       a->high == b->high;
}

/* Searches only a new range, as past refreshes do not change. */
static int find_parties(struct latency_view *s, const struct view_context *c)
{
	struct latency_range r = range_of(s);
	int err = same(&r, &s->contributors.range) ? 0 : latency_contributors_find(&s->contributors, c->tick, &r);
	int err_list = latency_table_fill(&s->list, err ? NULL : &s->contributors, s->kind);

	s->list.table.passive = true;
	table_sort(&s->list.table, c, c->height);
	return err ? err : err_list;
}

static int latency_update(void *state, const struct view_context *c)
{
	struct latency_view *s = state;
	uint64_t columns = columns_shown(c), first;

	if (c->tick->seq < columns)
		columns = c->tick->seq;
	first = c->tick->seq - columns + 1;
	if (s->nr_shown != c->nr_shown || s->map.columns != (int)columns) {
		s->map.unit = 1;
		s->nr_shown = 0;
		sum_up(s, c->tick, first);
		if (shape(s, c, first, columns))
			return -ENOMEM;
		fill(s, c);
		s->nr_shown = c->nr_shown;
	}
	heatmap_done(&s->map);
	return find_parties(s, c);
}

/* --- Drawing */

static void draw_title(const struct latency_view *s, const struct view_context *c)
{
	int x = 0;

	for (int k = 0; k < HIST_COUNT; k++)
		x = paint_format(c->paint, c->top, x, k == (int)s->kind ? ROLE_SORTED : ROLE_TEXT,
				 k == (int)s->kind ? "[%s]" : " %s ", hists[k].name);
}

/* The count of a row, with a bar if it fits. */
static void draw_count(const struct latency_view *s, const struct view_context *c, int y, int x, int slot)
{
	int room = c->paint->width - x - COUNT_WIDTH - 1, cells;
	uint32_t most = 1;

	for (int i = 0; i < LOG2_SLOTS; i++)
		most = s->sum.n[i] > most ? s->sum.n[i] : most;
	x = paint_format(c->paint, y, x, ROLE_TEXT, "| %5s ", COUNT_TEXT(s->sum.n[slot]));
	cells = room > 8 ? ((uint64_t)room * s->sum.n[slot] + most - 1) / most : 0;
	paint_repeated(c->paint, y, x, cells, ROLE_RUNQ, c->paint->unicode ? "█" : "#");
}

static int draw_rows(const struct latency_view *s, const struct view_context *c, int y)
{
	const struct heatmap *h = &s->map;
	int lines = h->rows < rows_max(c) ? h->rows : rows_max(c), bottom = heatmap_bottom(h, lines);
	int left = LABEL_WIDTH + columns_shown(c) - h->columns;

	for (int row = bottom + lines - 1; row >= bottom; row--, y++) {
		int slot = h->low + row;
		bool first = slot == hists[s->kind].first, last = slot == hists[s->kind].last;

		paint_format(c->paint, y, 0, ROLE_TEXT, "%c%c%5s |", h->cursor.row == slot ? '>' : ' ',
			     first ? '<' : last ? '>' : ' ', NS_TEXT((first ? 2ULL : 1ULL) << slot));
		heatmap_draw_row(h, c->paint, y, left, row);
		draw_count(s, c, y, LABEL_WIDTH + columns_shown(c), h->low + row);
	}
	if (c->height < LOW)
		return y;
	if (h->rows > lines)
		paint_format(c->paint, y, 0, ROLE_DIM, "%d hidden", h->rows - lines);
	heatmap_draw_axis(h, c->paint, y, left, c->newest->boottime_ns);
	return y + 1;
}

/* The longest, or the bound of its slot. */
static void max_text(const struct latency_view *s, char *buf, size_t size)
{
	int top = LOG2_SLOTS - 1;
	bool last;

	while (top > 0 && !s->sum.n[top])
		top--;
	last = top == hists[s->kind].last;
	if (!top)
		snprintf(buf, size, "-");
	else if (s->max_ns != VALUE_NA)
		format_value(buf, size, UNIT_NS, s->max_ns, 0);
	else
		snprintf(buf, size, "%c%s", last ? '>' : '<',
			 NS_TEXT((last ? 1ULL : 2ULL) << top));
}

static void quantiles_text(const struct latency_view *s, char *buf, size_t size)
{
	const char *many = s->known == 1 ? "" : "es";
	char max[16];
	uint64_t count = 0;

	for (int i = 0; i < LOG2_SLOTS; i++)
		count += s->sum.n[i];
	if (!count) {
		snprintf(buf, size, "none in %d refresh%s", s->known, many);
		return;
	}
	max_text(s, max, sizeof(max));
	snprintf(buf, size, "p50 ~%s  p90 ~%s  p99 ~%s  max %s  n %s in %d refresh%s",
		 NS_TEXT(hist_quantile(&s->sum, s->kind, 0.50, s->max_ns)),
		 NS_TEXT(hist_quantile(&s->sum, s->kind, 0.90, s->max_ns)),
		 NS_TEXT(hist_quantile(&s->sum, s->kind, 0.99, s->max_ns)), max, COUNT_TEXT(count), s->known, many);
}

static uint64_t age(const struct view_context *c, uint64_t seq)
{
	const struct tick *t = tick_head(c->tick, seq);

	return t ? c->newest->boottime_ns - t->boottime_ns : UINT64_MAX;
}

/* Whether contributors can still be searched; those that were found earlier are shown longer. */
static bool is_remembered(const struct latency_view *s, const struct view_context *c)
{
	return tick_head(c->tick, s->contributors.range.last);
}

/* The cell or the range, and its contributors. */
static void selection_text(const struct latency_view *s, const struct view_context *c, char *buf, size_t size)
{
	struct latency_range r = range_of(s);
	char whose[512], range[40], when[64];

	if (s->contributors.all || is_remembered(s, c))
		latency_contributors_text(&s->contributors, whose, sizeof(whose));
	else
		snprintf(whose, sizeof(whose), "not remembered");
	latency_range_text(&r, range, sizeof(range));
	heatmap_when(&s->map, age(c, r.first), age(c, r.last), when, sizeof(when));
	snprintf(buf, size, "%s %s: %s", when, range, whose);
}

static void latency_draw(void *state, const struct view_context *c)
{
	struct latency_view *s = state;
	char text[1024];
	int y;

	paint_clear_lines(c->paint, c->top, c->top + c->height);
	draw_title(s, c);
	if (!s->map.columns)
		return;
	y = draw_rows(s, c, c->top + 1);
	if (c->height >= LOW) {
		heatmap_legend(&s->map, c->paint, "/s", false, text, sizeof(text));
		paint_text(c->paint, y++, 0, c->paint->width, ROLE_DIM, text);
		quantiles_text(s, text, sizeof(text));
		paint_text(c->paint, y++, 0, c->paint->width, ROLE_TEXT, text);
	}
	selection_text(s, c, text, sizeof(text));
	paint_text(c->paint, y++, 0, c->paint->width, s->map.range == HEAT_NONE ? ROLE_TEXT : ROLE_SORTED, text);
	if (c->height >= AROUND_LINES + ROWS_MIN + LIST_LINES_MIN)
		table_draw(&s->list.table, c, y, 0, c->top + c->height - y);
}

/* --- Keys */

static bool latency_act(void *state, enum action a, const struct view_context *c)
{
	struct latency_view *s = state;

	(void)c;
	if (a != ACTION_HEAT_METRIC)
		return s->map.columns && heatmap_act(&s->map, a);
	s->kind = (s->kind + 1) % HIST_COUNT;
	s->nr_shown = 0;
	s->map.moved = false;
	s->map.range = HEAT_NONE;
	return true;
}

static bool latency_open(void *state, enum action a, const struct view_context *c, struct opening *o)
{
	struct latency_view *s = state;

	if (a == ACTION_SUBSECOND) {
		o->view = VIEW_SUBSECOND;
		snprintf(o->name, sizeof(o->name), "offsets within the second");
		return true;
	}
	if (a != ACTION_ENTER && a != ACTION_FLAME)
		return false;
	if (!is_remembered(s, c)) {
		c->notice(c->notice_arg, "these refreshes are not remembered any more");
		return true;
	}
	if (!s->contributors.nr) {
		c->notice(c->notice_arg, hists[s->kind].unknown ? hists[s->kind].unknown : "there are none");
		return true;
	}
	if (a == ACTION_FLAME)
		return latency_flame(o, &s->contributors.range, c);
	return view_range_open(o, &s->contributors.range, c);
}

static bool latency_selected_time(void *state, const struct view_context *c, uint64_t *from, uint64_t *to)
{
	struct latency_view *s = state;
	struct latency_range r = range_of(s);
	const struct tick *first = tick_head(c->tick, r.first), *last = tick_head(c->tick, r.last);

	if (s->map.range == HEAT_NONE || !last)
		return false;
	*from = first ? first->boottime_ns - first->interval_ns : 0; /* it is not remembered any more */
	*to = last->boottime_ns;
	return true;
}

static void latency_status(void *state, const struct view_context *c, char *buf, size_t size)
{
	struct latency_view *s = state;

	(void)c;
	snprintf(buf, size, "%s %s", hists[s->kind].more, hists[s->kind].which);
}

static void latency_fini(void *state)
{
	struct latency_view *s = state;

	heatmap_fini(&s->map);
	latency_contributors_fini(&s->contributors);
	table_fini(&s->list.table);
}

const struct view view_latency = {
	.legend = "~ within a factor of 2",
	.state_size = sizeof(struct latency_view),
	.update = latency_update,
	.draw = latency_draw,
	.act = latency_act,
	.status = latency_status,
	.open = latency_open,
	.selected_time = latency_selected_time,
	.fini = latency_fini,
};
