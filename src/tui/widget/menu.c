/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/widget/menu.h"

#include <stdio.h>
#include <string.h>

/* Lines above the items: the title and the keys. */
#define MENU_HEAD 2

void menu_close(struct menu *m)
{
	if (m->kind == &menu_themes)
		snprintf(m->settings->theme, sizeof(m->settings->theme), "%s", m->theme);
	m->kind = NULL;
}

void menu_open(struct menu *m, const struct menu_kind *kind)
{
	menu_close(m);
	m->kind = kind;
	m->cursor = kind->now ? kind->now(m) : 0;
	m->chosen = -1;
	m->pager = (struct pager){ 0 };
}

void menu_draw(struct menu *m, const struct paint *p, int top, int height)
{
	int nr = m->kind->nr(m);
	struct paint page;

	m->width = p->width;
	paint_clear(p, top, 0);
	paint_text(p, top, 0, p->width, ROLE_SORTED, m->kind->title);
	paint_clear(p, top + 1, 0);
	paint_text(p, top + 1, 0, p->width, ROLE_DIM, m->kind->help);
	top += MENU_HEAD;
	height -= MENU_HEAD;
	if (m->cursor < m->pager.at)
		m->pager.at = m->cursor;
	if (m->cursor >= m->pager.at + height)
		m->pager.at = m->cursor - height + 1;
	page = pager_begin(&m->pager, p, top, height);
	for (int i = 0; i < nr; i++) {
		enum role role = i == m->cursor ? ROLE_SELECTED : ROLE_TEXT;
		char text[512];
		int x;

		m->kind->text(m, i, text, sizeof(text));
		x = paint_format(&page, i, 0, role, "%c %s", i == m->cursor ? '>' : ' ', text);
		if (i == m->cursor) /* the whole line */
			paint_format(&page, i, x, role, "%*s", p->width - x, "");
	}
	pager_end(&m->pager, nr);
}

bool menu_act(struct menu *m, enum action a)
{
	int nr = m->kind->nr(m), page = m->pager.height > 1 ? m->pager.height - 1 : 1;

	if (pager_move(a, page, nr - 1, &m->cursor))
		return true;
	switch (a) {
	case ACTION_BACK:
	case ACTION_CLOSE:
		menu_close(m);
		return true;
	case ACTION_ENTER:
	case ACTION_PAUSE:
	case ACTION_SORT_LEFT:
	case ACTION_SORT_RIGHT:
	case ACTION_FOLD:
	case ACTION_UNFOLD:
	case ACTION_CLEAR:
		if (m->kind->act(m, m->cursor, a))
			m->kind = NULL;
		return true;
	default:
		return false;
	}
}

/* --- Sorting */

/* The @i-th sortable column. */
static enum column_id sortable(const struct menu *m, int i)
{
	const struct column_list *l = &m->settings->columns[m->table];

	for (int at = 0; at < l->nr; at++)
		if (l->at[at].id != COLUMN_BAR && l->at[at].id != COLUMN_PAST && !i--)
			return l->at[at].id;
	return COLUMN_COUNT;
}

static int sort_nr(const struct menu *m)
{
	int nr = 0;

	while (sortable(m, nr) != COLUMN_COUNT)
		nr++;
	return nr;
}

static void sort_text(const struct menu *m, int i, char *buf, size_t size)
{
	struct column_info info = column_info(sortable(m, i));

	snprintf(buf, size, "%-9s %s", info.title, info.help);
}

static bool sort_act(struct menu *m, int i, enum action a)
{
	if (a != ACTION_ENTER)
		return false;
	m->settings->sorting.by = sortable(m, i);
	m->settings->sorting.inverted = false;
	return true;
}

static int sort_now(const struct menu *m)
{
	int i = 0;

	while (sortable(m, i) != m->settings->sorting.by && sortable(m, i) != COLUMN_COUNT)
		i++;
	return sortable(m, i) != COLUMN_COUNT ? i : 0; /* another table's column */
}

const struct menu_kind menu_sort = {
	.title = "Sort by",
	.help = "Enter chooses, Esc cancels",
	.nr = sort_nr,
	.text = sort_text,
	.act = sort_act,
	.now = sort_now,
};

/* --- Columns */

static int columns_nr(const struct menu *m)
{
	return m->settings->columns[m->table].nr;
}

static void columns_text(const struct menu *m, int i, char *buf, size_t size)
{
	const struct column_choice *c = &m->settings->columns[m->table].at[i];
	struct column_info info = column_info(c->id);
	char width[16] = "auto";

	if (c->width)
		snprintf(width, sizeof(width), "%d", c->width);
	snprintf(buf, size, "[%c] %-9s %4s  %s", c->hidden ? ' ' : 'x', info.title, width, info.help);
}

/* Moves item @i by @by places, and the cursor with it. */
static void shift(struct menu *m, int i, int by)
{
	struct column_list *l = &m->settings->columns[m->table];
	struct column_choice c = l->at[i];

	if (i + by < 0 || i + by >= l->nr)
		return;
	l->at[i] = l->at[i + by];
	l->at[i + by] = c;
	m->cursor += by;
}

