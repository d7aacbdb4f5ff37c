/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_RECORD_SNAPSHOT_H
#define SYSTOP_RECORD_SNAPSHOT_H

#include <stdbool.h>
#include <stdint.h>

#include "model/event.h"
#include "record/rings.h"

/* A CPU's ring while the programs write to it. */
struct snapshot_ring {
	const struct ring_slot *slots; /* mapped */
	uint32_t nr;                   /* a power of two */
	const uint64_t *head;          /* of the CPU, mapped: how many were ever written */
	uint64_t from, end;            /* what of it is read; from the oldest slot on, if that is later */
	const struct rings_mark *marks; /* oldest first */
	uint32_t nr_marks;
};

/* What could not be read. */
struct snapshot_loss {
	uint64_t overwritten; /* while it was read */
	uint64_t torn;        /* half written, or not at all */
	uint64_t gaps;        /* switches that the one before does not lead to */
};

/* snapshot_fn - one event; those of a CPU come in the order of their time. Not 0: reading ends with that. */
typedef int snapshot_fn(void *arg, const struct event *e);

/*
 * snapshot_read - the events of a ring from @from ns on, oldest first. @loss: is added to.
 * Returns 0, what @fn returned, or -ENOMEM.
 */
int snapshot_read(const struct snapshot_ring *ring, uint64_t from, snapshot_fn *fn, void *arg,
		  struct snapshot_loss *loss);

#endif
