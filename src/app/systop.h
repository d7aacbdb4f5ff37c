/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_APP_SYSTOP_H
#define SYSTOP_APP_SYSTOP_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/utsname.h>

#include "app/belongs.h"
#include "app/command.h"
#include "app/config_write.h"
#include "app/options.h"
#include "app/target.h"
#include "export/exporter.h"
#include "export/redact.h"
#include "loss.h"
#include "proc/mounts.h"
#include "proc/topology.h"
#include "save/capture_plan.h"
#include "tui/input/settings.h"
#include "tui/screen/host.h"
#include "util/sink.h"

struct cgroups;
struct collect;
struct containers;
struct filter;
struct model;
struct names;
struct save;
struct theme;
struct tui;

/* The state of a running systop. */
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
	struct containers *containers;
	struct belongs belongs;
	struct save *save;
	struct save *file;     /* writes the refreshes of an exporter to options.file */
	FILE *content;         /* contents being built; NULL: none */
	struct tui *tui;
	struct sink output; /* to standard output: the screen, or refreshes */
	bool unfinished;    /* the refresh being written to it is incomplete */
	bool dying;         /* more threads have died than one turn can read or show */
	bool due;           /* a refresh waits for one of these */
	struct host host;
	struct redact redact_key;    /* random */
	const struct redact *redact; /* for exports; NULL: names as they are */
	struct export export;  /* of the output that replaces the screen */
	struct topology_reader topology;
	struct settings settings;
	struct config_writer config;
	const struct theme *theme; /* from the settings */
	char notice[512];
	char folder[PATH_MAX]; /* of files with generated names, ending in "/": beside the file of -o or -w; "": the current one */
	struct command command;
	struct target target;
	char **argv;
	struct capture_plan plan; /* of -w */
	bool recorded; /* -w has ended: the last save is its own, and finish_trace() reports what goes wrong */
	bool gone;     /* the processes of -p and the threads of -t have ended */
	uint64_t loss[LOSS_COUNT]; /* since the start, at the last refresh */
	uint64_t ticks;
	uint64_t tick_ns; /* when the last one began, CLOCK_MONOTONIC */
};

/* start_helpers - call it before opening anything that helpers do not need.
 * start_log - for --log and -v; start() calls it itself. 0 or -errno after fail(). */
void start_helpers(void);
int start_log(const struct options *o);

/*
 * start - finds all errors, attaches the programs and opens the screen, in this order. Options, settings, uts and argv
 * must be set. Returns 0 or -errno with fail(); call stop() in both cases.
 */
int start(struct systop *s);
void stop(struct systop *s);

#endif
