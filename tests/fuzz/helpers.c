/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Requests to helpers and their answers: the roles run here on requests of any kind, and their callers get answers of
 * any kind, through sockets like the real ones (-Wl,--wrap: no helper is started).
 */
#include "helpers.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bpf/bpf.h"
#include "unwind.h"

/* The started helpers, by id, which is never 0. */
static struct other {
	int role, socket; /* -1: it has ended */
	bool killed, stuck;
} others[HELPERS_MAX];
static uint32_t nr_others;

static void make_pair(int pair[2])
{
	fuzz_check(!socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair), "no socket: %m");
}

/* --- Replacements for helpers */

int __wrap_helper_open(int role, struct helper *h);
void __wrap_helper_kill(struct helper *h);
void __wrap_helper_leave(struct helper *h);
pid_t __wrap_helper_pid(uint32_t id);
bool __wrap_helper_ended(uint32_t id);

int __wrap_helper_open(int role, struct helper *h)
{
	int pair[2];

	*h = (struct helper){ .socket = -1 };
	if (nr_others == HELPERS_MAX)
		return -EAGAIN;
	make_pair(pair);
	others[nr_others++] = (struct other){ .role = role, .socket = pair[1] };
	*h = (struct helper){ .id = nr_others, .socket = pair[0] };
	return 0;
}

void __wrap_helper_leave(struct helper *h)
{
	if (h->socket >= 0)
		close(h->socket);
	h->socket = -1;
}

void __wrap_helper_kill(struct helper *h)
{
	if (h->socket >= 0 && h->id && h->id <= nr_others)
		others[h->id - 1].killed = true;
	__wrap_helper_leave(h);
}

/* A pid that no process has: for a stopped helper it is only checked whether it runs. */
#define WAITING 0x3fffffff

/* A stuck helper runs, with the pid of this process; the others wait. */
pid_t __wrap_helper_pid(uint32_t id)
{
	static pid_t self;

	if (!self)
		self = getpid();
	if (!id || id > nr_others || others[id - 1].socket < 0)
		return 0;
	return others[id - 1].stuck ? self : WAITING;
}

bool __wrap_helper_ended(uint32_t id)
{
	const struct other *o = id && id <= nr_others ? &others[id - 1] : NULL;

	return !o || o->socket < 0 || (o->killed && !o->stuck);
}

/* The helper last started for this role. */
static struct other *other_of(int role)
{
	for (uint32_t i = nr_others; i > 0; i--)
		if (others[i - 1].role == role)
			return &others[i - 1];
	return NULL;
}

int helpers_other(int role)
{
	const struct other *o = other_of(role);

	return o ? o->socket : -1;
}

void helpers_stick(int role)
{
	struct other *o = other_of(role);

	if (o)
		o->stuck = true;
}

static void end(struct other *o)
{
	if (o && o->socket >= 0)
		close(o->socket);
	if (o)
		o->socket = -1;
}

void helpers_close(int role)
{
	end(other_of(role));
}

void helpers_forget(void)
{
	while (nr_others)
		end(&others[--nr_others]);
}

void helpers_answer(int role, const void *answer, size_t bytes, int fd)
{
	if (helpers_other(role) >= 0)
		helper_send(helpers_other(role), answer, bytes, fd);
}

/* --- Roles */

void role_begin(struct role_under_test *r)
{
	int pair[2];

	make_pair(pair);
	*r = (struct role_under_test){ pair[0], pair[1] };
}

void role_ask(struct role_under_test *r, const void *request, size_t bytes, int fd)
{
	helper_send(r->ask, request, bytes, fd);
	if (fd >= 0)
		close(fd);
}

/* It has all requests, reads them, and ends where it would wait for more. */
void role_run(struct role_under_test *r, void (*run)(int socket))
{
	run(r->answer);
	close(r->answer);
	close(r->ask);
}

/* --- Replacements for the kernel: its iterator is the link that was passed in; maps are memory */

int bpf_iter_create(int link)
{
	return fcntl(link, F_DUPFD_CLOEXEC, 0);
}

int bpf_map_create(enum bpf_map_type type, const char *name, __u32 key_size, __u32 value_size, __u32 max_entries,
		   const struct bpf_map_create_opts *opts)
{
	int fd = memfd_create(name, MFD_CLOEXEC);

	(void)type;
	(void)key_size;
	(void)opts;
	fuzz_check(fd >= 0 && !ftruncate(fd, (off_t)value_size * max_entries), "no file of memory: %m");
	return fd;
}

int bpf_map_update_elem(int fd, const void *key, const void *value, __u64 flags)
{
	(void)fd;
	(void)key;
	(void)value;
	(void)flags;
	return 0;
}
