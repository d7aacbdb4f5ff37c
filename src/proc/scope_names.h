/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_PROC_SCOPE_NAMES_H
#define SYSTOP_PROC_SCOPE_NAMES_H

#include <stddef.h>

struct cgroup;

/* What a cgroup is called in a SPEC of -c: the last part of its path, and what it stands for (model/owner.h). */

/* How well a name matches: only the best class with any match counts. */
enum fit { FIT_NAME, FIT_BEGINNING, FIT_PART, FIT_PATH, FIT_NONE };

/* scope_fit - how well @name, from a SPEC, matches a cgroup. */
enum fit scope_fit(const struct cgroup *c, const char *name);

/* scope_edits - number of edits (insert, delete, replace) that turn @name into what it is called; only the beginning of
 * long names is compared. */
unsigned int scope_edits(const char *name, const struct cgroup *c);

/* scope_called - " (container web 3f2a91c04b7e)", to follow the path of a container or pod; else "". Safe for a terminal. Returns
 * @buf. */
const char *scope_called(const struct cgroup *c, char *buf, size_t size);

#endif
