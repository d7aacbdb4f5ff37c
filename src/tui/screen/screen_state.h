/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_TUI_SCREEN_SCREEN_STATE_H
#define SYSTOP_TUI_SCREEN_SCREEN_STATE_H

/* What the files of the screen share: screen.c (views, time), screen_keys.c, screen_draw.c. */

#include "model/tick.h"
#include "query/filter.h"
#include "query/stack_quality.h"
#include "tui/screen/screen.h"
#include "tui/screen/view.h"
#include "tui/term/paint.h"
#include "tui/widget/menu.h"
#include "tui/widget/pager.h"
#include "tui/widget/prompt.h"

#define SCREEN_WIDTH_MIN 40
#define SCREEN_HEIGHT_MIN 10

#define DEPTH_MAX 8

/* A line of VIEWS. */
struct screen_view {
	const struct view *view;
	enum action action;     /* that shows it; ACTION_NONE: others open it */
	const char *tab;
	const char *crumb;      /* stands behind the name of what it shows, on the way back */
};

extern const struct screen_view screen_views[VIEW_COUNT];

/* A view that is open, and of what. */
struct place {
	enum view_id id;
	const struct view *view; /* of it */
	void *state;
	struct subject within;
	char name[256]; /* of it, for the way back */
};

/* What stands in place of the view for a while. */
enum overlay { OVERLAY_NONE, OVERLAY_HELP, OVERLAY_HEALTH };

struct screen {
	const struct host *host;
	struct settings settings;
	struct place base[VIEW_BASES];
	int current;                   /* base */
	struct place deeper[DEPTH_MAX];
	int depth;
	const struct tick *shown, *newest; /* held */
	bool paused;
	bool changed;                  /* since the view was brought up to date */
	uint64_t names;                /* generation of the names that were known then */
	struct stack_quality stacks;   /* of what ran in the refresh that is shown */
	struct stack_names stack_names;

	enum overlay overlay;
	struct pager overlay_pager;
	struct menu menu;
	struct prompt prompt;
	char search[256], search_before[256];
	struct filter *filter;
	char filter_text[256];
	char notice[256];

	const struct paint *paint;     /* of the last drawing, and its size */
	int width, height;
};

/* screen_here - the view that is shown, and of what. screen_context - what it works on. */
struct place *screen_here(struct screen *s);
struct view_context screen_context(struct screen *s, uint64_t now_ns);
bool screen_too_small(const struct paint *p);

/* screen_update - brings the view up to date, if anything changed since. */
void screen_update(struct screen *s, uint64_t now_ns);

/* screen_places - where the next key is meant for: enum place_kind bits. */
int screen_places(struct screen *s);

/* screen_selected - the selected row, NULL: none. */
const struct row *screen_selected(struct screen *s);

/* screen_open - what @a opens here: the view's own, or by the selected row. Returns whether it may open anything.
 * screen_go_to - another of the views that are always there, with the selection on what was selected here. */
bool screen_open(struct screen *s, enum action a, uint64_t now_ns);
void screen_go_to(struct screen *s, int to, uint64_t now_ns);

/* screen_back - returns whether there was something to go back from. */
bool screen_back(struct screen *s);

/* screen_pause - or go on; screen_step - so many refreshes on, or back. */
void screen_pause(struct screen *s);
void screen_step(struct screen *s, int64_t by);

/* screen_filter - returns false, and @error, if it cannot be understood. */
bool screen_filter(struct screen *s, const char *text, struct filter_error *error);

#endif
