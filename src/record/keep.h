/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_RECORD_KEEP_H
#define SYSTOP_RECORD_KEEP_H

#include <stdint.h>

struct ring_slot;

/* A ring of which a part is wanted. */
struct keep_ring {
	const struct ring_slot *slots; /* mapped; NULL: the CPU has none */
	const uint64_t *head;          /* how many were ever written: goes on */
	uint64_t from, end;            /* what is wanted */
	uint64_t copied;               /* what that was when the copy was made; 0: there is none */
};

/*
 * keep_rings - copies what is wanted out of rings of @nr_slots each before the programs overwrite it: names of
 * functions come seconds later. @folder: where there is room, in a file without a name, for what is too much for
 * memory (32 MiB); NULL: nowhere. Slots and heads are those of the copy afterwards, until the process ends. Returns 0
 * or -errno: they are what they were.
 */
int keep_rings(struct keep_ring *rings, uint32_t nr, uint32_t nr_slots, const char *folder);

#endif
