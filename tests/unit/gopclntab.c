/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of stripped Go programs: those of real ones as nm reports them for twins with symbols, and of hand-made
 * tables. */
#include "folder.h"

#include <elf.h>
#include <errno.h>
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
#include "sym/roles.h"

/* --- Real programs */

/* Builds a program with symbols, "full", and strips it: "stripped". */
static void build(const char *options)
{
	static const char source[] = "package main\n"
				     "type list[T any] struct { items []T }\n"
				     "//go:noinline\n"
				     "func (l *list[T]) push(x T) { l.items = append(l.items, x) }\n"
				     "//go:noinline\n"
				     "func burn(n int) int { return n * n }\n"
				     "//go:noinline\n"
				     "func cold(n int) int { return n + 1 }\n"
				     "var one = 1\n"
				     "func main() { var l list[int]; l.push(burn(cold(one))); println(len(l.items)) }\n";
	char command[512];

	put_file("main.go", source);
	snprintf(command, sizeof(command),
		 "cd %s && rm -f full stripped && GO111MODULE=off GOFLAGS= GOCACHE=${GOCACHE:-%s/cache} go build -o full %s main.go && "
		 "strip -o stripped full", folder, folder, options);
	assert_int_equal(system(command), 0);
}

/* Where nm says that a symbol of the full program is. */
static uint64_t address_of(const char *symbol)
{
	unsigned long address = 0;
	char line[256];
	FILE *f;

	snprintf(line, sizeof(line), "nm %s | grep -w %s", in_folder("full"), symbol);
	f = popen(line, "r");
	assert_true(fgets(line, sizeof(line), f) && sscanf(line, "%lx", &address) == 1);
	pclose(f);
	return address;
}

/* Reads a file in as small slices as there are, and all at once. Returns the number of slices. */
static int read_file(const char *path, struct symtab *t, struct elf_found *found, bool sliced)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), slices = 1, err;
	struct elf_progress p = { .until = sliced };

	*t = (struct symtab){ 0 };
	assert_true(fd >= 0);
	while ((err = elf_read(fd, false, t, found, &p)) == -EAGAIN)
		slices++;
	assert_int_equal(err, 0);
	assert_false(t->in_file);
	close(fd);
	return slices;
}

/* The linker adds the kind of call to some names in .symtab. */
static bool is_same(const char *symbol, const char *name)
{
	size_t len = strlen(name);

	return !strncmp(symbol, name, len) && (!symbol[len] || !strcmp(symbol + len, ".abi0"));
}

/* Looks up the first and last byte of each Go function that nm knows, but generic ones, whose types are only in .symtab.
 * Returns how many there are. */
static int compare(const struct symtab *t)
{
	char line[4096], symbol[4096], buf[SYMTAB_NAME_MAX];
	unsigned long address, size;
	int nr = 0;
	FILE *f;

	snprintf(line, sizeof(line), "nm -S --defined-only %s", in_folder("full"));
	f = popen(line, "r");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		char type;

		if (sscanf(line, "%lx %lx %c %4095[^\n]", &address, &size, &type, symbol) != 4 || !strchr("tT", type) ||
		    !size || strchr(symbol, '[') || (strncmp(symbol, "runtime.", 8) && strncmp(symbol, "main.", 5)))
			continue;
		for (int i = 0; i < 2; i++) {
			const char *name = symtab_find(t, address + i * (size - 1), 0, buf);

			if (!name || !is_same(symbol, name))
				print_error("%lx is %s, not %s\n", address, name ? name : "nothing", symbol);
			assert_true(name && is_same(symbol, name));
		}
		nr++;
	}
	pclose(f);
	return nr;
}

static bool has(const struct symtab *t, const char *wanted)
{
	char buf[SYMTAB_NAME_MAX];

	for (size_t i = 0; i < t->nr; i++) {
		const char *name = symtab_find(t, t->functions[i].address, 0, buf);

		if (name && !strcmp(name, wanted))
			return true;
	}
	return false;
}

static void check_stripped(const char *options)
{
	struct elf_found found = { 0 };
	struct symtab t, sliced;

	read_file(in_folder("stripped"), &t, &found, false);
	if (compare(&t) < 900 || !found.whole)
		print_error("go build %s: names are missing\n", options);
	assert_true(compare(&t) >= 900);
	assert_true(found.whole);
	assert_true(has(&t, "main.burn"));
	assert_true(has(&t, "main.(*list[...]).push") || has(&t, "main.(*list[go.shape.int]).push")); /* the latter since Go 1.27 */
	assert_true(read_file(in_folder("stripped"), &sliced, &found, true) > 3);
	assert_int_equal(sliced.nr, t.nr);
	assert_memory_equal(sliced.functions, t.functions, t.nr * sizeof(*t.functions));
	symtab_fini(&sliced);
	symtab_fini(&t);
}

