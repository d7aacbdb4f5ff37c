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
	const struct cpu_values *values; /* of the shown tick */
	struct topology_cpu place;
	bool asked;                      /* its clock was read */
	uint64_t hz;
	int x, y;                        /* position, relative to the grid */
};

/* CPUs as bars, or as cells if there are many, by node, LLC and core, with a selected one. Initialise with zeroes. */
struct cpu_grid {
	struct grid_cpu *cpus;           /* in the order of the grid */
	size_t nr, room;
	bool placed;                     /* the layout is known */
	int packages;                    /* number of packages, as far as known */
	int selected;                    /* number of the selected CPU */
	enum cpu_shape wanted, shape;    /* the user's choice, and the effect: bars if they fit */
	int columns, width, lines;       /* entries per line, cells per entry, lines in total */
	bool titles;                     /* above each group */
	const struct tick *of;           /* the present grid is for this tick */
	uint64_t seq;
	enum cpu_shape of_wanted;        /* and this shape */
	int of_width, of_height;
};

/* grid_update - places the CPUs of the tick on @height lines. 0 or -ENOMEM. */
int grid_update(struct cpu_grid *g, const struct view_context *c, int height);
void grid_fini(struct cpu_grid *g);

/* grid_ends_group - whether this CPU is the last of its group (same node and LLC).
 * grid_title - title of its group: "node 0 llc 3". */
bool grid_ends_group(const struct cpu_grid *g, size_t at);
void grid_title(const struct cpu_grid *g, size_t at, char *buf, size_t size);

/* grid_draw - draws from line @y on. Returns the next line. */
int grid_draw(struct cpu_grid *g, const struct view_context *c, const struct paint *p, int y);

/* grid_about - describes the selected CPU in words. */
void grid_about(struct cpu_grid *g, const struct view_context *c, const struct paint *p, int y);

/* grid_act - moves the selection, or changes the shape. Returns whether @a was such an action.
 * grid_click - selects the CPU at a cell of the grid. */
bool grid_act(struct cpu_grid *g, enum action a);
void grid_click(struct cpu_grid *g, int y, int x);

/* grid_selected - the selected CPU, NULL: none. */
struct grid_cpu *grid_selected(const struct cpu_grid *g);

#endif
