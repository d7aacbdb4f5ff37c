/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_PROC_USER_H
#define SYSTOP_PROC_USER_H

#include <sys/types.h>

/* user_find - the uid of a user name in /etc/passwd, or of a number. NSS is not asked: LDAP can
 * hang. Returns 0, or -ENOENT after fail() (exit status 5). */
int user_find(const char *name, uid_t *uid);

#endif
