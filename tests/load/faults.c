/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Page faults that are known. Built with frame pointers.
 * usage: faults threads N           4 threads one after the other, which touch N pages each in touch_memory()
 *        faults busy SECONDS        one thread that keeps its CPU and touches 20 pages each ms; its own count, every 10 ms
 *        faults file PATH PASSES    reads every page of a file of 200 pages in touch_file(), as often, each from the disk
 * prints {"tid"} at start, and at the end {"seen": [[CLOCK_BOOTTIME ns, minor faults], ...]} for busy */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "load.h"

#define NOINLINE __attribute__((noinline, noclone))
#define FILE_PAGES 200
#define SEEN_MAX 4096

static size_t page;
static volatile unsigned char sink;

static NOINLINE void touch_memory(size_t pages)
{
	unsigned char *at = mmap(NULL, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	madvise(at, pages * page, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < pages; i++)
		at[i * page] = 1;
	munmap(at, pages * page);
	sink++;
}

static NOINLINE void touch_file(const unsigned char *at)
{
	for (size_t i = 0; i < FILE_PAGES; i++) {
		sink += at[i * page];
		sleep_ns(MS);
	}
}

static void *toucher(void *pages)
{
	for (int i = 0; i < 10; i++) {
		touch_memory((uintptr_t)pages / 10);
		sleep_ns(10 * MS);
	}
	return NULL;
}

static void threads(long pages)
{
	for (int i = 0; i < 4; i++) {
		pthread_t t;

		if (pthread_create(&t, NULL, toucher, (void *)(uintptr_t)pages))
			exit(1);
		pthread_join(t, NULL);
	}
}

static void busy(long seconds)
{
	static uint64_t seen[SEEN_MAX][2];
	const struct sched_param first = { .sched_priority = 1 };
	uint64_t began = now_ns();
	int nr = 0;

	mlockall(MCL_CURRENT); /* what is written below is there already */
	sched_setscheduler(0, SCHED_FIFO, &first);
	for (uint64_t ms = 0; ms < seconds * 1000ULL; ms++) {
		touch_memory(20);
		if (ms % 10 == 0 && nr < SEEN_MAX) {
			struct rusage used;
			struct timespec now;

			getrusage(RUSAGE_THREAD, &used);
			clock_gettime(CLOCK_BOOTTIME, &now);
			seen[nr][0] = now.tv_sec * SEC + now.tv_nsec;
			seen[nr++][1] = used.ru_minflt;
		}
		spin_until(began + (ms + 1) * MS);
	}
	printf("{\"seen\": [[0, 0]");
	for (int i = 0; i < nr; i++)
		printf(", [%llu, %llu]", (unsigned long long)seen[i][0], (unsigned long long)seen[i][1]);
	printf("]}\n");
}

static void file(const char *path, long passes)
{
	int fd = open(path, O_RDONLY);

	for (long i = 0; i < passes; i++) {
		unsigned char *at;

		posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
		at = mmap(NULL, FILE_PAGES * page, PROT_READ, MAP_PRIVATE, fd, 0);
		if (at == MAP_FAILED) {
			perror(path);
			exit(1);
		}
		madvise(at, FILE_PAGES * page, MADV_RANDOM);
		touch_file(at);
		munmap(at, FILE_PAGES * page);
	}
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "threads";

	page = sysconf(_SC_PAGESIZE);
	printf("{\"tid\": %d}\n", getpid());
	fflush(stdout);
	if (!strcmp(what, "busy"))
		busy(argument(argc, argv, 2, 5));
	else if (!strcmp(what, "file") && argc > 2)
		file(argv[2], argument(argc, argv, 3, 1));
	else
		threads(argument(argc, argv, 2, 1000));
	return 0;
}
