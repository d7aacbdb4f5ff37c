/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs code of two files that it maps alternately at one address, each with the code at another offset.
 * usage: remap FOLDER [SECONDS=5]   creates FOLDER/early and FOLDER/late; prints {"tid", "early", "late"}: the
 * offsets */
#include <fcntl.h>
#include <sys/mman.h>

#include "load.h"

#define PAGE 4096
#define EARLY 0x100
#define LATE 0x800
/* Each file's turn lasts for a few samples. */
#define TURN_NS (12 * MS)

/* f(n): counts n down to 0. */
static const uint8_t code[] = {
#if defined(__x86_64__)
	0x48, 0xff, 0xcf, 0x75, 0xfb, 0xc3, /* 1: dec %rdi; jne 1b; ret */
#elif defined(__aarch64__)
	0x00, 0x04, 0x00, 0xf1, 0xe1, 0xff, 0xff, 0x54, /* 1: subs x0,x0,#1; b.ne 1b */
	0xc0, 0x03, 0x5f, 0xd6,                         /* ret */
#endif
};

static int make(const char *folder, const char *name, off_t offset)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
	if (fd < 0 || ftruncate(fd, PAGE) || pwrite(fd, code, sizeof(code), offset) != (ssize_t)sizeof(code)) {
		perror(path);
		exit(1);
	}
	return fd;
}

static void turn(char *at, int fd, size_t offset)
{
	uint64_t end = now_ns() + TURN_NS;
	void *start = at + offset;
	void (*f)(uint64_t);

	if (mmap(at, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd, 0) == MAP_FAILED) {
		perror("mmap");
		exit(1);
	}
	memcpy(&f, &start, sizeof(f));
	while (now_ns() < end)
		f(100000);
}

int main(int argc, char **argv)
{
	uint64_t end = now_ns() + argument(argc, argv, 2, 5) * SEC;
	char *at = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int early, late;

	if (argc < 2 || at == MAP_FAILED)
		return 1;
	early = make(argv[1], "early", EARLY);
	late = make(argv[1], "late", LATE);
	printf("{\"tid\": %d, \"early\": %d, \"late\": %d}\n", getpid(), EARLY, LATE);
	fflush(stdout);
	while (now_ns() < end) {
		turn(at, early, EARLY);
		turn(at, late, LATE);
	}
	return 0;
}
