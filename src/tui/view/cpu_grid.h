/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_TUI_VIEW_CPU_GRID_H
#define SYSTOP_TUI_VIEW_CPU_GRID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/topology.h"
#include "tui/input/actions.h"

struct cpu_values;
struct paint;
struct tick;
struct view_context;

enum cpu_shape { CPU_SHAPE_FITS, CPU_BARS, CPU_CELLS };

struct grid_cpu {
	const struct cpu_values *values; /* of the tick shown */
	struct topology_cpu place;
	bool asked;                      /* for its clock */
	uint64_t hz;
	int x, y;                        /* where it begins, from the grid's corner */
};

/* CPUs as bars, or as cells where they are many, by node, LLC and core, with a selected one. Initialise with zeroes. */
struct cpu_grid {
	struct grid_cpu *cpus;           /* in this order */
	size_t nr, room;
	bool placed;                     /* it is known how they are put together */
	int packages;                    /* how many are known */
	int selected;                    /* number of a CPU */
	enum cpu_shape wanted, shape;    /* by the user; what it is: bars if they fit */
	int columns, width, lines;       /* entries on a line, cells of one, lines of all */
	bool titles;                     /* above each group */
	const struct tick *of;           /* made from this, */
	uint64_t seq;
	enum cpu_shape of_wanted;        /* and for this */
	int of_width, of_height;
};

/* grid_update - the CPUs of the tick, put in place for @height lines. 0 or -ENOMEM. */
int grid_update(struct cpu_grid *g, const struct view_context *c, int height);
void grid_fini(struct cpu_grid *g);

/* grid_ends_group - whether the group of this CPU, those with its node and LLC, ends behind it. grid_title - the
 * group's: "node 0 llc 3". */
bool grid_ends_group(const struct cpu_grid *g, size_t at);
void grid_title(const struct cpu_grid *g, size_t at, char *buf, size_t size);

/* grid_draw - with its first line at @y. Returns the next line. */
int grid_draw(struct cpu_grid *g, const struct view_context *c, const struct paint *p, int y);

/* grid_about - draws what is known of the selected CPU, in words. */
void grid_about(struct cpu_grid *g, const struct view_context *c, const struct paint *p, int y);

/* grid_act - moves the selection, or changes the shape. Returns whether @a did that. grid_click - selects what is
 * at a cell of the grid. */
bool grid_act(struct cpu_grid *g, enum action a);
void grid_click(struct cpu_grid *g, int y, int x);

/* grid_selected - the selected CPU, NULL: there is none. */
struct grid_cpu *grid_selected(const struct cpu_grid *g);

#endif
