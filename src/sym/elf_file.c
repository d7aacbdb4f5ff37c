/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sym/elf_file.h"

#include <errno.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A section up to this size is read in any case: not all file systems report a file's blocks. */
#define SECTION_SMALL (16 << 20)

#define NAME_MAX_BYTES 32

/* A header determines where the section names are. */
static void find_names(struct elf_file *f)
{
	GElf_Shdr sh;
	size_t nr;

	if (elf_getshdrnum(f->elf, &f->nr_sections))
		f->nr_sections = 0;
	if (!elf_getshdrstrndx(f->elf, &nr) && elf_section_at(f, nr, &sh) && !elf_section_check(f, &sh)) {
		f->names = sh.sh_offset;
		f->names_end = sh.sh_offset + sh.sh_size;
	}
}

static int open_elf(struct elf_file *f)
{
	static const int order = BYTE_ORDER == LITTLE_ENDIAN ? ELFDATA2LSB : ELFDATA2MSB;
	const char *ident = elf_getident(f->elf, NULL);

	if (!f->elf)
		return -EBADMSG;
	if (!ident || elf_kind(f->elf) != ELF_K_ELF || ident[EI_DATA] != order)
		return -ENOEXEC;
	find_names(f);
	return 0;
}

int elf_file_open(struct elf_file *f, int fd)
{
	struct stat st;

	*f = (struct elf_file){ .fd = fd };
	if (fstat(fd, &st))
		return -errno;
	f->size = st.st_size;
	f->section_max = (uint64_t)st.st_blocks * 512;
	if (f->section_max < SECTION_SMALL)
		f->section_max = SECTION_SMALL;
	elf_version(EV_CURRENT);
	f->elf = elf_begin(fd, ELF_C_READ, NULL);
	return open_elf(f);
}

int elf_file_of_memory(struct elf_file *f, const void *bytes, size_t size)
{
	*f = (struct elf_file){ .fd = -1, .memory = bytes, .size = size, .section_max = size };
	elf_version(EV_CURRENT);
	f->elf = elf_memory((char *)bytes, size);
	return open_elf(f);
}

void elf_file_close(struct elf_file *f)
{
	elf_end(f->elf);
	f->elf = NULL;
}

bool elf_file_read(const struct elf_file *f, void *to, size_t bytes, uint64_t at)
{
	size_t done = 0;

	if (at > f->size || bytes > f->size - at)
		return false;
	if (f->fd < 0) {
		memcpy(to, f->memory + at, bytes);
		return true;
	}
	while (done < bytes) {
		ssize_t got = pread(f->fd, (char *)to + done, bytes - done, at + done);

		if (got <= 0)
			return false;
		done += got;
	}
	return true;
}

bool elf_section_at(const struct elf_file *f, size_t nr, GElf_Shdr *sh)
{
	return gelf_getshdr(elf_getscn(f->elf, nr), sh);
}

bool elf_section_is(const struct elf_file *f, const GElf_Shdr *sh, const char *name)
{
	size_t bytes = strlen(name) + 1;
	char found[NAME_MAX_BYTES];

	return bytes <= sizeof(found) && f->names_end - f->names >= bytes &&
	       sh->sh_name <= f->names_end - f->names - bytes &&
	       elf_file_read(f, found, bytes, f->names + sh->sh_name) && !memcmp(found, name, bytes);
}

int elf_section_check(const struct elf_file *f, const GElf_Shdr *sh)
{
	if (sh->sh_type == SHT_NOBITS || sh->sh_offset > f->size || sh->sh_size > f->size - sh->sh_offset)
		return -EBADMSG;
	return sh->sh_size > f->section_max ? -EFBIG : 0;
}

int elf_section_read(const struct elf_file *f, const GElf_Shdr *sh, void **bytes)
{
	int err = elf_section_check(f, sh);

	*bytes = NULL;
	if (err)
		return err;
	*bytes = malloc(sh->sh_size + 1);
	if (!*bytes)
		return -ENOMEM;
	if (elf_file_read(f, *bytes, sh->sh_size, sh->sh_offset))
		return 0;
	free(*bytes);
	*bytes = NULL;
	return -EIO;
}