TEST(gopclntab, stripped_programs_as_nm_says)
{
	/* lld leaves the address of the first function to a relocation. */
	static const char *const options[] = {
		"", "-buildmode=pie", "-ldflags=-linkmode=external", "-buildmode=pie -ldflags=-linkmode=external",
		"-buildmode=pie -ldflags='-linkmode=external -extldflags=-fuse-ld=lld'",
	};

	FOR_EACH (option, options) {
		if (strstr(*option, "lld") && system("command -v ld.lld >/dev/null"))
			continue;
		build(*option);
		check_stripped(*option);
	}
}

TEST(gopclntab, program_that_was_built_without_symbols)
{
	struct elf_found found = { 0 };
	struct symtab t;

	build("-ldflags='-s -w'");
	read_file(in_folder("full"), &t, &found, false);
	assert_true(found.whole && has(&t, "main.burn"));
	symtab_fini(&t);
}

/* A program with its own symbols has them from there. */
TEST(gopclntab, is_not_read_beside_symbols)
{
	struct elf_found found = { 0 };
	struct symtab t;

	build("");
	read_file(in_folder("full"), &t, &found, false);
	assert_true(found.whole && has(&t, "runtime.rt0_go.abi0"));
	symtab_fini(&t);
}

/* The name that the symbols helper gives to @at in a file, until the next call. */
static const char *name_of(enum symbols_what what, uint32_t id, const char *path, uint64_t at)
{
	const struct handed_file h = { .what = what == SYMBOLS_FILE ? OPEN_MAPPED : OPEN_PERF_MAP, .file = id };
	struct symbols_request r = { .what = SYMBOLS_PEER, .file = id, .nr = 1, .at = { at } };
	int helper[2], peer[2], fd = open(path, O_RDONLY | O_CLOEXEC);
	static struct symbols_names a;

	assert_true(fd >= 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, helper), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, peer), 0);
	assert_true(helper_send(helper[0], &r, sizeof(r), peer[1]) > 0);
	assert_true(helper_send(peer[0], &h, sizeof(h), fd) > 0);
	r.what = what;
	assert_true(helper_send(helper[0], &r, sizeof(r), -1) > 0);
	r.what = SYMBOLS_RESOLVE;
	assert_true(helper_send(helper[0], &r, sizeof(r), -1) > 0);
	symbols_run(helper[1]);
	assert_int_equal(recv(helper[0], &a, sizeof(a), 0), sizeof(struct symbols_loaded));
	assert_true(recv(helper[0], &a, sizeof(a), 0) > 0);
	for (int i = 0; i < 2; i++)
		close(helper[i]), close(peer[i]);
	close(fd);
	return a.names;
}

/* In C, ".cold" is a part of a function; here it is a function's name, with and without symbols, and in a JIT compiler's file. */
TEST(gopclntab, a_function_named_cold_keeps_its_name)
{
	struct elf_found found = { 0 };
	const struct elf_segment *code;
	uint64_t address, at;
	struct symtab t;

	build("");
	address = address_of("main.cold");
	read_file(in_folder("full"), &t, &found, false);
	symtab_fini(&t);
	code = &found.segments.at[0];
	at = address - code->address + code->offset;
	assert_string_equal(name_of(SYMBOLS_FILE, 1, in_folder("full"), at), "main.cold");
	assert_string_equal(name_of(SYMBOLS_FILE, 2, in_folder("stripped"), at), "main.cold");
	put_file("map", "1000 10 Cache.cold\n");
	assert_string_equal(name_of(SYMBOLS_PERF_MAP, 3 | JIT_FILE, in_folder("map"), 0x1008), "Cache.cold");
}

static Elf64_Shdr *section(uint8_t *file, const char *name)
{
	Elf64_Ehdr *head = (void *)file;
	Elf64_Shdr *sections = (void *)(file + head->e_shoff);

	for (int i = 1; i < head->e_shnum; i++)
		if (!strcmp((char *)file + sections[head->e_shstrndx].sh_offset + sections[i].sh_name, name))
			return &sections[i];
	return NULL;
}

