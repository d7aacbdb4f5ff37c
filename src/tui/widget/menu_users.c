/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/widget/menu.h"

#include <stdio.h>
#include <stdlib.h>

#include "model/tick.h"
#include "util/text.h"
#include "util/vec.h"

/* The users of a tick's processes, below an item for all of them. */

#define NAME_WIDTH 24

static int by_uid(const void *a, const void *b)
{
	const struct menu_user *x = a, *y = b;

	return cmp_int(x->uid, y->uid);
}

static int add(struct menu *m, unsigned int uid)
{
	for (size_t i = 0; i < m->nr_users; i++)
		if (m->users[i].uid == uid) {
			m->users[i].processes++;
			return 0;
		}
	return VEC_PUSH(m->users, m->nr_users, m->users_room, ((struct menu_user){ uid, 1, "" }));
}

void menu_open_users(struct menu *m, const struct tick *t, void (*user_name)(unsigned int uid, char *buf, size_t size))
{
	m->nr_users = 0;
	for (size_t i = 0; i < t->nr_processes && !add(m, t->processes[i].process->uid); i++)
		;
	for (size_t i = 0; i < m->nr_users; i++)
		user_name(m->users[i].uid, m->users[i].name, sizeof(m->users[i].name));
	VEC_SORT(m->users, m->nr_users, by_uid);
	menu_open(m, &menu_users);
}

static int users_nr(const struct menu *m)
{
	return m->nr_users + 1;
}

static void users_text(const struct menu *m, int i, char *buf, size_t size)
{
	const struct menu_user *u = &m->users[i - 1];
	int left = i ? NAME_WIDTH - text_width(u->name) : 0;

	if (!i)
		snprintf(buf, size, "all users");
	else
		snprintf(buf, size, "%s%*s %u process%s", u->name, left > 0 ? left : 0, "", u->processes,
			 u->processes == 1 ? "" : "es");
}

static bool users_act(struct menu *m, int i, enum action a)
{
	if (a != ACTION_ENTER)
		return false;
	m->chosen = i;
	return true;
}

void menu_fini(struct menu *m)
{
	free(m->users);
}

const struct menu_kind menu_users = {
	.title = "Show only what belongs to",
	.help = "Enter chooses, Esc cancels",
	.nr = users_nr,
	.text = users_text,
	.act = users_act,
};
