/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * relocate [OPTION]... FILE: checks whether the BPF programs suit the kernel with these types (BTF). Exit status: 0:
 * they do; 1: they do not, though systop would not notice; 3: systop refuses to run there, and reports why.
 *
 *   --narrow              each number that is read is one byte there
 *   --without TYPE[.NAME] that type, or that member of it, does not exist; repeatable
 *   --arguments N         number of arguments of sched_switch
 *   --pivots N            number of pivots of a leaf of the maple tree
 *   --page-size BYTES     size of a page of memory there
 *   --order               check only that writes keep their order: the file is of a kernel for another machine
 */

#include "btf.h"

#include "collect/collect.h"
#include "collect/kernel_types.h"
#include "collect/load.h"
#include "collect/probe.h"
#include "slot.h"
#include "util/online.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "systop.skel.h"

/* What libbpf writes into an instruction whose field the kernel lacks. */
#define POISON 195896080

/* Treated as a map. */
#define RINGS_FD STDIN_FILENO
#define NR_CPUS 2

#ifndef STORES_IN_ORDER
/* Number of uses of order.bpf.h in each program and its functions: places where another CPU reads in order what one
 * CPU writes. */
static const struct {
	const char *program;
	int times;
} ordered[] = {
	{ "sched_switch", 11 }, /* begin and end for the CPU and both slots, a wait in three places, a stack, its
				 * event */
	{ "sched_waking", 1 },  /* a wait */
	{ "sched_wakeup_new", 2 },
	{ "sched_process_free", 2 },
	{ "sched_process_exec", 1 },
	{ "task_rename", 1 },
	{ "sample", 5 },        /* begin and end of a slot, a stack, its event in two places */
	{ "seed_task", 1 },
};
#endif

#define WITHOUT_MAX 8

static struct {
	bool narrow, order;
	const char *without[WITHOUT_MAX];
	int nr_without, arguments, pivots;
	long page_size;
	const char *file;
} options;

static struct {
	const struct btf *btf; /* of the kernel under test */
	bool own_storage;      /* its local storage has memory of its own */
	bool any_hash;         /* samplers may use hash maps without preallocation */
	int wrong, orders;
} checked;

/* --- Messages */

static const struct bpf_line_info *line_of(const struct program *p, size_t at)
{
	const struct bpf_line_info *line = p->lines;

	for (size_t i = 0; i < p->nr_lines && p->lines[i].insn_off <= at; i++)
		line = &p->lines[i];
	return line;
}

static void wrong(const struct program *p, size_t at, const char *fmt, ...)
{
	const struct bpf_line_info *line = line_of(p, at);
	const char *text = btf__name_by_offset(kernel_btf(), line->line_off);
	const char *file = btf__name_by_offset(kernel_btf(), line->file_name_off), *name = strstr(file, "bpf/");
	va_list args;

	checked.wrong++;
	printf("  %s, instruction %zu: ", p->name, at);
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	printf("\n    %s:%u: %s\n", name ? name : file, BPF_LINE_INFO_LINE_NUM(line->line_col),
	       text + strspn(text, " \t"));
}

/* --- What a kernel may refuse */

/* Number of arguments of the program's tracepoint, or -1: it has no tracepoint. */
static int nr_arguments(const struct program *p)
{
	const struct btf_type *t = p->attach_btf_id ? btf__type_by_id(checked.btf, p->attach_btf_id) : NULL;

	if (!t || !btf_is_typedef(t))
		return -1;
	t = btf__type_by_id(checked.btf, t->type);
	t = t && btf_is_ptr(t) ? btf__type_by_id(checked.btf, t->type) : NULL;
	return t && btf_is_func_proto(t) ? btf_vlen(t) - 1 : -1; /* the first one is the tracepoint's own */
}

static bool has_helper(int number)
{
	int id = btf__find_by_name_kind(checked.btf, "bpf_func_id", BTF_KIND_ENUM);
	const struct btf_type *t = id > 0 ? btf__type_by_id(checked.btf, id) : NULL;

	for (int i = 0; t && i < btf_vlen(t); i++)
		if (btf_enum(t)[i].val == number)
			return strcmp(btf__name_by_offset(checked.btf, btf_enum(t)[i].name_off), "__BPF_FUNC_MAX_ID");
	return false;
}

