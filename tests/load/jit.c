/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs code that it wrote into memory itself, like a JIT, and lists it in /tmp/perf-PID.map.
 * usage: jit [SECONDS=5] [MAP=/tmp/perf-PID.map, "-": none]   prints {"tid"} */
#include <sys/mman.h>

#include "load.h"

/* f(n): counts n down to 0. */
static const uint8_t code[] = {
#if defined(__x86_64__)
	0x55, 0x48, 0x89, 0xe5,       /* push %rbp; mov %rsp,%rbp */
	0x48, 0xff, 0xcf, 0x75, 0xfb, /* 1: dec %rdi; jne 1b */
	0x5d, 0xc3,                   /* pop %rbp; ret */
#elif defined(__aarch64__)
	0x00, 0x04, 0x00, 0xf1, 0xe1, 0xff, 0xff, 0x54, /* 1: subs x0,x0,#1; b.ne 1b */
	0xc0, 0x03, 0x5f, 0xd6,                         /* ret */
#endif
};

int main(int argc, char **argv)
{
	uint64_t end = now_ns() + argument(argc, argv, 1, 5) * SEC;
	char path[256];
	void *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void (*f)(uint64_t);
	FILE *map;

	if (memory == MAP_FAILED)
		return 1;
	memcpy(memory, code, sizeof(code));
	mprotect(memory, 4096, PROT_READ | PROT_EXEC);
	__builtin___clear_cache(memory, (char *)memory + sizeof(code));
	memcpy(&f, &memory, sizeof(f));
	if (argc > 2)
		snprintf(path, sizeof(path), "%s", argv[2]);
	else
		snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	map = strcmp(path, "-") ? fopen(path, "w") : NULL;
	if (map) {
		fprintf(map, "not a line\n%lx %zx JS:~count down\n", (unsigned long)memory, sizeof(code));
		fclose(map);
	}
	printf("{\"tid\": %d}\n", getpid());
	fflush(stdout);
	while (now_ns() < end) {
		f(1000000);
		rest();
	}
	return 0;
}
