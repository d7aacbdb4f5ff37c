/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_APP_SERVICES_H
#define SYSTOP_APP_SERVICES_H

#include "app/config_write.h"
#include "proc/topology.h"

struct collect;
struct host;
struct names;
struct sink;
struct tick;
struct save;

/* Who knows. */
struct services {
	struct collect *collect;
	struct names *names;
	struct save *save;
	const char *save_path; /* where to; NULL: a name of its own */
	int save_fd;           /* -1: none */
	struct config_writer config;
	const struct sink *output; /* of the screen */
	struct topology_reader topology;
	const struct host *host; /* that has all this */
};

/* services_init - what the screen asks of the rest (tui/screen/host.h). @from: borrowed, as are the
 * strings that are in @h already. */
void services_init(struct host *h, struct services *from);

/* services_note - how things are at this tick, for the report of a crash. */
void services_note(const struct sink *output, const struct tick *t);

#endif