/* Programs that run while the scheduler holds a runqueue's lock. */
static bool under_runqueue_lock(const struct program *p)
{
	return !strcmp(p->name, "sched_switch") || !strcmp(p->name, "sched_waking") ||
	       !strcmp(p->name, "sched_wakeup_new");
}

static void see_call(const struct program *p, size_t at, const struct bpf_insn *i, const struct value *regs)
{
	if (i->src_reg == BPF_PSEUDO_KFUNC_CALL) {
		if (!i->imm)
			wrong(p, at, "calls a function that this kernel has not");
		return;
	}
	if (i->src_reg)
		return;
	if (i->imm == POISON)
		wrong(p, at, "a field that this kernel has not, or has otherwise");
	else if (!has_helper(i->imm))
		wrong(p, at, "helper %d, which this kernel has not", i->imm);
	else if (i->imm == BPF_FUNC_task_storage_get && under_runqueue_lock(p) && !checked.own_storage &&
		 (regs[BPF_REG_4].kind != VALUE_NUMBER || regs[BPF_REG_4].n))
		wrong(p, at, "takes memory while the scheduler holds a lock");
}

/* Linux 6.1 lets programs that may sleep use only these, of those that systop has; later ones more. */
static bool may_sleep_with(uint32_t type)
{
	return type == BPF_MAP_TYPE_ARRAY || type == BPF_MAP_TYPE_PERCPU_ARRAY || type == BPF_MAP_TYPE_HASH ||
	       type == BPF_MAP_TYPE_ARRAY_OF_MAPS || type == BPF_MAP_TYPE_RINGBUF || type == BPF_MAP_TYPE_TASK_STORAGE;
}

static void see_map(const struct program *p, size_t at, int fd)
{
	uint32_t type, flags;

	if (p->flags & BPF_F_SLEEPABLE && kernel_map(fd, &type, &flags) && !may_sleep_with(type))
		wrong(p, at, "a program that may sleep may not use this map on Linux 6.1");
	if (p->type == BPF_PROG_TYPE_PERF_EVENT && !checked.any_hash && kernel_map(fd, &type, &flags) &&
	    type == BPF_MAP_TYPE_HASH && flags & BPF_F_NO_PREALLOC)
		wrong(p, at, "a sampler may not use this map here");
}

static void see(void *arg, const struct program *p, size_t at, const struct value regs[MAX_BPF_REG])
{
	const struct bpf_insn *i = &p->insns[at];
	const char *file = btf__name_by_offset(kernel_btf(), line_of(p, at)->file_name_off);
	const char *text = btf__name_by_offset(kernel_btf(), line_of(p, at)->line_off);
	int arguments = nr_arguments(p), class = BPF_CLASS(i->code);
	(void)arg;

	if (class == BPF_STX && BPF_MODE(i->code) == BPF_ATOMIC && strstr(file, "/order.bpf.h")) {
		checked.orders++;
		if (!(i->imm & BPF_FETCH))
			wrong(p, at, "an atomic instruction without a result: no barrier");
	}
	if (options.order)
		return;
	if ((class == BPF_JMP || class == BPF_JMP32) && BPF_OP(i->code) == BPF_CALL)
		see_call(p, at, i, regs);
	if (class == BPF_LDX && regs[i->src_reg].kind == VALUE_CONTEXT && arguments >= 0 &&
	    regs[i->src_reg].n + i->off >= (uint64_t)arguments * 8)
		wrong(p, at, "argument %d of a tracepoint that has %d here",
		      (int)(regs[i->src_reg].n + i->off) / 8 + 1, arguments);
	if (i->code == (BPF_LD | BPF_IMM | BPF_DW) && i->src_reg == BPF_PSEUDO_MAP_FD)
		see_map(p, at, i->imm);
	if (i->code == (BPF_ALU64 | BPF_LSH | BPF_K) && strstr(text, "vm_pgoff"))
		wrong(p, at, "takes pages to be of %d bytes", 1 << i->imm);
}

