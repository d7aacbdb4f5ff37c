/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_MODEL_OWNER_H
#define SYSTOP_MODEL_OWNER_H

#include <stdbool.h>
#include <stdint.h>

struct cgroup;

enum owner_kind { OWNER_UNIT, OWNER_SLICE, OWNER_SESSION, OWNER_CONTAINER, OWNER_POD, OWNER_KINDS };

/* In owner.user: the unit is the system's. */
#define OWNER_SYSTEM UINT32_MAX

/*
 * What a cgroup itself is to those who run the host: a systemd unit, a container, a pod. What follows from its path is
 * known from the start; names of containers and pods come later, in another record. NULL: no such thing, or not known.
 * Raw bytes: text_safe().
 */
struct owner {
	enum owner_kind kind;
	uint32_t version;         /* of the names in it, 0: its path's; kept for owner/containers.h */
	uint32_t user;            /* of the systemd manager that runs the unit; OWNER_SYSTEM */
	const char *unit;         /* "ssh.service", "session-3.scope", "system.slice"; unescaped */
	const char *short_unit;   /* the same without ".service" */
	const char *container_id; /* as its runtime has it: 64 hexadecimal digits, mostly */
	const char *container;    /* its name, or the first 12 characters of the id */
	const char *runtime;      /* "docker", "libpod", "cri-containerd", "lxc" */
	const char *image;
	const char *pod_id;       /* the pod's UID, or podman's id of it */
	const char *pod;          /* "namespace/name", or the id, cut like a container's */
};

/* owner_new - a copy in one piece of memory, for free(). NULL: no memory. */
struct owner *owner_new(const struct owner *o);

/* owner_has_id - whether @begin is the beginning of an id, of at least 4 characters. */
bool owner_has_id(const char *id, const char *begin);

/* cgroup_own - sets a cgroup's record, which it takes over; NULL: none. */
void cgroup_own(struct cgroup *c, struct owner *o);

/* What a cgroup belongs to: the record of the nearest cgroup, itself or above it, that is one of these; NULL: none.
 * Slices count as a unit only outside of containers and pods. */
struct owners {
	const struct owner *unit, *container, *pod;
};

struct owners owners_of(const struct cgroup *c);

/* What a cgroup's rows show; NULL: nothing. owner_text - in one word: the pod, the container, or the unit. Valid until
 * the cgroup gets another record. */
const char *owner_unit(const struct cgroup *c);
const char *owner_container(const struct cgroup *c);
const char *owner_pod(const struct cgroup *c);
const char *owner_text(const struct cgroup *c);

/* owner_name - the name of the container or pod that the cgroup itself is; NULL: it is none, or the name is not known. */
const char *owner_name(const struct cgroup *c);

#endif
