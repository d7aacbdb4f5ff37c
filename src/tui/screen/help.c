/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/screen/screen_state.h"

#include "model/health.h"
#include "tui/widget/columns.h"
#include "util/text.h"

#define KEYS_WIDTH 14
#define NAME_WIDTH 18

static int title(const struct paint *p, int y, const char *text)
{
	paint_text(p, y, 0, p->width, ROLE_SORTED, text);
	return y + 1;
}

/* A name and what it means. Returns the next line. */
static int item(const struct paint *p, int y, const char *name, const char *help)
{
	paint_text(p, y, 1, KEYS_WIDTH, ROLE_TEXT, name);
	return paint_wrapped(p, y, KEYS_WIDTH + 2, help);
}

/* The groups of keys, in order. Keys of one kind of view are in HERE where they apply, and in their own group elsewhere. */
enum group { GROUP_HERE, GROUP_MOVE, GROUP_VIEWS, GROUP_TABLES, GROUP_FLAME, GROUP_LATENCY, GROUP_OTHERS, GROUP_TIME, GROUP_SAVE,
	     GROUP_SYSTOP, GROUP_COUNT };

static const char *const group_titles[GROUP_COUNT] = {
	[GROUP_HERE] = "Keys here",        [GROUP_MOVE] = "To move",
	[GROUP_VIEWS] = "Views",           [GROUP_TABLES] = "In tables of threads, processes and cgroups",
	[GROUP_FLAME] = "In flamegraphs",  [GROUP_LATENCY] = "In Latency",
	[GROUP_OTHERS] = "In other views", [GROUP_TIME] = "To pause and go back in time",
	[GROUP_SAVE] = "To save",          [GROUP_SYSTOP] = "systop itself",
};

static bool shows_view(enum action a)
{
#define VIEW_SHOWS(arg, id, ...) || a == ACTION_##id
	return false BASE_VIEWS(VIEW_SHOWS, );
#undef VIEW_SHOWS
}

static enum group group_of(enum action a)
{
	int places = actions[a].places;

	if (shows_view(a))
		return GROUP_VIEWS;
	switch (a) {
	case ACTION_DOWN ... ACTION_PAN_RIGHT:
		return GROUP_MOVE;
	case ACTION_NEXT:
	case ACTION_PREVIOUS:
	case ACTION_CLOSE:
	case ACTION_BACK:
	case ACTION_ENTER:
	case ACTION_DETAIL:
	case ACTION_FLAME:
		return GROUP_VIEWS;
	case ACTION_PAUSE ... ACTION_LEAP_ON:
		return GROUP_TIME;
	case ACTION_SAVE:
	case ACTION_FLAME_EXPORT:
	case ACTION_WRITE:
		return GROUP_SAVE;
	default:
		break;
	}
	if (places == IN_GRAPH)
		return GROUP_FLAME;
	if (!(places & ~(IN_HEAT | IN_RANGE)))
		return GROUP_LATENCY;
	if (places & IN_TABLES && !(places & IN_TEXT) && places != IN_VIEWS)
		return GROUP_TABLES;
	return !(places & (places - 1)) ? GROUP_OTHERS : GROUP_SYSTOP;
}

/* Whether the keys of a group move to HERE where they apply. */
static bool of_views(enum group g)
{
	return g >= GROUP_TABLES && g <= GROUP_OTHERS;
}

/* @places: where the help was requested. */
static int draw_group(const struct paint *p, int y, const struct keymap *keymap, enum group g, int places)
{
	bool titled = false;

	for (int a = 0; a < ACTION_NONE; a++) {
		enum group of = group_of(a);

		if (of_views(of) && actions[a].places & places)
			of = GROUP_HERE;
		if (of != g)
			continue;
		if (!titled)
			y = title(p, y + !!y, group_titles[g]);
		titled = true;
		if (*keymap->keys[a])
			y = item(p, y, keymap->keys[a], actions[a].help);
	}
	return y;
}

static int draw_absent(const struct paint *p, int y)
{
	y = title(p, y + 1, "Keys of htop that differ here");
	for (const struct absent *k = htop_absent; k->keys; k++)
		y = item(p, y, k->keys, k->why);
	return y;
}

int help_draw(const struct paint *p, const struct keymap *keymap, int places, bool htop)
{
	int y = 0;

	for (int g = 0; g < GROUP_COUNT; g++)
		y = draw_group(p, y, keymap, g, places);
	if (htop)
		y = draw_absent(p, y);
	y = title(p, y + 1, "Columns");
	for (enum column_id id = 0; id < COLUMN_COUNT; id++) {
		struct column_info info = column_info(id);

		if (id >= COLUMN_METRICS || info.drop)
			y = item(p, y, info.title, info.help);
	}
	y = title(p, y + 1, "Filter");
	for (const struct filter_word *w = filter_words; w->form; w++)
		y = item(p, y, w->form, w->help);
	return y;
}

/* The width of the names of the section that begins with line @i. */
static int names_width(const struct paint *p, const struct health *h, size_t i)
{
	const char *section = h->lines[i].section;
	int width = NAME_WIDTH, most = p->width / 3;

	for (; i < h->nr && h->lines[i].section == section; i++) {
		int len = text_width(h->lines[i].name);

		width = len > width ? len : width;
	}
	return width < most || most < NAME_WIDTH ? width : most;
}

int health_draw(const struct paint *p, const struct health *h)
{
	static const enum role roles[] = { ROLE_GOOD, ROLE_WARN, ROLE_ALERT, ROLE_TEXT };
	static const char *const words[] = { "on", "degraded", "off", "" };
	const char *section = "";
	int y = 0, width = NAME_WIDTH;

	for (size_t i = 0; i < h->nr; i++) {
		const struct health_line *l = &h->lines[i];
		int x; /* computed, as paint_text() does not advance off the page */

		if (l->section != section) {
			section = l->section;
			y = title(p, y + !!y, section);
			width = names_width(p, h, i);
		}
		paint_text(p, y, 1, width, ROLE_TEXT, l->name);
		paint_text(p, y, width + 2, p->width, roles[l->verdict], words[l->verdict]);
		x = width + 2 + (*words[l->verdict] ? (int)strlen(words[l->verdict]) + 1 : 0);
		if (*l->text)
			y = paint_wrapped(p, y, x, l->text);
		else
			y++;
	}
	return y;
}
