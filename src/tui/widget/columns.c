/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/widget/columns.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "model/owner.h"
#include "model/tick.h"
#include "util/text.h"

static const struct column_info text_columns[] = {
#define _(id, name, title, min, max, drop, right, help) \
	{ name, title, help, min, max, drop, right },
	TEXT_COLUMNS(_)
#undef _
};

const char *const table_names[TABLE_COUNT] = { "threads", "processes", "tree", "cgroups" };
const char *const units_names[UNITS_COUNT] = { "share", "time", "rate" };

struct column_info column_info(enum column_id id)
{
	const struct metric *m;

	if (id >= COLUMN_METRICS)
		return text_columns[id - COLUMN_METRICS];
	m = &metrics[id];
	/* A duration, which can replace a share, takes 6. */
	return (struct column_info){ m->name, m->title, m->help, m->width, m->width,
				     m->drop, true };
}

/* Compares the first letter before the whole name, as most names differ in it. */
static bool is_called(const char *asked, const char *name)
{
	return tolower((unsigned char)*asked) == tolower((unsigned char)*name) && !strcasecmp(asked, name);
}

enum column_id column_find(const char *name)
{
	enum metric_id m;

	for (enum column_id id = COLUMN_METRICS; id < COLUMN_COUNT; id++) {
		const struct column_info *c = &text_columns[id - COLUMN_METRICS];

		if (is_called(name, c->name) || is_called(name, c->title))
			return id;
	}
	m = metric_find(name);
	return m == METRIC_COUNT ? COLUMN_COUNT : (enum column_id)m;
}

bool column_sorts(enum column_id id)
{
	return id != COLUMN_COUNT && id != COLUMN_BAR && id != COLUMN_PAST;
}

/* --- The columns of a table */

/* In order; metrics follow METRICS, after the bar. */
static const char *const defaults[TABLE_COUNT] = {
	"id -pid user state owner -cgroup -threads bar @ -mem_share -cputime cpu past -comm command",
	"id user state owner -cgroup -threads bar @ -mem_share -cputime past -comm command",
	"id user state -comm command owner bar @ -mem_share -cputime -threads -cgroup past",
	"tree threads -owner bar @ -mem_share past",
};

static bool is_metric_of(enum metric_id m, enum table table)
{
	if (metrics[m].kind == KIND_LEVEL)
		return metrics[m].level & (table == TABLE_CGROUPS ? LEVEL_OF_CGROUPS : LEVEL_OF_PROCESSES);
	return metrics[m].drop > 0;
}

bool column_in_table(enum column_id id, enum table table)
{
	switch (id) {
	case COLUMN_TREE:
		return table == TABLE_CGROUPS;
	case COLUMN_THREADS:
	case COLUMN_BAR:
	case COLUMN_PAST:
	case COLUMN_OWNER:
	case COLUMN_CONTAINER:
	case COLUMN_POD:
	case COLUMN_UNIT:
	case COLUMN_MEMORY:
		return true;
	case COLUMN_PID:
	case COLUMN_CPU:
		return table == TABLE_THREADS;
	default:
		return id < COLUMN_METRICS ? is_metric_of((enum metric_id)id, table) : table != TABLE_CGROUPS;
	}
}

static struct column_choice *list_find(struct column_list *l, enum column_id id)
{
	for (int i = 0; i < l->nr; i++)
		if (l->at[i].id == id)
			return &l->at[i];
	return NULL;
}

static void list_put(struct column_list *l, enum column_id id, bool hidden, int width)
{
	l->at[l->nr++] = (struct column_choice){ .id = id, .hidden = hidden, .width = width };
}

/* Adds the metrics that are not in the list yet. */
static void put_metrics(struct column_list *l, enum table table, bool hidden)
{
	for (int f = 0; f < METRIC_COUNT; f++)
		if (column_in_table(f, table) && !list_find(l, f))
			list_put(l, f, hidden || metrics[f].drop == DROP_HIDDEN, 0);
}

const char *columns_parse(struct column_list *l, enum table table, const char *text, char *buf,
			  size_t size)
{
	struct column_list list = { .nr = 0 };
	char word[64];
	int n;

	for (; sscanf(text, " %63s%n", word, &n) == 1; text += n) {
		bool hidden = *word == '-', asked = *word == '+';
		char *width = strchr(word, ':'), *end = "";
		enum column_id id;
		long cells = 0;

		if (width) {
			*width++ = '\0';
			cells = strtol(width, &end, 10);
		}
		if (!strcmp(word, "@")) {
			put_metrics(&list, table, false);
			continue;
		}
		id = column_find(word + (hidden || asked));
		if (id == COLUMN_COUNT || !column_in_table(id, table)) {
			snprintf(buf, size, "no such column in %s: systop(8) lists them", table_names[table]);
			return buf;
		}
		if (width && (*end || cells < 1 || cells > 200)) {
			snprintf(buf, size, "a width in %s is 1 to 200", table_names[table]);
			return buf;
		}
		if (!list_find(&list, id))
			list_put(&list, id, hidden, cells);
		list_find(&list, id)->asked |= asked;
	}
	for (enum column_id id = COLUMN_METRICS; id < COLUMN_COUNT; id++)
		if (column_in_table(id, table) && !list_find(&list, id))
			list_put(&list, id, true, 0);
	put_metrics(&list, table, true);
	*l = list;
	return NULL;
}

