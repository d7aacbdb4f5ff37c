/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_SAVE_SAVE_H
#define SYSTOP_SAVE_SAVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "save/trigger.h"

struct collect;
struct exporter;
struct names;
struct save_failure;
struct source;
struct tick;
struct utsname;

/*
 * Saves what the recorder holds as a trace: asks for the names of all stacks, says who was there, and has a helper
 * write it. Nothing here waits.
 */
struct save;

/* A part of the window, CLOCK_BOOTTIME ns; 0: from its start, to its end. */
struct save_part {
	uint64_t from, until;
};

struct save_options {
	int role;                     /* helper that writes, */
	int process_info_role;        /* and the one that reads command lines */
	struct collect *collect;
	struct names *names;
	const struct source *source;  /* of the same names */
	const struct utsname *uname;
	const char *scope;            /* as the header shows it */
	bool scoped;                  /* not all threads of the host are in it */
	const char *version;
	char **argv;                  /* command line, NULL-terminated */
	unsigned int window_s;
	struct trigger trigger;       /* when one is begun without being asked for */
	struct save_part part;        /* not what was before or after */
};

/* save_new - @o's pointers are borrowed. NULL: no memory. */
struct save *save_new(const struct save_options *o);
void save_free(struct save *s);

/*
 * save_start - begins one. @as: an exporter of windows. @path: the file, which is there when it is whole; NULL:
 * "systop-HOST-UTCTIME" and the exporter's suffix, here.
 * @fd: written to instead, if it is not -1. @reason: told in save_text() and in the trace, "": somebody wanted it.
 * @part: of the window, NULL: what the options say. It ends now, whenever it is written. Returns 0, -EBUSY: one is
 * being written, -EOPNOTSUPP: nothing is recorded, or another -errno: save_text() says it, too.
 */
int save_start(struct save *s, const struct exporter *as, const char *path, int fd, const char *reason,
	       const struct save_part *part);

/* save_cancel - there will be no file. */
void save_cancel(struct save *s);
bool save_busy(const struct save *s);

/* save_tick - after every refresh; save_work - in between, four times a second. Return true if what save_text() says
 * is another thing than before. */
bool save_tick(struct save *s, const struct tick *t);
bool save_work(struct save *s);

/* save_finish - waits until what is being saved is saved; SIGINT, SIGTERM, SIGHUP and SIGQUIT, which are blocked, cancel
 * it. @t: the last refresh. @reader: who reads this file is not waited for; -1: it is. @work is called in between: it
 * fetches names. */
void save_finish(struct save *s, const struct tick *t, int reader, void (*work)(void *arg), void *arg);

/* save_text - what it does, or how the last one ended: one line, fit for a terminal. "": nothing was saved yet.
 * save_failure - of the last one that ended: why. */
const char *save_text(const struct save *s);
const struct save_failure *save_failure(const struct save *s);

/* save_why - the same in words. */
const char *save_why(const struct save *s);

#endif
