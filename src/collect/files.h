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
 * The ids of mapped files, which every frame of a stack contains. When few are left, files that are no longer needed
 * are forgotten, the least recently used first: no stack of the recorder's window or of a tick that is kept refers to
 * them. If such a file is seen again it gets a new id.
 *
 * First its key is removed, so that it is no longer found under its id. Then the id rests, as a program may just have
 * looked it up. Then all users of the id forget it, and only then can another file get it.
 */

struct files_memory {
	int files_fd, asked_fd;           /* maps: ids by file, and files to be reported again */
	uint32_t max;                     /* ids are below this */
	uint32_t age_s, rest_s;           /* see above */
	struct unwind_file *of;           /* by id, mapped: when a stack last contained a frame in it, and links of free ids */
	struct shared *shared;            /* mapped */
};

/* files_new - @mem is copied, @model and @tables are borrowed. NULL: no memory. */
struct files *files_new(const struct files_memory *mem, const struct model *model, struct unwind_tables *tables);
void files_free(struct files *f);

/* files_work - every 250 ms. @recorded_s: for how long the recorder's events refer to files. @forget: forgets everything
 * about @nr ids, or begins to; returns whether it is done, and is called again if not. */
typedef bool files_forget(void *arg, const uint32_t *ids, size_t nr);
void files_work(struct files *f, uint32_t recorded_s, files_forget *forget, void *arg);

/* files_in_use - number of known files. */
uint32_t files_in_use(const struct files *f);
void files_health(const struct files *f, uint64_t waited, struct health *h);

#endif
