/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "helper/sandbox.h"

#include <errno.h>
#include <grp.h>
#include <linux/securebits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "helper/role.h"
#include "util/invoker.h"

#define NOBODY 65534

/* No convention gives these to anyone: they are above the users of systemd, and below the ranges of containers. */
#define UNUSED_FIRST 65536
#define UNUSED_LAST 65599

/* Being root, becoming root and changing users no longer bring capabilities, for good. */
#define SECUREBITS (SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP | SECBIT_NO_SETUID_FIXUP_LOCKED | \
		    SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED)

/* The user that started systop. */
static struct {
	uid_t uid;
	gid_t gid;
	gid_t *groups;
	int nr_groups;
} started;

static uid_t nobody = NOBODY;

/* Finds a user without processes: processes of the same user could stop or end those of systop. */
static uid_t find_nobody(void)
{
	for (uid_t uid = UNUSED_FIRST; uid <= UNUSED_LAST; uid++) {
		errno = 0;
		if (getpriority(PRIO_USER, uid) == -1 && errno == ESRCH)
			return uid;
	}
	return NOBODY;
}

void sandbox_init(void)
{
	nobody = find_nobody();
	started.uid = geteuid();
	started.gid = getegid();
	started.nr_groups = getgroups(0, NULL);
	started.groups = calloc(started.nr_groups + 1, sizeof(*started.groups));
	if (!started.groups || (started.nr_groups = getgroups(started.nr_groups, started.groups)) < 0)
		started.nr_groups = 0;
}

/* Never above the current limit: only privileged processes may raise it. */
static int set_limit(int resource, rlim_t most)
{
	struct rlimit limit;

	if (!getrlimit(resource, &limit) && limit.rlim_max < most)
		most = limit.rlim_max;
	limit = (struct rlimit){ most, most };
	return setrlimit(resource, &limit);
}

static int set_limits(const struct helper_role *role)
{
	return (role->memory && (set_limit(RLIMIT_AS, role->memory) || set_limit(RLIMIT_FSIZE, role->memory / 4))) ||
	       (role->files && set_limit(RLIMIT_NOFILE, role->files)) || set_limit(RLIMIT_CORE, 0);
}

/* --- The user */

static int become(uid_t uid, gid_t gid, const gid_t *groups, int nr)
{
	return setgroups(nr, groups) || setresgid(gid, gid, gid) || setresuid(uid, uid, uid) ? -1 : 0;
}

static int become_nobody(void)
{
	return become(nobody, nobody, NULL, 0);
}

/* Nobody to others; but opens and creates files as the user that started systop, with its groups. */
static int become_writer(void)
{
	if (become(nobody, nobody, started.groups, started.nr_groups))
		return -1;
	setfsgid(started.gid);
	setfsuid(started.uid);
	return setfsuid(-1) == (int)started.uid && setfsgid(-1) == (int)started.gid ? 0 : -1;
}

static int become_user(const struct helper_role *role)
{
	const struct invoker *i = invoker();

	if (role->user != USER_NOBODY && i->name)
		return become(i->uid, i->gid, i->groups, i->nr_groups);
	return role->user == USER_WRITER ? become_writer() : become_nobody();
}

/* --- Capabilities */

static bool holds(cap_t caps, cap_value_t cap)
{
	cap_flag_value_t value = CAP_CLEAR;

	return !cap_get_flag(caps, cap, CAP_PERMITTED, &value) && value == CAP_SET;
}

/* Adds those of the role's capabilities to @kept that this process holds. */
static int keep(const struct helper_role *role, cap_t held, cap_t kept)
{
	int err = 0;

	for (int i = 0; i < role->nr_caps && !err; i++)
		if (holds(held, role->caps[i]))
			err = cap_set_flag(kept, CAP_PERMITTED, 1, &role->caps[i], CAP_SET) ||
			      cap_set_flag(kept, CAP_EFFECTIVE, 1, &role->caps[i], CAP_SET);
	return err;
}

/* Makes all held capabilities effective. */
static int use_all(cap_t held)
{
	cap_t all = cap_dup(held);
	int err = !all || cap_clear_flag(all, CAP_EFFECTIVE) || cap_clear_flag(all, CAP_INHERITABLE) ||
		  cap_clear_flag(all, CAP_PERMITTED);

	for (cap_value_t cap = 0; !err && cap < cap_max_bits(); cap++)
		if (holds(held, cap))
			err = cap_set_flag(all, CAP_PERMITTED, 1, &cap, CAP_SET) ||
			      cap_set_flag(all, CAP_EFFECTIVE, 1, &cap, CAP_SET);
	err = err || cap_set_proc(all);
	cap_free(all);
	return err;
}

/* Closes the ways to new capabilities, which needs CAP_SETPCAP; without it no_new_privs has to suffice. */
static int close_doors(void)
{
	for (cap_value_t cap = 0; cap < cap_max_bits(); cap++)
		if (cap_get_bound(cap) == CAP_SET && cap_drop_bound(cap))
			return -1;
	return cap_get_secbits() == SECUREBITS ? 0 : cap_set_secbits(SECUREBITS);
}

/* Without CAP_SETUID or CAP_SETGID the user stays the same. */
static int drop_from(const struct helper_role *role, cap_t held, cap_t kept)
{
	bool become_other = holds(held, CAP_SETUID) && holds(held, CAP_SETGID);
	int err = use_all(held) || cap_reset_ambient();

	if (!err && holds(held, CAP_SETPCAP))
		err = close_doors();
	else if (!err)
		err = become_other && prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0);
	if (!err && become_other)
		err = become_user(role) || use_all(held);
	return err || keep(role, held, kept) || cap_set_proc(kept) ? -1 : 0;
}

static int drop(const struct helper_role *role)
{
	cap_t held = cap_get_proc(), kept = cap_init();
	int err = held && kept ? drop_from(role, held, kept) : -1;

	cap_free(held);
	cap_free(kept);
	return err;
}

/* Under the sanitizers a process traces itself when it ends, and makes arbitrary calls. */
#ifdef __SANITIZE_ADDRESS__
#define SANITIZED_BUILD true
#else
#define SANITIZED_BUILD false
#endif

int sandbox_enter(const struct helper_role *role)
{
	int err;

	if (set_limits(role) || drop(role) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -1;
	if (SANITIZED_BUILD)
		return 0;
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0))
		return -1;
	err = calls_limit(role->calls, role->run ? CALLS_KILL : CALLS_REFUSE);
	errno = -err;
	return err ? -1 : 0;
}
