/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/columns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "model/tick.h"
#include "tui/bar.h"
#include "tui/paint.h"
#include "util/format.h"
#include "util/text.h"

static const struct column_info text_columns[] = {
#define _(id, name, title, min, max, drop, right, help) \
	{ name, title, help, min, max, drop, right, right },
	TEXT_COLUMNS(_)
#undef _
};

const char *const table_names[TABLE_COUNT] = { "threads", "processes", "tree", "cgroups" };
const char *const units_names[UNITS_COUNT] = { "share", "time", "rate" };

struct column_info column_info(enum column_id id)
{
	const struct field *f = &fields[id];

	if (id >= COLUMN_FIELDS)
		return text_columns[id - COLUMN_FIELDS];
	/* A duration, as shares are shown as one on demand, takes 6. */
	return (struct column_info){ f->name, f->title, f->help, f->width, f->width,
				     f->drop, true, true };
}

enum column_id column_find(const char *name)
{
	for (enum column_id id = COLUMN_FIELDS; id < COLUMN_COUNT; id++)
		if (!strcasecmp(name, column_info(id).name) ||
		    !strcasecmp(name, column_info(id).title))
			return id;
	return field_find(name) == FIELD_COUNT ? COLUMN_COUNT : (enum column_id)field_find(name);
}

/* --- What a table has */

/* In their order; fields stand where FIELDS says, behind the bar. */
static const char *const defaults[TABLE_COUNT] = {
	"id -pid user state cgroup -threads bar @ cpu past comm",
	"id user state cgroup -threads bar @ -cpu past comm",
	"id user state bar @ -threads -cgroup -cpu past comm",
	"tree threads bar @ past",
};

static bool in_table(enum column_id id, enum table table)
{
	switch (id) {
	case COLUMN_TREE:
		return table == TABLE_CGROUPS;
	case COLUMN_THREADS:
	case COLUMN_BAR:
	case COLUMN_PAST:
		return true;
	case COLUMN_PID:
	case COLUMN_CPU:
		return table == TABLE_THREADS;
	default:
		return id < COLUMN_FIELDS ? fields[id].drop > 0 : table != TABLE_CGROUPS;
	}
}

static bool list_has(const struct column_list *l, enum column_id id)
{
	for (int i = 0; i < l->nr; i++)
		if (l->at[i].id == id)
			return true;
	return false;
}

static void list_put(struct column_list *l, enum column_id id, bool hidden, int width)
{
	l->at[l->nr++] = (struct column_choice){ id, hidden, width };
}

/* Fields that are not in the list yet. */
static void put_fields(struct column_list *l, enum table table, bool hidden)
{
	for (int f = 0; f < FIELD_COUNT; f++)
		if (in_table(f, table) && !list_has(l, f))
			list_put(l, f, hidden, 0);
}

const char *columns_parse(struct column_list *l, enum table table, const char *text, char *buf,
			  size_t size)
{
	struct column_list list = { .nr = 0 };
	char word[64];
	int n;

	for (; sscanf(text, " %63s%n", word, &n) == 1; text += n) {
		bool hidden = *word == '-';
		char *width = strchr(word, ':'), *end = "";
		enum column_id id;
		long cells = 0;

		if (width) {
			*width++ = '\0';
			cells = strtol(width, &end, 10);
		}
		if (!strcmp(word, "@")) {
			put_fields(&list, table, false);
			continue;
		}
		id = column_find(word + hidden);
		if (id == COLUMN_COUNT || !in_table(id, table)) {
			snprintf(buf, size, "no such column in %s", table_names[table]);
			return buf;
		}
		if (width && (*end || cells < 1 || cells > 200)) {
			snprintf(buf, size, "a width is 1 to 200");
			return buf;
		}
		if (!list_has(&list, id))
			list_put(&list, id, hidden, cells);
	}
	for (enum column_id id = COLUMN_FIELDS; id < COLUMN_COUNT; id++)
		if (in_table(id, table) && !list_has(&list, id))
			list_put(&list, id, true, 0);
	put_fields(&list, table, true);
	*l = list;
	return NULL;
}

