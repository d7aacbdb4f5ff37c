/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_TUI_WIDGET_MENU_H
#define SYSTOP_TUI_WIDGET_MENU_H

#include <stdbool.h>
#include <stddef.h>

#include "tui/input/settings.h"
#include "tui/widget/pager.h"

struct menu;
struct tick;

/* A list of choices or settings that replaces the view. */
struct menu_kind {
	const char *title, *help;
	int (*nr)(const struct menu *m);
	/* Text of item @i. */
	void (*text)(const struct menu *m, int i, char *buf, size_t size);
	/* The action on item @i: Enter, Space (PAUSE), < > (SORT_LEFT, SORT_RIGHT), + - (UNFOLD, FOLD), = (CLEAR).
	 * Returns whether the menu closes. */
	bool (*act)(struct menu *m, int i, enum action a);
	/* The item that is in force, on which the cursor begins; NULL: the first. */
	int (*now)(const struct menu *m);
};

extern const struct menu_kind menu_options, menu_sort, menu_columns, menu_themes, menu_users;

struct menu_user {
	unsigned int uid, processes;
	char name[64]; /* or the number; fit for a terminal */
};

struct menu {
	const struct menu_kind *kind; /* NULL: no menu is open */
	struct settings *settings;
	enum table table;             /* table of the columns */
	struct menu_user *users;      /* of menu_users, by uid */
	size_t nr_users, users_room;
	int chosen;                   /* item of menu_users: 0: all of them, i: users[i - 1]; -1: none so far */
	char theme[THEME_SIZE];       /* when menu_themes was opened */
	int cursor;
	int width;                    /* of the screen, when it was drawn last */
	struct pager pager;
};

void menu_open(struct menu *m, const struct menu_kind *kind);
void menu_close(struct menu *m);
void menu_fini(struct menu *m);

/* menu_open_users - opens menu_users with the users of the tick's processes. The caller reads and resets m->chosen. */
void menu_open_users(struct menu *m, const struct tick *t, void (*user_name)(unsigned int uid, char *buf, size_t size));

void menu_draw(struct menu *m, const struct paint *p, int top, int height);

/* menu_act - whether the menu handled the action. */
bool menu_act(struct menu *m, enum action a);

#endif
