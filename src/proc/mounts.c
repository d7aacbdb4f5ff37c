/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "proc/mounts.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "util/text.h"
#include "util/vec.h"

/* The controllers of v1, to which no more are added. Other options are of the mount, or of a security module. */
static const char *const v1_controllers[] = { "blkio", "cpu", "cpuacct", "cpuset", "debug", "devices", "freezer", "hugetlb", "memory",
					      "misc", "net_cls", "net_prio", "perf_event", "pids", "rdma" };

static bool is_controller(const char *option)
{
	size_t len = strcspn(option, "=");

	if (!strncmp(option, "name=", 5))
		return true;
	for (size_t i = 0; i < sizeof(v1_controllers) / sizeof(v1_controllers[0]); i++)
		if (strlen(v1_controllers[i]) == len && !strncmp(option, v1_controllers[i], len))
			return true;
	return false;
}

static char *controllers_of(char *options)
{
	char *list = calloc(1, strlen(options) + 2), *save;

	for (char *o = strtok_r(options, ",", &save); list && o; o = strtok_r(NULL, ",", &save)) {
		if (!is_controller(o))
			continue;
		if (*list)
			strcat(list, ",");
		strcat(list, o);
	}
	return list;
}

static void mount_free(struct cgroup_mount *m)
{
	free(m->path);
	free(m->root);
	free(m->controllers);
}

static bool same_hierarchy(const struct cgroup_mount *a, const struct cgroup_mount *b)
{
	if (!a->controllers || !b->controllers)
		return !a->controllers && !b->controllers;
	return !strcmp(a->controllers, b->controllers);
}

/* How far above our cgroup namespace's root the mount begins: "/../.." is 2. */
static size_t levels_above(const char *root)
{
	size_t levels = 0;

	for (; !strncmp(root, "/..", 3) && (!root[3] || root[3] == '/'); root += 3)
		levels++;
	return levels;
}

static bool shows_more(const struct cgroup_mount *a, const struct cgroup_mount *b)
{
	size_t above_a = levels_above(a->root), above_b = levels_above(b->root);

	return above_a != above_b ? above_a > above_b : strlen(a->root) < strlen(b->root);
}

static int mounts_add(struct cgroup_mounts *m, struct cgroup_mount *mount)
{
	for (size_t i = 0; i < m->nr; i++) {
		if (!same_hierarchy(&m->mounts[i], mount))
			continue;
		if (shows_more(mount, &m->mounts[i])) {
			struct cgroup_mount less = m->mounts[i];

			m->mounts[i] = *mount;
			*mount = less;
		}
		mount_free(mount);
		return 0;
	}
	return VEC_PUSH(m->mounts, m->nr, m->room, *mount);
}

/* "36 35 98:0 /root /path options [optional...] - type source super-options" */
static int mounts_line(struct cgroup_mounts *m, char *line)
{
	struct cgroup_mount mount = { 0 };
	char *tail = strstr(line, " - "), *save, *type, *options;
	int err;

	if (!tail)
		return 0;
	*tail = '\0';
	type = strtok_r(tail + 3, " \n", &save);
	strtok_r(NULL, " \n", &save);
	options = strtok_r(NULL, " \n", &save);
	if (!type || !options || strncmp(type, "cgroup", 6))
		return 0;
	if (sscanf(line, "%*d %*d %*s %ms %ms", &mount.root, &mount.path) != 2) {
		mount_free(&mount);
		return 0;
	}
	text_unescape(mount.root);
	text_unescape(mount.path);
	if (!strcmp(type, "cgroup"))
		mount.controllers = controllers_of(options);
	err = mount.controllers || strcmp(type, "cgroup") ? mounts_add(m, &mount) : -ENOMEM;
	if (err)
		mount_free(&mount);
	return err;
}

int cgroup_mounts_read(struct cgroup_mounts *m, FILE *mountinfo)
{
	char *line = NULL;
	size_t size = 0;
	int err = 0;

	*m = (struct cgroup_mounts){ 0 };
	while (!err && getline(&line, &size, mountinfo) > 0)
		err = mounts_line(m, line);
	if (!err && ferror(mountinfo))
		err = -errno;
	free(line);
	return err;
}

void cgroup_mounts_fini(struct cgroup_mounts *m)
{
	for (size_t i = 0; i < m->nr; i++)
		mount_free(&m->mounts[i]);
	free(m->mounts);
	*m = (struct cgroup_mounts){ 0 };
}

static bool has_controller(const char *list, const char *controller)
{
	size_t len = strlen(controller);

	for (const char *at = list; at; at = strchr(at, ',')) {
		at += *at == ',';
		if (!strncmp(at, controller, len) && (!at[len] || at[len] == ','))
			return true;
	}
	return false;
}

const struct cgroup_mount *cgroup_mount_find(const struct cgroup_mounts *m, const char *controller)
{
	for (size_t i = 0; i < m->nr; i++) {
		const struct cgroup_mount *mount = &m->mounts[i];

		if (!controller ? !mount->controllers
				: mount->controllers && has_controller(mount->controllers, controller))
			return mount;
	}
	return NULL;
}
