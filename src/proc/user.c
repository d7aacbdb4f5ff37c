/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "proc/user.h"

#include <errno.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/clock.h"
#include "util/fail.h"
#include "util/map.h"
#include "util/text.h"

/* Calls @each for every line of /etc/passwd, until it returns true. */
static bool passwd_walk(bool (*each)(const struct passwd *p, void *arg), void *arg)
{
	FILE *f = fopen("/etc/passwd", "re");
	struct passwd *p;
	bool found = false;

	while (f && !found && (p = fgetpwent(f)))
		found = each(p, arg);
	if (f)
		fclose(f);
	return found;
}

struct wanted {
	const char *name;
	uid_t uid;
};

static bool is_wanted(const struct passwd *p, void *arg)
{
	struct wanted *w = arg;

	w->uid = p->pw_uid;
	return !strcmp(p->pw_name, w->name);
}

int user_lookup(const char *name, uid_t *uid)
{
	struct wanted w = { .name = name };
	unsigned long number;
	char *end;

	if (passwd_walk(is_wanted, &w)) {
		*uid = w.uid;
		return 0;
	}
	errno = 0;
	number = strtoul(name, &end, 10);
	if (name[0] < '0' || name[0] > '9' || *end || errno || number >= (uid_t)-1)
		return -ENOENT;
	*uid = number;
	return 0;
}

/* Names by uid + 1, and how long they are used before they are read again: the file is small and hardly changes. */
static struct map names;
#define NAMES_NS 60000000000ULL

static bool remember(const struct passwd *p, void *arg)
{
	char *name;

	(void)arg;
	if (map_get(&names, p->pw_uid + 1ULL))
		return false; /* the first entry counts */
	name = strdup(p->pw_name);
	if (name && map_put(&names, p->pw_uid + 1ULL, name))
		free(name);
	return false;
}

/* Names stay if the file cannot be read. */
static void read_names(void)
{
	struct map before = names;

	names = (struct map){ 0 };
	passwd_walk(remember, NULL);
	map_free(names.nr ? &before : &names);
	if (!names.nr)
		names = before;
}

void user_name(uid_t uid, char *buf, size_t size)
{
	static uint64_t next_ns;
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	const char *name;

	if (now >= next_ns) {
		read_names();
		next_ns = now + NAMES_NS;
	}
	name = map_get(&names, uid + 1ULL);
	if (name)
		text_safe(buf, size, name, strlen(name));
	else
		snprintf(buf, size, "%u", uid);
}

int user_find(const char *name, uid_t *uid)
{
	char safe[256];
	int err = user_lookup(name, uid);

	if (!err)
		return 0;
	text_safe(safe, sizeof(safe), name, strlen(name));
	fail(err, EXIT_STATUS_TARGET, "no user \"%s\"", safe);
	fail_why("it is not in /etc/passwd, and not a number up to 4294967294");
	fail_fix("id -u %s    # then systop -u with that number", safe);
	return err;
}

struct wanted_home {
	uid_t uid;
	char *buf;
	size_t size;
	bool found;
};

static bool is_home(const struct passwd *p, void *arg)
{
	struct wanted_home *w = arg;

	if (p->pw_uid != w->uid)
		return false;
	w->found = *p->pw_dir == '/' && snprintf(w->buf, w->size, "%s", p->pw_dir) < (int)w->size;
	return true;
}

bool user_home(uid_t uid, char *buf, size_t size)
{
	struct wanted_home w = { uid, buf, size, false };

	passwd_walk(is_home, &w);
	return w.found;
}
