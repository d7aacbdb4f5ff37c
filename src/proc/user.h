/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_PROC_USER_H
#define SYSTOP_PROC_USER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* user_lookup - the uid of a user name in /etc/passwd, or of a number; NSS is not asked: LDAP can
 * hang. Returns 0 or -ENOENT. */
int user_lookup(const char *name, uid_t *uid);

/* user_name - the other way round, fit for a terminal; the number if there is no name. /etc/passwd is
 * read once. */
void user_name(uid_t uid, char *buf, size_t size);

/* user_find - user_lookup(), or -ENOENT after fail() (exit status 5). */
int user_find(const char *name, uid_t *uid);

/* user_home - the home directory of a user in /etc/passwd; false: it has none, or it does not fit. */
bool user_home(uid_t uid, char *buf, size_t size);

#endif
