/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compares names of addresses with nm's for the same file. */
#include "folder.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "helper/message.h"
#include "helper/proto.h"
#include "sym/elf.h"
#include "sym/kallsyms.h"
#include "sym/roles.h"
#include "util/vec.h"

#include <errno.h>

struct function {
	uint64_t address, size;
	char name[256];
};

static struct function *functions;
static size_t nr, room;

/* Functions with a size, from nm with these options. */
static void ask_nm(const char *options, const char *path)
{
	char command[512], line[1024];
	FILE *f;

	nr = 0;
	snprintf(command, sizeof(command), "nm -S --defined-only %s %s 2>/dev/null", options, path);
	f = popen(command, "r");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		struct function one = { 0 };
		unsigned long address, size;
		char type;

		if (sscanf(line, "%lx %lx %c %255s", &address, &size, &type, one.name) != 4 ||
		    !strchr("tTwWi", type) || !size)
			continue;
		one.address = address;
		one.size = size;
		one.name[strcspn(one.name, "@")] = '\0'; /* the version */
		assert_int_equal(VEC_PUSH(functions, nr, room, one), 0);
	}
	pclose(f);
}

static bool nm_says(uint64_t address, const char *name)
{
	for (size_t i = 0; i < nr; i++)
		if (address - functions[i].address < functions[i].size && !strcmp(functions[i].name, name))
			return true;
	return false;
}

/* Looks up @times random addresses in functions of a file. Returns the number of look-ups. */
static int compare(const char *path, int times)
{
	struct elf_progress progress = { 0 };
	struct elf_found found = { 0 };
	struct symtab t = { 0 };
	char buf[SYMTAB_NAME_MAX];
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(elf_read(fd, false, &t, &found, &progress), 0);
	assert_true(found.segments.nr > 0);
	for (int i = 0; i < times && nr; i++) {
		const struct function *f = &functions[random() % nr];
		uint64_t address = f->address + random() % f->size, again;
		const char *name = symtab_find(&t, address, 0, buf);

		if (!name || !nm_says(address, name))
			print_error("%s: 0x%lx is %s, and not in %s?\n", path, (unsigned long)address,
				    name ? name : "nothing", f->name);
		assert_true(name && nm_says(address, name));
		/* Converts an offset in the file to an address, and back. */
		for (int s = 0; s < found.segments.nr; s++) {
			const struct elf_segment *g = &found.segments.at[s];

			if (address - g->address >= g->size)
				continue;
			assert_true(elf_address(&found.segments, address - g->address + g->offset, &again));
			assert_true(again == address);
		}
	}
	symtab_fini(&t);
	close(fd);
	return nr ? times : 0;
}

TEST(elf, installed_binaries_as_nm_says)
{
	static const char *const files[] = {
		"/usr/bin/python3", "/usr/bin/bash", "/usr/bin/git",     "/usr/bin/gcc",
		"/usr/bin/clang",   "/usr/bin/perf", "/usr/bin/make",    "/usr/bin/openssl",
		"/usr/bin/ld",      "/usr/bin/tmux", "/usr/bin/fish",    "/usr/bin/zsh",
		"/usr/lib/x86_64-linux-gnu/libc.so.6", "/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
		"/usr/lib/x86_64-linux-gnu/libpython3.11.so.1.0",
		"/usr/lib/x86_64-linux-gnu/libcrypto.so.3", "/usr/lib64/libc.so.6",
	};
	int asked = 0;

	srandom(1);
	FOR_EACH (file, files) {
		if (access(*file, R_OK))
			continue;
		ask_nm("-D", *file);
		asked += compare(*file, 200);
	}
	assert_true(asked >= 1000);
}

/* The test program has a full symbol table; stripped it has none; with .gnu_debugdata it has the names of its
 * functions again. */
TEST(elf, packed_symbol_table)
{
	static const char make[] =
		"set -e; cd \"$1\"; nm -D \"$2\" --format=posix --defined-only | cut -d' ' -f1 | sort >dynamic\n"
		"nm \"$2\" --format=posix --defined-only | awk '$2 ~ /[Tt]/ { print $1 }' | sort | comm -13 dynamic - >keep\n"
		"objcopy --only-keep-debug \"$2\" debug\n"
		"objcopy -S --remove-section .comment --keep-symbols=keep debug mini 2>/dev/null\n"
		"xz -f mini\n"
		"cp \"$2\" packed; strip packed; cp packed bare\n"
		"objcopy --add-section .gnu_debugdata=mini.xz packed\n";
	char self[512], command[2048], path[80];
	struct elf_progress progress = { 0 };
	struct elf_found found = { 0 };
	struct symtab t = { 0 };
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	int fd;

	assert_true(len > 0);
	self[len] = '\0';
	snprintf(command, sizeof(command), "sh -c '%s' sh %s %s", "eval \"$SCRIPT\"", folder, self);
	setenv("SCRIPT", make, 1);
	assert_int_equal(system(command), 0);

	fd = open(in_folder("bare"), O_RDONLY | O_CLOEXEC);
	assert_int_equal(elf_read(fd, false, &t, &found, &progress), 0);
	assert_false(found.whole);
	close(fd);
	symtab_fini(&t);

	ask_nm("", self);
	assert_true(nr > 5);
	snprintf(path, sizeof(path), "%s/packed", folder);
	assert_int_equal(compare(path, 200), 200);
}

