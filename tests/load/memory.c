/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory that is known. Built with frame pointers.
 * usage: memory anon MIB | file PATH MIB | shared MIB   has that much, and sleeps until its input ends
 *        memory threads MIB N                           the same with N more threads
 *        memory fork MIB                                the same in a child, too, that touches half of it
 *        memory exec MIB                                executes itself after that, with 1 MiB
 *        memory leak MIB_PER_S SECONDS                  in leak_memory(); use_memory() touches a third as many pages again
 *        memory halves SECONDS PAGES                    touches PAGES, half in first_half(), half in second_half(), again and again
 * prints {"pid", "child"} when it has it; leak: {"seen": [[CLOCK_BOOTTIME ns, bytes leaked so far], ...]} at the end */
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "load.h"

#define NOINLINE __attribute__((noinline, noclone))
#define MIB (1UL << 20)
#define SEEN_MAX 4096
#define STEPS 100 /* a second */

static size_t page;
static volatile unsigned char sink;

static void *check(void *at)
{
	if (at != MAP_FAILED)
		return at;
	perror("memory");
	exit(1);
}

static void touch(unsigned char *at, size_t bytes)
{
	for (size_t i = 0; i < bytes; i += page)
		at[i] = 1;
}

static unsigned char *map_pages(size_t bytes, int flags, int fd)
{
	unsigned char *at = check(mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, fd, 0));

	madvise(at, bytes, MADV_NOHUGEPAGE);
	return at;
}

static NOINLINE void leak_memory(size_t bytes)
{
	touch(map_pages(bytes, MAP_PRIVATE | MAP_ANONYMOUS, -1), bytes);
	sink++;
}

static NOINLINE void use_memory(unsigned char *at, size_t bytes)
{
	madvise(at, bytes, MADV_DONTNEED);
	touch(at, bytes);
	sink++;
}

static void leak(double rate, double seconds)
{
	static uint64_t seen[SEEN_MAX][2];
	size_t step = (size_t)(rate * MIB / STEPS) / page * page, used = step / 3 / page * page;
	unsigned char *kept = map_pages(used, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	uint64_t began = now_ns();
	int nr = 0;

	memset(seen, 1, sizeof(seen));
	printf("{\"pid\": %d}\n", getpid());
	fflush(stdout);
	for (int i = 0; i < seconds * STEPS; i++) {
		struct timespec now;
		uint64_t end = began + (i + 1) * (SEC / STEPS), at = now_ns();

		leak_memory(step);
		use_memory(kept, used);
		clock_gettime(CLOCK_BOOTTIME, &now);
		if (nr < SEEN_MAX) {
			seen[nr][0] = now.tv_sec * SEC + now.tv_nsec;
			seen[nr++][1] = (i + 1) * step;
		}
		at = now_ns();
		if (at < end)
			sleep_ns(end - at);
	}
	printf("{\"seen\": [[0, 0]");
	for (int i = 0; i < nr; i++)
		printf(", [%llu, %llu]", (unsigned long long)seen[i][0], (unsigned long long)seen[i][1]);
	printf("]}\n");
}

/* Functions that differ: equal ones become one. */
static NOINLINE void first_half(unsigned char *at, size_t bytes)
{
	touch(at, bytes);
	sink++;
}

static NOINLINE void second_half(unsigned char *at, size_t bytes)
{
	touch(at, bytes);
	sink += 2;
}

static void halves(double seconds, size_t pages)
{
	size_t half = pages / 2 * page;
	unsigned char *at = map_pages(2 * half, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	uint64_t end = now_ns() + (uint64_t)(seconds * SEC);

	printf("{\"pid\": %d}\n", getpid());
	fflush(stdout);
	while (now_ns() < end) {
		first_half(at, half);
		second_half(at + half, half);
		madvise(at, 2 * half, MADV_DONTNEED);
		sleep_ns(MS);
	}
}

static void *wait_forever(void *unused)
{
	for (;;)
		pause();
	return unused;
}

static int wait_for_end(pid_t child)
{
	char byte;

	printf("{\"pid\": %d, \"child\": %d}\n", getpid(), child);
	fflush(stdout);
	while (read(0, &byte, 1) > 0)
		;
	return 0;
}

static void have_file(const char *path, size_t bytes)
{
	int fd = open(path, O_RDWR | O_CREAT, 0600);

	if (fd < 0 || ftruncate(fd, bytes)) {
		perror(path);
		exit(1);
	}
	touch(map_pages(bytes, MAP_SHARED, fd), bytes);
	close(fd);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "anon";
	bool file = !strcmp(what, "file") && argc > 2;
	size_t bytes = argument(argc, argv, file ? 3 : 2, 1) * MIB;
	unsigned char *at;
	pid_t child = 0;

	page = sysconf(_SC_PAGESIZE);
	if (!strcmp(what, "leak")) {
		leak(argument(argc, argv, 2, 10), argument(argc, argv, 3, 5));
		return 0;
	}
	if (!strcmp(what, "halves")) {
		halves(argument(argc, argv, 2, 5), argument(argc, argv, 3, 256));
		return 0;
	}
	if (file) {
		have_file(argv[2], bytes);
		return wait_for_end(0);
	}
	at = map_pages(bytes, (strcmp(what, "shared") ? MAP_PRIVATE : MAP_SHARED) | MAP_ANONYMOUS, -1);
	touch(at, bytes);
	if (!strcmp(what, "threads"))
		for (int i = 0; i < argument(argc, argv, 3, 1); i++)
			start_thread(wait_forever, NULL);
	if (!strcmp(what, "exec"))
		execl("/proc/self/exe", argv[0], "anon", "1", NULL);
	if (!strcmp(what, "fork")) {
		child = fork();
		if (!child) {
			touch(at, bytes / 2); /* copies */
			wait_forever(NULL);
		}
		sleep_ns(200 * MS);
	}
	wait_for_end(child);
	if (child)
		kill(child, 9);
	return 0;
}
