/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_OWNER_PARSE_H
#define SYSTOP_OWNER_PARSE_H

#include "owner/places.h"

struct symbols_container;

/* CPU time after which reading a file ends the helper. */
#define OWNER_CPU_MS 500

/*
 * parse_names - reads the names of the container @id from a runtime's file. Runs in the symbols helper, as files can hold
 * anything. @a: its names are filled in, "" where the file has none. Returns 0 or -errno; -ENOENT: it does not have this
 * container, -EBADMSG: it is no JSON, or not of that form.
 */
int parse_names(int fd, enum owner_format format, const char *id, struct symbols_container *a);

#endif