static void check_program(struct program *p)
{
	checked.orders = 0;
	if (code_walk(p, see, NULL)) {
		printf("  %s: out of memory\n", p->name);
		checked.wrong++;
	}
#ifndef STORES_IN_ORDER
	for (size_t i = 0; i < sizeof(ordered) / sizeof(ordered[0]); i++) {
		if (strncmp(ordered[i].program, p->name, sizeof(p->name) - 1) || checked.orders >= ordered[i].times)
			continue;
		printf("  %s: %d atomic instructions that keep what it writes in order, not %d\n", p->name,
		       checked.orders, ordered[i].times);
		checked.wrong++;
	}
#endif
}

/* --- Other kernels */

/* Shrinks each number that the programs read in the kernel's structures to one byte: a change of width must not
 * matter. */
static void narrow(struct btf *btf, const struct btf *own)
{
	int byte = btf__find_by_name_kind(btf, "unsigned char", BTF_KIND_INT);

	for (__u32 id = 1; id < btf__type_cnt(own); id++) {
		const struct btf_type *mine = btf__type_by_id(own, id), *theirs;
		int there;

		if (!btf_is_struct(mine) || !mine->name_off)
			continue;
		there = btf__find_by_name_kind(btf, btf__name_by_offset(own, mine->name_off), BTF_KIND_STRUCT);
		if (there < 0)
			continue;
		theirs = btf__type_by_id(btf, there);
		for (int i = 0; i < btf_vlen(mine); i++) {
			const struct btf_type *number = btf__type_by_id(own, btf__resolve_type(own, btf_members(mine)[i].type));
			const char *name = btf__name_by_offset(own, btf_members(mine)[i].name_off);

			for (int j = 0; btf_is_int(number) && j < btf_vlen(theirs); j++)
				if (!strcmp(name, btf__name_by_offset(btf, btf_members(theirs)[j].name_off)) &&
				    !btf_member_bitfield_size(theirs, j))
					btf_members(theirs)[j].type = byte;
		}
	}
}

/* Renames it to an unknown name. */
static void rename_member(struct btf *btf, const struct btf_type *t, const char *name)
{
	for (int i = 0; i < btf_vlen(t); i++) {
		__u32 *at = btf_is_enum(t) ? &btf_enum(t)[i].name_off : &btf_members(t)[i].name_off;
		const struct btf_type *inner = *at || btf_is_enum(t) ? NULL : btf__type_by_id(btf, btf_members(t)[i].type);

		if (inner && btf_is_composite(inner))
			rename_member(btf, inner, name);
		else if (!strcmp(btf__name_by_offset(btf, *at), name))
			++*at;
	}
}

static void without(struct btf *btf, const char *what)
{
	int bytes = strcspn(what, ".");

	for (__u32 id = 1; id < btf__type_cnt(btf); id++) {
		struct btf_type *t = (struct btf_type *)btf__type_by_id(btf, id);
		const char *name = btf__name_by_offset(btf, t->name_off);

		if (strncmp(name, what, bytes) || name[bytes])
			continue;
		if (!what[bytes])
			t->name_off++;
		else if (btf_is_struct(t) || btf_is_enum(t))
			rename_member(btf, t, what + bytes + 1);
	}
}

static void set_arguments(struct btf *btf, int number)
{
	int id = btf__find_by_name_kind(btf, "btf_trace_sched_switch", BTF_KIND_TYPEDEF);
	struct btf_type *pointer = (struct btf_type *)btf__type_by_id(btf, btf__type_by_id(btf, id)->type);

	for (__u32 proto = 1; proto < btf__type_cnt(btf); proto++) {
		const struct btf_type *t = btf__type_by_id(btf, proto);

		if (btf_is_func_proto(t) && btf_vlen(t) == number + 1)
			pointer->type = proto;
	}
}

static void set_pivots(struct btf *btf, int number)
{
	int id = btf__find_by_name_kind(btf, "maple_range_64", BTF_KIND_STRUCT);
	const struct btf_type *t = btf__type_by_id(btf, id);

	for (int i = 0; i < btf_vlen(t); i++)
		if (!strcmp(btf__name_by_offset(btf, btf_members(t)[i].name_off), "pivot"))
			btf_array(btf__type_by_id(btf, btf_members(t)[i].type))->nelems = number;
}

/* --- */

/* What systop's start would report here. 0: it continues. */
static int refused(void)
{
	const struct probe *probes;
	size_t nr;

	if (probes_read(&probes, &nr)) {
		printf("refused: no BTF\n");
		return 3;
	}
	for (size_t i = 0; i < nr; i++) {
		if (!probes[i].needed || probes[i].found)
			continue;
		printf("refused: lacks %s\n", probes[i].why);
		return 3;
	}
	return 0;
}

