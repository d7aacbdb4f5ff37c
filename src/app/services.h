/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_APP_SERVICES_H
#define SYSTOP_APP_SERVICES_H

#include "app/config_write.h"
#include "proc/topology.h"

struct collect;
struct containers;
struct host;
struct names;
struct sink;
struct tick;
struct redact;
struct save;

/* The parts that answer the screen. */
struct services {
	struct collect *collect;
	struct model *model;
	struct names *names;
	struct containers *containers;
	struct save *save;
	const char *save_path; /* destination; NULL: a generated name */
	int save_fd;           /* -1: none */
	const char *folder;    /* of files with generated names, ending in "/"; "": the current one */
	struct config_writer config;
	const struct sink *output; /* of the screen */
	struct topology_reader topology;
	const struct redact *redact; /* for exports; NULL: names as they are */
	const struct host *host; /* which provides all of this */
};

/* services_init - fills in what the screen needs from other parts (tui/screen/host.h). @from: borrowed, as are the
 * strings already in @h. */
void services_init(struct host *h, struct services *from);

/* services_note - stores the state at this tick for the report of a crash. */
void services_note(const struct sink *output, const struct tick *t);

#endif
