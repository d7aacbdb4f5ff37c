/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_PROC_OWNER_PATH_H
#define SYSTOP_PROC_OWNER_PATH_H

struct owner;

/*
 * owner_of_path - what the last part of a cgroup's path says about it, and about nothing above it (model/owner.h). @path:
 * "/a/b", also "cpu:/a/b"; any bytes. Below a user's systemd or a container it takes only ids of containers, no names.
 * Knows systemd's units of the system and of users; containers as docker, containerd, CRI-O, podman, LXC and
 * systemd-nspawn place them, with systemd or without; pods as kubelet and podman do. Returns NULL if it is none of
 * them, or there is no memory; free() releases it.
 */
struct owner *owner_of_path(const char *path);

#endif
