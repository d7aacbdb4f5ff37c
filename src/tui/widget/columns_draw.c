/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <string.h>

#include "model/tick.h"
#include "tui/term/paint.h"
#include "tui/widget/bar.h"
#include "tui/widget/columns.h"
#include "util/format.h"
#include "util/text.h"

/* "RUN%" is "RUN" as a time and "RUN/s" as a rate, "VCS/s" is "VCS" as a count. */
static void metric_title(enum metric_id m, enum units units, char *buf, size_t size)
{
	const char *title = metrics[m].title;
	enum unit shown = metric_shown(m);
	int len = strcspn(title, "%/");

	if (units == UNITS_SHARE || (units == UNITS_RATE && shown == UNIT_RATE) || shown == metrics[m].unit)
		snprintf(buf, size, "%s", title);
	else
		snprintf(buf, size, "%.*s%s", len, title, units == UNITS_RATE ? "/s" : "");
}

void columns_title(enum column_id id, const char *id_title, const struct column_context *context, char *buf,
		   size_t size)
{
	if (id < COLUMN_METRICS)
		metric_title((enum metric_id)id, context->units, buf, size);
	else if (id == COLUMN_ID)
		snprintf(buf, size, "%s", id_title);
	else if (id == COLUMN_COMMAND && context->sorting->form == CMDLINE_NAME)
		snprintf(buf, size, "%s", column_info(COLUMN_COMM).title);
	else if (id == COLUMN_BAR)
		snprintf(buf, size, "TIME of %.3gs", context->tick->interval_ns / 1e9);
	else
		snprintf(buf, size, "%s", column_info(id).title);
}

static void metric_text(const struct row *r, enum metric_id m, const struct column_context *context,
		       char *buf, size_t size)
{
	uint64_t v = row_value_of(r, m, context->own);
	uint64_t interval = context->tick->interval_ns;
	enum unit unit = metric_shown(m);

	if (context->units == UNITS_TIME)
		unit = metrics[m].unit;
	if (context->units == UNITS_RATE && unit == UNIT_SHARE) {
		unit = metrics[m].unit;
		if (v != VALUE_NA && interval)
			v = 1e9 * v / interval;
	}
	format_value(buf, size, unit, v, interval);
}

/* Highlights the first @match in a text that was drawn at @x. */
static void draw_match(const struct paint *p, int y, int x, int width, const char *text, const char *match)
{
	const char *at = match && *match ? strcasestr(text, match) : NULL;
	char before[2048], part[128];
	int skip;

	if (!at)
		return;
	snprintf(before, sizeof(before), "%.*s", (int)(at - text), text);
	snprintf(part, sizeof(part), "%.*s", (int)strlen(match), at);
	skip = text_width(before);
	paint_text(p, y, x + skip, width - skip, ROLE_MATCH, part);
}

/* A command line, cut on the right, with its program's name emphasised, unless the line has looks of its own. */
static void draw_command(const struct paint *p, int y, int x, int width, enum role role, const struct row *r,
			 const struct row_look *look, const struct column_context *context)
{
	struct cmdline_look l;
	char part[sizeof(l.text)];
	int end = x + width, at;

	if (look->indent)
		x = paint_text(p, y, x, width, role, look->indent);
	cmdline_look(&l, column_cmdline(r), row_comm(r), context->sorting->form, end - x);
	paint_text(p, y, x, end - x, role, l.text);
	if (role == ROLE_TEXT && context->sorting->form != CMDLINE_NAME) {
		snprintf(part, sizeof(part), "%.*s", (int)l.from, l.text);
		at = x + text_width(part);
		snprintf(part, sizeof(part), "%.*s", (int)(l.to - l.from), l.text + l.from);
		paint_text(p, y, at, end - at, ROLE_PROGRAM, part);
	}
	draw_match(p, y, x, end - x, l.text, look->match);
}

/* Foreign text, elided, with the first @match in it highlighted. */
static void draw_name(const struct paint *p, int y, int x, int width, enum role role,
		      const char *raw, size_t len, const char *match)
{
	char safe[4096], elided[512];

	text_safe(safe, sizeof(safe), raw, len);
	text_elide(elided, sizeof(elided), safe, width);
	paint_text(p, y, x, width, role, elided);
	draw_match(p, y, x, width, elided, match);
}