/* A truncated or corrupted file gives an error or fewer names, and no crash. */
TEST(elf, broken_files)
{
	char path[] = "/tmp/systop-elf-XXXXXX";
	int self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), fd = mkstemp(path);
	static char whole[8 << 20];
	ssize_t size = read(self, whole, sizeof(whole));

	assert_true(size > 4096 && fd >= 0);
	srandom(2);
	for (int i = 0; i < 300; i++) {
		struct elf_progress progress = { 0 };
		struct elf_found found = { 0 };
		struct symtab t = { 0 };
		char buf[SYMTAB_NAME_MAX];
		static char broken[8 << 20];
		size_t len = i % 3 ? (size_t)size : (size_t)random() % size;

		memcpy(broken, whole, len);
		for (int k = 0; k < 20 && i % 3; k++) {
			/* Headers, mostly. */
			size_t at = k % 2 ? (size_t)random() % 64 : (size_t)random() % len;

			broken[i % 2 ? at : len - 1 - at] = random();
		}
		assert_int_equal(ftruncate(fd, 0), 0);
		assert_int_equal(pwrite(fd, broken, len, 0), len);
		elf_read(fd, false, &t, &found, &progress);
		for (size_t k = 0; k < t.nr; k += 97)
			symtab_find(&t, t.functions[k].address, 0, buf);
		symtab_fini(&t);
	}
	close(fd);
	close(self);
	unlink(path);
}

static void add(struct symtab *t, uint64_t address, uint64_t size, const char *name, uint8_t rank)
{
	assert_int_equal(symtab_add(t, address, size, name, strlen(name), rank), 0);
}

TEST(elf, symtab_prefers_what_people_call_it)
{
	struct symtab t = { 0 };
	char buf[SYMTAB_NAME_MAX];

	add(&t, 100, 10, "local_alias", 0);
	add(&t, 100, 10, "global_alias", 2);
	add(&t, 100, 10, "global", 2);
	add(&t, 100, 0, "global_label", 2);
	add(&t, 100, 10, "weak_alias", 1);
	add(&t, 120, 0, "open_end", 2);
	add(&t, 200, 8, "last", 2);
	assert_int_equal(symtab_sort(&t), 0);
	assert_null(symtab_find(&t, 99, 0, buf));
	assert_string_equal(symtab_find(&t, 100, 0, buf), "global");
	assert_string_equal(symtab_find(&t, 109, 0, buf), "global");
	assert_null(symtab_find(&t, 110, 0, buf));
	assert_string_equal(symtab_find(&t, 199, 0, buf), "open_end");
	assert_null(symtab_find(&t, 208, 0, buf));
	symtab_fini(&t);
}

TEST(elf, symtab_code_behind_a_function_inside_another_one)
{
	struct symtab t = { 0 };
	char buf[SYMTAB_NAME_MAX], name[32];

	add(&t, 50, 60, "before", 2);
	add(&t, 200, 108, "__read", 2);
	add(&t, 200, 108, "read", 2);
	add(&t, 209, 18, "__read_nocancel", 2);
	add(&t, 240, 4, "another", 2);
	add(&t, 400, 0, "open_end", 2);
	add(&t, 500, 8, "last", 2);
	assert_int_equal(symtab_sort(&t), 0);
	assert_string_equal(symtab_find(&t, 208, 0, buf), "read");
	assert_string_equal(symtab_find(&t, 226, 0, buf), "__read_nocancel");
	assert_string_equal(symtab_find(&t, 227, 0, buf), "read");
	assert_string_equal(symtab_find(&t, 307, 0, buf), "read");
	assert_null(symtab_find(&t, 308, 0, buf));
	assert_string_equal(symtab_find(&t, 507, 0, buf), "last");
	assert_null(symtab_find(&t, 508, 0, buf));
	for (int i = 0; i < 100000; i++) {
		snprintf(name, sizeof(name), "inside%d", i);
		add(&t, 1001 + i, 1, name, 2);
	}
	add(&t, 1000, 1000000, "outside", 2);
	assert_int_equal(symtab_sort(&t), 0);
	assert_string_equal(symtab_find(&t, 1000, 0, buf), "outside");
	assert_null(symtab_find(&t, 500000, 0, buf)); /* too many in between */
	symtab_fini(&t);
}

