/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "util/invoker.h"

#include <errno.h>
#include <grp.h>
#include <stdlib.h>
#include <sys/capability.h>
#include <sys/fsuid.h>
#include <unistd.h>

#include "util/fail.h"

static struct invoker found;

/* What invoker_end() restores. */
static struct {
	cap_t caps;
	gid_t *groups;
	int nr_groups;
	gid_t gid;
	uid_t uid;
} own;

/* The number of a user or group: -1 is invalid, as it means "unchanged" to the kernel. */
static bool parse_id(const char *text, unsigned int *id)
{
	unsigned long number;
	char *end;

	if (!text || *text < '0' || *text > '9')
		return false;
	errno = 0;
	number = strtoul(text, &end, 10);
	*id = number;
	return !errno && !*end && number < (uid_t)-1;
}

static void find_groups(void)
{
	int room = 0;

	getgrouplist(found.name, found.gid, NULL, &room);
	found.groups = calloc(room + 1, sizeof(*found.groups));
	found.nr_groups = room;
	if (found.groups && getgrouplist(found.name, found.gid, found.groups, &found.nr_groups) >= 0)
		return;
	free(found.groups);
	found.groups = NULL;
	found.nr_groups = 0;
}

int invoker_find(void)
{
	const char *uid = getenv("SUDO_UID"), *gid = getenv("SUDO_GID"), *name = getenv("SUDO_USER");

	free(found.groups);
	found = (struct invoker){ .uid = getuid(), .gid = getgid() };
	if (found.uid || (!uid && !gid && !name)) /* anyone can set these variables, but sudo runs as root */
		return 0;
	if (!parse_id(uid, &found.uid) || !parse_id(gid, &found.gid) || !name || !*name) {
		fail(-EINVAL, EXIT_STATUS_USAGE, "bad value in the environment: who called sudo");
		fail_why("SUDO_UID, SUDO_GID and SUDO_USER do not name a user");
		fail_fix("env -u SUDO_UID -u SUDO_GID -u SUDO_USER systop    # as root");
		return -EINVAL;
	}
	found.name = found.uid ? name : NULL;
	if (found.name)
		find_groups();
	return 0;
}

const struct invoker *invoker(void)
{
	return &found;
}

int invoker_drop(void)
{
	cap_t none = cap_dup(own.caps);
	int err = !none || cap_clear_flag(none, CAP_EFFECTIVE) || cap_set_proc(none) ? -EPERM : 0;

	if (none)
		cap_free(none);
	return err;
}

int invoker_begin(void)
{
	int err = 0;

	own.nr_groups = getgroups(0, NULL);
	own.groups = calloc(own.nr_groups + 1, sizeof(*own.groups));
	own.caps = cap_get_proc();
	own.uid = setfsuid(-1);
	own.gid = setfsgid(-1);
	if (!own.caps || !own.groups || (own.nr_groups = getgroups(own.nr_groups, own.groups)) < 0) {
		invoker_end();
		return -ENOMEM;
	}
	if (found.name) {
		if (setgroups(found.nr_groups, found.groups))
			err = -errno;
		setfsgid(found.gid);
		setfsuid(found.uid);
		if ((gid_t)setfsgid(-1) != found.gid || (uid_t)setfsuid(-1) != found.uid)
			err = -EPERM;
	}
	if (!err && found.uid) /* root's file system rights went with the user; capabilities from a file or a parent process did not */
		err = invoker_drop();
	if (err)
		invoker_end();
	return err;
}

void invoker_end(void)
{
	if (own.caps)
		cap_set_proc(own.caps);
	if (found.name && own.groups) {
		setfsuid(own.uid);
		setfsgid(own.gid);
		setgroups(own.nr_groups, own.groups);
		cap_set_proc(own.caps); /* again: setfsuid() changes root's capabilities */
	}
	if (own.caps)
		cap_free(own.caps);
	own.caps = NULL;
	free(own.groups);
	own.groups = NULL;
}
