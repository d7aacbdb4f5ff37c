/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "util/invoker.h"

#include <errno.h>
#include <grp.h>
#include <stdlib.h>
#include <unistd.h>

/* A number of a user or group; (uid_t)-1 is none. */
static bool read_id(const char *name, uid_t *id)
{
	const char *text = getenv(name);
	unsigned long n;
	char *end;

	if (!text || *text < '0' || *text > '9')
		return false;
	errno = 0;
	n = strtoul(text, &end, 10);
	*id = n;
	return !errno && !*end && n < (uid_t)-1;
}

static bool find_groups(struct invoker *i, const char *name)
{
	int room = 0;

	getgrouplist(name, i->gid, NULL, &room);
	i->nr_groups = room;
	i->groups = calloc(room + 1, sizeof(*i->groups));
	return i->groups && getgrouplist(name, i->gid, i->groups, &i->nr_groups) >= 0;
}

bool invoker_find(struct invoker *i)
{
	const char *name = getenv("SUDO_USER");

	*i = (struct invoker){ 0 };
	if (geteuid() || !name || !read_id("SUDO_UID", &i->uid) || !i->uid || !read_id("SUDO_GID", &i->gid))
		return false;
	if (!find_groups(i, name)) { /* then in the one that sudo knows */
		i->groups = NULL;
		i->nr_groups = 0;
	}
	return true;
}
