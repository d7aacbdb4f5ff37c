/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_TESTS_BTF_H
#define SYSTOP_TESTS_BTF_H

/*
 * Whether the BPF programs suit a kernel that is not booted: they are loaded as always, for its type information (BTF)
 * and into a bpf() of our own (kernel.c), which keeps what libbpf hands over; which of it can be reached is found
 * out as the verifier does (code.c), and what is there that this kernel would refuse is said (relocate.c).
 */

#include <bpf/btf.h>
#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A program as libbpf handed it over. */
struct program {
	char name[16];
	uint32_t type, attach_btf_id; /* 0: of no tracepoint */
	struct bpf_insn *insns;
	size_t nr_insns;
	struct bpf_line_info *lines;
	size_t nr_lines;
	bool *reached;          /* code_walk() */
};

/* kernel_use - the BTF that stands for the running kernel's from here on. Borrowed. */
void kernel_use(const void *data, uint32_t bytes);

/* kernel_programs - what was loaded. kernel_forget - before something else is. */
struct program *kernel_programs(size_t *nr);
void kernel_forget(void);

/* kernel_btf - the programs' own BTF: names of files, lines. */
const struct btf *kernel_btf(void);

/* kernel_page_size - what sysconf() says from here on. */
void kernel_page_size(long bytes);

/* kernel_map - what a map was made as. False: there is none. */
bool kernel_map(int fd, uint32_t *type, uint32_t *flags);

/* kernel_constant - @size bytes at @offset of a map whose content does not change. False: it does. */
bool kernel_constant(int map_fd, uint32_t offset, int size, uint64_t *value);

/* What a register holds, as far as it is known. */
struct value {
	enum { VALUE_NONE, VALUE_ANY, VALUE_NUMBER, VALUE_CONTEXT, VALUE_STACK, VALUE_MAP } kind;
	int fd;       /* VALUE_MAP: whose content it points to */
	uint64_t n;   /* the number, or the offset of what is pointed to */
};

/* code_walk - marks what can be reached, and calls @see for each of these instructions, with the registers. */
typedef void code_see(void *arg, const struct program *p, size_t at, const struct value regs[MAX_BPF_REG]);
int code_walk(struct program *p, code_see *see, void *arg);

#endif
