/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/screen/view.h"

/* cgroup -> its processes -> their threads -> the detail of one -> its flamegraph */
bool open_row(enum action a, const struct row *r, struct opening *o)
{
	if (a == ACTION_FLAME)
		o->view = VIEW_FLAME;
	else if (!r || (a != ACTION_ENTER && a != ACTION_DETAIL))
		return false;
	else if (a == ACTION_DETAIL || r->kind == ROW_THREAD)
		o->view = VIEW_DETAIL;
	else
		o->view = VIEW_THREADS;
	if (o->view == VIEW_THREADS && r->kind == ROW_CGROUP)
		o->init = view_threads_processes;
	o->within = subject_of(r);
	subject_name(&o->within, r, o->name, sizeof(o->name));
	return true;
}
