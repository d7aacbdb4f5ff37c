/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_RECORD_KEEP_H
#define SYSTOP_RECORD_KEEP_H

#include <stdint.h>

struct ring_slot;

/* A ring, and the part of it to be kept. */
struct keep_ring {
	const struct ring_slot *slots; /* mapped; NULL: the CPU has none */
	const uint64_t *head;          /* slots ever written: still growing */
	uint64_t from, end;            /* the part to keep */
	uint64_t copied;               /* value of head when the copy was made; 0: there is none */
};

/*
 * keep_rings - copies parts of rings of @nr_slots each before the programs overwrite them: names of functions come seconds later.
 * @folder: where a copy of more than 32 MiB is an unnamed file, if twice as much is free there; NULL: no such copy is made.
 * Afterwards slots and heads are those of the copy, until the process ends. Returns 0 or -errno: then they are unchanged.
 */
int keep_rings(struct keep_ring *rings, uint32_t nr, uint32_t nr_slots, const char *folder);

#endif