/* Returns the number of loaded programs, or -1. */
static int load(void)
{
	struct collect_options o = { .table_mib = 64, .window_s = 30, .wait_ns = 100000 };
	struct online *online = online_new(NR_CPUS);
	struct load l = { .options = &o, .online = online, .ring_slots = 1024, .ring_fd = RINGS_FD };
	struct systop *skel = NULL;
	struct load_report report;
	struct program *programs;
	size_t nr;
	int err;

	kernel_forget();
	err = online ? load_programs(&skel, &l, &report) : -ENOMEM;
	online_free(online);
	if (err) {
		printf("  libbpf: %s\n", strerror(-err));
		return -1;
	}
	checked.wrong = 0;
	programs = kernel_programs(&nr);
	for (size_t i = 0; i < nr; i++)
		check_program(&programs[i]);
	if (1L << skel->rodata->page_shift != sysconf(_SC_PAGESIZE)) {
		printf("  page_shift is %u where a page is %ld bytes\n", skel->rodata->page_shift, sysconf(_SC_PAGESIZE));
		checked.wrong++;
	}
	systop__destroy(skel);
	return nr;
}

static int look_at(struct btf *btf)
{
	__u32 bytes;
	const void *data = btf__raw_data(btf, &bytes);
	int status, nr;

	kernel_types_forget(); /* those of another kernel that was refused */
	checked.btf = btf;
	checked.own_storage = probe_found(btf, PROBE_STORAGE_MEMORY);
	checked.any_hash = probe_found(btf, PROBE_MAPLE_TREE);
	kernel_use(data, bytes);
	status = options.order ? 0 : refused();
	if (status)
		return status;
	nr = load();
	if (nr > 0 && !checked.wrong)
		printf("%d programs%s%s\n", nr, checked.own_storage ? "" : ", none of which may make storage at a switch",
		       checked.any_hash ? "" : ", none of which walks user stacks");
	return nr <= 0 || checked.wrong;
}

static int parse(int argc, char **argv)
{
	static const struct option known[] = {
		{ "narrow", no_argument, NULL, 'n' },
		{ "order", no_argument, NULL, 'o' },
		{ "without", required_argument, NULL, 'w' },
		{ "arguments", required_argument, NULL, 'a' },
		{ "pivots", required_argument, NULL, 'v' },
		{ "page-size", required_argument, NULL, 'p' },
		{ 0 },
	};
	int option;

	while ((option = getopt_long(argc, argv, "", known, NULL)) != -1) {
		if (option == 'n')
			options.narrow = true;
		else if (option == 'o')
			options.order = true;
		else if (option == 'w' && options.nr_without < WITHOUT_MAX)
			options.without[options.nr_without++] = optarg;
		else if (option == 'a')
			options.arguments = atoi(optarg);
		else if (option == 'v')
			options.pivots = atoi(optarg);
		else if (option == 'p')
			options.page_size = atol(optarg);
		else
			return -1;
	}
	options.file = argv[optind];
	return optind == argc - 1 ? 0 : -1;
}

int main(int argc, char **argv)
{
	struct btf *btf;
	int status;

	if (parse(argc, argv)) {
		fprintf(stderr, "usage: relocate [--narrow] [--order] [--without TYPE[.NAME]]... [--arguments N] [--pivots N] "
				"[--page-size BYTES] FILE\n");
		return 2;
	}
	if (!getenv("SYSTOP_LIBBPF_LOG"))
		libbpf_set_print(NULL);
	btf = btf__parse(options.file, NULL);
	if (!btf) {
		fprintf(stderr, "relocate: %s: %s\n", options.file, strerror(errno));
		return 2;
	}
	kernel_page_size(options.page_size);
	for (int i = 0; i < options.nr_without; i++)
		without(btf, options.without[i]);
	if (options.arguments)
		set_arguments(btf, options.arguments);
	if (options.pivots)
		set_pivots(btf, options.pivots);
	status = look_at(btf);
	if (!status && options.narrow) {
		narrow(btf, kernel_btf()); /* the programs' own types are now known */
		status = look_at(btf);
	}
	kernel_forget();
	btf__free(btf);
	return status;
}