void columns_print(const struct column_list *l, char *buf, size_t size)
{
	size_t used = 0;

	*buf = '\0';
	for (int i = 0; i < l->nr && used < size; i++) {
		const struct column_choice *c = &l->at[i];

		used += snprintf(buf + used, size - used, "%s%s%s", i ? " " : "",
				 c->hidden ? "-" : "", column_info(c->id).name);
		if (c->width && used < size)
			used += snprintf(buf + used, size - used, ":%d", c->width);
	}
}

void columns_default(struct column_list *l, enum table table)
{
	char error[64];

	columns_parse(l, table, defaults[table], error, sizeof(error));
}

/* --- Sorting */

static const char *row_comm(const struct row *r)
{
	return r->thread ? r->thread->comm : r->process ? r->process->comm : "";
}

static uint32_t row_uid(const struct row *r)
{
	return r->thread ? r->thread->uid : r->process ? r->process->uid : 0;
}

static int64_t row_number(const struct row *r, enum column_id by)
{
	switch (by) {
	case COLUMN_PID:
		return r->process ? r->process->tgid : 0;
	case COLUMN_USER:
		return row_uid(r);
	case COLUMN_STATE:
		return r->state;
	case COLUMN_CPU:
		return r->thread ? r->thread->cpu : 0;
	case COLUMN_THREADS:
		return -(int64_t)r->nr_threads;
	default:
		return r->number; /* the tie, by number or path, decides */
	}
}

static int compare_text(const struct row *a, const struct row *b, enum column_id by)
{
	if (by == COLUMN_CGROUP && a->cgroup && b->cgroup)
		return strcmp(a->cgroup->path, b->cgroup->path);
	return by == COLUMN_COMM ? strncmp(row_comm(a), row_comm(b), 16) : 0;
}

bool sorting_before(const struct row *a, const struct row *b, const void *arg)
{
	const struct sorting *s = arg;
	uint64_t va, vb;
	int64_t order;

	if (s->by >= COLUMN_FIELDS) {
		order = compare_text(a, b, s->by);
		if (!order)
			order = row_number(a, s->by) - row_number(b, s->by);
		return s->inverted ? order > 0 : order < 0;
	}
	va = values_value(s->own ? a->own : a->values, (enum field_id)s->by);
	vb = values_value(s->own ? b->own : b->values, (enum field_id)s->by);
	if (va == VALUE_NA || vb == VALUE_NA)
		return va != VALUE_NA && vb == VALUE_NA;
	return s->inverted ? va < vb : va > vb;
}

/* --- Places */

/* The narrowest it can be. */
static int narrowest(const struct column_choice *c, const struct column_context *context, int width)
{
	struct column_info info = column_info(c->id);

	if (c->width)
		return c->width;
	if (c->id < COLUMN_FIELDS && context->units != UNITS_SHARE && info.min < 6)
		return 6;
	if (c->id == COLUMN_BAR && width >= 60)
		return 14;
	if (c->id == COLUMN_TREE && width >= 60)
		return 26;
	return info.min;
}

static bool by_screen(const struct column_choice *c)
{
	return !c->width && column_info(c->id).max > column_info(c->id).min;
}

/* Takes columns, the most important ones first, for as long as there is room. Returns the room left.
 * The first column of each importance that does not fit ends it: what is more important never
 * leaves for what is less. */
static int take(bool *taken, const struct column_list *l, int width, int pan,
		const struct column_context *context)
{
	int left = width - 1;

	for (int drop = 0; drop < 10; drop++) {
		for (int i = 0; i < l->nr; i++) {
			const struct column_choice *c = &l->at[i];
			bool sorted = c->id == context->sorting->by;
			int wide = narrowest(c, context, width) + 1;

			if (c->hidden || taken[i] ||
			    (sorted ? drop != 0 : column_info(c->id).drop != drop))
				continue;
			if (drop && pan) {
				pan--;
				continue;
			}
			if (wide > left + 1)
				return left;
			taken[i] = true;
			left -= wide;
		}
	}
	return left;
}