/* The width that a column has on this screen; its minimum width if it is not shown. */
static int shown_width(const struct menu *m, enum column_id id)
{
	const struct column_context context = { .units = m->settings->units, .tree = m->table == TABLE_TREE,
						.sorting = &m->settings->sorting };
	struct columns c;

	columns_place(&c, &m->settings->columns[m->table], m->width, 0, &context);
	for (int i = 0; i < c.nr; i++)
		if (c.at[i].id == id)
			return c.at[i].width;
	return column_info(id).min;
}

/* A width below 1 is automatic. */
static void widen(const struct menu *m, struct column_choice *c, int by)
{
	int width = (c->width ? c->width : shown_width(m, c->id)) + by;

	c->width = width < 1 ? 0 : width > 200 ? 200 : width;
}

static bool columns_act(struct menu *m, int i, enum action a)
{
	struct column_list *l = &m->settings->columns[m->table];

	switch (a) {
	case ACTION_PAUSE:
	case ACTION_ENTER:
		l->at[i].hidden = !l->at[i].hidden;
		l->at[i].asked = !l->at[i].hidden;
		break;
	case ACTION_SORT_LEFT:
		shift(m, i, -1);
		break;
	case ACTION_SORT_RIGHT:
		shift(m, i, 1);
		break;
	case ACTION_UNFOLD:
		widen(m, &l->at[i], 1);
		break;
	case ACTION_FOLD:
		widen(m, &l->at[i], -1);
		break;
	default:
		columns_default(l, m->table);
	}
	return false;
}

const struct menu_kind menu_columns = {
	.title = "Columns",
	.help = "Space show or hide   < > move   + - width, below 1 auto   = default   Esc done",
	.nr = columns_nr,
	.text = columns_text,
	.act = columns_act,
};

/* --- Themes */

static int themes_nr(const struct menu *m)
{
	int nr = 0;

	(void)m;
	while (theme_builtin(nr))
		nr++;
	return nr;
}

static void themes_text(const struct menu *m, int i, char *buf, size_t size)
{
	snprintf(buf, size, "%s%s", theme_builtin(i),
		 strcmp(theme_builtin(i), m->settings->theme) ? "" : "  (this one)");
}

static bool themes_act(struct menu *m, int i, enum action a)
{
	snprintf(m->settings->theme, sizeof(m->settings->theme), "%s", theme_builtin(i));
	return a == ACTION_ENTER;
}

static int themes_now(const struct menu *m)
{
	for (int i = 0; i < themes_nr(m); i++)
		if (!strcmp(theme_builtin(i), m->settings->theme))
			return i;
	return 0; /* a file's */
}

const struct menu_kind menu_themes = {
	.title = "Theme",
	.help = "Space tries it, Enter takes it, Esc goes back to the one before",
	.nr = themes_nr,
	.text = themes_text,
	.act = themes_act,
	.now = themes_now,
};

/* --- Options */

enum option { OPTION_COLUMNS, OPTION_SORT, OPTION_THEME, OPTION_UNITS, OPTION_MOUSE, OPTION_IDLE,
	      OPTION_KTHREADS, OPTION_COUNT };

static int options_nr(const struct menu *m)
{
	(void)m;
	return OPTION_COUNT;
}

static void options_text(const struct menu *m, int i, char *buf, size_t size)
{
	static const char *const units[UNITS_COUNT] = { "% of the interval", "time", "per second" };
	const struct settings *s = m->settings;

	switch (i) {
	case OPTION_COLUMNS:
		snprintf(buf, size, "columns of %s ...", table_names[m->table]);
		break;
	case OPTION_SORT:
		snprintf(buf, size, "sort by: %s ...", column_info(s->sorting.by).title);
		break;
	case OPTION_THEME:
		snprintf(buf, size, "theme: %s ...", s->theme);
		break;
	case OPTION_UNITS:
		snprintf(buf, size, "units: %s", units[s->units]);
		break;
	case OPTION_MOUSE:
		snprintf(buf, size, "mouse: %s", s->mouse ? "on" : "off");
		break;
	case OPTION_IDLE:
		snprintf(buf, size, "idle rows: %s", s->hide_idle ? "hidden" : "shown");
		break;
	default:
		snprintf(buf, size, "kernel threads: %s", s->hide_kthreads ? "hidden" : "shown");
	}
}

static bool options_act(struct menu *m, int i, enum action a)
{
	struct settings *s = m->settings;

	if (a != ACTION_ENTER && a != ACTION_PAUSE)
		return false;
	switch (i) {
	case OPTION_COLUMNS:
		menu_open(m, &menu_columns);
		break;
	case OPTION_SORT:
		menu_open(m, &menu_sort);
		break;
	case OPTION_THEME:
		snprintf(m->theme, sizeof(m->theme), "%s", s->theme);
		menu_open(m, &menu_themes);
		break;
	case OPTION_UNITS:
		s->units = (s->units + 1) % UNITS_COUNT;
		break;
	case OPTION_MOUSE:
		s->mouse = !s->mouse;
		break;
	case OPTION_IDLE:
		s->hide_idle = !s->hide_idle;
		break;
	default:
		s->hide_kthreads = !s->hide_kthreads;
	}
	return false;
}

const struct menu_kind menu_options = {
	.title = "Options",
	.help = "Enter changes it, Esc leaves; W keeps all this in the config file",
	.nr = options_nr,
	.text = options_text,
	.act = options_act,
};
