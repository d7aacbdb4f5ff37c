/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_TUI_TERM_THEME_H
#define SYSTOP_TUI_TERM_THEME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * What a piece of the screen means, and what it looks like where a theme is silent: like the role it
 * comes from. id, name in theme files, parent
 */
#define ROLES(_)                        \
	_(TEXT,     "text",     TEXT)       \
	_(DIM,      "dim",      TEXT)       \
	_(TITLE,    "title",    TEXT)       \
	_(SORTED,   "sorted",   TITLE)      \
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
	_(HEAT_LOW, "heat-low", USER)       \
	_(HEAT_MIDDLE, "heat-middle", RUNQ) \
	_(HEAT_HIGH, "heat-high", D)

enum role {
#define _(id, ...) ROLE_##id,
	ROLES(_)
#undef _
	ROLE_COUNT
};

/* A colour: THEME_DEFAULT, 0..15 of the terminal's palette, or THEME_RGB and 24 bits. */
#define THEME_DEFAULT (-1)
#define THEME_RGB 0x1000000

struct look {
	bool set;
	int32_t fg, bg;
	uint32_t attributes; /* enum theme_attribute bits */
};

enum theme_attribute {
	THEME_BOLD = 1,
	THEME_DIM = 2,
	THEME_UNDERLINE = 4,
	THEME_REVERSE = 8,
	THEME_ITALIC = 16,
};

struct theme {
	char name[64];
	struct look looks[ROLE_COUNT];
};

/* Where themes are looked for that are not built in. */
struct theme_files {
	char dir[4096]; /* "": nowhere but where a path leads */
	uid_t uid;      /* whose they may be, besides root's */
};

/*
 * theme_load - a theme: one that is built in by its name, else NAME.theme in the directory of @files (NULL: no file is
 * read), or the file @name if it has a slash. A theme file:
 *     inherits = default          another theme, for all that is not said here
 *     runq = yellow on default bold
 * Colours are black red green yellow blue magenta cyan white, bright-red and so on, default, 0..255
 * or #rrggbb; attributes bold dim underline reverse italic.
 * Returns 0, or -errno with @error: what and where, without the name and the file's contents.
 */
int theme_load(struct theme *t, const char *name, const struct theme_files *files, char *error, size_t size);

/* theme_role_name - as in theme files. theme_parent - whose look a role has where a theme is silent;
 * itself: none. */
const char *theme_role_name(enum role role);
enum role theme_parent(enum role role);

/* theme_look - a role's look, its own or the one it comes from. */
const struct look *theme_look(const struct theme *t, enum role role);

/* theme_builtin - the name of a theme that is built in, NULL: no more. */
const char *theme_builtin(int nr);

#endif
