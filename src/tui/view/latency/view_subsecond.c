/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Offsets of events within their second: a column per second, a row for each part of it. What recurs at the same
 * offset of each second, or drifts against it, is visible as a pattern. */
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "model/sample_list.h"
#include "query/subsecond.h"
#include "tui/screen/host.h"
#include "tui/screen/view.h"
#include "tui/term/paint.h"
#include "tui/widget/heatmap.h"
#include "util/format.h"

#define SEC 1000000000ULL
#define LABEL_WIDTH 9  /* "> 975ms |" */
#define AROUND_LINES 4 /* title, axis, legend, what is selected */

struct subsecond_view {
	enum subsecond_metric metric;
	struct heatmap map;
	struct subsecond data[SUBSECOND_METRICS]; /* each is read only while it is shown */
};

static const char *const metric_names[SUBSECOND_METRICS] = { "CPU samples", "runqueue wait", "D state" };

/* --- Data */

/* The largest divisor of a second's parts that fits as a number of rows. */
static int rows_that_fit(const struct view_context *c)
{
	static const int rows[] = { 50, 40, 25, 20, 10, 5, 4, 2 };
	size_t i = 0;

	while (rows[i] > c->height - AROUND_LINES && rows[i] > 2)
		i++;
	return rows[i];
}

static uint64_t row_ns(const struct subsecond_view *s)
{
	return SEC / s->map.rows;
}

/* Reads new seconds; the first time as many as there is room for, so that the user can step back. */
static int read_on(struct subsecond_view *s, const struct view_context *c)
{
	struct subsecond *data = &s->data[s->metric];
	uint64_t until = c->newest->boottime_ns / SEC;
	int err = 0;

	if (!data->parts)
		err = subsecond_start(data, s->metric, until > SUBSECOND_SECONDS ? until - SUBSECOND_SECONDS : 0);
	return err ? err : subsecond_read(data, &c->host->source, until);
}

static uint64_t age(const struct view_context *c, uint64_t second)
{
	return (c->newest->boottime_ns / SEC - (second + 1)) * SEC;
}

static void fill(struct subsecond_view *s)
{
	const struct subsecond *data = &s->data[s->metric];
	struct heatmap *h = &s->map;
	int parts = SUBSECOND_PARTS / h->rows;

	for (int column = 0; column < h->columns; column++) {
		uint64_t second = h->first + column;

		h->at[column].until_ns = (second + 1) * SEC;
		if (!subsecond_known(data, second))
			continue;
		h->at[column].per = s->metric == SUBSECOND_CPU ? 1 : (double)row_ns(s);
		for (int row = 0; row < h->rows; row++)
			*heatmap_cell(h, column, row) = subsecond_sum(data, second, row * parts, parts);
	}
	heatmap_done(h);
}

static int subsecond_update(void *state, const struct view_context *c)
{
	struct subsecond_view *s = state;
	uint64_t columns = c->paint->width - LABEL_WIDTH - 1, until = c->tick->boottime_ns / SEC;
	int rows = rows_that_fit(c), err;

	if (columns > SUBSECOND_SECONDS)
		columns = SUBSECOND_SECONDS;
	if (columns > until)
		columns = until;
	err = read_on(s, c);
	if (err)
		return err;
	if (s->map.rows != rows) { /* the first time, or a new size: rows have changed */
		s->map.linear |= !s->map.rows;
		s->map.moved = false;
		s->map.range = HEAT_NONE;
	}
	s->map.unit = s->metric == SUBSECOND_CPU ? 1 : 0.01;
	err = heatmap_shape(&s->map, until - columns, columns, 0, rows);
	if (!err)
		fill(s);
	return err;
}

/* --- Texts */

static struct subsecond_range range_of(const struct subsecond_view *s)
{
	struct heat_range r = heatmap_range(&s->map);

	return (struct subsecond_range){ r.first, r.last, r.low * row_ns(s), (r.high + 1) * row_ns(s) };
}