/* Run shares of the last ticks, one cell each. */
static void draw_past(const struct paint *p, int y, int x, int width, const struct row *r, int line,
		      const struct column_context *context)
{
	int first = width < COLUMNS_PAST ? COLUMNS_PAST - width : 0;

	for (int i = first; context->past && i < COLUMNS_PAST; i++) {
		const struct values *v = &context->past[line * COLUMNS_PAST + i];
		uint64_t whole = r->kind == ROW_THREAD ? v->v[METRIC_ALIVE] : tick_length(context->tick, COLUMNS_PAST - 1 - i);
		int level;

		if (!values_known(v) || !whole)
			continue;
		level = v->v[METRIC_RUN] ? 1 + 7 * v->v[METRIC_RUN] / whole : 0;
		paint_eighths(p, y, x + i - first, ROLE_USER, level);
	}
}

/* Draws a value that systop formatted, aligned in its column; # if it does not fit, as a part of a number is another number. */
static void draw_value(const struct paint *p, int y, int x, int width, bool right, enum role role, const char *text)
{
	char cell[256];
	int len = strlen(text);

	if (width < 0 || width >= (int)sizeof(cell))
		return;
	memset(cell, len > width ? '#' : ' ', width);
	if (len <= width)
		memcpy(cell + (right ? width - len : 0), text, len);
	cell[width] = '\0';
	paint_text(p, y, x, p->width, role, cell);
}

void columns_cell(const struct paint *p, int y, int x, int width, enum column_id id, enum role role, const struct row *r,
		  const struct row_look *look, const struct column_context *context)
{
	char text[256] = "";
	const char *owner;

	switch (id) {
	case COLUMN_ID:
		snprintf(text, sizeof(text), "%d", r->number);
		break;
	case COLUMN_PID:
		snprintf(text, sizeof(text), "%d", r->process->tgid);
		break;
	case COLUMN_USER:
		context->user_name(row_uid(r), text, sizeof(text));
		paint_text(p, y, x, width, role, text);
		return;
	case COLUMN_STATE:
		snprintf(text, sizeof(text), "%c", state_letters[r->state]);
		break;
	case COLUMN_CGROUP:
		draw_name(p, y, x, width, role, r->cgroup->path, strlen(r->cgroup->path), NULL);
		return;
	case COLUMN_OWNER:
	case COLUMN_CONTAINER:
	case COLUMN_POD:
	case COLUMN_UNIT:
		owner = column_owner(id, r) ? column_owner(id, r) : "-";
		draw_name(p, y, x, width, role, owner, strlen(owner), look->match);
		return;
	case COLUMN_TREE:
		draw_name(p, y, x, width, role, look->tree, strlen(look->tree), look->match);
		return;
	case COLUMN_THREADS:
		snprintf(text, sizeof(text), "%u", context->own ? r->own_threads : r->nr_threads);
		break;
	case COLUMN_BAR:
		bar_draw(p, y, x, width, context->own ? r->own : r->values, context->tick->interval_ns);
		return;
	case COLUMN_CPU_TIME:
		format_value(text, sizeof(text), UNIT_NS, column_cpu_time(r), 0);
		break;
	case COLUMN_MEMORY:
		format_value(text, sizeof(text), UNIT_SHARE, column_memory(r),
			     context->tick->host.mem_total == VALUE_NA ? 0 : context->tick->host.mem_total);
		break;
	case COLUMN_CPU:
		snprintf(text, sizeof(text), r->thread->cpu < 0 ? "-" : "%d", r->thread->cpu);
		break;
	case COLUMN_PAST:
		draw_past(p, y, x, width, r, look->line, context);
		return;
	case COLUMN_COMM:
		draw_name(p, y, x, width, role, look->tree ? look->tree : row_comm(r),
			  look->tree ? strlen(look->tree) : 16, look->match);
		return;
	case COLUMN_COMMAND:
		draw_command(p, y, x, width, role, r, look, context);
		return;
	default:
		metric_text(r, (enum metric_id)id, context, text, sizeof(text));
	}
	draw_value(p, y, x, width, column_info(id).right, role, text);
}
