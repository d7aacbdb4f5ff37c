/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_QUERY_RUNTIMES_H
#define SYSTOP_QUERY_RUNTIMES_H

#include <stdbool.h>
#include <stddef.h>

/* Runtimes that do not write the names of their functions by default, and what makes them do so. */

struct calltree;
struct calltree_node;

struct runtime {
	const char *name;  /* "Python" */
	const char *files; /* names of its files, separated by blanks: % stands for the version, * ends a name and stands
			    * for anything */
	const char *since; /* the first version of this row, "": any. Newer rows of a runtime precede older ones; the
			    * newest is for an unknown version, too */
	bool interprets;   /* without an option to write names, its functions only have frames of the interpreter */
	const char *hint;
};

extern const struct runtime runtimes[]; /* for man page and search; the last one has no name */

/* runtime_of_file - the runtime that a file of this name belongs to, NULL: none. @version: "3.11", "": unknown. */
const struct runtime *runtime_of_file(const char *file, char *version, size_t size);

/* runtime_hint - whether names are missing at a function because its runtime does not write them; @buf then describes
 * how to make it do so: "Python 3.11: ...". */
bool runtime_hint(const struct calltree *f, const struct calltree_node *n, char *buf, size_t size);

#endif
