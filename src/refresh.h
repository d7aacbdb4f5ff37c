/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_REFRESH_H
#define SYSTOP_REFRESH_H

struct systop;
struct tick;

/* What is printed of each refresh, to s->output: a table, a line of JSON, folded stacks. */

/*
 * refresh_write - writes one, or, of a large line of JSON, begins to: while s->line is there refresh_go_on() makes more of
 * it, for a moment each time, and it is sent when it is whole. If the next one comes first, it waits for that.
 * @work: what there is to do while names of folded stacks are waited for. 0 or -errno.
 */
typedef void refresh_work(void *systop);
int refresh_write(struct systop *s, const struct tick *t, refresh_work *work);
int refresh_go_on(struct systop *s);

#endif
