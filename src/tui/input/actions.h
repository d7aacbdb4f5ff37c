/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_TUI_INPUT_ACTIONS_H
#define SYSTOP_TUI_INPUT_ACTIONS_H

#include "tui/input/views.h"

/* Where an action applies: IN_THREADS and so on in each view. If two actions share a key in a place, the more
 * specific one has precedence (comes_first() in keymap.c). */
#define VIEW_PLACE(arg, id, ...) IN_##id = 1 << VIEW_##id,
#define VIEW_PLACE_IF(trait, id, view, traits, ...) | (((traits) & (trait)) == (trait) ? IN_##id : 0)
enum place_kind {
	VIEWS(VIEW_PLACE, )
	IN_TEXT = 1 << VIEW_COUNT, /* help, health */
	IN_SEARCH = IN_TEXT << 1,  /* a search is active */
	IN_TABLES = 0 VIEWS(VIEW_PLACE_IF, VIEW_TABLE),
	IN_ENTERED = 0 VIEWS(VIEW_PLACE_IF, VIEW_ENTERS),
	IN_NAMES = 0 VIEWS(VIEW_PLACE_IF, VIEW_FINDS),
	IN_SORTED = 0 VIEWS(VIEW_PLACE_IF, VIEW_SORTS),
	IN_HEAT = 0 VIEWS(VIEW_PLACE_IF, VIEW_HEAT),
	IN_VIEWS = IN_TEXT - 1,
	IN_ALL = IN_VIEWS | IN_TEXT,
	IN_GRAPH = 0 VIEWS(VIEW_PLACE_IF, VIEW_GRAPH),
	IN_OTHERS = IN_ALL & ~IN_GRAPH,
};

/*
 * All key actions, one line each: dispatch, footer, help, config and man page derive from them. Keys are separated by
 * blanks; keymap.h describes their syntax.
 * id, name in the config, where, keys of the presets systop, htop, below, word in the footer ("": not shown), help
 */
#define VIEW_ACTION(_, id, view, traits, tab, name, also, systop, htop, below, help) \
	_(id, name, IN_ALL, systop, htop, below, "", "view: " help)