/* The shortest name that column_find() accepts, as lines of the config file have at most 200 characters. */
static void short_name(enum column_id id, char *buf, size_t size)
{
	const char *name = id < COLUMN_METRICS ? metrics[id].stem : column_info(id).name;

	if (!strncmp(name, "switches_", 9))
		name += 9;
	snprintf(buf, size, "%s", name);
	if (column_find(buf) != id) /* another column has that name */
		snprintf(buf, size, "%s", column_info(id).name);
}

void columns_print(const struct column_list *l, char *buf, size_t size)
{
	int nr = l->nr;

	*buf = '\0';
	while (nr && l->at[nr - 1].hidden)
		nr--;
	for (int i = 0; i < nr; i++) {
		const struct column_choice *c = &l->at[i];
		char name[32];

		short_name(c->id, name, sizeof(name));
		text_add(buf, size, "%s%s%s", *buf ? " " : "", c->hidden ? "-" : c->asked ? "+" : "", name);
		if (c->width)
			text_add(buf, size, ":%d", c->width);
	}
}

void columns_default(struct column_list *l, enum table table)
{
	char error[64];

	columns_parse(l, table, defaults[table], error, sizeof(error));
}

/* --- Sorting */

bool column_descends(enum column_id id)
{
	return id < COLUMN_METRICS || id == COLUMN_THREADS || id == COLUMN_CPU_TIME || id == COLUMN_MEMORY;
}

const struct cmdline *column_cmdline(const struct row *r)
{
	return r->process ? cmdline_shown(r->process) : NULL;
}

uint64_t column_cpu_time(const struct row *r)
{
	return r->thread ? r->thread->cpu_ns : r->process ? r->process->cpu_ns : 0;
}

uint64_t column_memory(const struct row *r)
{
	return row_value(r, r->kind == ROW_CGROUP ? METRIC_MEMORY : METRIC_RSS);
}

static int64_t row_number(const struct row *r, enum column_id by, bool own)
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
		return -(int64_t)(own ? r->own_threads : r->nr_threads);
	case COLUMN_CPU_TIME:
		return -(int64_t)column_cpu_time(r);
	default:
		return r->number; /* the tie by number or path decides */
	}
}

const char *column_owner(enum column_id id, const struct row *r)
{
	switch (id) {
	case COLUMN_OWNER:
		return owner_text(r->cgroup);
	case COLUMN_CONTAINER:
		return owner_container(r->cgroup);
	case COLUMN_POD:
		return owner_pod(r->cgroup);
	case COLUMN_UNIT:
		return owner_unit(r->cgroup);
	default:
		return NULL;
	}
}

static int compare_text(const struct row *a, const struct row *b, enum column_id by)
{
	const char *x = column_owner(by, a), *y = column_owner(by, b);

	if (x && y)
		return strcmp(x, y);
	if ((by == COLUMN_CGROUP || by == COLUMN_TREE) && a->cgroup && b->cgroup)
		return strcmp(a->cgroup->path, b->cgroup->path);
	return by == COLUMN_COMM || by == COLUMN_COMMAND ? strncmp(row_comm(a), row_comm(b), 16) : 0;
}

/* Compares command lines; a row without one has its name instead, so that any two rows are compared by the same rule. */
static int compare_commands(const struct row *a, const struct row *b)
{
	const struct cmdline *x = column_cmdline(a), *y = column_cmdline(b);
	const char *of_a = x && x->len ? x->text : row_comm(a), *of_b = y && y->len ? y->text : row_comm(b);
	size_t len_a = x && x->len ? x->len : strlen(of_a), len_b = y && y->len ? y->len : strlen(of_b);
	int order = memcmp(of_a, of_b, len_a < len_b ? len_a : len_b);

	return order ? order : (int)len_a - (int)len_b;
}

