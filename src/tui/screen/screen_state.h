/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_TUI_SCREEN_SCREEN_STATE_H
#define SYSTOP_TUI_SCREEN_SCREEN_STATE_H

/* Shared by the files of the screen: screen.c (views, time), screen_keys.c, screen_draw.c, help.c (texts that replace the view). */

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
	enum action action;     /* shows the view; ACTION_NONE: others open it */
	const char *tab;
	const char *crumb;      /* text after the name of its subject, on the way back */
};

extern const struct screen_view screen_views[VIEW_COUNT];

/* An open view and its subject. */
struct open_view {
	enum view_id id;
	const struct view *view; /* of it */
	void *state;
	struct subject within;
	char name[128]; /* name of the subject, for the way back */
};

/* What replaces the view temporarily. */
enum overlay { OVERLAY_NONE, OVERLAY_HELP, OVERLAY_HEALTH };

struct screen {
	const struct host *host;
	struct settings settings;
	struct open_view base[VIEW_BASES];
	int current;                   /* base */
	struct open_view deeper[DEPTH_MAX];
	int depth;
	const struct tick *shown, *newest; /* held */
	uint64_t nr_shown;             /* ticks that were shown */
	bool paused;
	bool changed;                  /* something changed since the last update of the view: */
	uint64_t names;                /* the generation of the names at that update, */
	uint64_t updated_ns;           /* and its time */
	bool late;                     /* the view was updated again since the shown tick came */
	struct stack_quality stacks;   /* of what ran in the shown refresh */

	enum overlay overlay;
	struct pager overlay_pager;
	struct menu menu;
	struct prompt prompt;
	enum action asks;              /* what the prompt is for: ACTION_SEARCH, ACTION_FILTER or ACTION_DELAY */
	char search[PROMPT_SIZE], search_before[PROMPT_SIZE];
	struct filter *filter;
	char filter_text[PROMPT_SIZE];
	char notice[256];

	const struct paint *paint;     /* from the last drawing, with its size */
	int width, height;
};

/* screen_here - the shown view and its subject.
 * screen_context - what the view works on. */
struct open_view *screen_here(struct screen *s);
struct view_context screen_context(struct screen *s, uint64_t now_ns);
bool screen_too_small(const struct paint *p);

/* screen_update - brings the view up to date if anything changed. */
void screen_update(struct screen *s, uint64_t now_ns);

/* screen_searching - whether a search is active and the shown view has one.
 * screen_places - places of the next key: enum place_kind bits. */
bool screen_searching(struct screen *s);
int screen_places(struct screen *s);

/* screen_open - opens what @a opens here: through the view itself, or by the selected row. Returns whether @a can open
 * anything.
 * screen_go_to - switches to another base view, which selects what was selected here. */
bool screen_open(struct screen *s, enum action a, uint64_t now_ns);
void screen_go_to(struct screen *s, int to, uint64_t now_ns);

/* screen_back - returns whether there was a view to go back to. */
bool screen_back(struct screen *s);

/* screen_pause - pauses, or resumes.
 * screen_step - moves by @by refreshes; negative: back. */
void screen_pause(struct screen *s);
void screen_step(struct screen *s, int64_t by);

/* screen_filter - returns false, with @error, if the text is not a valid filter. */
bool screen_filter(struct screen *s, const char *text, struct filter_error *error);

/* help_draw - keys by purpose, those of @places (enum place_kind bits) first; columns and filter language; from
 * their tables. @htop: also the keys of htop that mean something else here.
 * health_draw - the state of all parts of systop. Both draw from line 0 of @p on, and return the line after the last one. */
int help_draw(const struct paint *p, const struct keymap *keymap, int places, bool htop);
int health_draw(const struct paint *p, const struct health *h);

#endif
