/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_OWNER_PLACES_H
#define SYSTOP_OWNER_PLACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Where container runtimes and kubelet keep the names of their containers and pods: files of the host, which belong to root. Runs
 * in the open helper.
 */

/* What a file is, and so how it is read (owner/parse.h). */
enum owner_format {
	OWNER_DOCKER, /* docker's config.v2.json */
	OWNER_OCI,    /* a bundle's config.json, whose annotations have the names */
	OWNER_LIST,   /* containers.json: a list of all containers of a storage */
	OWNER_FORMATS
};

/* Nothing larger is opened. Files of a single container have 10 to 100 KiB, those of 1,000 containers 600 KiB. */
#define OWNER_BYTES_MAX (4 << 20)

/* Most folders that have places of their own; each can be on a file system of its own. */
#define OWNER_BASES_MAX 16

/* owner_format - the format of the files at a place; OWNER_FORMATS: there is no such place, nor one after it.
 * owner_base - the number of its folder, below OWNER_BASES_MAX. owner_next - the first place of the next folder. */
enum owner_format owner_format(uint32_t place);
uint32_t owner_base(uint32_t place);
uint32_t owner_next(uint32_t place);

/* owner_suits - whether a runtime, by its name in struct owner, keeps files there; "": it is not known. */
bool owner_suits(uint32_t place, const char *runtime);

/*
 * owner_look - opens the first file from place @place on, in the same folder, that can have the name of a container, and
 * sets @place to its place. Files have to be regular, root's, writable by nobody else, and of at most OWNER_BYTES_MAX;
 * links lead nowhere. Returns the descriptor or -1 with errno; ENOENT: there are no more there, and @place is the next
 * folder's first.
 */
int owner_look(const char *id, uint32_t *place);

/* owner_pod_folder - the name of the pod with this UID by kubelet's folder of logs: "NAMESPACE_NAME". 0 or -errno. */
int owner_pod_folder(const char *uid, char *buf, size_t size);

/* owner_root - the folder that holds all of these places: "". It is in a source file of its own, so that a test program
 * can have another one. */
const char *owner_root(void);

#endif
