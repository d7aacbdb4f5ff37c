/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/json/json_waits.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/json/json_text.h"
#include "export/redact.h"
#include "model/tick.h"
#include "model/wait.h"
#include "query/source.h"
#include "util/text.h"
#include "util/vec.h"

#define LISTED_MAX 8

static int compare_waits(const void *a, const void *b)
{
	const struct wait *x = *(const struct wait *const *)a, *y = *(const struct wait *const *)b;

	return cmp_int((uintptr_t)x->life, (uintptr_t)y->life) ?: cmp_int(y->ns, x->ns);
}

static int compare_wokens(const void *a, const void *b)
{
	const struct woken *x = *(const struct woken *const *)a, *y = *(const struct woken *const *)b;

	return cmp_int((uintptr_t)x->life, (uintptr_t)y->life) ?: cmp_int(y->count, x->count);
}

static int add_lives(struct json_waits *w, const struct row *rows, size_t nr)
{
	int err = 0;

	for (size_t i = 0; i < nr && !err && w->tick->nr_wokens; i++)
		err = map_put(&w->lives, rows[i].thread->tid, (void *)rows[i].thread);
	return err;
}

/* Threads that are out of scope are only known by their names. */
static int find_names(struct json_waits *w)
{
	int err = 0;

	for (size_t i = 0; !err && i < w->tick->nr_wokens; i++) {
		const struct woken *k = &w->tick->wokens[i];
		char *name;

		if (k->context != WAKE_THREAD || !k->number || map_get(&w->lives, k->number) || map_get(&w->names, k->number))
			continue;
		name = calloc(1, sizeof(k->life->comm));
		err = name ? map_put(&w->names, k->number, name) : -ENOMEM;
		if (err)
			free(name);
	}
	if (!err && w->names.nr)
		w->source->thread_names(w->source->arg, &w->names);
	return err;
}

int json_waits_begin(struct json_waits *w, const struct tick *t)
{
	int err = 0;

	w->tick = t;
	w->waits = calloc(t->nr_waits + 1, sizeof(*w->waits));
	w->wokens = calloc(t->nr_wokens + 1, sizeof(*w->wokens));
	if (!w->waits || !w->wokens)
		return -ENOMEM;
	for (size_t i = 0; i < t->nr_waits; i++)
		w->waits[i] = &t->waits[i];
	for (size_t i = 0; i < t->nr_wokens; i++)
		w->wokens[i] = &t->wokens[i];
	qsort(w->waits, t->nr_waits, sizeof(*w->waits), compare_waits);
	qsort(w->wokens, t->nr_wokens, sizeof(*w->wokens), compare_wokens);
	for (size_t i = 0; !err && i < t->nr_waits; i++)
		if (!i || w->waits[i]->life != w->waits[i - 1]->life)
			err = map_put(&w->first_wait, (uintptr_t)w->waits[i]->life, &w->waits[i]);
	for (size_t i = 0; !err && i < t->nr_wokens; i++)
		if (!i || w->wokens[i]->life != w->wokens[i - 1]->life)
			err = map_put(&w->first_woken, (uintptr_t)w->wokens[i]->life, &w->wokens[i]);
	if (!err)
		err = add_lives(w, t->idle, t->nr_idle);
	if (!err)
		err = add_lives(w, t->active, t->nr_active);
	return err ? err : find_names(w);
}

void json_waits_end(struct json_waits *w)
{
	free(w->waits);
	free(w->wokens);
	map_fini(&w->first_wait);
	map_fini(&w->first_woken);
	map_fini(&w->lives);
	map_free(&w->names);
}

static void put_wait(struct json *j, const struct wait *w)
{
	const struct cgroup *cgroup = w->kind == WAIT_LIMIT ? w->limit : w->by ? w->by->cgroup : NULL;

	json_open(j, NULL, '{');
	json_string(j, "kind", wait_kind_names[w->kind]);
	json_number(j, "tgid", w->by ? (uint64_t)w->by->tgid : VALUE_NA);
	json_number(j, "tid", w->by ? (uint64_t)w->by->tid : VALUE_NA);
	json_comm(j, w->by);
	json_path(j, "cgroup", cgroup);
	json_number(j, "ns", w->ns);
	json_close(j, '}');
}

void json_waited_behind(struct json *j, const struct json_waits *w, const struct life *l)
{
	const struct wait **first = map_get(&w->first_wait, (uintptr_t)l), **end = w->waits + w->tick->nr_waits;

	json_open(j, "waited_behind", '[');
	for (const struct wait **at = first; at && at < end && (*at)->life == l && at < first + LISTED_MAX; at++)
		put_wait(j, *at);
	json_close(j, ']');
}

static void waker_name(const struct json_waits *w, const struct woken *k, const struct redact *redact, char *buf, size_t size)
{
	bool thread = k->context == WAKE_THREAD && k->number;
	const struct life *l = thread ? map_get(&w->lives, k->number) : NULL;
	const char *name = thread && !l ? map_get(&w->names, k->number) : "";
	char hash[REDACT_HASH];

	if (k->context != WAKE_THREAD)
		wake_name(k->context, k->number, buf, size);
	else
		text_safe(buf, size, l ? redact_comm(redact, l, hash) : redact_name(redact, name, sizeof(l->comm), hash),
			  sizeof(l->comm));
}

static void put_waker(struct json *j, const struct json_waits *w, const struct woken *k)
{
	char name[80];

	waker_name(w, k, j->redact, name, sizeof(name));
	json_open(j, NULL, '{');
	json_string(j, "kind", wake_context_names[k->context]);
	json_number(j, "tid", k->context == WAKE_THREAD ? k->number : VALUE_NA);
	if (*name)
		json_string(j, "comm", name);
	else
		json_null(j, "comm");
	json_number(j, "count", k->count);
	json_close(j, '}');
}

void json_wakers(struct json *j, const struct json_waits *w, const struct life *l)
{
	const struct woken **first = map_get(&w->first_woken, (uintptr_t)l), **end = w->wokens + w->tick->nr_wokens;

	json_open(j, "wakers", '[');
	for (const struct woken **at = first; at && at < end && (*at)->life == l && at < first + LISTED_MAX; at++)
		put_waker(j, w, *at);
	json_close(j, ']');
}
