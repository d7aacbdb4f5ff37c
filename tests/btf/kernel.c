/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A bpf() system call that accepts everything, and stores programs and constant maps. */

#include "btf.h"

#include <bpf/libbpf.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FDS_MAX 256
#define PROGRAMS_MAX 64

static struct {
	const void *btf;
	uint32_t btf_bytes;
	struct btf *own;
	uint32_t own_bytes;
	struct {
		uint32_t type, flags;
		uint32_t bytes;   /* of a value */
		uint8_t *content; /* of a map that is frozen, now or later */
		bool frozen;
	} maps[FDS_MAX];
	struct program programs[PROGRAMS_MAX];
	size_t nr_programs;
	long page_size;
} kernel;

void kernel_use(const void *data, uint32_t bytes)
{
	kernel.btf = data;
	kernel.btf_bytes = bytes;
}

struct program *kernel_programs(size_t *nr)
{
	*nr = kernel.nr_programs;
	return kernel.programs;
}

const struct btf *kernel_btf(void)
{
	return kernel.own;
}

void kernel_forget(void)
{
	for (size_t i = 0; i < kernel.nr_programs; i++) {
		free(kernel.programs[i].insns);
		free(kernel.programs[i].lines);
		free(kernel.programs[i].reached);
	}
	for (int fd = 0; fd < FDS_MAX; fd++)
		free(kernel.maps[fd].content);
	memset(kernel.maps, 0, sizeof(kernel.maps));
	kernel.nr_programs = 0;
	btf__free(kernel.own);
	kernel.own = NULL;
	kernel.own_bytes = 0;
}

void kernel_page_size(long bytes)
{
	kernel.page_size = bytes;
}

bool kernel_map(int fd, uint32_t *type, uint32_t *flags)
{
	if (fd < 0 || fd >= FDS_MAX || !kernel.maps[fd].bytes)
		return false;
	*type = kernel.maps[fd].type;
	*flags = kernel.maps[fd].flags;
	return true;
}

bool kernel_constant(int map_fd, uint32_t offset, int size, uint64_t *value)
{
	if (map_fd < 0 || map_fd >= FDS_MAX || !kernel.maps[map_fd].frozen || !kernel.maps[map_fd].content ||
	    offset + size > kernel.maps[map_fd].bytes)
		return false;
	*value = 0;
	memcpy(value, kernel.maps[map_fd].content + offset, size);
	return true;
}

static void *copy(uint64_t from, size_t bytes)
{
	void *to = malloc(bytes ? bytes : 1);

	return to ? memcpy(to, (const void *)(uintptr_t)from, bytes) : NULL;
}

static int anything(void)
{
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

/* Some maps are mapped into memory. */
static int map_create(const union bpf_attr *attr)
{
	size_t bytes = ((size_t)attr->value_size + 7) / 8 * 8 * attr->max_entries;
	int fd = memfd_create("map", MFD_CLOEXEC);

	if (fd < 0 || fd >= FDS_MAX || ftruncate(fd, bytes))
		return -1;
	kernel.maps[fd].bytes = attr->value_size;
	kernel.maps[fd].type = attr->map_type;
	kernel.maps[fd].flags = attr->map_flags;
	return fd;
}

static int map_update(const union bpf_attr *attr)
{
	int fd = attr->map_fd;

	if (fd < 0 || fd >= FDS_MAX || !kernel.maps[fd].bytes)
		return 0;
	if (pwrite(fd, (const void *)(uintptr_t)attr->value, kernel.maps[fd].bytes, 0) < 0)
		return -1;
	free(kernel.maps[fd].content);
	kernel.maps[fd].content = copy(attr->value, kernel.maps[fd].bytes);
	return kernel.maps[fd].content ? 0 : -1;
}

/* The largest BTF is the object's: libbpf loads others as feature probes. */
static int btf_load(const union bpf_attr *attr)
{
	if (attr->btf_size > kernel.own_bytes) {
		btf__free(kernel.own);
		kernel.own = btf__new((const void *)(uintptr_t)attr->btf, attr->btf_size);
		kernel.own_bytes = attr->btf_size;
	}
	return anything();
}

static int prog_load(const union bpf_attr *attr)
{
	struct program *p = &kernel.programs[kernel.nr_programs];

	if (!attr->line_info_cnt) /* a feature probe */
		return anything();
	if (kernel.nr_programs == PROGRAMS_MAX) {
		errno = E2BIG;
		return -1;
	}
	*p = (struct program){
		.type = attr->prog_type,
		.attach_btf_id = attr->attach_btf_id,
		.flags = attr->prog_flags,
		.insns = copy(attr->insns, attr->insn_cnt * sizeof(*p->insns)),
		.nr_insns = attr->insn_cnt,
		.lines = copy(attr->line_info, attr->line_info_cnt * sizeof(*p->lines)),
		.nr_lines = attr->line_info_cnt,
		.reached = calloc(attr->insn_cnt, sizeof(*p->reached)),
	};
	memcpy(p->name, attr->prog_name, sizeof(p->name) - 1);
	kernel.nr_programs++;
	return p->insns && p->lines && p->reached ? anything() : -1;
}

static int bpf(int command, const union bpf_attr *attr)
{
	switch (command) {
	case BPF_MAP_CREATE:
		return map_create(attr);
	case BPF_MAP_UPDATE_ELEM:
		return map_update(attr);
	case BPF_MAP_FREEZE:
		if ((int)attr->map_fd >= 0 && attr->map_fd < FDS_MAX)
			kernel.maps[attr->map_fd].frozen = true;
		return 0;
	case BPF_PROG_LOAD:
		return prog_load(attr);
	case BPF_BTF_LOAD:
		return btf_load(attr);
	case BPF_BTF_GET_NEXT_ID:
		errno = ENOENT; /* no modules exist */
		return -1;
	case BPF_PROG_BIND_MAP:
		return 0;
	default:
		errno = EINVAL;
		return -1;
	}
}

/* libbpf's way into the kernel. */
long syscall(long number, ...)
{
	static long (*other)(long number, ...);
	union bpf_attr attr = { 0 };
	long a[6];
	va_list args;

	va_start(args, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(args, long);
	va_end(args);
	if (number == SYS_bpf) {
		memcpy(&attr, (const void *)a[1], (size_t)a[2] < sizeof(attr) ? (size_t)a[2] : sizeof(attr));
		return bpf(a[0], &attr);
	}
	if (!other)
		other = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	return other(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

long sysconf(int name)
{
	static long (*other)(int name);

	if (name == _SC_PAGESIZE && kernel.page_size)
		return kernel.page_size;
	if (!other)
		other = (long (*)(int))dlsym(RTLD_NEXT, "sysconf");
	return other(name);
}

/* Every request for the running kernel's types, including libbpf's, gets those of the kernel under test. */
struct btf *btf__load_vmlinux_btf(void)
{
	return btf__new(kernel.btf, kernel.btf_bytes);
}
