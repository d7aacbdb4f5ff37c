/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_EXPORT_JSON_JSON_WAITS_H
#define SYSTOP_EXPORT_JSON_JSON_WAITS_H

#include "util/map.h"

struct json;
struct life;
struct source;
struct tick;
struct wait;
struct woken;

/* A tick's waits and wakeups, by thread. Initialise with zeroes. */
struct json_waits {
	const struct tick *tick;
	const struct wait **waits;   /* by thread, largest first */
	const struct woken **wokens;
	struct map first_wait, first_woken; /* struct life -> its first place in these lists */
	struct map lives;            /* tid -> struct life, of the tick */
	struct map names;            /* tid -> char[16], of threads that the tick does not show, raw bytes; "": not known */
	const struct source *source; /* where these names come from */
};

/* json_waits_begin - indexes a tick, which is borrowed. 0 or -ENOMEM; call json_waits_end in any case. */
int json_waits_begin(struct json_waits *w, const struct tick *t);
void json_waits_end(struct json_waits *w);

/* json_waited_behind, json_wakers - write the properties with these names for a thread: lists of at most 8, largest
 * first. */
void json_waited_behind(struct json *j, const struct json_waits *w, const struct life *l);
void json_wakers(struct json *j, const struct json_waits *w, const struct life *l);

#endif
