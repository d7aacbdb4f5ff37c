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

/* What a view draws from and on: lines [top, top + height) of the paint. */
struct view_context {
	const struct tick *tick, *newest; /* the one shown, and the last one that came */
	const struct paint *paint;
	struct settings *settings;
	const struct filter *filter; /* NULL: none */
	const char *search;          /* "": none */
	struct subject within;       /* what was gone into */
	const struct host *host;
	uint64_t now_ns;             /* CLOCK_MONOTONIC */
	int top, height;
	void (*notice)(void *arg, const char *text); /* says something in the line above the keys */
	void *notice_arg;
};

/* A view that another one opens. */
struct opening {
	enum view_id view;
	struct subject within;
	char name[128];     /* of what it shows, for the way back; fit for a terminal */
	void (*init)(void *state, void *arg); /* of the new view's state; NULL: nothing is to be done */
	void *arg;          /* of this; it is init()'s to free */
};

/* A view: immutable; its state is its own, one for each time it is opened. Its line in VIEWS says the rest. */
struct view {
	const char *legend; /* what its marks mean; NULL: it draws bars */
	size_t state_size; /* zeroed at start */
	/* A new tick, another order, another size: puts the rows in place. 0 or -ENOMEM. */
	int (*update)(void *state, const struct view_context *c);
	void (*draw)(void *state, const struct view_context *c);
	/* Asked before all others. Returns whether the action was this view's; update and draw follow. */
	bool (*act)(void *state, enum action a, const struct view_context *c);
	/* Moves the selection to the next (1) or last (-1) match of the search; 0: which may be the present one.
	 * NULL: nothing can be found. */
	void (*search)(void *state, int direction, const struct view_context *c);
	/* Where something is selected. A click at a cell of the paint; returns whether it asks to go into the row. */
	bool (*click)(void *state, const struct view_context *c, int y, int x);
	/* The left part of the status line: "16 of 1204 threads". */
	void (*status)(void *state, const struct view_context *c, char *buf, size_t size);
	/* Tables only: the selected row, NULL: none; puts the selection on this or what it is of. */
	const struct row *(*selected)(void *state);
	void (*select)(void *state, const struct view_context *c, const struct row *r);
	/* What Enter is here, 0: it goes into the row. How a flamegraph that is opened by the row begins, NULL: as all. */
	enum action enter;
	void (*flame)(void *state, void *arg);
	/* What an action opens here, where it is not what the selected row says (open_row()); NULL: it always is.
	 * Returns whether it is the view's: nothing is opened where @o is left as it is, at VIEW_COUNT. */
	bool (*open)(void *state, enum action a, const struct view_context *c, struct opening *o);
	/* Tables of rows only: whose columns are shown. Shows them as the further name in VIEWS says, 1 is the first. */
	enum table (*table)(const void *state);
	void (*show_as)(void *state, int way);
	/* The time that is selected, CLOCK_BOOTTIME ns: only that is saved. NULL: there is never any. Returns whether
	 * there is now. */
	bool (*selected_time)(void *state, const struct view_context *c, uint64_t *from, uint64_t *to);
	void (*fini)(void *state);
};

#define VIEW_OBJECT(arg, id, object, ...) extern const struct view view_##object;
VIEWS(VIEW_OBJECT, )
#undef VIEW_OBJECT

/* open_row - where Enter leads from a row, what is everything about it, and its flamegraph: of all, without a row.
 * Returns whether @a leads anywhere. */
bool open_row(enum action a, const struct row *r, struct opening *o);

/* Which metric view_flame shows. view_flame_from - of samples that do not come from the last refreshes, but from
 * @source; @arg is freed by free(). @what: of which they are, "NET_RX on CPU 3". */
enum metric_id;
typedef int flame_source(void *arg, const struct view_context *c, sample_fn *fn, void *fn_arg);
void view_flame_runq(void *state, void *arg); /* for struct opening */
void view_flame_d(void *state, void *arg);
void view_flame_from(void *state, enum metric_id metric, flame_source *source, void *arg, const char *what);

/* view_flame_found - @o opens view_flame of samples that @find adds to a list, once: they are kept when they are
 * forgotten elsewhere. @arg: @size bytes that are copied for it; @what: for titles. Returns false if there is no
 * memory. */
struct sample_list;
typedef int samples_find(const void *arg, const struct view_context *c, struct sample_list *list);
bool view_flame_found(struct opening *o, enum metric_id metric, samples_find *find, const void *arg, size_t size,
		      const char *what);

/* view_range_open - @o opens view_range of this. Returns false if there is no memory. */
struct latency_range;
bool view_range_open(struct opening *o, const struct latency_range *r, const struct view_context *c);

void view_threads_processes(void *state, void *arg); /* for struct opening: processes, not their threads */

#endif
