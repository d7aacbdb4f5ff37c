/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads and writes that are known.
 * usage: io KIND FOLDER MIB THREADS ROUNDS PAUSE_MS   KIND: buffered direct mmap read none
 *        io busy FOLDER SECONDS               buffered, by one thread that keeps its CPU: its own count, each 10 ms
 *        io forks KIND FOLDER MIB CHILDREN    the same in children, one after the other
 *        io exec KIND FOLDER MIB ROUNDS       ... in a process that then executes itself, as often
 * Each thread writes, or reads directly, MIB to a file of its own in FOLDER, in each round; then it sleeps. "none" only
 * sleeps. It prints {"pid"} at start, {"round"} after each if there is one thread, and what the kernel counted:
 * {"pid", "read_bytes", "write_bytes", "threads": [{"tid", "read_bytes", "write_bytes"}, ...]} at the end */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <stdbool.h>

#include "load.h"

#define MIB (1UL << 20)
#define THREADS_MAX 16
#define SEEN_MAX 4096

struct counts {
	int tid;
	unsigned long long read_bytes, write_bytes;
};

static const char *kind, *folder;
static size_t mib;
static int rounds, pause_ms, nr_threads;
static struct counts counted[THREADS_MAX];

static void check(bool fine, const char *what)
{
	if (fine)
		return;
	perror(what);
	exit(1);
}

static struct counts counts_of(const char *path)
{
	struct counts c = { .tid = my_tid() };
	FILE *f = fopen(path, "r");
	char line[128];

	check(f, path);
	while (fgets(line, sizeof(line), f)) {
		sscanf(line, "read_bytes: %llu", &c.read_bytes);
		sscanf(line, "write_bytes: %llu", &c.write_bytes);
	}
	fclose(f);
	return c;
}

static struct counts own_counts(void)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/task/%d/io", my_tid());
	return counts_of(path);
}

static int open_file(int flags)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/io-%d", folder, my_tid());
	fd = open(path, O_RDWR | O_CREAT | flags, 0600);
	check(fd >= 0, path);
	unlink(path);
	return fd;
}

static void write_all(int fd, void *block)
{
	for (size_t i = 0; i < mib; i++)
		check(pwrite(fd, block, MIB, i * MIB) == (ssize_t)MIB, "write");
}

static void write_mapped(int fd)
{
	char *at;

	check(!ftruncate(fd, mib * MIB), "ftruncate");
	at = mmap(NULL, mib * MIB, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	check(at != MAP_FAILED, "mmap");
	memset(at, 1, mib * MIB);
	munmap(at, mib * MIB);
}

static void one_round(void)
{
	bool direct = !strcmp(kind, "direct") || !strcmp(kind, "read");
	void *block;
	int fd;

	if (!strcmp(kind, "none"))
		return;
	fd = open_file(direct ? O_DIRECT : 0);
	check(!posix_memalign(&block, 4096, MIB), "memory");
	memset(block, 1, MIB);
	if (strcmp(kind, "mmap"))
		write_all(fd, block);
	else
		write_mapped(fd);
	for (size_t i = 0; !strcmp(kind, "read") && i < mib; i++)
		check(pread(fd, block, MIB, i * MIB) == (ssize_t)MIB, "read");
	free(block);
	close(fd);
}

static void *work(void *to)
{
	for (int i = 0; i < rounds; i++) {
		one_round();
		sleep_ns(pause_ms * MS);
		if (nr_threads == 1) {
			struct counts c = own_counts();

			printf("{\"round\": %d, \"read_bytes\": %llu, \"write_bytes\": %llu}\n", i, c.read_bytes,
			       c.write_bytes);
			fflush(stdout);
		}
	}
	*(struct counts *)to = own_counts();
	return NULL;
}

static void print_all(void)
{
	struct counts all = counts_of("/proc/self/io");

	printf("{\"pid\": %d, \"read_bytes\": %llu, \"write_bytes\": %llu, \"threads\": [", getpid(), all.read_bytes,
	       all.write_bytes);
	for (int i = 0; i < nr_threads; i++)
		printf("%s{\"tid\": %d, \"read_bytes\": %llu, \"write_bytes\": %llu}", i ? ", " : "", counted[i].tid,
		       counted[i].read_bytes, counted[i].write_bytes);
	printf("]}\n");
	fflush(stdout);
}

/* With one thread, it is the process's first one. */
static void run(void)
{
	pthread_t threads[THREADS_MAX];

	if (nr_threads == 1) {
		work(&counted[0]);
	} else {
		for (int i = 0; i < nr_threads; i++)
			check(!pthread_create(&threads[i], NULL, work, &counted[i]), "thread");
		for (int i = 0; i < nr_threads; i++)
			pthread_join(threads[i], NULL);
	}
	print_all();
}

static void busy(double seconds)
{
	static struct counts seen[SEEN_MAX];
	static uint64_t at[SEEN_MAX];
	uint64_t began = now_ns();
	char page[4096] = "";
	int fd = open_file(0), nr = 0;

	for (uint64_t ms = 0; ms < seconds * 1000; ms++) {
		for (int i = 0; i < 16; i++)
			check(pwrite(fd, page, sizeof(page), (ms * 16 + i) % 16384 * sizeof(page)) == sizeof(page), "write");
		if (ms % 10 == 0 && nr < SEEN_MAX) {
			struct timespec now;

			seen[nr] = own_counts();
			clock_gettime(CLOCK_BOOTTIME, &now);
			at[nr++] = now.tv_sec * SEC + now.tv_nsec;
		}
		if (ms % 1000 == 999) /* dirty again what was dirty before */
			check(!ftruncate(fd, 0), "ftruncate");
		spin_until(began + (ms + 1) * MS);
	}
	printf("{\"seen\": [[0, 0]");
	for (int i = 0; i < nr; i++)
		printf(", [%llu, %llu]", (unsigned long long)at[i], seen[i].write_bytes);
	printf("]}\n");
}

static void forks(int children)
{
	for (int i = 0; i < children; i++) {
		pid_t child = fork();

		check(child >= 0, "fork");
		if (!child) {
			run();
			exit(0);
		}
		waitpid(child, NULL, 0);
	}
	print_all();
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "none";
	bool in_children = !strcmp(what, "forks"), execs = !strcmp(what, "exec");
	int first = in_children || execs ? 2 : 1, times;

	kind = argc > first ? argv[first] : "none";
	folder = argc > first + 1 ? argv[first + 1] : ".";
	mib = argument(argc, argv, first + 2, 1);
	nr_threads = rounds = 1;
	printf("{\"pid\": %d}\n", getpid());
	fflush(stdout);
	if (!strcmp(what, "busy")) {
		busy(argument(argc, argv, 3, 5));
		return 0;
	}
	times = argument(argc, argv, first + 3, 1);
	if (in_children) {
		forks(times);
		return 0;
	}
	if (execs) {
		char left[16];

		run();
		snprintf(left, sizeof(left), "%d", times - 1);
		if (times > 1)
			execl("/proc/self/exe", argv[0], "exec", kind, folder, argv[4], left, NULL);
		return 0;
	}
	nr_threads = times < THREADS_MAX ? times : THREADS_MAX;
	rounds = argument(argc, argv, first + 4, 1);
	pause_ms = argument(argc, argv, first + 5, 0);
	run();
	return 0;
}