bool sorting_before(const void *x, const void *y, const void *arg)
{
	const struct row *a = x, *b = y;
	const struct sorting *s = arg;
	const struct values *of_a, *of_b;
	uint64_t va, vb;
	int64_t order;

	if (s->by >= COLUMN_METRICS && s->by != COLUMN_MEMORY) {
		if (!column_owner(s->by, a) != !column_owner(s->by, b))
			return column_owner(s->by, a);
		order = s->by == COLUMN_COMMAND && s->form != CMDLINE_NAME ? compare_commands(a, b) : 0;
		if (!order)
			order = compare_text(a, b, s->by);
		if (!order)
			order = row_number(a, s->by, s->own) - row_number(b, s->by, s->own);
		return s->inverted ? order > 0 : order < 0;
	}
	of_a = s->own ? a->own : a->values;
	of_b = s->own ? b->own : b->values;
	/* All idle rows share the same memory. */
	if (of_a == of_b && s->by != COLUMN_MEMORY && metric_of_threads((enum metric_id)s->by))
		return false;
	va = s->by == COLUMN_MEMORY ? column_memory(a) : row_value_of(a, (enum metric_id)s->by, s->own);
	vb = s->by == COLUMN_MEMORY ? column_memory(b) : row_value_of(b, (enum metric_id)s->by, s->own);
	if (va == VALUE_NA || vb == VALUE_NA)
		return va != VALUE_NA && vb == VALUE_NA;
	return s->inverted ? va < vb : va > vb;
}

/* --- Places */

/* Length of the kernel's names, unless escaped. */
#define COMM_WIDTH 16

/* A command line has at least a fifth of a wide screen, and 26 cells of one of 80; on a narrower screen it has a cell
 * less for each cell that is missing, so that a wider screen never shows fewer columns. */
#define COMMAND_PART 5
#define COMMAND_WIDTH 26

static bool is_name(enum column_id id)
{
	return id == COLUMN_COMM || id == COLUMN_COMMAND;
}

/* The minimum width of a column, unless a smaller one was set. */
static int narrowest(const struct column_choice *c, const struct column_context *context, int width)
{
	struct column_info info = column_info(c->id);

	if (c->id < COLUMN_METRICS && context->units != UNITS_SHARE && info.min < 6)
		return 6;
	if (c->id == COLUMN_BAR && width >= 60)
		return 14;
	if (c->id == COLUMN_COMMAND && width / COMMAND_PART > COMMAND_WIDTH)
		return width / COMMAND_PART;
	if (is_name(c->id) && !context->tree && width > 60) {
		int most = c->id == COLUMN_COMMAND ? COMMAND_WIDTH : COMM_WIDTH;

		return width - 60 + info.min < most ? width - 60 + info.min : most;
	}
	if ((c->id == COLUMN_TREE || (is_name(c->id) && context->tree)) && width >= 60)
		return 26;
	return info.min;
}

static int widest(const struct column_choice *c)
{
	return c->width ? c->width : column_info(c->id).max;
}

/* Selects columns by importance while they fit. Returns the room left. Stops at the first column that does not fit,
 * so that no column displaces a more important one. */
static int take(bool *taken, int *widths, const struct column_list *l, int width, int *pan,
		const struct column_context *context)
{
	int left = width - 1;

	for (int i = 0; i < l->nr; i++) {
		widths[i] = narrowest(&l->at[i], context, width);
		if (l->at[i].width && widths[i] > l->at[i].width)
			widths[i] = l->at[i].width;
	}
	for (int drop = 0; drop <= DROP_HIDDEN; drop++) {
		for (int i = 0; i < l->nr; i++) {
			const struct column_choice *c = &l->at[i];
			int importance = column_info(c->id).drop;

			if (c->asked && importance > 1)
				importance = 1;
			if (c->id == context->sorting->by)
				importance = 0;
			if ((c->hidden && c->id != context->sorting->by) || taken[i] || importance != drop)
				continue;
			if (drop && *pan) {
				--*pan;
				continue;
			}
			if (widths[i] > left)
				return left;
			taken[i] = true;
			left -= widths[i] + 1;
		}
		/* A width that was set takes room from less important columns, if the screen is wide enough. */
		for (int i = 0; i < l->nr; i++) {
			int more = l->at[i].width - widths[i];

			if (!taken[i] || more <= 0 || more > left + 1)
				continue;
			widths[i] += more;
			left -= more;
		}
	}
	return left;
}

void columns_place(struct columns *c, const struct column_list *l, int width, int pan,
		   const struct column_context *context)
{
	bool taken[COLUMN_COUNT] = { false };
	int widths[COLUMN_COUNT];
	int rest = pan, left = take(taken, widths, l, width, &rest, context), x = 1;
	bool grown = true;

	/* The remaining width goes to a thread's name, then in turn to all columns that can use it. */
	for (int i = 0; i < l->nr; i++) {
		if (!taken[i] || !is_name(l->at[i].id))
			continue;
		for (; left > 0 && widths[i] < COMM_WIDTH && widths[i] < widest(&l->at[i]); left--)
			widths[i]++;
	}
	while (left > 0 && grown) {
		grown = false;
		for (int i = 0; i < l->nr && left > 0; i++) {
			if (!taken[i] || widths[i] >= widest(&l->at[i]))
				continue;
			widths[i]++;
			left--;
			grown = true;
		}
	}
	c->nr = 0;
	c->pan = pan - rest;
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
