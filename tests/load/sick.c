/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process whose memory cannot be read: on a frozen file system one thread waits in a page fault, and another one
 * waits for it while holding the lock of the address space. A third one keeps a CPU busy.
 * usage: sick FILE SECONDS   prints {"tid"}, waits for a line of input, and falls ill
 */
#include <fcntl.h>
#include <sys/mman.h>

#include "load.h"

static char *memory;

static void *write_to_it(void *arg)
{
	memory[0] = 1;
	return arg;
}

static void *protect_it(void *arg)
{
	mprotect(memory, 4096, PROT_READ);
	return arg;
}

int main(int argc, char **argv)
{
	int fd = argc > 1 ? open(argv[1], O_RDWR) : -1;
	uint64_t end;
	char line[16];

	memory = fd < 0 ? MAP_FAILED : mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED) {
		perror("sick");
		return 1;
	}
	printf("{\"tid\": %d, \"byte\": %d}\n", getpid(), memory[0]);
	fflush(stdout);
	if (!fgets(line, sizeof(line), stdin))
		return 1;
	start_thread(write_to_it, NULL);
	sleep_ns(200 * MS);
	start_thread(protect_it, NULL);
	end = now_ns() + argument(argc, argv, 2, 10) * SEC;
	while (now_ns() < end) {
		spin_until(now_ns() + MS);
		rest();
	}
	_exit(0);
}
