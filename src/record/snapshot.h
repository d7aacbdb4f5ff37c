/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_RECORD_SNAPSHOT_H
#define SYSTOP_RECORD_SNAPSHOT_H

#include <stdint.h>

#include "model/event.h"

/* A CPU's ring while the programs write to it. */
struct snapshot_ring {
	const struct ring_slot *slots; /* mapped */
	uint32_t nr;                   /* a power of two */
	const uint64_t *head;          /* of the CPU, mapped: slots ever written */
	uint64_t from, end;            /* the part to read; starts at the oldest slot if that is later */
	const struct event_mark *marks; /* oldest first */
	uint32_t nr_marks;
	uint64_t at;                   /* when @end was read or later, CLOCK_BOOTTIME ns */
};

/*
 * snapshot_read - reads the events of a ring from @from ns on, oldest first. @loss: added to.
 * Returns 0, the result of @fn, or -ENOMEM.
 */
int snapshot_read(const struct snapshot_ring *ring, uint64_t from, event_fn *fn, void *arg,
		  struct event_loss *loss);

#endif
