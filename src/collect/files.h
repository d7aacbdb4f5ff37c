/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_COLLECT_FILES_H
#define SYSTOP_COLLECT_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct files;
struct health;
struct model;
struct shared;
struct unwind_tables;
struct unwind_file;

/*
 * The ids of mapped files, which are in every frame of a stack. When few are left, files that nothing needs any more are
 * forgotten, those first that no stack had for longest: no stack of the recorder's window or of a tick that is kept
 * names one. If such a file is met again it gets a new id.
 *
 * First it is met no more under its id: its key goes. Then it rests, as a program may just have looked it up. Then all
 * who know something by its id forget that, and only then another file can have the id.
 */

struct files_memory {
	int files_fd, asked_fd, free_fd;  /* maps: ids by file, files to be told of again, and ids that can be given */
	uint32_t max;                     /* ids are below it */
	uint32_t age_s, rest_s;           /* see above */
	struct unwind_file *of;           /* by id, mapped: when a stack last had a frame in it */
	struct shared *shared;            /* mapped */
};

/* files_new - @mem is copied, @model and @tables are borrowed. NULL: no memory. */
struct files *files_new(const struct files_memory *mem, const struct model *model, struct unwind_tables *tables);
void files_free(struct files *f);

/* files_work - every 250 ms. @forget: forgets all that is known by @nr ids, or begins to; returns whether that is done,
 * is asked again if not. */
typedef bool files_forget(void *arg, const uint32_t *ids, size_t nr);
void files_work(struct files *f, files_forget *forget, void *arg);

/* files_in_use - ids of files that are known. */
uint32_t files_in_use(const struct files *f);
void files_health(const struct files *f, uint64_t waited, struct health *h);

#endif
