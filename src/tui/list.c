/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/list.h"

#include <errno.h>
#include <stdlib.h>

#include "util/vec.h"

void list_fini(struct list *l)
{
	free(l->rows);
	*l = (struct list){ 0 };
}

void list_clear(struct list *l)
{
	l->nr = 0;
}

int list_add(struct list *l, const struct row *r)
{
	return VEC_PUSH(l->rows, l->nr, l->room, r);
}

static uint64_t row_id(const struct row *r)
{
	switch (r->kind) {
	case ROW_THREAD:
		return r->thread->tid;
	case ROW_PROCESS:
		return r->process->tgid;
	default:
		return r->cgroup->id;
	}
}

static bool is_selected(const struct list *l, const struct row *r)
{
	return r->kind == l->kind && row_id(r) == l->id &&
	       (r->kind != ROW_THREAD || r->thread->start_ns == l->start_ns);
}

/* Where the selected thing is now, or the cursor if it is gone. */
static size_t find_selected(const struct list *l, row_before *before, const void *arg)
{
	for (size_t i = 0; l->sticks && i < l->nr; i++)
		if (is_selected(l, l->rows[i]))
			return before ? rows_rank(l->rows, l->nr, l->rows[i], before, arg) : i;
	return l->cursor;
}

static void show_cursor(struct list *l)
{
	if (l->cursor >= l->nr)
		l->cursor = l->nr ? l->nr - 1 : 0;
	if (l->cursor < l->top)
		l->top = l->cursor;
	if (l->height && l->cursor >= l->top + l->height)
		l->top = l->cursor - l->height + 1;
	if (l->nr <= l->height)
		l->top = 0;
	else if (l->top > l->nr - l->height)
		l->top = l->nr - l->height;
}

void list_sort(struct list *l, size_t height, row_before *before, const void *arg)
{
	l->height = height;
	l->cursor = find_selected(l, before, arg);
	show_cursor(l);
	if (before)
		rows_order(l->rows, l->nr, l->top, height, before, arg);
}

const struct row *list_selected(const struct list *l)
{
	return l->cursor < l->nr ? l->rows[l->cursor] : NULL;
}

static void move_to(struct list *l, size_t to)
{
	l->cursor = to;
	show_cursor(l);
	l->sticks = false; /* until list_stick() knows what is there, in its order */
}

bool list_act(struct list *l, enum action a)
{
	size_t page = l->height ? l->height : 1, half = page / 2 ? page / 2 : 1;
	size_t up = 0, down = 0;

	switch (a) {
	case ACTION_DOWN:
		down = 1;
		break;
	case ACTION_UP:
		up = 1;
		break;
	case ACTION_PAGE_DOWN:
		down = page;
		break;
	case ACTION_PAGE_UP:
		up = page;
		break;
	case ACTION_HALF_DOWN:
		down = half;
		break;
	case ACTION_HALF_UP:
		up = half;
		break;
	case ACTION_FIRST:
		up = l->cursor;
		break;
	case ACTION_LAST:
		down = l->nr;
		break;
	default:
		return false;
	}
	move_to(l, l->cursor + down - (up < l->cursor ? up : l->cursor));
	return true;
}

void list_stick(struct list *l)
{
	const struct row *r = list_selected(l);

	l->sticks = r && l->cursor;
	if (!l->sticks)
		return;
	l->kind = r->kind;
	l->id = row_id(r);
	l->start_ns = r->kind == ROW_THREAD ? r->thread->start_ns : 0;
}
