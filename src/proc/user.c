/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "proc/user.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/fail.h"
#include "util/text.h"

int user_find(const char *name, uid_t *uid)
{
	FILE *f = fopen("/etc/passwd", "re");
	struct passwd *p;
	char *end, safe[256];
	unsigned long number;
	int err = -ENOENT;

	while (f && err && (p = fgetpwent(f))) {
		if (!strcmp(p->pw_name, name)) {
			*uid = p->pw_uid;
			err = 0;
		}
	}
	if (f)
		fclose(f);
	if (!err)
		return 0;
	errno = 0;
	number = strtoul(name, &end, 10);
	if (name[0] >= '0' && name[0] <= '9' && !*end && !errno && number < (uid_t)-1) {
		*uid = number;
		return 0;
	}
	text_safe(safe, sizeof(safe), name, strlen(name));
	fail(err, EXIT_STATUS_TARGET, "no user \"%s\"", safe);
	fail_why("it is not in /etc/passwd and not a number");
	fail_fix("id -u %s    # then systop -u with that number", safe);
	return err;
}