/* Since Go 1.26 the header does not have the address of the first function, but .go.module does: the older linker's
 * .noptrdata from there on. */
TEST(gopclntab, address_in_go_module)
{
	Elf64_Shdr *table, *data, *names;
	struct elf_found found = { 0 };
	char *name;
	uint64_t module;
	struct symtab t;
	uint8_t *file;
	off_t size;
	int fd;

	build("");
	module = address_of("runtime.firstmoduledata");
	fd = open(in_folder("stripped"), O_RDWR | O_CLOEXEC);
	size = lseek(fd, 0, SEEK_END);
	file = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_true(file != MAP_FAILED);
	close(fd);
	table = section(file, ".gopclntab");
	data = section(file, ".go.module");
	if (!data)
		data = section(file, ".noptrdata");
	assert_true(table && data && module >= data->sh_addr && module < data->sh_addr + data->sh_size);
	memset(file + table->sh_offset + 8 + 2 * 8, 0, 8);
	names = (Elf64_Shdr *)(file + ((Elf64_Ehdr *)file)->e_shoff) + ((Elf64_Ehdr *)file)->e_shstrndx;
	name = (char *)file + names->sh_offset + data->sh_name;
	memcpy(name, ".noptrdata", strlen(name));

	/* Without it no address is right. */
	fd = open(in_folder("stripped"), O_RDONLY | O_CLOEXEC);
	t = (struct symtab){ 0 };
	assert_int_equal(elf_read(fd, false, &t, &found, &(struct elf_progress){ 0 }), -EBADMSG);
	assert_int_equal(t.nr, 0);
	close(fd);
	symtab_fini(&t);

	memcpy(name, ".go.module", strlen(name));
	data->sh_size -= module - data->sh_addr;
	data->sh_offset += module - data->sh_addr;
	data->sh_addr = module;
	munmap(file, size);
	check_stripped("as Go 1.26");
}

/* --- Hand-made tables */

struct made {
	uint8_t bytes[1024];
	size_t len;
};

static void put(struct made *m, size_t at, uint64_t value, size_t bytes)
{
	memcpy(m->bytes + at, &value, bytes);
	if (m->len < at + bytes)
		m->len = at + bytes;
}

/* Two functions, first and second, of 16 and 32 bytes from 0x401000 on. */
static void make_table(struct made *m, uint32_t magic, size_t word)
{
	static const char names[] = "?\0first\0second";
	bool newer = magic == 0xfffffff0 || magic == 0xfffffff1, oldest = magic == 0xfffffffb;
	size_t name = 400, functions = oldest ? 8 + word : 200, entry = newer ? 4 : word, more = 300;
	size_t more_at = oldest ? more : more - functions, name_at = oldest ? name : 0;
	uint64_t text = newer ? 0 : 0x401000;

	*m = (struct made){ .len = 0 };
	put(m, 0, magic, 4);
	put(m, 6, 1, 1);
	put(m, 7, word, 1);
	put(m, 8, 2, word);
	if (newer)
		put(m, 8 + 2 * word, 0x401000, word);
	if (!oldest) {
		put(m, 8 + (newer ? 3 : 2) * word, name, word);
		put(m, 8 + (newer ? 4 : 3) * word, name + sizeof(names), word);
		put(m, 8 + (newer ? 7 : 6) * word, functions, word);
	}
	put(m, functions, text, entry);
	put(m, functions + entry, more_at, entry);
	put(m, functions + 2 * entry, text + 16, entry);
	put(m, functions + 3 * entry, more_at + 20, entry);
	put(m, functions + 4 * entry, text + 48, entry);
	put(m, more, text, entry);
	put(m, more + entry, name_at + 2, 4);
	put(m, more + 20, text + 16, entry);
	put(m, more + 20 + entry, name_at + 8, 4);
	memcpy(m->bytes + name, names, sizeof(names));
	m->len = name + sizeof(names);
}

