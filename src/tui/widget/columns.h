/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_TUI_WIDGET_COLUMNS_H
#define SYSTOP_TUI_WIDGET_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>

#include "model/cmdline.h"
#include "model/metric.h"
#include "query/order.h"
#include "tui/term/theme.h"

struct paint;
struct row;
struct tick;
struct values;

/*
 * Columns other than metrics, whose columns follow from the table of metrics.
 * id, name in the config, title, smallest and largest width, drop priority (0: stays; the column with the highest
 * leaves a narrow screen first), aligned right, help
 */
#define TEXT_COLUMNS(_)                                                                            \
	_(ID,      "id",      "TID",     7,  7,  0, true,  "number of the thread (or process)")    \
	_(PID,     "pid",     "PID",     7,  7,  9, true,  "number of the thread's process")       \
	_(USER,    "user",    "USER",    8,  12, 7, false, "effective user")                       \
	_(STATE,   "state",   "S",       1,  1,  0, false, "R running q runqueue D D-state S sleep T stopped X dead, at the end of the interval") \
	_(OWNER,   "owner",   "UNIT/POD", 16, 40, 5, false, "what it belongs to: namespace/pod, else its container, else its unit") \
	_(CONTAINER, "container", "CONTAINER", 12, 40, 2, false, "name of its container, or the beginning of its id")    \
	_(POD,     "pod",     "POD",     16, 40, 2, false, "its pod: namespace/name, or its UID")  \
	_(UNIT,    "unit",    "UNIT",    13, 40, 2, false, "its systemd unit; in a container, the unit of the systemd in it")   \
	_(CGROUP,  "cgroup",  "CGROUP",  13, 40, 2, false, "cgroup")                               \
	_(TREE,    "tree",    "CGROUP",  16, 60, 0, false, "place in the tree")                    \
	_(THREADS, "threads", "THREADS", 7,  7,  4, true,  "number of threads")                    \
	_(BAR,     "bar",     "TIME",    8,  60, 0, false, "states as shares of the refresh; of several threads, as shares of all their time; blank: it did not exist")        \
	_(CPU_TIME, "cputime", "TIME+",  7,  7,  3, true,  "time on a CPU since the thread began, as of now; for a process, without threads that ended before systop began") \
	_(MEMORY,  "mem_share", "MEM%",  5,  5,  8, true,  "RSS of the process, or memory of the cgroup, in % of the host's") \
	_(CPU,     "cpu",     "CPU",     4,  4,  8, true,  "CPU it was last seen on, as of now")   \
	_(PAST,    "past",    "RUN 16",  16, 16, 8, false, "time on a CPU in the last 16 refreshes, the newest at the right") \
	_(COMM,    "comm",    "COMM",    10, 24, 0, false, "name")                                 \
	_(COMMAND, "command", "COMMAND", 10, 4096, 0, false, "command line, name, or both, which a key switches; takes the rest of the line")

/* Metrics come first, so that a metric's number is that of its column. */
enum column_id {
	COLUMN_METRICS = METRIC_COUNT,
	COLUMN_BEFORE_TEXT = COLUMN_METRICS - 1,
#define _(id, ...) COLUMN_##id,
	TEXT_COLUMNS(_)
#undef _
	COLUMN_COUNT
};

struct column_info {
	const char *name, *title, *help;
	int min, max, drop;
	bool right;
};

/* column_info - of any column.
 * column_find - by its name, or a metric's (metric.h); COLUMN_COUNT: none. */
struct column_info column_info(enum column_id id);
enum column_id column_find(const char *name);

/* column_sorts - whether rows can be sorted by it. */
bool column_sorts(enum column_id id);

enum table { TABLE_THREADS, TABLE_PROCESSES, TABLE_TREE, TABLE_CGROUPS, TABLE_COUNT };
extern const char *const table_names[TABLE_COUNT];

/* The columns of a table, in order. */
struct column_list {
	struct column_choice {
		enum column_id id;
		bool hidden;
		bool asked; /* requested by the user: among the last to leave a narrow screen */
		int width;  /* 0: chosen by the screen */
	} at[COLUMN_COUNT];
	int nr;
};

/* column_in_table - whether the table can show it. columns_default - the default columns of a table. */
bool column_in_table(enum column_id id, enum table table);
void columns_default(struct column_list *l, enum table table);

/*
 * columns_parse - "id +pid state cgroup:20 bar run -sleep": these in this order, with widths; - hides, + requests;
 * columns not named follow, hidden. Returns NULL, or the error in @buf.
 * columns_print - the same text from a list.
 */
const char *columns_parse(struct column_list *l, enum table table, const char *text, char *buf,
			  size_t size);
void columns_print(const struct column_list *l, char *buf, size_t size);

/* Display of times and counts: E switches it. */
enum units { UNITS_SHARE, UNITS_TIME, UNITS_RATE, UNITS_COUNT };
extern const char *const units_names[UNITS_COUNT]; /* share time rate */

/* column_descends - whether rows sorted by it begin with the largest value, as for all metrics. */
bool column_descends(enum column_id id);

/* column_memory - bytes of MEM%, VALUE_NA: unknown. */
uint64_t column_memory(const struct row *r);

/* column_cmdline - the command line of a row's process; NULL: unknown. column_cpu_time - of TIME+, 0 for cgroups. */
const struct cmdline *column_cmdline(const struct row *r);
uint64_t column_cpu_time(const struct row *r); /* ns */

/* column_owner - content of OWNER, CONTAINER, POD and UNIT for a row; NULL: none, or another column. */
const char *column_owner(enum column_id id, const struct row *r);

struct sorting {
	enum column_id by;
	bool inverted;
	bool own; /* cgroups: by their own values, without those of cgroups below */
	enum cmdline_form form; /* what COMMAND shows */
};

/* sorting_before - item_before of rows; @arg: struct sorting. Values: largest first;
 * numbers and text: smallest first; unknown values last. */
bool sorting_before(const void *x, const void *y, const void *arg);

/* Common to all rows of a screen. */
struct column_context {
	const struct tick *tick;
	enum units units;
	bool own;
	bool tree;     /* a tree of processes: names are indented */
	const struct sorting *sorting;
	void (*user_name)(unsigned int uid, char *buf, size_t size);
	const struct values *past; /* of the rows on the screen: [line * 16 + tick], NULL: none */
};

#define COLUMNS_PAST 16

/* The columns that a table of this width shows, and their places. */
struct columns {
	int nr;
	int pan; /* the requested one, or the largest possible */
	struct {
		enum column_id id;
		int x, width;
	} at[COLUMN_COUNT];
};

/* columns_place - fits columns into @width; the sort column always stays. @pan: number of columns that make room for others,
 * the most important ones first, but never those that always stay. */
void columns_place(struct columns *c, const struct column_list *l, int width, int pan,
		   const struct column_context *context);

bool columns_has(const struct columns *c, enum column_id id);

/* columns_title - @id_title: of COLUMN_ID. */
void columns_title(enum column_id id, const char *id_title, const struct column_context *context, char *buf,
		   size_t size);

/* The looks of a row. @tree: text of COLUMN_TREE, or of COLUMN_COMM in a tree of processes; NULL: the row's own.
 * @indent: what precedes COLUMN_COMMAND there; NULL: nothing. @match: part of the name to highlight. */
struct row_look {
	const char *tree, *indent;
	const char *match;
	int line; /* on the screen, for context->past */
};

void columns_cell(const struct paint *p, int y, int x, int width, enum column_id id, enum role role, const struct row *r,
		  const struct row_look *look, const struct column_context *context);

#endif
