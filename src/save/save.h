/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_SAVE_SAVE_H
#define SYSTOP_SAVE_SAVE_H

#include <stdbool.h>
#include <stdint.h>

#include "save/trigger.h"

struct collect;
struct exporter;
struct names;
struct redact;
struct save_failure;
struct source;
struct utsname;

/*
 * Saves the recorder's content as a trace: requests the names of all stacks, adds the threads and processes, and has a
 * helper write it. Nothing here blocks.
 */
struct save;

/* A part of what is recorded, CLOCK_BOOTTIME ns; @until 0: to its end. */
struct save_part {
	uint64_t from, until;
};

struct save_options {
	int role;                     /* role of the helper that writes */
	int process_info_role;        /* role of the helper that reads command lines */
	struct collect *collect;
	struct names *names;
	const struct source *source;  /* uses the same names */
	const struct utsname *uname;
	const char *scope;            /* as the header shows it */
	bool scoped;                  /* it does not include all threads of the host */
	const char *version;
	char **argv;                  /* command line, NULL-terminated */
	const struct redact *redact;  /* of --redact; NULL: names as they are */
	bool arguments;               /* of processes and of systop, too */
	unsigned int window_s;        /* length of the window in seconds; 0: only parts can be saved */
	struct trigger trigger;       /* when to save without a request, */
	const char *folder;           /* and where: as @path of save_start() */
};

/* Longest time, beyond a refresh's interval, from save_start() until all names are resolved. A save needs the threads of its
 * window until then. */
#define SAVE_NAMES_NS 20000000000ULL

/* save_new - @o's pointers are borrowed. NULL: no memory. */
struct save *save_new(const struct save_options *o);
void save_free(struct save *s);

/*
 * save_start - starts saving. @as: an exporter of windows. @path: the file, which appears when it is complete; NULL or "":
 * "systop-HOST-UTCTIME" and the exporter's suffix, in the current folder, or in @path, if that ends in "/". @fd: written to
 * instead, unless -1. @reason: reported in save_text() and in the trace, "": on request. @part: NULL: the last window_s
 * seconds. The window ends now, whenever it is written. Returns 0, -EBUSY: one is being saved, or another -errno, also reported
 * in save_text(); -EOPNOTSUPP: nothing is recorded.
 */
int save_start(struct save *s, const struct exporter *as, const char *path, int fd, const char *reason,
	       const struct save_part *part);

/*
 * save_content - the same for content that is complete: all of the file @content, which stays the caller's and must not
 * be empty. Writing begins at once: it needs no refresh and no names.
 */
int save_content(struct save *s, const struct exporter *as, const char *path, int fd, int content);

/* save_cancel - stops saving; no file is left, unless it is complete already: save_text() reports that. */
void save_cancel(struct save *s);
bool save_busy(const struct save *s);

/* save_tick - call after every refresh; save_work - call in between, four times a second. Return true if save_text()
 * has changed. */
bool save_tick(struct save *s, const struct tick *t);
bool save_work(struct save *s);

/* save_wants_tick - whether a save has waited for the next refresh for longer than a second: one now would end the wait. */
bool save_wants_tick(const struct save *s);

/* save_finish - blocks until the save in progress ends; SIGINT, SIGTERM, SIGHUP and SIGQUIT, which have to be
 * blocked, cancel it. @t: the last tick; NULL: save_content() needs none. @reader: the output file: saving is
 * given up if its reader does not read; -1: it waits for the reader. @work: called meanwhile: it fetches names. */
void save_finish(struct save *s, const struct tick *t, int reader, void (*work)(void *arg), void *arg);

/* save_text - what it does, or how the last save ended: one line, safe for a terminal. "": nothing was saved yet.
 * save_failure - why the last save failed. */
const char *save_text(const struct save *s);
const struct save_failure *save_failure(const struct save *s);

/* save_why - why the last save failed, in words. */
const char *save_why(const struct save *s);

#endif
