/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_QUERY_SUBJECT_H
#define SYSTOP_QUERY_SUBJECT_H

#include <stdbool.h>
#include <stddef.h>

#include "model/tick.h"

/* A thread, process or cgroup: the subject of a row, independent of the tick. */
struct subject {
	enum { SUBJECT_ALL, SUBJECT_CGROUP, SUBJECT_PROCESS, SUBJECT_THREAD } kind;
	uint64_t id;       /* cgroup's id, tgid or tid */
	uint64_t start_ns; /* of a thread or a process, as their numbers are reused; else 0 */
	uint64_t cgroup;   /* cgroup_key() of a thread's row: a thread that was moved has two; 0: any */
};

/* subject_of - the subject of a row; NULL: all. */
struct subject subject_of(const struct row *r);

/* subject_holds - whether the row is that of the subject, or of a part of it: a thread of the process, a process or thread of the
 * cgroup or below; all holds everything. subject_holds_life - the same for a thread. subject_life_row - the subject's row, without
 * values, made from a thread that it holds; not for SUBJECT_ALL. */
bool subject_holds(const struct subject *s, const struct row *r);
bool subject_holds_life(const struct subject *s, const struct life *l);
struct row subject_life_row(const struct subject *s, const struct life *l);

/* subject_row - its row in a tick; of the rows of a moved thread, the one in @s->cgroup if there is one. NULL: none. O(rows). */
const struct row *subject_row(const struct subject *s, const struct tick *t);

/* subject_name - "/web/api", or the name of the container or pod that it is, "nginx 4711", "worker 4712", "all"; @r is its
 * row. Fit for a terminal. */
void subject_name(const struct subject *s, const struct row *r, char *buf, size_t size);

/* subject_key - for a hash: equal for two subjects with a chance of 1 in 2^40. */
uint64_t subject_key(const struct subject *s);

/* row_key - of the subject of a row, or of an item whose first member is one. */
uint64_t row_key(const void *row);

#endif
