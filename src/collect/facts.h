/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_COLLECT_FACTS_H
#define SYSTOP_COLLECT_FACTS_H

#include "model/memory_facts.h"

struct cgroups;
struct file_key;
struct health;

/* Facts about the process, cgroup or file whose details are shown. A helper reads them at most every five seconds, as it takes
 * long to walk the page tables of a large process. */
struct facts;

/* facts_new - @role: of the helper; @cgroups: borrowed. NULL: no memory. */
struct facts *facts_new(int role, const struct cgroups *cgroups);
void facts_free(struct facts *f);

/* facts_of - facts about a process, or, with @tgid 0, a cgroup: as last read; requests them. NULL: not known yet. */
const struct memory_facts *facts_of(struct facts *f, pid_t tgid, const struct cgroup *cgroup);

/* facts_package - the package with the debug information of the file @path, "": there is none. NULL: not known yet. */
const char *facts_package(struct facts *f, const char *path, const struct file_key *key);

/* facts_work - takes the answer; call it now and then. Returns whether to draw the screen, which has the answer now or can
 * request it now. */
bool facts_work(struct facts *f);

void facts_health(const struct facts *f, struct health *h);

/* facts_run - the role. */
void facts_run(int socket);

#endif
