/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sym/elf_relocations.h"

#include <errno.h>

/* Maximum number of a file's relocations that are read: its sections may all be the same bytes. */
#define RELOCATIONS_MAX 4000000

/* The relocations of a section, up to *@left, block by block. */
static int read_section(const struct elf_file *f, const GElf_Shdr *sh, uint64_t *left,
			int (*each)(void *to, uint32_t symbols, const Elf64_Rela *r), void *to)
{
	static Elf64_Rela block[2048];
	uint64_t nr = sh->sh_size / sizeof(block[0]);
	int err = 0;

	if (nr > *left)
		nr = *left;
	*left -= nr;
	for (uint64_t done = 0; !err && done < nr;) {
		uint64_t part = nr - done < sizeof(block) / sizeof(block[0]) ? nr - done : sizeof(block) / sizeof(block[0]);

		if (!elf_file_read(f, block, part * sizeof(block[0]), sh->sh_offset + done * sizeof(block[0])))
			return -EIO;
		for (uint64_t i = 0; !err && i < part; i++)
			err = each(to, sh->sh_link, &block[i]);
		done += part;
	}
	return err;
}

int elf_relocations(const struct elf_file *f, int (*each)(void *to, uint32_t symbols, const Elf64_Rela *r), void *to)
{
	uint64_t left = RELOCATIONS_MAX;
	GElf_Shdr sh;
	int err = 0;

	if (!elf_file_is_64(f))
		return 0;
	for (size_t i = 1; !err && left && i < f->nr_sections && elf_section_at(f, i, &sh); i++)
		if (sh.sh_type == SHT_RELA && !elf_section_check(f, &sh))
			err = read_section(f, &sh, &left, each, to);
	return err;
}
