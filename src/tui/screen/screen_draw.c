/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <string.h>

#include "model/health.h"
#include "tui/screen/header.h"
#include "tui/screen/screen_state.h"
#include "util/text.h"

static void draw_too_small(const struct screen *s, const struct paint *p)
{
	char text[64];
	int x, y = p->height / 2;

	snprintf(text, sizeof(text), "%dx%d needed, have %dx%d", SCREEN_WIDTH_MIN, SCREEN_HEIGHT_MIN, p->width,
		 p->height);
	x = (p->width - (int)strlen(text)) / 2;
	paint_clear_lines(p, 0, p->height);
	if (y) /* the host's name is shown even then */
		paint_format(p, 0, 0, ROLE_TEXT, "systop %s", s->host->name);
	paint_wrapped(p, y, x > 0 ? x : 0, text);
}

/* "[1:Threads] 2:Cgroups 3:Flame", or "[1:Threads] 2 3" unless @named; only the present one where the way back is
 * shown. */
static void views_text(struct screen *s, bool named, char *buf, size_t size)
{
	*buf = '\0';
	for (int i = 0; i < VIEW_BASES; i++) {
		const char *keys = s->settings.keymap.keys[screen_views[i].action];
		bool here = i == s->current, name = named || here;

		if ((s->depth && !here) || (!name && !*keys))
			continue;
		text_add(buf, size, "%s%s%.*s%s%s%s", *buf ? " " : "", here ? "[" : "", (int)strcspn(keys, " "), keys,
			 *keys && name ? ":" : "", name ? screen_views[i].tab : "", here ? "]" : "");
	}
}

static void crumbs_text(struct screen *s, char *buf, size_t size)
{
	*buf = '\0';
	for (int i = 0; i < s->depth; i++)
		text_add(buf, size, "> %s%s ", s->deeper[i].name, screen_views[s->deeper[i].id].crumb);
}

/* "RUN% desc". If the table lacks the column, all rows are equal, and are in the order of their numbers or paths. */
static void sorted_text(const struct screen *s, enum table table, char *buf, size_t size)
{
	static const char *const id_titles[TABLE_COUNT] = { "TID", "PID", "PID", "path" };
	const struct sorting *o = &s->settings.sorting;
	const struct column_context context = { .tick = s->shown, .units = s->settings.units, .sorting = o };
	bool has = column_in_table(o->by, table);
	char title[32];

	columns_title(has ? o->by : COLUMN_ID, id_titles[table], &context, title, sizeof(title));
	snprintf(buf, size, "%s %s", title, has && column_descends(o->by) != o->inverted ? "desc" : "asc");
}

static void draw_overlay(struct screen *s, const struct paint *p, int top, int height)
{
	const struct open_view *open = screen_here(s);
	struct health health = { 0 };
	int lines;

	if (s->overlay == OVERLAY_HEALTH)
		s->host->health(s->host->arg, &health);
	do {
		struct paint page = pager_begin(&s->overlay_pager, p, top, height);

		lines = s->overlay == OVERLAY_HEALTH ? health_draw(&page, &health)
						     : help_draw(&page, &s->settings.keymap,
								 1 << open->id | (open->view->search ? IN_SEARCH : 0),
								 s->settings.preset == PRESET_HTOP);
	} while (pager_end(&s->overlay_pager, lines));
	health_fini(&health);
}

/* "left out, see !: samples/4, waits" */
static void shed_text(const struct tick *t, const char *health_keys, char *buf, size_t size)
{
	if (t && t->self.nr_shed)
		snprintf(buf, size, "left out, see %.*s: ", (int)strcspn(health_keys, " "), health_keys);
	for (int i = 0; t && i < t->self.nr_shed; i++)
		text_add(buf, size, "%s%s", i ? ", " : "", t->self.shed[i]);
}

static void draw_footer(struct screen *s, const struct paint *p, const struct view_context *c)
{
	const struct open_view *open = screen_here(s);
	bool table = 1 << open->id & IN_TABLES;
	const char *health_keys = s->settings.keymap.keys[ACTION_HEALTH];
	char status[256], sorted[40] = "", alert[128] = "";
	struct footer f = {
		.status = status,
		.sorted = sorted,
		.filter = table ? s->filter_text : "",
		.legend = open->view->legend,
		.notice = s->notice,
		.alert = alert,
		.keymap = &s->settings.keymap,
		.places = s->menu.kind ? IN_TEXT : screen_places(s), /* a menu shows its keys itself */
		.top = !s->depth && !s->overlay && !s->menu.kind && !screen_searching(s),
	};

	open->view->status(open->state, c, status, sizeof(status));
	if (s->prompt.title) {
		prompt_draw(&s->prompt, p, p->height - FOOTER_LINES, *s->notice ? ROLE_ALERT : ROLE_DIM,
			    *s->notice ? s->notice : status);
		return;
	}
	if (s->host->without_starter(s->host->arg))
		snprintf(alert, sizeof(alert), "no saving, no new helpers: see %.*s", (int)strcspn(health_keys, " "),
			 health_keys);
	else
		shed_text(s->newest, health_keys, alert, sizeof(alert));
	if (table)
		sorted_text(s, open->view->table(open->state), sorted, sizeof(sorted));
	footer_draw(&f, p);
}

static void draw_all(struct screen *s, const struct paint *p, uint64_t now_ns)
{
	struct view_context c = screen_context(s, now_ns);
	char views[128], crumbs[2048], help_key[16];
	struct header h = {
		.host = s->host,
		.tick = s->shown,
		.newest = s->newest,
		.stacks = &s->stacks,
		.interval_ns = s->settings.delay_ns,
		.paused = s->paused,
		.views = views,
		.crumbs = crumbs,
		.help_key = help_key,
	};

	views_text(s, true, views, sizeof(views));
	if (text_width(views) > p->width)
		views_text(s, false, views, sizeof(views));
	crumbs_text(s, crumbs, sizeof(crumbs));
	keymap_key(&s->settings.keymap, ACTION_HELP, screen_places(s), help_key, sizeof(help_key));
	header_draw(&h, p);
	if (s->overlay)
		draw_overlay(s, p, c.top, c.height);
	else if (s->menu.kind)
		menu_draw(&s->menu, p, c.top, c.height);
	else
		screen_here(s)->view->draw(screen_here(s)->state, &c);
	draw_footer(s, p, &c);
}

void screen_draw(struct screen *s, const struct paint *p, uint64_t now_ns)
{
	s->changed |= s->paint != p || s->width != p->width || s->height != p->height;
	s->paint = p;
	s->width = p->width;
	s->height = p->height;
	if (screen_too_small(p)) {
		draw_too_small(s, p);
		return;
	}
	if (!s->shown)
		return;
	screen_update(s, now_ns);
	draw_all(s, p, now_ns);
}