/* In any order, all over the address space, and in parts. */
TEST(elf, symtab_is_sorted)
{
	struct symtab t = { 0 };
	char buf[SYMTAB_NAME_MAX], name[32];

	srandom(3);
	for (int part = 0; part < 4; part++) {
		for (int i = 0; i < 10000; i++) {
			uint64_t address = (uint64_t)random() << 32 ^ (uint64_t)random() << (i % 3 ? 1 : 16);

			snprintf(name, sizeof(name), "%lx", (unsigned long)address);
			add(&t, address, 1, name, 0);
		}
		assert_int_equal(symtab_sort(&t), 0);
		for (size_t i = 1; i < t.nr; i++)
			assert_true(t.functions[i - 1].address <= t.functions[i].address);
	}
	assert_int_equal(t.nr, 40000);
	for (size_t i = 0; i < t.nr; i++) {
		snprintf(name, sizeof(name), "%lx", (unsigned long)t.functions[i].address);
		assert_string_equal(symtab_find(&t, t.functions[i].address, 0, buf), name);
	}
	symtab_fini(&t);
}

/* Functions of the kernel have no sizes; BPF programs may have no symbols, as with net.core.bpf_jit_harden. Since 6.14 modules
 * lie page to page, and one of them may be loaded later. */
TEST(elf, kallsyms_code_behind_a_module_is_none_of_it)
{
	static const char text[] = "ffffffff81000000 T _stext\n"
				   "ffffffff81100000 t large\n"
				   "ffffffff81200000 T _etext\n"
				   "ffffffff81200000 T __pfx_alias\n"
				   "ffffffffc0000000 t first\t[ext4]\n"
				   "ffffffffc0100000 t last\t[ext4]\n"
				   "ffffffffc0200000 t first\t[xfs]\n"
				   "ffffffffc0201f00 t last\t[xfs]\n"
				   "ffffffffc0203000 t first\t[nfs]\n"
				   "ffffffffc0300000 t bpf_prog_1\t[bpf]\n"
				   "ffffffffc0400000 t ftrace_trampoline\t[__builtin__ftrace]\n";
	struct symtab t = { 0 };
	char buf[SYMTAB_NAME_MAX];
	int fd = memfd_create("kallsyms", 0);

	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	assert_int_equal(kallsyms_read(fd, &t), 0);
	assert_string_equal(symtab_find(&t, 0xffffffff811fffff, 0, buf), "large");
	assert_string_equal(symtab_find(&t, 0xffffffff81200000, 0, buf), "_etext");
	assert_string_equal(symtab_find(&t, 0xffffffff81200800, 0, buf), "_etext");
	assert_null(symtab_find(&t, 0xffffffffbfffffff, 0, buf));
	assert_string_equal(symtab_find(&t, 0xffffffffc00fffff, 0, buf), "first [ext4]");
	assert_string_equal(symtab_find(&t, 0xffffffffc0100800, 0, buf), "last [ext4]");
	assert_null(symtab_find(&t, 0xffffffffc0101000, 0, buf));
	assert_null(symtab_find(&t, 0xffffffffc01fffff, 0, buf));
	assert_string_equal(symtab_find(&t, 0xffffffffc0201eff, 0, buf), "first [xfs]");
	assert_string_equal(symtab_find(&t, 0xffffffffc0201fff, 0, buf), "last [xfs]");
	assert_null(symtab_find(&t, 0xffffffffc0202000, 0, buf));
	assert_string_equal(symtab_find(&t, 0xffffffffc0203000, 0, buf), "first [nfs]");
	assert_null(symtab_find(&t, 0xffffffffc02fffff, 0, buf));
	assert_string_equal(symtab_find(&t, 0xffffffffc03fffff, 0, buf), "bpf_prog_1 [bpf]");
	assert_string_equal(symtab_find(&t, 0xffffffffc0400080, 0, buf), "ftrace_trampoline [__builtin__ftrace]");
	assert_null(symtab_find(&t, 0xffffffffd0000000, 0, buf));
	symtab_fini(&t);
	close(fd);
}

/* kernel.kptr_restrict makes all addresses 0; those of per-CPU variables can be so anyway. */
TEST(elf, kallsyms_with_hidden_addresses_is_not_opened)
{
	int fd;

	put_file("kallsyms", "0000000000000000 A fixed_percpu_data\n0000000000000000 T _stext\n0000000000000000 t last\t[ext4]\n");
	assert_int_equal(kallsyms_open(in_folder("kallsyms")), -1);
	put_file("kallsyms", "0000000000000000 A fixed_percpu_data\nffffffff81000000 T _stext\n");
	fd = kallsyms_open(in_folder("kallsyms"));
	assert_true(fd >= 0);
	close(fd);
}