/* "200ms-300ms" */
static void offsets_text(const struct subsecond_range *r, char *buf, size_t size)
{
	snprintf(buf, size, "%" PRIu64 "ms-%" PRIu64 "ms", r->low / 1000000, r->high / 1000000);
}

/* "12:03:35-12:03:39 200ms-300ms": the seconds start with those of CLOCK_BOOTTIME. */
static void when_text(const struct subsecond_range *r, const struct view_context *c, char *buf, size_t size)
{
	int64_t ago = c->tick->boottime_ns / SEC - r->first, long_s = r->last - r->first + 1;
	time_t from = c->tick->wall.tv_sec - ago, to = from + long_s;
	char offsets[48], first[16], last[16];
	struct tm tm;

	strftime(first, sizeof(first), "%H:%M:%S", localtime_r(&from, &tm));
	strftime(last, sizeof(last), "%H:%M:%S", localtime_r(&to, &tm));
	offsets_text(r, offsets, sizeof(offsets));
	snprintf(buf, size, "%s-%s, offsets %s", first, last, offsets);
}

/* The sum of the range; "-": not all of it is known. */
static const char *value_text(const struct subsecond_view *s, const struct subsecond_range *r, char *buf, size_t size)
{
	const struct subsecond *data = &s->data[s->metric];
	int first = r->low / SUBSECOND_PART_NS, nr = (r->high - r->low) / SUBSECOND_PART_NS;
	uint64_t sum = 0;

	for (uint64_t second = r->first; second <= r->last; second++) {
		if (!subsecond_known(data, second))
			return "-";
		sum += subsecond_sum(data, second, first, nr);
	}
	return format_value(buf, size, s->metric == SUBSECOND_CPU ? UNIT_COUNT : UNIT_NS, sum, 0);
}

static void selection_text(const struct subsecond_view *s, const struct view_context *c, char *buf, size_t size)
{
	static const char *const of[SUBSECOND_METRICS] = { "samples", "of waiting", "in D state" };
	struct subsecond_range r = range_of(s);
	char offsets[48], when[64], value[16];

	offsets_text(&r, offsets, sizeof(offsets));
	heatmap_when(&s->map, age(c, r.first), age(c, r.last), when, sizeof(when));
	snprintf(buf, size, "%s %s: %s %s", when, offsets, value_text(s, &r, value, sizeof(value)), of[s->metric]);
}

/* --- Drawing */

static void draw_title(const struct subsecond_view *s, const struct view_context *c)
{
	int x = 0;

	for (int m = 0; m < SUBSECOND_METRICS; m++)
		x = paint_format(c->paint, c->top, x, m == (int)s->metric ? ROLE_SORTED : ROLE_TEXT,
				 m == (int)s->metric ? "[%s]" : " %s ", metric_names[m]);
	paint_format(c->paint, c->top, x + 2, ROLE_DIM, "offset within the second, rows of %" PRIu64 " ms",
		     row_ns(s) / 1000000);
}

static void subsecond_draw(void *state, const struct view_context *c)
{
	struct subsecond_view *s = state;
	const struct heatmap *h = &s->map;
	int y = c->top + 1, left = c->paint->width - 1 - h->columns;
	int lines = c->height - AROUND_LINES < h->rows ? c->height - AROUND_LINES : h->rows;
	char text[512];

	paint_clear_lines(c->paint, c->top, c->top + c->height);
	draw_title(s, c);
	if (!h->columns)
		return;
	for (int row = h->rows; row-- > h->rows - lines;) {
		paint_format(c->paint, y, 0, ROLE_TEXT, "%c%4" PRIu64 "ms |", h->cursor.row == row ? '>' : ' ',
			     row * row_ns(s) / 1000000);
		paint_text(c->paint, y, c->paint->width - 1, 1, ROLE_TEXT, "|");
		heatmap_draw_row(h, c->paint, y++, left, row);
	}
	heatmap_draw_axis(h, c->paint, y++, left, c->newest->boottime_ns / SEC * SEC);
	heatmap_legend(h, c->paint, s->metric == SUBSECOND_CPU ? "samples" : "threads on average",
		       s->metric == SUBSECOND_CPU, text, sizeof(text));
	paint_text(c->paint, y++, 0, c->paint->width, ROLE_DIM, text);
	selection_text(s, c, text, sizeof(text));
	paint_text(c->paint, y, 0, c->paint->width, h->range == HEAT_NONE ? ROLE_TEXT : ROLE_SORTED, text);
}

