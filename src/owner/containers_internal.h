/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_OWNER_CONTAINERS_INTERNAL_H
#define SYSTOP_OWNER_CONTAINERS_INTERNAL_H

/* Shared by containers.c (what is known, and the cgroups that get it) and containers_ask.c (requests to helpers). */

#include "helper/worker.h"
#include "owner/containers.h"
#include "owner/places.h"
#include "util/map.h"

/* The longest id that is requested, and its NUL. */
#define ID_SIZE 128

enum thing_state { THING_WANTED, THING_KNOWN, THING_MISSING };

/* A container or pod. */
struct thing {
	char id[ID_SIZE];
	bool pod;
	char runtime[16];  /* of a container; "": not known */
	enum thing_state state;
	uint32_t number;   /* of its requests */
	uint32_t place;    /* owner/places.h: where to look next */
	uint32_t version;  /* of its names; 0: none */
	int tries;
	uint64_t again_ns; /* CLOCK_MONOTONIC; 0: it is not requested again */
	uint64_t seen;     /* the last update that met it */
	char *name, *image;
	char *pod_name;    /* "namespace/name" */
	char *host;        /* of a container: its own host name */
};

struct containers {
	struct worker open, symbols;
	uint32_t linked[2];
	struct map by_id; /* hash -> struct thing */
	struct thing **things;
	size_t nr, room;
	size_t next;          /* where to look for something to request */
	struct thing *asked;  /* what the helpers work on; NULL: nothing */
	uint32_t numbers;
	uint64_t updates, generation;
	uint64_t used_ns, pause_until;
	uint64_t sick_until[OWNER_BASES_MAX]; /* a folder that did not answer is left alone until then; 0: it never failed */
	uint64_t pods_sick_until;
};

/* thing_replace - sets one of its texts, if there is one. thing_learnt - its names are known now. */
void thing_replace(char **text, const char *by);
void thing_learnt(struct containers *c, struct thing *t);

#endif
