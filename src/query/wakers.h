/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_QUERY_WAKERS_H
#define SYSTOP_QUERY_WAKERS_H

#include <stddef.h>
#include <stdint.h>

#include "util/map.h"

struct source;
struct stack_sample;
struct tick;
struct woken;

/* What ended blocks, and how often. Initialise with zeroes. */
struct wakers {
	struct waker {
		uint8_t context;  /* enum wake_context; WAKE_CONTEXTS: the waker was not seen */
		uint32_t number;  /* of the interrupt, softirq or thread */
		uint32_t during;  /* the thread that it interrupted each time; 0: idle, or different ones */
		uint64_t count;
	} *at;
	size_t nr, room;
	struct map places;        /* context and number -> index in at, plus 1; until they are sorted */
	uint64_t count;           /* of all */
};

/* wakers_add - adds a sample of a block that ended.
 * wakers_add_woken - adds wakeups of unknown blocks.
 * wakers_sort - the most frequent first, once all are added. wakers_fini - empties the list. */
void wakers_add(struct wakers *w, const struct stack_sample *s);
void wakers_add_woken(struct wakers *w, const struct woken *k);
void wakers_sort(struct wakers *w);
void wakers_fini(struct wakers *w);

/*
 * waker_name - "timer", "softirq NET_RX", "irq 24 nvme0q1", with "during java 4711" where it interrupted that thread each
 * time; or the thread: "java 4711". Fit for a terminal.
 */
void waker_name(const struct waker *w, const struct tick *t, const struct source *source, char *buf,
		size_t size);

/* wakers_text - "timer 61%  java 4711 22%": as many as fit; "-": none. Notes if timers are not seen. */
void wakers_text(const struct wakers *w, const struct tick *t, const struct source *source, char *buf,
		 size_t size);

#endif