/* --- The flamegraph of a range: for D state the blocks, else the CPU samples that the recorder has */

struct asked {
	struct subsecond_range range;
	enum subsecond_metric metric;
};

struct finding {
	const struct asked *asked;
	struct sample_list *list;
};

/* Adds the part of a sample that is in the range; a CPU sample has no length. */
static int on_sample(void *arg, const struct stack_sample *s, uint64_t from, uint64_t until)
{
	struct finding *f = arg;
	struct stack_sample part = *s;

	if (s->metric != METRIC_RUN)
		part.weight = subsecond_overlap(&f->asked->range, from, until);
	else if (!subsecond_has(&f->asked->range, from))
		return 0;
	return part.weight ? sample_list_add(f->list, &part) : 0;
}

/* A block is recorded at its end, so read on to the present. */
static int find(const void *arg, const struct view_context *c, struct sample_list *list)
{
	const struct asked *a = arg;
	struct finding f = { a, list };
	uint64_t since;

	return c->host->source.recorded_samples(c->host->source.arg, c->newest, a->range.first * SEC,
					 a->metric == SUBSECOND_D ? c->newest->boottime_ns : (a->range.last + 1) * SEC,
					 &since, on_sample, &f);
}

/* --- Keys */

static bool subsecond_act(void *state, enum action a, const struct view_context *c)
{
	struct subsecond_view *s = state;

	(void)c;
	if (a != ACTION_HEAT_METRIC)
		return s->map.columns && heatmap_act(&s->map, a);
	s->metric = (s->metric + 1) % SUBSECOND_METRICS; /* the range stays, to see the other metric there */
	return true;
}

static bool subsecond_open(void *state, enum action a, const struct view_context *c, struct opening *o)
{
	struct subsecond_view *s = state;
	const struct asked asked = { range_of(s), s->metric };
	char what[96];

	if (a != ACTION_FLAME || !s->map.columns)
		return a == ACTION_FLAME;
	when_text(&asked.range, c, what, sizeof(what));
	return view_flame_found(o, s->metric == SUBSECOND_D ? METRIC_D : METRIC_RUN, find, &asked, sizeof(asked), what);
}

static bool subsecond_selected_time(void *state, const struct view_context *c, uint64_t *from, uint64_t *to)
{
	struct subsecond_view *s = state;
	struct subsecond_range r = range_of(s);

	(void)c;
	*from = r.first * SEC;
	*to = (r.last + 1) * SEC;
	return s->map.range != HEAT_NONE;
}

static void subsecond_status(void *state, const struct view_context *c, char *buf, size_t size)
{
	struct subsecond_view *s = state;
	int known = 0;

	(void)c;
	for (int column = 0; column < s->map.columns; column++)
		known += s->map.at[column].per > 0;
	snprintf(buf, size, "%d seconds recorded; %s", known,
		 s->metric == SUBSECOND_CPU    ? "samples of threads in scope"
		 : s->metric == SUBSECOND_RUNQ ? "the flamegraph shows what ran meanwhile"
					       : "D states that ended; those with a stack are in the flamegraph");
}

static void subsecond_view_fini(void *state)
{
	struct subsecond_view *s = state;

	heatmap_fini(&s->map);
	for (int m = 0; m < SUBSECOND_METRICS; m++)
		subsecond_fini(&s->data[m]);
}

const struct view view_subsecond = {
	.legend = "", /* below the map */
	.state_size = sizeof(struct subsecond_view),
	.update = subsecond_update,
	.draw = subsecond_draw,
	.act = subsecond_act,
	.status = subsecond_status,
	.open = subsecond_open,
	.selected_time = subsecond_selected_time,
	.fini = subsecond_view_fini,
};
