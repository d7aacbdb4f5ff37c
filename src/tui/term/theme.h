/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_TUI_TERM_THEME_H
#define SYSTOP_TUI_TERM_THEME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Meanings of pieces of the screen. A role that a theme does not set looks like its parent.
 * id, name in theme files, parent
 */
#define ROLES(_)                        \
	_(TEXT,     "text",     TEXT)       \
	_(DIM,      "dim",      TEXT)       \
	_(TITLE,    "title",    TEXT)       \
	_(SORTED,   "sorted",   TITLE)      \
	_(PROGRAM,  "program",  TEXT)       \
	_(SELECTED, "selected", TEXT)       \
	_(FOLLOWED, "followed", SELECTED)   \
	_(MATCH,    "match",    TEXT)       \
	_(PROMPT,   "prompt",   TEXT)       \
	_(ALERT,    "alert",    TEXT)       \
	_(PAUSED,   "paused",   ALERT)      \
	_(GOOD,     "good",     TEXT)       \
	_(WARN,     "warn",     ALERT)      \
	_(RUNNING,  "running",  TEXT)       \
	_(USER,     "user",     RUNNING)    \
	_(KERNEL,   "kernel",   RUNNING)    \
	_(IRQ,      "irq",      RUNNING)    \
	_(STEAL,    "steal",    WAITING)    \
	_(WAITING,  "waiting",  TEXT)       \
	_(RUNQ,     "runq",     WAITING)    \
	_(D,        "d",        WAITING)    \
	_(SLEEP,    "sleep",    DIM)        \
	_(STOPPED,  "stopped",  DIM)        \
	_(JIT,      "jit",      USER)       \
	_(GREW,     "grew",     ALERT)      \
	_(SHRANK,   "shrank",   GOOD)       \
	_(MEMORY,   "memory",   USER)       \
	_(CACHE,    "cache",    DIM)        \
	_(HEAT_LOW, "heat-low", USER)       \
	_(HEAT_MIDDLE, "heat-middle", RUNQ) \
	_(HEAT_HIGH, "heat-high", D)

enum role {
#define _(id, ...) ROLE_##id,
	ROLES(_)
#undef _
	ROLE_COUNT
};

/* A colour: THEME_DEFAULT, 0..255 of the terminal's palette, or THEME_RGB and 24 bits. */
#define THEME_DEFAULT (-1)
#define THEME_RGB 0x1000000

struct look {
	bool set;
	int32_t fg, bg;
	uint32_t attributes; /* of curses: A_BOLD ... */
};

/* Room for a theme's name, or the path of its file, with the NUL: a line of the config file has at most 198 characters. */
#define THEME_SIZE 181

struct theme {
	char name[THEME_SIZE];
	struct look looks[ROLE_COUNT];
};

/* Where themes that are not built in are looked for. */
struct theme_files {
	char dir[4096]; /* "": only files given by path */
	uid_t uid;      /* permitted owner, besides root */
};

/*
 * theme_load - a theme: a built-in one by its name, else NAME.theme in the directory of @files (NULL: no file is read),
 * or the file @name if it contains a slash. A theme file:
 *     inherits = default          another theme, for roles not set here
 *     runq = yellow on default bold
 * Colours are black red green yellow blue magenta cyan white, bright-red and so on, default, 0..255 or #rrggbb;
 * attributes bold dim underline reverse italic. Returns 0, or -errno with @error: what and where, without the name and
 * the file's contents.
 */
int theme_load(struct theme *t, const char *name, const struct theme_files *files, char *error, size_t size);

/* theme_role_name - as in theme files.
 * theme_parent - the role whose look @role has if a theme does not set it; itself: none. */
const char *theme_role_name(enum role role);
enum role theme_parent(enum role role);

/* theme_look - a role's look, its own or an ancestor's. */
const struct look *theme_look(const struct theme *t, enum role role);

/* theme_builtin - the name of built-in theme @nr, NULL: no more. */
const char *theme_builtin(int nr);

#endif
