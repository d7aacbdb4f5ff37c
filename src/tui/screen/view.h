/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_TUI_SCREEN_VIEW_H
#define SYSTOP_TUI_SCREEN_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/sample.h"
#include "query/subject.h"
#include "tui/input/actions.h"
#include "tui/input/settings.h"

struct filter;
struct host;
struct paint;
struct tick;

/* Input of a view's functions; it draws on lines [top, top + height) of the paint. */
struct view_context {
	const struct tick *tick, *newest; /* the shown one, and the latest */
	uint64_t nr_shown;           /* number of ticks that were shown: while the screen is paused, history goes on, and a view
				      * that must not change keeps what it found in the past until this number changes */
	const struct paint *paint;
	struct settings *settings;
	const struct filter *filter; /* NULL: none */
	const char *search;          /* "": none */
	struct subject within;       /* the item that was opened, */
	const char *within_name;     /* and its name then, fit for a terminal */
	const struct host *host;
	uint64_t now_ns;             /* CLOCK_MONOTONIC */
	int top, height;
	void (*notice)(void *arg, const char *text); /* shows a text in the line above the keys */
	void *notice_arg;
};

/* A view that another one opens. */
struct opening {
	enum view_id view;
	struct subject within;
	char name[128];     /* name of its subject, for the way back; fit for a terminal */
	void (*init)(void *state, void *arg); /* initialises the new view's state; NULL: none needed */
	void *arg;          /* of init(), which frees it */
};

/* A view: immutable. Each opened view has a state of its own. Its line in VIEWS has the rest. update, draw, act, status and fini
 * are required, the others may be NULL. */
struct view {
	const char *legend; /* meaning of its marks, two blanks between those that may be left out; NULL: the legend of bars */
	size_t state_size; /* of its state, which is zeroed when it is opened */
	/* After a new tick, order or size: recomputes the rows. 0 or -ENOMEM. */
	int (*update)(void *state, const struct view_context *c);
	/* Draws over all of its lines: they still have what was there before. */
	void (*draw)(void *state, const struct view_context *c);
	/* Called before all other handlers. Returns whether the view handled the action; update and draw follow. */
	bool (*act)(void *state, enum action a, const struct view_context *c);
	/* Moves the selection to the next (1) or previous (-1) match of the search; 0: the present item may match, too.
	 * NULL: the view has no search. */
	void (*search)(void *state, int direction, const struct view_context *c);
	/* Views with a selection: a click on a cell of the paint. Returns whether it asks to open the row. */
	bool (*click)(void *state, const struct view_context *c, int y, int x);
	/* The left part of the status line: "16 of 1204 threads". */
	void (*status)(void *state, const struct view_context *c, char *buf, size_t size);
	/* The row that is selected or shown in detail, NULL: none; and, if rows are listed, a function that selects this row or
	 * the row it belongs to. */
	const struct row *(*selected)(void *state);
	void (*select)(void *state, const struct view_context *c, const struct row *r);
	/* enter - the action of Enter here; 0: it opens the row. flame - the first metric of a flamegraph opened from a row. */
	enum action enter;
	enum metric_id flame;
	/* What an action opens here, if that does not follow from the selected row (open_row()); NULL: it always
	 * does. Returns whether the view handled it; if @o still is VIEW_COUNT, nothing is opened. */
	bool (*open)(void *state, enum action a, const struct view_context *c, struct opening *o);
	/* Tables of rows only: table - the table whose columns are shown. show_as - switches to the form whose name is further
	 * name @way in VIEWS, from 1 on; NULL: there is only one form. */
	enum table (*table)(const void *state);
	void (*show_as)(void *state, int way);
	/* The selected time, CLOCK_BOOTTIME ns, to which a save is limited. Returns whether there is one now. NULL:
	 * the view has none. */
	bool (*selected_time)(void *state, const struct view_context *c, uint64_t *from, uint64_t *to);
	void (*fini)(void *state);
};

#define VIEW_OBJECT(arg, id, object, ...) extern const struct view view_##object;
VIEWS(VIEW_OBJECT, )
#undef VIEW_OBJECT

/* open_row - what Enter, detail and flamegraph open for a row; without a row, the flamegraph of everything. Returns
 * whether @a opens anything. */
bool open_row(enum action a, const struct row *r, struct opening *o);

/* view_flame_metric - chooses the metric that view_flame shows.
 * view_flame_from - also shows samples of @source instead of the last refreshes; free() frees @arg. @what: the subject of
 * these samples, "NET_RX on CPU 3"; @ticks: maximum number of refreshes. */
typedef int flame_source(void *arg, const struct view_context *c, uint64_t ticks, sample_fn *fn, void *fn_arg);
void view_flame_metric(void *state, enum metric_id metric);
void view_flame_from(void *state, enum metric_id metric, flame_source *source, void *arg, const char *what);

/* view_flame_found - @o opens view_flame with samples that @find adds to a list, once: the view keeps them, also after the
 * history has forgotten them. @arg: @size bytes, which are copied for @find; @what: for titles. Returns false if out of memory. */
struct sample_list;
typedef int samples_find(const void *arg, const struct view_context *c, struct sample_list *list);
bool view_flame_found(struct opening *o, enum metric_id metric, samples_find *find, const void *arg, size_t size,
		      const char *what);

/* view_range_open - @o opens view_range for this range. Returns false if out of memory. */
struct latency_range;
bool view_range_open(struct opening *o, const struct latency_range *r, const struct view_context *c);

void view_threads_processes(void *state, void *arg); /* for struct opening: shows processes, not their threads */

#endif
