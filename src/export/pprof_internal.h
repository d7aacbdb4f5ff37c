/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_EXPORT_PPROF_INTERNAL_H
#define SYSTOP_EXPORT_PPROF_INTERNAL_H

/* Shared by pprof.c (samples and their labels, and the file) and pprof_frames.c (strings, and locations of frames with
 * their functions and mappings). */

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "model/metric.h"
#include "pprof.pb-c.h"
#include "util/hash.h"
#include "util/map.h"
#include "util/vec.h"

struct redact;
struct source;
struct stack_walk;

/* Generated names without their package: PB(Sample) sample = PB_INIT(SAMPLE). */
#define PB(message) Perftools__Profiles__##message
#define PB_INIT(message) PERFTOOLS__PROFILES__##message##__INIT

/* A column per metric, and another one per metric for its samples. */
#define COLUMNS_MAX (2 * (METRIC_COUNT + 1))

#define NR_LABELS 5

/* A thread with its packed labels. */
struct thread {
	PB(Label) labels[NR_LABELS], *list[NR_LABELS];
};

/* Output types that embed their message, so that it is packed directly. */
struct location {
	PB(Location) pb;
	PB(Line) line, *list;
	bool named;                /* by a symbol */
};

struct sample {
	PB(Sample) pb;
	uint64_t data[];           /* locations, then the columns' values, which are signed */
};

enum item {
	ITEM_STRING,
	ITEM_MAPPING,
	ITEM_FUNCTION,
	ITEM_LOCATION,
	ITEM_LOCATION_BY_NAME,
	ITEM_SAMPLE,
	ITEM_SAMPLE_WITHOUT_ROOM,
	ITEM_THREAD,
	ITEM_FRAME,
};

struct pprof {
	const struct source *source;
	const struct redact *redact;
	struct column {
		enum metric_id metric;
		bool samples;              /* it counts samples */
		PB(ValueType) pb;
	} columns[COLUMNS_MAX];
	int nr_columns;
	int64_t default_type;
	uint64_t from_ns, duration_ns;
	char **strings;
	size_t nr_strings, strings_room;
	PB(Mapping) **mappings;
	size_t nr_mappings, mappings_room;
	PB(Function) **functions;
	size_t nr_functions, functions_room;
	struct location **locations;
	size_t nr_locations, locations_room, locations_max;
	struct sample **samples;
	size_t nr_samples, samples_room;
	struct thread **threads;
	size_t nr_threads, threads_room;
	struct map indexes;        /* hash of an item and its type, enum item -> index + 1 in its list */
	struct map in_refresh;     /* the same for frames and threads, which are valid in one refresh only */
	int err;
};

/* key_of - hashes the kind with the value, so that equal values of different kinds have different keys. */
static inline uint64_t key_of(enum item kind, uint64_t what)
{
	return hash_add(hash_add(0, kind), what);
}

/* NEW_ITEM - appends a zeroed item; NULL: no memory. */
#define NEW_ITEM(p, list, nr, room, bytes)                                                                            \
	({                                                                                                             \
		void *item_ = (p)->err ? NULL : calloc(1, bytes);                                                      \
		if (!item_ || VEC_PUSH((p)->list, (p)->nr, (p)->room, item_)) {                                        \
			free(item_);                                                                                   \
			item_ = NULL;                                                                                  \
			(p)->err = -ENOMEM;                                                                            \
		}                                                                                                      \
		item_;                                                                                                 \
	})

/* remember - stores an item's index in @m under its key. */
static inline void remember(struct pprof *p, struct map *m, uint64_t key, size_t index)
{
	if (!p->err)
		p->err = map_put(m, key, (void *)(uintptr_t)(index + 1));
}

/* known - index of the item with this key; -1: none. */
static inline int64_t known(const struct map *m, uint64_t key)
{
	return (int64_t)(uintptr_t)map_get(m, key) - 1;
}

/* pprof_string - index of a string; 0 after an error. pprof_safe_string - the same for foreign text: the format
 * requires UTF-8, and terminals show it. */
int64_t pprof_string(struct pprof *p, const char *text);
int64_t pprof_safe_string(struct pprof *p, const char *text, size_t len);

/* pprof_location - id of the location of the frame, or of the mark, that @w is at. pprof_location_by_name - the same for what
 * has no place in a file: its name and @module (NULL: it is no code) identify it. 0 after an error, or if there is no room for
 * a new one. */
uint64_t pprof_location(struct pprof *p, const struct stack_walk *w);
uint64_t pprof_location_by_name(struct pprof *p, const char *name, const char *module);

#endif
