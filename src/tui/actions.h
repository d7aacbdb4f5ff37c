/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_TUI_ACTIONS_H
#define SYSTOP_TUI_ACTIONS_H

/*
 * Everything a key can do, one line each: dispatch, footer and help come from here.
 * id, keys (separated by blanks), word in the footer ("": not there), help
 */
#define ACTIONS(_)                                                                                 \
	_(QUIT,     "q Q F10 ^C",    "quit",    "leave systop (q closes the help first)")          \
	_(HELP,     "? F1 h",        "help",    "this help")                                       \
	_(BACK,     "Esc Bksp",      "",        "close the help")                                  \
	_(THREADS,  "1",             "",        "view: threads or processes")                      \
	_(CGROUPS,  "2 t F5",        "",        "view: tree of cgroups")                           \
	_(NEXT,     "Tab",           "views",   "next view")                                       \
	_(PREVIOUS, "S-Tab",         "",        "previous view")                                   \
	_(PAUSE,    "Space Z",       "pause",   "freeze what is shown; collecting goes on")        \
	_(DOWN,     "j Down",        "",        "next row")                                        \
	_(UP,       "k Up",          "",        "previous row")                                    \
	_(PAGE_DOWN, "PgDn ^F",      "",        "a page down")                                     \
	_(PAGE_UP,  "PgUp ^B",       "",        "a page up")                                       \
	_(HALF_DOWN, "^D",           "",        "half a page down")                                \
	_(HALF_UP,  "^U",            "",        "half a page up")                                  \
	_(FIRST,    "g Home",        "",        "first row; the selection lets go of its thread")  \
	_(LAST,     "G End",         "",        "last row")                                        \
	_(SORT_LEFT, "<",            "< > sort", "sort by the column to the left")                 \
	_(SORT_RIGHT, ">",           "",        "sort by the column to the right")                 \
	_(INVERT,   "I R",           "invert",  "smallest first, or largest first")                \
	_(SORT_RUN, "P",             "",        "sort by RUN%")                                    \
	_(SORT_MAX, "M",             "",        "sort by RQ-MAX, the longest runqueue wait")       \
	_(SORT_P99, "L",             "",        "sort by RQ-P99")                                  \
	_(SORT_D,   "D",             "",        "sort by D%")                                      \
	_(SORT_TID, "N",             "",        "sort by TID or PID")                              \
	_(PROCESSES, "H",            "processes", "threads or processes")                          \
	_(IDLE,     "i",             "idle",    "hide or show what did nothing")                   \
	_(FOLD,     "Enter",         "",        "cgroup tree: fold or unfold")                     \
	_(UNFOLD_ALL, "*",           "",        "cgroup tree: unfold everything")                  \
	_(FOLD_ONE, "-",             "",        "cgroup tree: fold")                               \
	_(UNFOLD_ONE, "+",           "",        "cgroup tree: unfold")                             \
	_(REDRAW,   "^L",            "",        "draw the whole screen anew")                      \
	_(SUSPEND,  "^Z",            "",        "stop systop; fg brings it back")

enum action {
#define _(id, keys, footer, help) ACTION_##id,
	ACTIONS(_)
#undef _
	ACTION_NONE,
};

struct action_info {
	const char *keys, *footer, *help;
};

extern const struct action_info actions[ACTION_NONE];

/* action_of_key - what a key as wgetch() gives it does; ACTION_NONE: nothing. */
enum action action_of_key(int key);

#endif