void columns_place(struct columns *c, const struct column_list *l, int width, int pan,
		   const struct column_context *context)
{
	bool taken[COLUMN_COUNT] = { false };
	int left = take(taken, l, width, pan, context), x = 1;
	int widths[COLUMN_COUNT];
	bool grown = true;

	for (int i = 0; i < l->nr; i++)
		widths[i] = narrowest(&l->at[i], context, width);
	/* What remains goes to names and the bar, turn by turn. */
	while (left > 0 && grown) {
		grown = false;
		for (int i = 0; i < l->nr && left > 0; i++) {
			if (!taken[i] || !by_screen(&l->at[i]) ||
			    widths[i] >= column_info(l->at[i].id).max)
				continue;
			widths[i]++;
			left--;
			grown = true;
		}
	}
	c->nr = 0;
	for (int i = 0; i < l->nr; i++) {
		if (!taken[i])
			continue;
		c->at[c->nr].id = l->at[i].id;
		c->at[c->nr].x = x;
		c->at[c->nr++].width = widths[i];
		x += widths[i] + 1;
	}
}

bool columns_has(const struct columns *c, enum column_id id)
{
	for (int i = 0; i < c->nr; i++)
		if (c->at[i].id == id)
			return true;
	return false;
}

static bool can_sort(enum column_id id)
{
	return id != COLUMN_BAR && id != COLUMN_PAST;
}

enum column_id columns_next(const struct columns *c, const struct sorting *sorting, int direction)
{
	int at = 0;

	while (at < c->nr && c->at[at].id != sorting->by)
		at++;
	for (int n = 0; n < c->nr; n++) {
		at = (at + direction + c->nr) % c->nr;
		if (can_sort(c->at[at].id))
			return c->at[at].id;
	}
	return sorting->by;
}

enum column_id columns_at(const struct columns *c, int x)
{
	for (int i = 0; i < c->nr; i++)
		if (x >= c->at[i].x && x < c->at[i].x + c->at[i].width)
			return can_sort(c->at[i].id) ? c->at[i].id : COLUMN_COUNT;
	return COLUMN_COUNT;
}

/* --- Drawing */

/* "RUN%" is "RUN" as a time and "RUN/s" as a rate, "VCS/s" is "VCS" as a count. */
static void field_title(enum field_id f, enum units units, char *buf, size_t size)
{
	const struct field *field = &fields[f];
	int len = strcspn(field->title, "%/");

	if (units == UNITS_SHARE || (units == UNITS_RATE && field->unit == UNIT_RATE) ||
	    field->unit == UNIT_NS)
		snprintf(buf, size, "%s", field->title);
	else
		snprintf(buf, size, "%.*s%s", len, field->title, units == UNITS_RATE ? "/s" : "");
}

static void title_text(enum column_id id, const char *id_title,
		       const struct column_context *context, char *buf, size_t size)
{
	if (id < COLUMN_FIELDS)
		field_title((enum field_id)id, context->units, buf, size);
	else if (id == COLUMN_ID)
		snprintf(buf, size, "%s", id_title);
	else if (id == COLUMN_BAR)
		snprintf(buf, size, "TIME of %.3gs", context->tick->interval_ns / 1e9);
	else
		snprintf(buf, size, "%s", column_info(id).title);
}

static bool smallest_first(const struct sorting *s)
{
	return (s->by >= COLUMN_FIELDS && s->by != COLUMN_THREADS) != s->inverted;
}

void columns_titles(const struct columns *c, const struct paint *p, int y, const char *id_title,
		    const struct column_context *context)
{
	paint_clear(p, y, 0);
	for (int i = 0; i < c->nr; i++) {
		enum column_id id = c->at[i].id;
		bool sorted = id == context->sorting->by;
		int width = c->at[i].width, len;
		char text[64];

		title_text(id, id_title, context, text, sizeof(text) - 1);
		len = strlen(text);
		/* The mark stands where there is room for it. */
		if (sorted && len < width) {
			text[len++] = smallest_first(context->sorting) ? '^' : 'v';
			text[len] = '\0';
		}
		len = column_info(id).right && len < width ? width - len : 0;
		paint_text(p, y, c->at[i].x + len, width - len, sorted ? ROLE_SORTED : ROLE_TITLE,
			   text);
	}
}

static void field_text(const struct row *r, enum field_id f, const struct column_context *context,
		       char *buf, size_t size)
{
	uint64_t v = values_value(context->own ? r->own : r->values, f);
	uint64_t interval = context->tick->interval_ns;
	enum unit unit = fields[f].unit;

	if (context->units == UNITS_TIME && unit == UNIT_SHARE)
		unit = UNIT_NS;
	else if (context->units == UNITS_TIME && unit == UNIT_RATE)
		unit = UNIT_COUNT;
	if (context->units == UNITS_RATE && unit == UNIT_SHARE) {
		unit = UNIT_NS;
		if (v != VALUE_NA && interval)
			v = 1e9 * v / interval;
	}
	format_value(buf, size, unit, v, interval);
}

