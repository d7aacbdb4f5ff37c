/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compromised helpers, linked into systop instead of its roles. Each started helper does the next deed of its role; a
 * file that all of them map counts the deeds tried and those that were survived.
 *
 * SYSTOP_EVIL=FILE   struct counts
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collect/peek.h"
#include "helper/helper.h"
#include "helper/proto.h"

#define DEEDS_MAX 32
#define BIG (100 << 10)

enum { OPEN, SYMBOLS, PEEK, WRITE, WHO, COMMANDS, ROLES };

static struct counts {
	uint32_t next[ROLES];
	uint32_t tried[ROLES][DEEDS_MAX];
	uint32_t outlived[ROLES][DEEDS_MAX]; /* the deed did not end it */
	uint32_t calm; /* written by the test: helpers started from now on do their work */
} *counts;

__attribute__((constructor)) static void map_counts(void)
{
	const char *path = getenv("SYSTOP_EVIL");
	int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;

	if (fd < 0)
		return;
	counts = mmap(NULL, sizeof(*counts), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (counts == MAP_FAILED)
		abort();
}

struct evil {
	int role, socket;
	uint32_t request[2048];
	int passed;
	uint8_t answer[BIG];
	size_t bytes; /* of an answer that looks valid */
};

/* --- Deeds that the kernel has to prevent */

static void do_fork(void)
{
#ifdef SYS_fork
	syscall(SYS_fork);
#else
	fork(); /* by clone */
#endif
}

static void do_clone(void)
{
	syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
}

static void do_exec(void)
{
	char *argv[] = { "true", NULL };

	execv("/bin/true", argv);
}

static void do_socket(void)
{
	socket(AF_INET, SOCK_STREAM, 0);
}

static void do_ptrace(void)
{
	ptrace(PTRACE_ATTACH, 1, 0, 0); /* getppid() would end it, too */
}

static void do_bpf(void)
{
	syscall(SYS_bpf, 0, NULL, 0);
}

static void do_setuid(void)
{
	setuid(0);
}

static void do_kill(void)
{
	kill(1, SIGURG);
}

/* Input would signal the owner. */
static void do_own(void)
{
	fcntl(STDIN_FILENO, F_SETOWN, 1);
}

/* A terminal's owner is its foreground process group. */
static void do_async(void)
{
	fcntl(STDIN_FILENO, F_SETFL, O_ASYNC);
}

static void do_executable(void)
{
	mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void do_mprotect(void)
{
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	mprotect(p, 4096, PROT_READ | PROT_EXEC);
}

static void do_mount(void)
{
	syscall(SYS_mount, "none", "/mnt", "tmpfs", 0, NULL);
}

/* Roles that open files can read; only the one that writes traces may create any. */
static void do_create(void)
{
	int fd = open("/tmp/systop-evil", O_CREAT | O_WRONLY, 0600);

	if (fd < 0 && errno == ENOENT)
		_exit(EXIT_FAILURE); /* it reports that there is nothing */
}

static void do_read(void)
{
	if (open("/etc/passwd", O_RDONLY) < 0 && errno == ENOENT)
		_exit(EXIT_FAILURE); /* it reports that there is nothing */
}

/* --- Deeds that main has to survive */

static void send_with(struct evil *e, size_t bytes, const int *fds, int nr)
{
	struct iovec part = { e->answer, bytes };
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(8 * sizeof(int))];
	} control = { 0 };
	struct msghdr m = { .msg_iov = &part, .msg_iovlen = 1 };

	if (nr) {
		control.head = (struct cmsghdr){ CMSG_LEN(nr * sizeof(int)), SOL_SOCKET, SCM_RIGHTS };
		memcpy(CMSG_DATA(&control.head), fds, nr * sizeof(int));
		m.msg_control = control.room;
		m.msg_controllen = CMSG_SPACE(nr * sizeof(int));
	}
	sendmsg(e->socket, &m, MSG_NOSIGNAL);
}

static void say_short(struct evil *e)
{
	send_with(e, 3, NULL, 0);
}

static void say_long(struct evil *e)
{
	send_with(e, BIG, NULL, 0);
}

/* Sends its own end of the socket: a reader of that waits forever. */
static void say_socket(struct evil *e)
{
	send_with(e, e->bytes, &e->socket, 1);
}

static void say_device(struct evil *e)
{
	send_with(e, e->bytes, &(int){ STDIN_FILENO }, 1);
}