/* Reads an ELF file that has the table as its section. Returns as elf_read(). */
static int read_table(const struct made *m, struct symtab *t)
{
	static const char section_names[] = "\0.gopclntab\0.shstrtab";
	struct {
		Elf64_Ehdr head;
		Elf64_Shdr sections[3];
		char names[sizeof(section_names)];
		uint8_t table[sizeof(m->bytes)];
	} file = {
		.head = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
			  .e_type = ET_EXEC, .e_machine = EM_X86_64, .e_version = EV_CURRENT, .e_ehsize = sizeof(Elf64_Ehdr),
			  .e_shoff = sizeof(Elf64_Ehdr), .e_shentsize = sizeof(Elf64_Shdr), .e_shnum = 3, .e_shstrndx = 2 },
	};
	struct elf_progress p = { 0 };
	struct elf_found found = { 0 };
	int fd = memfd_create("table", MFD_CLOEXEC), err;

	file.sections[1] = (Elf64_Shdr){ .sh_name = 1, .sh_type = SHT_PROGBITS, .sh_size = m->len,
					 .sh_offset = file.table - (uint8_t *)&file, .sh_addralign = 1 };
	file.sections[2] = (Elf64_Shdr){ .sh_name = 12, .sh_type = SHT_STRTAB, .sh_size = sizeof(section_names),
					 .sh_offset = (uint8_t *)file.names - (uint8_t *)&file, .sh_addralign = 1 };
	memcpy(file.names, section_names, sizeof(section_names));
	memcpy(file.table, m->bytes, m->len);
	assert_int_equal(write(fd, &file, sizeof(file)), sizeof(file));
	*t = (struct symtab){ 0 };
	err = elf_read(fd, false, t, &found, &p);
	assert_true(!found.whole || !err);
	close(fd);
	return err;
}

static const uint32_t magics[] = { 0xfffffffb, 0xfffffffa, 0xfffffff0, 0xfffffff1 };

TEST(gopclntab, tables_of_all_versions)
{
	char buf[SYMTAB_NAME_MAX];
	struct symtab t;
	struct made m;

	FOR_EACH (magic, magics) {
		for (size_t word = 4; word <= 8; word += 4) {
			make_table(&m, *magic, word);
			assert_int_equal(read_table(&m, &t), 0);
			assert_int_equal(t.nr, 2);
			assert_null(symtab_find(&t, 0x400fff, 0, buf));
			assert_string_equal(symtab_find(&t, 0x401000, 0, buf), "first");
			assert_string_equal(symtab_find(&t, 0x40100f, 0, buf), "first");
			assert_string_equal(symtab_find(&t, 0x401010, 0, buf), "second");
			assert_string_equal(symtab_find(&t, 0x40102f, 0, buf), "second");
			assert_null(symtab_find(&t, 0x401030, 0, buf));
			symtab_fini(&t);
		}
	}
	/* A later format. */
	make_table(&m, 0xfffffff2, 8);
	read_table(&m, &t);
	assert_int_equal(t.nr, 0);
	symtab_fini(&t);
}

/* A table that is cut anywhere, or has any word changed to a wrong one, gives at most its own functions. */
TEST(gopclntab, broken_tables)
{
	static const uint64_t lies[] = { 0, 1, 3, 399, 1000, 0x7fffffff, UINT32_MAX, INT64_MAX, UINT64_MAX, UINT64_MAX - 299 };
	char buf[SYMTAB_NAME_MAX];
	struct symtab t;
	struct made m;

	FOR_EACH (magic, magics) {
		for (size_t word = 4; word <= 8; word += 4) {
			make_table(&m, *magic, word);
			for (size_t len = m.len; len--;) {
				m.len = len;
				read_table(&m, &t);
				assert_true(t.nr <= 2 && t.room <= 2);
				symtab_fini(&t);
			}
			FOR_EACH (lie, lies) {
				for (size_t at = 8; at < 340; at += 4) {
					make_table(&m, *magic, word);
					put(&m, at, *lie, word);
					read_table(&m, &t);
					assert_true(t.nr <= 100 && t.room <= 100);
					for (size_t i = 0; i < t.nr; i++)
						symtab_find(&t, t.functions[i].address, 0, buf);
					symtab_fini(&t);
				}
			}
		}
	}
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(gopclntab_stripped_programs_as_nm_says),
		cmocka_unit_test(gopclntab_program_that_was_built_without_symbols),
		cmocka_unit_test(gopclntab_is_not_read_beside_symbols),
		cmocka_unit_test(gopclntab_a_function_named_cold_keeps_its_name),
		cmocka_unit_test(gopclntab_address_in_go_module),
		cmocka_unit_test(gopclntab_tables_of_all_versions),
		cmocka_unit_test(gopclntab_broken_tables),
	};

	return cmocka_run_group_tests(cases, folder_new, folder_drop);
}
