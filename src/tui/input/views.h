/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_TUI_INPUT_VIEWS_H
#define SYSTOP_TUI_INPUT_VIEWS_H

/* Traits of a view beside its own keys. */
enum view_trait {
	VIEW_ENTERS = 1, /* Enter opens the selected item */
	VIEW_FINDS = 2,  /* names can be searched */
	VIEW_SORTS = 4,  /* by the next column to the left or right */
	VIEW_HEAT = 8,   /* it is a heatmap */
	VIEW_GRAPH = 32, /* it is a flamegraph */
	VIEW_TABLE = 16 | VIEW_ENTERS | VIEW_FINDS | VIEW_SORTS, /* rows of the refresh, with a filter */
};

/*
 * Views, one line each: the object view_NAME is in a file of src/tui/view; key, action, tab, names in options and
 * config, and the places of keys derive from the line.
 * Base views, which are always present, in the order of their tabs: id, object, traits, tab, name of its action and of
 * the view in the config, further names for other forms of it (struct view, show_as), keys of the presets systop, htop,
 * below, help
 */
#define BASE_VIEWS(_, arg)                                                                                             \
	_(arg, THREADS, threads, VIEW_TABLE, "Threads", "threads", " processes tree", "1", "1", "1 p",                 \
	  "threads, processes, or their tree")                                                                         \
	_(arg, CGROUPS, cgroups, VIEW_TABLE, "Cgroups", "cgroups", "", "2", "2", "2 c", "tree of cgroups")             \
	_(arg, FLAME_ALL, flame, VIEW_FINDS | VIEW_GRAPH, "Flame", "flame-all", " flame", "3", "3", "3",               \
	  "flamegraph of everything in scope")                                                                         \
	_(arg, LATENCY, latency, VIEW_ENTERS | VIEW_HEAT, "Latency", "latency", "", "4", "4", "4",                     \
	  "how long waits, sleeps and interrupts took, over time")                                                     \
	_(arg, BLOCKED, blocked, VIEW_ENTERS | VIEW_FINDS, "D-state", "d-state", "", "5", "5", "5",                    \
	  "threads in D state, and where they wait")                                                                   \
	_(arg, IRQ, irq, VIEW_ENTERS | VIEW_SORTS, "IRQ", "irq", "", "6", "6", "6",                                    \
	  "interrupts, their time, and the threads that lost time to them")                                                       \
	_(arg, SYSTEM, system, 0, "System", "system", "", "7", "7", "7 s", "CPUs, pressure, own cost")                 \
	_(arg, WAITS, waits, VIEW_ENTERS | VIEW_FINDS, "Waits", "waits", "", "8", "8", "8",                            \
	  "threads that waited for a CPU, and what ran instead")

/* Views that others open: id, object, traits, text after the name of its subject on the way back. */
#define INNER_VIEWS(_, arg)                                                                                            \
	_(arg, DETAIL, detail, VIEW_ENTERS, " detail")                                                                 \
	_(arg, FLAME, flame, VIEW_FINDS | VIEW_GRAPH, " flame")                                                                     \
	_(arg, IRQ_SOURCE, irq_source, 0, "")                                                                          \
	_(arg, RANGE, range, VIEW_ENTERS | VIEW_FINDS, "")                                                             \
	_(arg, SUBSECOND, subsecond, VIEW_HEAT, "")

#define VIEWS(_, arg) BASE_VIEWS(_, arg) INNER_VIEWS(_, arg)

enum view_id {
#define VIEW_ID(arg, id, ...) VIEW_##id,
	VIEWS(VIEW_ID, )
#undef VIEW_ID
	VIEW_COUNT,
#define VIEW_ONE(...) + 1
	VIEW_BASES = 0 BASE_VIEWS(VIEW_ONE, ),
#undef VIEW_ONE
};

/* Names of all views that can be shown first: " threads processes tree cgroups ...". */
#define VIEW_NAMES_OF(arg, id, view, traits, tab, name, also, ...) " " name also
#define VIEW_NAMES BASE_VIEWS(VIEW_NAMES_OF, )

/* view_named - the view with this name; VIEW_COUNT: none. @way: 0: its action's name, 1 and up: one of its further
 * names. */
enum view_id view_named(const char *name, int *way);

#endif
