/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_APP_SYSTOP_H
#define SYSTOP_APP_SYSTOP_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/utsname.h>

#include "app/command.h"
#include "app/options.h"
#include "app/services.h"
#include "app/target.h"
#include "export/exporter.h"
#include "proc/mounts.h"
#include "save/capture_plan.h"
#include "tui/input/settings.h"
#include "tui/screen/host.h"
#include "util/sink.h"

struct cgroups;
struct collect;
struct filter;
struct model;
struct names;
struct save;
struct theme;
struct tui;

/* All that there is while systop runs. */
struct systop {
	struct options options;
	struct utsname uts;
	struct cgroup_mounts mounts;
	struct cgroups *cgroups;
	struct model *model;
	struct filter *filter; /* of -b and --json */
	struct filter *when;   /* of --on */
	struct collect *collect;
	struct names *names;
	struct save *save;
	struct save *file;     /* of what an exporter of refreshes writes to options.file */
	FILE *content;         /* which is made now; NULL: none is */
	struct tui *tui;
	struct sink output; /* to standard output: the screen, or refreshes */
	bool unfinished;    /* there is more of the refresh that is being written to it */
	struct host host;
	struct export export;  /* of what is written in place of the screen */
	struct services sources;
	struct settings settings;
	const struct theme *theme; /* of the settings */
	char notice[512];
	struct command command;
	struct target target;
	char **argv;
	struct capture_plan plan; /* of -w */
	bool gone; /* what -p asked for */
	uint64_t ticks;
};

/* start_helpers - before anything is opened that they need not have. start_log - --log or -v, if it was asked for; start()
 * does it by itself. 0 or -errno after fail(). */
void start_helpers(void);
int start_log(const struct options *o);

/*
 * start - finds out all that can go wrong, attaches the programs and opens the screen, in this order. The options,
 * settings, uts and argv are there. Returns 0 or -errno with fail(); stop() is called for both.
 */
int start(struct systop *s);
void stop(struct systop *s);

#endif