#define ACTIONS(_)                                                                                 \
	_(CLOSE,      "close",       IN_ALL,     "q",          "q",          "q",        "back",    "back; at the top: leave systop") \
	_(BACK,       "back",        IN_ALL,     "Esc Bksp",   "Esc Bksp",   "Esc Bksp", "",        "back to where this was opened from") \
	_(QUIT,       "quit",        IN_ALL,     "Q F10 ^C",   "Q F10 ^C",   "Q F10 ^C", "",        "leave systop") \
	_(HELP,       "help",        IN_ALL,     "? F1 h",     "h ? F1",     "? F1 h",   "help",    "this help") \
	_(HEALTH,     "health",      IN_ALL,     "!",          "!",          "!",        "",        "health: probes, maps, losses, rights") \
	BASE_VIEWS(VIEW_ACTION, _)                                                                        \
	_(NEXT,       "next-view",   IN_OTHERS & ~IN_HEAT,   "Tab",        "Tab",        "Tab",      "",        "next view") \
	_(PREVIOUS,   "previous-view", IN_ALL,   "S-Tab `",    "S-Tab `",    "S-Tab `",  "",        "previous view") \
	_(ENTER,      "enter",       IN_ENTERED, "Enter", "Enter",  "Enter z",  "open",    "open the selected cgroup, process or thread, its detail, its flamegraph; a source of interrupts; a waiting process") \
	_(DETAIL,     "detail",      IN_TABLES,  "v",          "v",          "v",        "",        "everything about the selected thread, process or cgroup") \
	_(IRQ_CPUS,   "irq-cpus",    IN_IRQ,     "v",          "v",          "v",        "CPUs",    "interrupts: hide or show their time on each CPU") \
	_(IRQ_AGAIN,  "irq-again",   IN_IRQ_SOURCE, "r",       "r",          "r",        "again",   "interrupts: reread the recorder for this source") \
	_(FLAME,      "flame",       IN_VIEWS & ~IN_GRAPH, "f",          "f b",        "f",        "flame",   "flamegraph of the selected thread, process or cgroup; of interrupts") \
	_(SAVE,       "save",        IN_ALL,     "w",          "w",          "w",        "save",    "save the last seconds, or those selected, as a Perfetto trace; Esc cancels") \
	_(FLAME_ZOOM, "flame-zoom",  IN_GRAPH,   "Enter",      "Enter",      "Enter",    "zoom",    "flame: the selected box fills the width") \
	_(FLAME_OUT,  "flame-out",   IN_GRAPH,   "Bksp",       "Bksp",       "Bksp",     "",        "flame: zoom out; back from the table or sandwich") \
	_(FLAME_RESET, "flame-reset", IN_GRAPH,  "r",          "r",          "r",        "reset",   "flame: the whole graph again") \
	_(FLAME_METRIC, "flame-metric", IN_GRAPH, "Tab",       "Tab",        "Tab",      "metric",  "flame: on CPU, runqueue, sleep, D state, interrupts, page faults, or wall time") \
	_(FLAME_LEFT, "flame-left",  IN_GRAPH,   "h Left",     "Left h",     "h Left",   "",        "flame: the box to the left") \
	_(FLAME_RIGHT, "flame-right", IN_GRAPH,  "l Right",    "Right l",    "l Right",  "",        "flame: the box to the right") \
	_(FLAME_INVERT, "flame-invert", IN_GRAPH, "i",         "i",          "i",        "invert",  "flame: innermost functions first, their callers below") \
	_(FLAME_MERGE, "flame-merge", IN_GRAPH,  "m",          "m",          "m",        "merge",   "flame: everything together, or by process, thread or cgroup") \
	_(FLAME_KERNEL, "flame-kernel", IN_GRAPH, "K",         "K",          "K",        "",        "flame: hide or show kernel functions") \
	_(FLAME_USER, "flame-user",  IN_GRAPH,   "U",          "U",          "U",        "",        "flame: hide or show user functions") \
	_(FLAME_TABLE, "flame-table", IN_GRAPH,  "t",          "t",          "t",        "table",   "flame: table of functions, with self and total time") \
	_(FLAME_SANDWICH, "flame-sandwich", IN_GRAPH, "s",     "s",          "s",        "sandwich", "flame: what called the selected function, and what it called") \
	_(FLAME_SAME, "flame-same",  IN_GRAPH,   "# *",        "# *",        "# *",      "",        "flame: mark all boxes of the selected function") \
	_(FLAME_BASE, "flame-base",  IN_GRAPH,   "x",          "x",          "x",        "",        "flame: keep what is shown, for comparison") \
	_(FLAME_COMPARE, "flame-compare", IN_GRAPH, "X",       "X",          "X",        "",        "flame: what changed since: + grew, - shrank, in percentage points") \
	_(FLAME_EXPORT, "flame-export", IN_GRAPH, "e",         "e",          "e",        "export",  "flame: save the stacks of what is shown, with all weights, as a profile for pprof; Esc cancels") \
	_(FLAME_FASTER, "flame-faster", IN_GRAPH, "+",         "+",          "+",        "",        "flame: more samples per second") \
	_(FLAME_SLOWER, "flame-slower", IN_GRAPH, "-",         "-",          "-",        "",        "flame: fewer samples per second") \
	_(CPU_LEFT,   "cpu-left",    IN_SYSTEM,  "h Left",     "Left h",     "h Left",   "",        "system: the CPU to the left") \
	_(CPU_RIGHT,  "cpu-right",   IN_SYSTEM,  "l Right",    "Right l",    "l Right",  "",        "system: the CPU to the right") \
	_(CPU_CELLS,  "cpu-cells",   IN_SYSTEM,  "v",          "v",          "v",        "cells",   "system: each CPU as a bar, or as a cell, of which more fit") \
	_(HEAT_METRIC, "heat-metric", IN_HEAT,   "Tab",        "Tab",        "Tab",      "metric",  "latency: runqueue wait, sleep, D state, interrupt, softirq (subsecond: CPU samples, runqueue wait, D state)") \
	_(HEAT_LEFT,  "heat-left",   IN_HEAT,    "h Left",     "Left h",     "h Left",   "",        "latency: the previous refresh or second") \
	_(HEAT_RIGHT, "heat-right",  IN_HEAT,    "l Right",    "Right l",    "l Right",  "",        "latency: the next one") \
	_(HEAT_SELECT, "heat-select", IN_HEAT,   "v",          "v",          "v",        "select",  "latency: begin a range of cells, or end it; Esc drops it") \
	_(SUBSECOND,  "subsecond",   IN_LATENCY, "s",          "s",          "s",        "subsecond", "latency: offsets within the second, which show recurring patterns") \
	_(HEAT_SCALE, "heat-scale",  IN_HEAT,    "b",          "b",          "b",        "scale",   "latency: scale the cells by logarithm, or linearly") \
	_(PAUSE,      "pause",       IN_VIEWS,   "Space Z",    "Z Space",    "Space Z",  "pause",   "freeze what is shown; collecting continues") \
	_(STEP_BACK,  "step-back",   IN_VIEWS,   "[",          "[",          "[ T",      "back in time", "one refresh back in time") \
	_(STEP_ON,    "step-on",     IN_VIEWS,   "]",          "]",          "] t",      "",        "one refresh forward") \
	_(LEAP_BACK,  "leap-back",   IN_VIEWS,   "{",          "{",          "{",        "",        "ten refreshes back") \
	_(LEAP_ON,    "leap-on",     IN_VIEWS,   "}",          "}",          "}",        "",        "ten refreshes forward") \
	_(SEARCH,     "search",      IN_NAMES,   "/",          "F3 /",       "/",        "find",    "search as you type") \
	_(MATCH_NEXT, "next-match",  IN_SEARCH,  "n",          "n",          "n",        "",        "next match of the search") \
	_(MATCH_PREV, "previous-match", IN_SEARCH, "N",        "N",          "N",        "",        "previous match of the search") \
	_(FILTER,     "filter",      IN_TABLES,  "\\ F4 &",    "F4 \\ &",    "\\ F4 &",  "filter",  "show only what matches: cg:api !kworker cpu>5 runq.p99>1ms state=D") \
	_(USER,       "user",        IN_THREADS, "u",          "u",          "u",        "",        "show only what belongs to a user, chosen from a list") \
	_(CLEAR,      "clear",       IN_NAMES,   "=",          "=",          "= ^L",     "",        "clear filter and search") \
	_(FOLLOW,     "follow",      IN_TABLES,  "F",          "F",          "F",        "",        "follow the selected row") \
	_(PROCESSES,  "processes",   IN_THREADS, "H",          "H",          "H",        "processes", "threads or processes") \
	_(TREE,       "tree",        IN_THREADS, "t F5",       "t F5",       "V F5",     "tree",    "processes as a tree, and back") \
	_(KTHREADS,   "kthreads",    IN_THREADS, "K",          "K",          "K",        "",        "hide or show kernel threads") \
	_(IDLE,       "idle",        IN_TABLES,  "i",          "i",          "i",        "",        "hide or show idle rows") \
	_(COMMAND,    "command",     IN_THREADS, "C",          "m",          "C",        "",        "COMMAND shows the name, the command line, or both") \
	_(OWN,        "own",         IN_CGROUPS, "s",          "s",          "o",        "",        "numbers of the cgroup alone, or with all below it") \
	_(FOLD,       "fold",        IN_TABLES,  "-",          "-",          "-",        "",        "tree: fold") \
	_(UNFOLD,     "unfold",      IN_TABLES,  "+",          "+",          "+",        "",        "tree: unfold") \
	_(UNFOLD_ALL, "unfold-all",  IN_TABLES,  "*",          "*",          "*",        "",        "tree: unfold everything") \
	_(SORT_MENU,  "sort",        IN_TABLES,  ". F6",       "F6 , .",     ".",        "sort",    "choose the column to sort by") \
	_(SORT_LEFT,  "sort-left",   IN_SORTED,  "<",          "<",          "< ,",      "",        "sort by the column to the left") \
	_(SORT_RIGHT, "sort-right",  IN_SORTED,  ">",          ">",          ">",        "",        "sort by the column to the right") \
	_(INVERT,     "invert",      IN_SORTED,  "I R",        "I R",        "S I R",    "",        "smallest first, or largest first") \
	_(SORT_RUN,   "sort-run",    IN_TABLES,  "P",          "P",          "P",        "",        "sort by RUN%") \
	_(SORT_MAX,   "sort-max",    IN_TABLES,  "M",          "X",          "M",        "",        "sort by RQ-MAX, the longest runqueue wait") \
	_(SORT_P99,   "sort-p99",    IN_TABLES,  "L",          "L",          "L",        "",        "sort by RQ-P99") \
	_(SORT_TIME,  "sort-time",   IN_TABLES,  "T",          "T",          "^T",       "",        "sort by TIME+, the time on a CPU since it began") \
	_(SORT_MEMORY, "sort-memory", IN_TABLES, "r",          "M",          "r",        "",        "sort by MEM%: memory of the process, or of the cgroup") \
	_(SORT_D,     "sort-d",      IN_TABLES,  "D",          "D",          "D",        "",        "sort by D%") \
	_(SORT_ID,    "sort-id",     IN_TABLES,  "N",          "N",          "N",        "",        "sort by TID, PID or path (while searching: previous match)") \
	_(OPTIONS,    "options",     IN_ALL,     "o F2",       "F2 S C o",   "O F2",     "options", "columns, units, theme, mouse") \
	_(UNITS,      "units",       IN_VIEWS,   "E",          "E",          "E",        "",        "times as % of the interval, as time, or per second") \
	_(MOUSE,      "mouse",       IN_OTHERS,    "m",          "^O",         "m",        "",        "mouse on or off (off: the terminal selects text)") \
	_(DELAY,      "delay",       IN_VIEWS,   "d",          "d",          "d",        "",        "how often the screen is refreshed: every 0.1 to 60 seconds") \
	_(WRITE,      "write",       IN_ALL,     "W",          "W",          "W",        "",        "write the config file") \
	_(DOWN,       "down",        IN_ALL,     "j Down",     "Down j",     "j Down",   "",        "down") \
	_(UP,         "up",          IN_ALL,     "k Up",       "Up k",       "k Up",     "",        "up") \
	_(PAGE_DOWN,  "page-down",   IN_ALL,     "^F PgDn",    "PgDn ^F",    "^F PgDn",  "",        "a page down") \
	_(PAGE_UP,    "page-up",     IN_ALL,     "^B PgUp",    "PgUp ^B",    "^B PgUp",  "",        "a page up") \
	_(HALF_DOWN,  "half-down",   IN_ALL,     "^D",         "^D",         "^D",       "",        "half a page down") \
	_(HALF_UP,    "half-up",     IN_ALL,     "^U",         "^U",         "^U",       "",        "half a page up") \
	_(FIRST,      "first",       IN_ALL,     "g Home",     "Home g",     "g Home",   "",        "to the top; the selection is released") \
	_(LAST,       "last",        IN_ALL,     "G End",      "End G",      "G End",    "",        "to the end") \
	_(PAN_LEFT,   "pan-left",    IN_TABLES,  "( Left",     "Left (",     "( Left",   "",        "columns: back to the left") \
	_(PAN_RIGHT,  "pan-right",   IN_TABLES,  ") Right",    "Right )",    ") Right",  "",        "columns: scroll to the hidden ones") \
	_(REDRAW,     "redraw",      IN_ALL,     "^L",         "^L",         "^R",       "",        "redraw the screen") \
	_(SUSPEND,    "suspend",     IN_ALL,     "^Z",         "^Z",         "^Z",       "",        "suspend systop; fg resumes it")

enum action {
#define _(id, ...) ACTION_##id,
	ACTIONS(_)
#undef _
	ACTION_NONE,
};

enum preset { PRESET_SYSTOP, PRESET_HTOP, PRESET_BELOW, PRESET_COUNT };

struct action_info {
	const char *name;
	int places; /* enum place_kind bits */
	const char *keys[PRESET_COUNT];
	const char *footer, *help;
};

extern const struct action_info actions[ACTION_NONE];

/* Keys of htop that mean something else here, or nothing, also in its preset, and why. Ends with NULL. */
struct absent {
	const char *keys, *why;
};

extern const struct absent htop_absent[];

/* Names of the presets.
 * action_find - the action with this name in the config; ACTION_NONE: none. */
extern const char *const preset_names[PRESET_COUNT];
enum action action_find(const char *name);

#endif
