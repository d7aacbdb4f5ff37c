/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Looks up the names of many frames of a large program, as systop does: the file is mapped here, opened by the open
 * helper and read by the symbols helper.
 * usage: symbolise FILE FRAMES   prints {"frames", "functions", "named", "ms", "longest_ms"}: time until all were
 * answered, and the longest time that the caller, which draws the screen, was blocked.
 */
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "app/roles.h"
#include "helper/helper.h"
#include "sym/names.h"

static double now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1e3 + ts.tv_nsec / 1e6;
}

/* The event with which the programs would report the file, mapped here. */
static struct file_event map_file(const char *path, uint64_t *from, uint64_t *size)
{
	int fd = open(path, O_RDONLY);
	struct file_event e = { .id = 1, .tgid = getpid() };
	Elf64_Ehdr head;
	Elf64_Phdr p;
	struct stat st;
	size_t mapped;
	void *at;

	if (fd < 0 || fstat(fd, &st) || pread(fd, &head, sizeof(head), 0) != sizeof(head)) {
		perror(path);
		exit(1);
	}
	for (int i = 0; i < head.e_phnum; i++) {
		pread(fd, &p, sizeof(p), head.e_phoff + i * sizeof(p));
		if (p.p_type == PT_LOAD && p.p_flags & PF_X)
			break;
	}
	*from = p.p_offset;
	*size = p.p_filesz;
	mapped = (p.p_filesz + (p.p_offset & 4095) + 4095) & ~4095UL;
	at = mmap(NULL, mapped, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, p.p_offset & ~4095UL);
	e.start = (uintptr_t)at;
	e.end = e.start + mapped;
	e.key = (struct file_key){ .inode = st.st_ino, .size = st.st_size, .mtime_s = st.st_mtim.tv_sec,
				   .device = major(st.st_dev) << 20 | minor(st.st_dev) };
	snprintf(e.names[0], sizeof(e.names[0]), "%.40s", strrchr(path, '/') ? strrchr(path, '/') + 1 : path);
	close(fd);
	return e;
}

int main(int argc, char **argv)
{
	struct names_options o = { .open_role = PROCESS_OPEN, .symbols_role = PROCESS_SYMBOLS, .kallsyms_fd = -1 };
	struct timespec nap = { .tv_nsec = 200000 };
	int nr = argc > 2 ? atoi(argv[2]) : 0, functions = 0, named = 0;
	double began, longest = 0;
	uint64_t from, size;
	struct file_event e;
	struct names *n;

	if (nr <= 0) {
		fprintf(stderr, "usage: symbolise FILE FRAMES\n");
		return 2;
	}
	e = map_file(argv[1], &from, &size);
	if (helper_start(processes, PROCESS_COUNT, PROCESS_STARTER) || !(n = names_new(&o)))
		return 1;
	srandom(1);
	began = now_ms();
	names_file(n, &e);
	for (int i = 0; i < nr; i++)
		names_frame(n, 1ULL << FRAME_FILE_SHIFT | (from + random() % size), 1);
	do {
		double at;

		nanosleep(&nap, NULL);
		at = now_ms();
		names_work(n);
		if (now_ms() - at > longest)
			longest = now_ms() - at;
	} while (names_pending(n) && now_ms() - began < 20000);
	began = now_ms() - began;
	srandom(1);
	for (int i = 0; i < nr; i++) {
		const struct symbol *s = names_frame(n, 1ULL << FRAME_FILE_SHIFT | (from + random() % size), 1);

		functions += s->named || s->function;
		named += s->named;
	}
	printf("{\"frames\": %d, \"functions\": %d, \"named\": %d, \"ms\": %.1f, \"longest_ms\": %.2f}\n", nr, functions,
	       named, began, longest);
	names_free(n);
	helper_stop();
	return 0;
}
