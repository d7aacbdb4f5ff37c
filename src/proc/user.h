/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_PROC_USER_H
#define SYSTOP_PROC_USER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* user_lookup - the uid of a user name in /etc/passwd, or of a number; does not use NSS, as LDAP can hang. Returns 0
 * or -ENOENT. */
int user_lookup(const char *name, uid_t *uid);

/* user_name - the name of a uid, safe for a terminal; the number if it has none. Reads /etc/passwd once
 * a minute. */
void user_name(uid_t uid, char *buf, size_t size);

/* user_find - user_lookup(), or -ENOENT after fail() (exit status 5). */
int user_find(const char *name, uid_t *uid);

/* user_home - the home directory of a user in /etc/passwd; false: there is none, or it does not fit. */
bool user_home(uid_t uid, char *buf, size_t size);

#endif