/* Foreign text, elided, the first @match in it shown up. */
static void draw_name(const struct paint *p, int y, int x, int width, enum role role,
		      const char *raw, size_t len, const char *match)
{
	char safe[4096], elided[512];
	const char *at;

	text_safe(safe, sizeof(safe), raw, len);
	text_elide(elided, sizeof(elided), safe, width);
	paint_text(p, y, x, width, role, elided);
	at = match && *match ? strcasestr(elided, match) : NULL;
	if (at) {
		char part[128], before[512];
		int skip;

		snprintf(before, sizeof(before), "%.*s", (int)(at - elided), elided);
		snprintf(part, sizeof(part), "%.*s", (int)strlen(match), at);
		skip = text_width(before);
		paint_text(p, y, x + skip, width - skip, ROLE_MATCH, part);
	}
}

/* Run shares of the last ticks, one cell each. */
static void draw_past(const struct paint *p, int y, int x, const struct row *r, int line,
		      const struct column_context *context)
{
	for (int i = 0; context->past && i < COLUMNS_PAST; i++) {
		const struct values *v = &context->past[line * COLUMNS_PAST + i];
		uint64_t whole = r->kind == ROW_THREAD ? v->v[FIELD_ALIVE] : context->tick->interval_ns;
		int level;

		if (v->v[FIELD_ALIVE] == VALUE_NA || !whole)
			continue;
		level = v->v[FIELD_RUN] ? 1 + 7 * v->v[FIELD_RUN] / whole : 0;
		paint_eighths(p, y, x + i, ROLE_USER, level);
	}
}

static void draw_cell(const struct paint *p, int y, int x, int width, enum column_id id,
		      enum role role, const struct row *r, const struct row_look *look,
		      const struct column_context *context)
{
	char text[256] = "";

	switch (id) {
	case COLUMN_ID:
		snprintf(text, sizeof(text), "%d", r->number);
		break;
	case COLUMN_PID:
		snprintf(text, sizeof(text), "%d", r->process->tgid);
		break;
	case COLUMN_USER:
		context->user_name(row_uid(r), text, sizeof(text));
		break;
	case COLUMN_STATE:
		snprintf(text, sizeof(text), "%c", state_letters[r->state]);
		break;
	case COLUMN_CGROUP:
		draw_name(p, y, x, width, role, r->cgroup->path, strlen(r->cgroup->path), NULL);
		return;
	case COLUMN_TREE:
		draw_name(p, y, x, width, role, look->tree, strlen(look->tree), look->match);
		return;
	case COLUMN_THREADS:
		snprintf(text, sizeof(text), "%u", context->own ? r->own_threads : r->nr_threads);
		break;
	case COLUMN_BAR:
		bar_draw(p, y, x, width, context->own ? r->own : r->values);
		return;
	case COLUMN_CPU:
		snprintf(text, sizeof(text), r->thread->cpu < 0 ? "-" : "%d", r->thread->cpu);
		break;
	case COLUMN_PAST:
		draw_past(p, y, x, r, look->line, context);
		return;
	case COLUMN_COMM:
		draw_name(p, y, x, width, role, look->tree ? look->tree : row_comm(r),
			  look->tree ? strlen(look->tree) : 16, look->match);
		return;
	default:
		field_text(r, (enum field_id)id, context, text, sizeof(text));
	}
	paint_format(p, y, x, role, "%*.*s", column_info(id).right ? width : -width, width, text);
}

void columns_row(const struct columns *c, const struct paint *p, int y, const struct row *r,
		 const struct row_look *look, const struct column_context *context)
{
	enum role role = look->mark == '>'   ? ROLE_SELECTED
			 : look->mark == '*' ? ROLE_FOLLOWED
					     : ROLE_TEXT;

	paint_clear(p, y, 0);
	if (look->mark != ' ') /* the whole line, so that it can be found at a glance */
		paint_format(p, y, 0, role, "%c%*s", look->mark, p->width - 1, "");
	for (int i = 0; i < c->nr; i++)
		draw_cell(p, y, c->at[i].x, c->at[i].width, c->at[i].id, role, r, look, context);
}
