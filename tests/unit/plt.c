/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compares stubs of the procedure linkage table with objdump's, in files that linkers lay out in different ways. */
#include "folder.h"

#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sym/plt.h"

static void read_file(const char *path, struct symtab *t)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	*t = (struct symtab){ 0 };
	assert_true(fd >= 0);
	assert_int_equal(plt_read(fd, t), 0);
	close(fd);
}

/* Looks up all of the stubs that objdump names, each at its first and eighth byte. Returns how many there are: no more are
 * in @t. */
static size_t compare(const char *path, const struct symtab *t)
{
	char command[512], line[8192], name[SYMTAB_NAME_MAX], buf[SYMTAB_NAME_MAX];
	size_t nr = 0;
	FILE *f;

	snprintf(command, sizeof(command), "objdump -d --no-show-raw-insn -j .plt -j .plt.sec -j .plt.got %s 2>/dev/null",
		 path);
	f = popen(command, "r");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		unsigned long address;
		const char *found;
		char *version;

		/* Names may have a version. What comes before the first stub is "free@plt-0x10". */
		if (sscanf(line, "%lx <%4095[^>]>:", &address, name) != 2 || *name == '*' ||
		    strlen(name) < strlen(PLT_SUFFIX) || strcmp(name + strlen(name) - strlen(PLT_SUFFIX), PLT_SUFFIX))
			continue;
		version = strchr(name, '@');
		memmove(version, name + strlen(name) - strlen(PLT_SUFFIX), sizeof(PLT_SUFFIX));
		for (int i = 0; i < 2; i++) {
			found = symtab_find(t, address + 7 * i, 0, buf);
			if (!found || strcmp(found, name))
				print_error("%s: %lx is %s, not %s\n", path, address, found ? found : "nothing", name);
			assert_true(found && !strcmp(found, name));
		}
		nr++;
	}
	pclose(f);
	assert_int_equal(nr, t->nr);
	return nr;
}

static size_t compare_file(const char *path)
{
	struct symtab t;
	size_t nr;

	read_file(path, &t);
	nr = compare(path, &t);
	symtab_fini(&t);
	return nr;
}

/* Links a program in this way. Returns false if the linker cannot. */
static bool build(const char *options)
{
	static const char source[] =
		"#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n"
		"void *(*volatile taken)(size_t) = malloc;\n"
		"int main(int argc, char **argv) { void *p = malloc(argc); puts(argv[0]); free(p); free(taken(strlen(*argv)));"
		"return atoi(*argv) + (getenv == 0) + (free == 0); }\n";
	char command[1024];
	FILE *f;

	snprintf(command, sizeof(command), "cd %s && gcc -O1 -o stubs %s -x c - 2>/dev/null && strip stubs", folder, options);
	f = popen(command, "w");
	assert_non_null(f);
	fputs(source, f);
	return !pclose(f);
}

TEST(plt, layouts_as_objdump_says)
{
	static const char *const layouts[] = {
		"-Wl,-z,lazy", "-Wl,-z,now", "-no-pie -Wl,-z,lazy", "-fcf-protection -Wl,-z,lazy,-z,ibtplt",
		"-fcf-protection -Wl,-z,now,-z,ibtplt", "-fuse-ld=gold -Wl,-z,lazy", "-fuse-ld=gold -Wl,-z,now",
		"-fuse-ld=lld -Wl,-z,lazy", "-fuse-ld=lld -Wl,-z,now", "-fuse-ld=lld -fcf-protection -Wl,-z,force-ibt",
		"-mbranch-protection=standard -Wl,-z,force-bti", "-mbranch-protection=standard -Wl,-z,pac-plt",
	};
	char path[80];
	int built = 0;

	snprintf(path, sizeof(path), "%s/stubs", folder);
	FOR_EACH (layout, layouts) {
		if (!build(*layout))
			continue;
		built++;
		if (compare_file(path) < 4)
			print_error("%s: stubs are missing\n", *layout);
		assert_true(compare_file(path) >= 4);
	}
	assert_true(built >= 4);
	/* None, or of functions without names. */
	assert_true(build("-fno-plt -static"));
	assert_int_equal(compare_file(path), 0);
}

TEST(plt, installed_files_as_objdump_says)
{
	static const char *const files[] = {
		"/bin/bash", "/usr/bin/python3", "/usr/bin/perf", "/usr/bin/git", "/lib/x86_64-linux-gnu/libc.so.6",
		"/lib64/libc.so.6", "/usr/lib/x86_64-linux-gnu/libstdc++.so.6", "/usr/lib/x86_64-linux-gnu/libcrypto.so.3",
		"/usr/lib/x86_64-linux-gnu/libpython3.11.so.1.0",
	};
	size_t nr = 0;

	FOR_EACH (file, files)
		if (!access(*file, R_OK))
			nr += compare_file(*file);
	assert_true(nr >= 200);
}

