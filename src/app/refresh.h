/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_APP_REFRESH_H
#define SYSTOP_APP_REFRESH_H

struct systop;
struct tick;

/*
 * What is printed of each refresh, to s->output, or to the file that was asked for by way of s->file, by the exporter
 * that was asked for. All 0 or -errno.
 *
 * refresh_begin - before the first one.
 * refresh_write - writes one, or, of a large one, begins to: while s->unfinished refresh_go_on() makes more of it, for
 * a moment each time, and it is sent when it is whole. If the next one comes first, it waits for that. @work: what
 * there is to do while stacks and names are waited for.
 * refresh_end - what the exporter has left; a refresh that is unfinished is not sent.
 */
typedef void refresh_work(void *systop);
int refresh_begin(struct systop *s);
int refresh_write(struct systop *s, const struct tick *t, refresh_work *work);
int refresh_go_on(struct systop *s);
int refresh_end(struct systop *s);

#endif