static void say_many(struct evil *e)
{
	send_with(e, e->bytes, (int[]){ e->socket, e->socket, e->socket }, 3);
}

static void say_other(struct evil *e)
{
	e->answer[e->role == SYMBOLS ? 4 : 0] ^= 0x5a;
	send_with(e, e->bytes, NULL, 0);
}

static void say_ones(struct evil *e)
{
	memset(e->answer + 8, 0xff, sizeof(e->answer) - 8);
	send_with(e, e->bytes, NULL, 0);
}

static void say_endlessly(struct evil *e)
{
	struct iovec part = { e->answer, e->bytes };
	struct msghdr m = { .msg_iov = &part, .msg_iovlen = 1 };

	while (sendmsg(e->socket, &m, MSG_NOSIGNAL) >= 0)
		;
}

static void spin(struct evil *e)
{
	(void)e;
	for (volatile uint64_t i = 0; i < 1500000000; i = i + 1)
		;
}

static void say_nothing(struct evil *e)
{
	char more[16];

	while (recv(e->socket, more, sizeof(more), MSG_PEEK | MSG_TRUNC) > 0)
		if (helper_receive(e->socket, e->request, sizeof(e->request), &e->passed) < 0)
			break;
}

/* In the order of tests/bpf/evil.py. */
static const struct deed {
	void (*call)(void);
	void (*say)(struct evil *e);
} deeds[] = {
	{ do_fork },
	{ do_clone },
	{ do_exec },
	{ do_socket },
	{ do_ptrace },
	{ do_bpf },
	{ do_setuid },
	{ do_kill },
	{ do_own },
	{ do_async },
	{ do_executable },
	{ do_mprotect },
	{ do_mount },
	{ do_create },
	{ do_read },
	{ .say = say_short },
	{ .say = say_long },
	{ .say = say_socket },
	{ .say = say_device },
	{ .say = say_many },
	{ .say = say_other },
	{ .say = say_ones },
	{ .say = say_endlessly },
	{ .say = spin },
	{ .say = say_nothing },
};

#define DEEDS (sizeof(deeds) / sizeof(deeds[0]))

static void prepare(struct evil *e)
{
	const size_t bytes[ROLES] = { sizeof(struct open_answer), sizeof(struct symbols_loaded),
				      offsetof(struct peek_answer, frames), sizeof(struct write_answer), 16,
				      offsetof(struct commands_answer, text) };

	e->bytes = bytes[e->role];
	memcpy(e->answer, e->role == OPEN ? e->request + 1 : e->request, e->role == SYMBOLS ? 8 : 4);
}

static void be_evil(int role, int socket)
{
	static struct evil e;
	uint32_t nr = __atomic_fetch_add(&counts->next[role], 1, __ATOMIC_SEQ_CST) % DEEDS;

	e.role = role;
	e.socket = socket;
	if (deeds[nr].call) {
		__atomic_add_fetch(&counts->tried[role][nr], 1, __ATOMIC_SEQ_CST);
		deeds[nr].call();
	} else {
		if (helper_receive(socket, e.request, sizeof(e.request), &e.passed) < 0)
			_exit(EXIT_SUCCESS);
		__atomic_add_fetch(&counts->tried[role][nr], 1, __ATOMIC_SEQ_CST);
		prepare(&e);
		deeds[nr].say(&e);
	}
	__atomic_add_fetch(&counts->outlived[role][nr], 1, __ATOMIC_SEQ_CST);
	_exit(EXIT_SUCCESS);
}

/* Once a role has tried everything its helpers do their work: others are reached only by way of it. */
static bool has_tried_all(int role)
{
	for (size_t nr = 0; nr < DEEDS; nr++)
		if (!__atomic_load_n(&counts->tried[role][nr], __ATOMIC_RELAXED))
			return false;
	return true;
}

#define EVIL(name, role) \
	void __real_##name(int socket); \
	void __wrap_##name(int socket); \
	void __wrap_##name(int socket) \
	{ \
		if (counts && !__atomic_load_n(&counts->calm, __ATOMIC_RELAXED) && !has_tried_all(role)) \
			be_evil(role, socket); \
		__real_##name(socket); \
	}

EVIL(open_run, OPEN)
EVIL(symbols_run, SYMBOLS)
EVIL(peek_run, PEEK)
EVIL(write_run, WRITE)
EVIL(process_info_run, WHO)
EVIL(commands_run, COMMANDS)
