/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_SAVE_SAVE_INTERNAL_H
#define SYSTOP_SAVE_SAVE_INTERNAL_H

/* Shared by save.c (what is saved, where, and when it is written) and save_helper.c (the helper that writes). */

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "helper/helper.h"
#include "helper/proto.h"
#include "save/capture_metadata.h"
#include "save/destination.h"
#include "save/save.h"

/* The rings are copied at once; the trace is written when the names and the next tick have arrived. */
enum state { SAVE_IDLE, SAVE_NAMES, SAVE_WRITING };

struct save {
	struct save_options o;
	enum state state;
	struct helper helper;
	char path[PATH_MAX], safe[PATH_MAX], text[PATH_MAX + 1024], reason[512];
	bool beside;             /* the name is generated: another file of that name stays */
	char temporary[WRITE_TEMPORARY_SIZE]; /* name of the unfinished file; "": it has none */
	struct save_failure failure;
	char cause[160];         /* the same in words */
	int refused;             /* why the last save of --on could not begin, -errno; 0: it began */
	struct save_end end;     /* of the window */
	int without;             /* CPUs without a ring, which are not recorded, */
	char why_without[64];    /* and why */
	const struct exporter *exporter; /* of the current save */
	struct save_part part;   /* of the current save */
	uint32_t percent, idle_talk; /* the progress last reported, and how often the helper has repeated it */
	bool content;            /* save_content(): no window of the recorder */
	bool handed;             /* the file was opened by the caller: there is nothing to clean up */
	int fd;                  /* that file; -1: the helper opens it */
	bool stream;             /* the helper writes to a FIFO */
	uint64_t began, heard;   /* CLOCK_MONOTONIC ns */
	uint64_t named;          /* when the last names came, at that generation of names: */
	uint64_t generation;
	const struct tick *tick; /* the newest one */
	struct process_info_table *who;   /* processes at the end of the window; NULL: unknown */
};

/*
 * save_begin_window - starts the helper and requests the rings, which it copies as soon as it knows the destination.
 * save_begin_content - requests that it writes all of @content. @fd: where to, -1: to the file's path. 0 or -errno; -EPIPE:
 * the helper's answer says why.
 */
int save_begin_window(struct save *s, int fd);
int save_begin_content(struct save *s, int fd, int content);

/* save_write_now - has the window written, with all that is known by now. */
void save_write_now(struct save *s);

/* save_read_answers - takes the helper's messages; saving may end with one. Returns whether there were any. */
bool save_read_answers(struct save *s);

/* save_close - ends saving with this result, 0 or -errno. @said: the helper ended by itself, or will, and leaves no file. */
void save_close(struct save *s, int err, bool said);

#endif
