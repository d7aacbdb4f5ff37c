/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Measures the time to build a file's unwind table: reading, parsing, packing.
 * usage: tables FILE...   prints {"file", "eh_frame", "rows", "bytes", "ms"} for each, ms the best of five
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "sym/cfi_pack.h"
#include "sym/elf_file.h"

static double now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1e3 + ts.tv_nsec / 1e6;
}

static uint64_t section_bytes(int fd)
{
	struct elf_file f;
	uint64_t bytes = 0;
	GElf_Shdr sh;

	if (!elf_file_open(&f, fd))
		for (size_t i = 1; i < f.nr_sections && elf_section_at(&f, i, &sh); i++)
			if (elf_section_is(&f, &sh, ".eh_frame"))
				bytes = sh.sh_size;
	elf_file_close(&f);
	return bytes;
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		int fd = open(argv[i], O_RDONLY);
		double best = 1e9;
		size_t rows = 0;
		struct stat st = { 0 };

		for (int k = 0; k < 5 && fd >= 0; k++) {
			int to = memfd_create("table", MFD_CLOEXEC);
			double began = now_ms();
			struct cfi_table t = { 0 };

			if (cfi_read(fd, &t) || cfi_pack(&t, to))
				return 1;
			began = now_ms() - began;
			best = began < best ? began : best;
			rows = t.nr;
			fstat(to, &st);
			cfi_fini(&t);
			close(to);
		}
		printf("{\"file\": \"%s\", \"eh_frame\": %lu, \"rows\": %zu, \"bytes\": %ld, \"ms\": %.3f}\n", argv[i],
		       section_bytes(fd), rows, (long)st.st_size, best);
		close(fd);
	}
	return 0;
}
