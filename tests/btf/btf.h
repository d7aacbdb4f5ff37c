/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_TESTS_BTF_H
#define SYSTOP_TESTS_BTF_H

/*
 * Checks whether the BPF programs suit a kernel without booting it. They are loaded as usual, with that kernel's type
 * information (BTF), into a bpf() of our own (kernel.c), which stores what libbpf passes in. code.c finds the reachable
 * code as the verifier does; relocate.c reports reachable code that this kernel would refuse.
 */

#include <bpf/btf.h>
#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A program as passed in by libbpf. */
struct program {
	char name[16];
	uint32_t type, attach_btf_id; /* 0: no tracepoint */
	uint32_t flags;         /* BPF_F_SLEEPABLE */
	struct bpf_insn *insns;
	size_t nr_insns;
	struct bpf_line_info *lines;
	size_t nr_lines;
	bool *reached;          /* code_walk() */
};

/* kernel_use - sets the BTF that stands for the running kernel's from now on. Borrowed. */
void kernel_use(const void *data, uint32_t bytes);

/* kernel_programs - the loaded programs.
 * kernel_forget - call it before loading others. */
struct program *kernel_programs(size_t *nr);
void kernel_forget(void);

/* kernel_btf - the programs' own BTF: names of files, lines. */
const struct btf *kernel_btf(void);

/* kernel_page_size - sets what sysconf() returns from now on. */
void kernel_page_size(long bytes);

/* kernel_map - the type and flags a map was created with. False: no such map. */
bool kernel_map(int fd, uint32_t *type, uint32_t *flags);

/* kernel_constant - reads @size bytes at @offset of a map with constant content. False: it can change. */
bool kernel_constant(int map_fd, uint32_t offset, int size, uint64_t *value);

/* The contents of a register, as far as known. */
struct value {
	enum { VALUE_NONE, VALUE_ANY, VALUE_NUMBER, VALUE_CONTEXT, VALUE_STACK, VALUE_MAP } kind;
	int fd;       /* VALUE_MAP: the map that it points into */
	uint64_t n;   /* the number, or the offset in what it points to */
};

/* code_walk - marks reachable code, and calls @see for each reachable instruction, with the registers. */
typedef void code_see(void *arg, const struct program *p, size_t at, const struct value regs[MAX_BPF_REG]);
int code_walk(struct program *p, code_see *see, void *arg);

#endif