/* The budget of the last request. */
static unsigned int budget_ms;

void __wrap_watch_budget(unsigned int ms, const void *late, size_t bytes);
void __wrap_watch_budget(unsigned int ms, const void *late, size_t bytes)
{
	(void)late;
	(void)bytes;
	budget_ms = ms;
}

/* All names wait for the kernel's symbols: their budget suffices on an emulated machine. */
TEST(elf, kallsyms_have_a_budget_of_their_own)
{
	struct symbols_request r = { .what = SYMBOLS_KERNEL };
	unsigned int of_file;
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
	r.what = SYMBOLS_FILE;
	assert_true(helper_send(ends[0], &r, sizeof(r), -1) > 0);
	symbols_run(ends[1]);
	of_file = budget_ms;
	r.what = SYMBOLS_KERNEL;
	assert_true(helper_send(ends[0], &r, sizeof(r), -1) > 0);
	symbols_run(ends[1]);
	assert_true(of_file > 0 && budget_ms >= 10 * of_file);
	close(ends[0]);
	close(ends[1]);
}

/* Also those of a kernel module. */
TEST(elf, kallsyms_names_in_source_form)
{
	static const char text[] = "ffffffff81000000 t probe.cold\n"
				   "ffffffffc0000000 t probe.cold\t[nvme]\n"
				   "ffffffffc0000100 t _ZN3api5Queue4push17h9f3c2b7d88aa01e4E\t[rust_mod]\n";
	static const char want[] = "probe\0probe [nvme]\0api::Queue::push [rust_mod]";
	struct symbols_request r = { .what = SYMBOLS_KERNEL };
	static struct symbols_names a;
	int fd = memfd_create("kallsyms", 0), ends[2];

	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
	assert_true(helper_send(ends[0], &r, sizeof(r), fd) > 0);
	r = (struct symbols_request){ .what = SYMBOLS_RESOLVE, .nr = 3,
				      .at = { 0xffffffff81000000, 0xffffffffc0000000, 0xffffffffc0000100 } };
	assert_true(helper_send(ends[0], &r, sizeof(r), -1) > 0);
	symbols_run(ends[1]);
	assert_int_equal(recv(ends[0], &a, sizeof(a), 0), sizeof(struct symbols_loaded));
	assert_true(recv(ends[0], &a, sizeof(a), 0) > 0);
	assert_int_equal(a.bytes, sizeof(want));
	assert_memory_equal(a.names, want, sizeof(want));
	close(ends[0]);
	close(ends[1]);
	close(fd);
}

/* A table without an end, and names without one, are read as far as possible. */
TEST(elf, names_without_an_end)
{
	struct symtab t = { 0 };
	char buf[SYMTAB_NAME_MAX];
	uint64_t at;

	memset(symtab_add_names(&t, 100000, &at), 'x', 100000);
	assert_int_equal(symtab_add_at(&t, 100, 10, at, false, 0), 0);
	assert_int_equal(symtab_add_at(&t, 200, 10, at + 99990, false, 0), 0);
	assert_int_equal(symtab_sort(&t), 0);
	assert_null(symtab_find(&t, 100, 0, buf));
	assert_null(symtab_find(&t, 200, 0, buf));
	t.names[99999] = '\0';
	assert_string_equal(symtab_find(&t, 200, 0, buf), "xxxxxxxxx");
	assert_null(symtab_find(&t, 100, 0, buf));
	symtab_fini(&t);
}

int main(void)
{
	RUN_TESTS(cmocka_unit_test(elf_installed_binaries_as_nm_says),
		  cmocka_unit_test_setup_teardown(elf_packed_symbol_table, folder_new, folder_drop),
		  cmocka_unit_test(elf_broken_files),
		  cmocka_unit_test(elf_symtab_prefers_what_people_call_it),
		  cmocka_unit_test(elf_symtab_code_behind_a_function_inside_another_one),
		  cmocka_unit_test(elf_symtab_is_sorted),
		  cmocka_unit_test(elf_kallsyms_code_behind_a_module_is_none_of_it),
		  cmocka_unit_test_setup_teardown(elf_kallsyms_with_hidden_addresses_is_not_opened, folder_new, folder_drop),
		  cmocka_unit_test(elf_kallsyms_names_in_source_form), cmocka_unit_test(elf_kallsyms_have_a_budget_of_their_own),
		  cmocka_unit_test(elf_names_without_an_end));
}