/* A file of arm64: the slots of three functions, and stubs as GNU ld makes them, the last one with signed addresses. */
static const struct {
	Elf64_Ehdr head;
	Elf64_Shdr sections[6];
	Elf64_Sym symbols[4];
	char names[16];
	Elf64_Rela relocations[3];
	uint32_t code[22];
	char section_names[48];
} aarch64_file = {
#define PLACE(member) .sh_offset = offsetof(typeof(aarch64_file), member), .sh_size = sizeof(aarch64_file.member)
	.head = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT }, .e_type = ET_DYN,
		  .e_machine = EM_AARCH64, .e_version = EV_CURRENT, .e_shoff = sizeof(Elf64_Ehdr), .e_ehsize = sizeof(Elf64_Ehdr),
		  .e_shentsize = sizeof(Elf64_Shdr), .e_shnum = 6, .e_shstrndx = 5 },
	.sections = { { 0 },
		      { .sh_name = 1, .sh_type = SHT_DYNSYM, PLACE(symbols), .sh_link = 2, .sh_info = 1,
			.sh_entsize = sizeof(Elf64_Sym), .sh_flags = SHF_ALLOC, .sh_addr = 0x200 },
		      { .sh_name = 9, .sh_type = SHT_STRTAB, PLACE(names), .sh_flags = SHF_ALLOC, .sh_addr = 0x280 },
		      { .sh_name = 17, .sh_type = SHT_RELA, PLACE(relocations), .sh_link = 1, .sh_entsize = sizeof(Elf64_Rela),
			.sh_flags = SHF_ALLOC, .sh_addr = 0x300 },
		      { .sh_name = 22, .sh_type = SHT_PROGBITS, PLACE(code), .sh_flags = SHF_ALLOC | SHF_EXECINSTR, .sh_addr = 0x700 },
		      { .sh_name = 27, .sh_type = SHT_STRTAB, PLACE(section_names) } },
	.symbols = { { 0 }, { .st_name = 1 }, { .st_name = 6 }, { .st_name = 11 } },
	.names = "\0free\0puts\0atoi",
	.relocations = { { 0x20000, ELF64_R_INFO(1, R_AARCH64_JUMP_SLOT), 0 }, { 0x20008, ELF64_R_INFO(2, R_AARCH64_JUMP_SLOT), 0 },
			 { 0x1fff8, ELF64_R_INFO(3, R_AARCH64_GLOB_DAT), 0 } },
	.code = { 0xa9bf7bf0, 0xf00000f0, 0xf947fe11, 0x913fe210, 0xd61f0220, 0xd503201f, 0xd503201f, 0xd503201f,
		  0x90000110, 0xf9400211, 0x91000210, 0xd61f0220,                         /* adrp 0x20000; ldr [0]; add; br */
		  0xd503245f, 0x90000110, 0xf9400611, 0x91002210, 0xd61f0220, 0xd503201f, /* bti c; adrp 0x20000; ldr [8]; .. */
		  0xf00000f0, 0xf947fe11, 0x913fe210, 0xdac10211 },                       /* adrp 0x1f000; ldr [0xff8]; add; autia1716 */
	.section_names = "\0.dynsym\0.dynstr\0.rel\0.plt\0.shstrtab",
};

TEST(plt, of_arm64)
{
	static const struct {
		uint32_t at;
		const char *name;
	} stubs[] = { { 0x720, "free@plt" }, { 0x72c, "free@plt" }, { 0x730, "puts@plt" }, { 0x744, "puts@plt" }, { 0x748, "atoi@plt" } };
	char path[80], buf[SYMTAB_NAME_MAX];
	struct symtab t;
	FILE *f;

	snprintf(path, sizeof(path), "%s/aarch64", folder);
	f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(&aarch64_file, sizeof(aarch64_file), 1, f), 1);
	assert_int_equal(fclose(f), 0);
	read_file(path, &t);
	assert_int_equal(t.nr, 3);
	assert_null(symtab_find(&t, 0x71f, 0, buf));
	for (size_t i = 0; i < ARRAY_SIZE(stubs); i++)
		assert_string_equal(symtab_find(&t, stubs[i].at, 0, buf), stubs[i].name);
	symtab_fini(&t);
}

/* Any bytes may be wrong: there are fewer stubs then, or others. */
TEST(plt, broken_files)
{
	static char whole[1 << 20], broken[1 << 20];
	char path[80], buf[SYMTAB_NAME_MAX];
	ssize_t size;
	int fd, to;

	snprintf(path, sizeof(path), "%s/stubs", folder);
	assert_true(build("-Wl,-z,lazy"));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	size = read(fd, whole, sizeof(whole));
	close(fd);
	assert_true(size > 4096 && size < (ssize_t)sizeof(whole));
	snprintf(path, sizeof(path), "%s/broken", folder);
	to = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_true(to >= 0);
	srandom(4);
	for (int i = 0; i < 600; i++) {
		struct symtab t = { 0 };
		size_t len = i % 3 ? (size_t)size : (size_t)random() % size;

		memcpy(broken, whole, len);
		for (int k = 0; k < 20 && i % 3; k++) {
			/* The section headers are last. */
			size_t at = i % 3 == 1 ? size - 1 - random() % (30 * 64) : random() % size;

			broken[at] = k % 2 ? random() : 0xff;
		}
		assert_int_equal(ftruncate(to, 0), 0);
		assert_int_equal(pwrite(to, broken, len, 0), len);
		plt_read(to, &t);
		for (size_t k = 0; k < t.nr; k++)
			symtab_find(&t, t.functions[k].address, 0, buf);
		symtab_fini(&t);
	}
	close(to);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(plt_layouts_as_objdump_says),
		cmocka_unit_test(plt_installed_files_as_objdump_says),
		cmocka_unit_test(plt_of_arm64),
		cmocka_unit_test(plt_broken_files),
	};

	return cmocka_run_group_tests(cases, folder_new, folder_drop);
}
