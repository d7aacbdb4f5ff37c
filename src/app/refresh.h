/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_APP_REFRESH_H
#define SYSTOP_APP_REFRESH_H

struct systop;
struct tick;

/*
 * Prints each refresh by the chosen exporter, to s->output or, through s->file, to the requested file. All return 0
 * or -errno.
 *
 * refresh_begin - before the first refresh.
 * refresh_write - writes a refresh, or begins a large one: while s->unfinished, refresh_go_on() continues for a moment
 * each time. It is sent when it is complete; the next refresh waits for that.
 * refresh_end - writes the rest that the exporter has; an unfinished refresh is not sent.
 */
int refresh_begin(struct systop *s);
int refresh_write(struct systop *s, const struct tick *t);
int refresh_go_on(struct systop *s);
int refresh_end(struct systop *s);

#endif
