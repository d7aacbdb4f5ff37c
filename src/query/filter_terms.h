/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_QUERY_FILTER_TERMS_H
#define SYSTOP_QUERY_FILTER_TERMS_H

/* A parsed filter: filter.c builds it and filter_match.c evaluates it. */

#include "query/filter.h"

enum op { OP_HAS, OP_EQ, OP_NE, OP_GT, OP_GE, OP_LT, OP_LE };

enum key { KEY_WORD, KEY_COMM, KEY_CMD, KEY_CGROUP, KEY_UNIT, KEY_CONTAINER, KEY_POD, KEY_USER, KEY_STATE, KEY_IS,
	   KEY_TID, KEY_PID, KEY_PPID, KEY_THREADS, KEY_METRIC };

/* Whether a term with this key is about the cgroup or what that belongs to. */
static inline bool key_of_cgroup(enum key key)
{
	return key >= KEY_CGROUP && key <= KEY_POD;
}

enum flag { FLAG_KTHREAD, FLAG_EXITED, FLAG_THROTTLED };

/* The unit that a number was written with. */
enum scale { SCALE_NONE, SCALE_PERCENT, SCALE_TIME, SCALE_COUNT };

struct alternative {
	const char *text;
	bool pattern;  /* contains * ? or [ */
	double number; /* ns for SCALE_TIME; for a word: the tid or pid that it may be, or -1 */
	enum scale scale;
};

struct term {
	bool negated;
	enum key key;
	enum metric_id metric; /* KEY_METRIC */
	enum op op;
	struct alternative *any; /* one of them has to match */
	size_t nr_any, any_room;
	/* The last result and what it was for: many rows share values, cgroup or name. NULL: the term depends on
	 * what rows do not share. */
	struct memo {
		uint64_t seq; /* of the tick */
		const void *of;
		char comm[16];
		bool result;
	} *memo;
};

struct filter {
	char *text; /* text that the alternatives point into */
	struct term *terms;
	size_t nr, room;
};

#endif
