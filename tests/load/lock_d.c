/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A thread in D behind a kernel lock, repeatedly: a second thread holds the lock while it writes from a page of memory
 * that a third one supplies late (userfaultfd).
 * usage: lock_d pipe|inode [SECONDS=5]   prints {"tid"} of the one in D at start, {"d_ns", "ns"} at the end
 */
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "load.h"

#define LATE (200 * MS)

static int uffd, fds[2];
static size_t bytes; /* of a page */
static char *page, *ready;
static volatile int round_nr, done_nr;

/* Answers every fault with this delay. */
static void *answer(void *arg)
{
	struct uffd_msg m;

	while (read(uffd, &m, sizeof(m)) == sizeof(m)) {
		struct uffdio_copy copy = { .dst = (uintptr_t)page, .src = (uintptr_t)ready, .len = bytes };

		sleep_ns(LATE);
		ioctl(uffd, UFFDIO_COPY, &copy);
	}
	return arg;
}

/* Holds the lock until its page arrives. */
static void *hold(void *arg)
{
	for (int last = 0;;) {
		while (round_nr == last)
			sleep_ns(MS / 4);
		last = round_nr;
		if (write(fds[1], page, 1) != 1)
			perror("write");
		madvise(page, bytes, MADV_DONTNEED);
		done_nr = last;
	}
	return arg;
}

static __attribute__((noinline, noclone)) void wait_here(int inode)
{
	char c = 0;

	if ((inode ? pwrite(fds[0], &c, 1, 0) : read(fds[0], &c, 1)) != 1)
		perror("wait_here");
}

static int open_uffd(void)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = { .mode = UFFDIO_REGISTER_MODE_MISSING };

	bytes = sysconf(_SC_PAGESIZE);
	ready = calloc(1, bytes);
	uffd = syscall(SYS_userfaultfd, O_CLOEXEC);
	page = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	reg.range.start = (uintptr_t)page;
	reg.range.len = bytes;
	return !ready || uffd < 0 || ioctl(uffd, UFFDIO_API, &api) || ioctl(uffd, UFFDIO_REGISTER, &reg);
}

int main(int argc, char **argv)
{
	int inode = argc > 1 && !strcmp(argv[1], "inode");
	uint64_t end = now_ns() + argument(argc, argv, 2, 5) * SEC, waited = 0, began = now_ns();
	char path[] = "/tmp/lock_d-XXXXXX";

	if (inode) {
		fds[0] = mkstemp(path);
		fds[1] = dup(fds[0]);
		unlink(path);
	} else if (pipe(fds)) {
		return 1;
	}
	if (open_uffd()) {
		perror("userfaultfd");
		return 1;
	}
	start_thread(answer, NULL);
	start_thread(hold, NULL);
	printf("{\"tid\": %d}\n", getpid());
	fflush(stdout);
	while (now_ns() < end) {
		uint64_t from;

		round_nr++;
		sleep_ns(10 * MS); /* the other thread has the lock by now */
		from = now_ns();
		wait_here(inode);
		waited += now_ns() - from;
		while (done_nr != round_nr)
			sleep_ns(MS / 4);
	}
	printf("{\"d_ns\": %llu, \"ns\": %llu}\n", (unsigned long long)waited,
	       (unsigned long long)(now_ns() - began));
	return 0;
}
