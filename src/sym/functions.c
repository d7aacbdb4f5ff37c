/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sym/functions.h"

#include <gelf.h>
#include <unistd.h>

#include "sym/cfi.h"
#include "sym/cfi_entries.h"
#include "sym/elf_file.h"
#include "sym/reader.h"

/* The only encoding of the table that linkers write: pairs of 4 bytes, relative to the start of .eh_frame_hdr. */
#define TABLE_ENCODING (DW_EH_PE_datarel | DW_EH_PE_sdata4)

struct entry {
	int32_t from; /* address of the function, */
	int32_t fde;  /* and of its FDE: both relative */
};

/* The search reads one entry at a time, until so few are left that one read brings them all. */
#define BLOCK 512

/* An FDE's fields up to the function's size, and a CIE with its instructions. */
#define FDE_BYTES 64
#define CIE_BYTES 256

/* --- The table */

static bool find_header(const struct elf_file *f, GElf_Phdr *header)
{
	size_t nr = 0;

	elf_getphdrnum(f->elf, &nr);
	for (size_t i = 0; i < nr && i < ELF_SEGMENTS_MAX && gelf_getphdr(f->elf, i, header); i++)
		if (header->p_type == PT_GNU_EH_FRAME)
			return true;
	return false;
}

/* Finds the segment of .eh_frame_hdr, in which linkers also put .eh_frame. */
static bool find_segment(const struct elf_file *f, uint64_t address, struct elf_segment *s)
{
	size_t nr = 0;
	GElf_Phdr p;

	elf_getphdrnum(f->elf, &nr);
	for (size_t i = 0; i < nr && i < ELF_SEGMENTS_MAX && gelf_getphdr(f->elf, i, &p); i++) {
		if (p.p_type != PT_LOAD || address < p.p_vaddr || address - p.p_vaddr >= p.p_filesz)
			continue;
		*s = (struct elf_segment){ p.p_offset, p.p_filesz, p.p_vaddr };
		return true;
	}
	return false;
}

void functions_read(const struct elf_file *f, struct functions *t)
{
	uint8_t bytes[4 + 2 * sizeof(uint64_t)] = { 0 }, version, frame_encoding, count_encoding, table_encoding;
	struct reader r = { bytes, bytes + sizeof(bytes), 0, false };
	uint64_t offset, room, nr;
	GElf_Phdr header;

	*t = (struct functions){ .nr = 0 };
	if (!find_header(f, &header) || !find_segment(f, header.p_vaddr, &t->segment))
		return;
	offset = header.p_vaddr - t->segment.address;
	room = t->segment.size - offset;
	offset += t->segment.offset;
	if (room < sizeof(bytes) || !elf_file_read(f, bytes, sizeof(bytes), offset))
		return;
	t->address = header.p_vaddr;
	r.shift = header.p_vaddr - (uintptr_t)bytes;
	version = read_byte(&r);
	frame_encoding = read_byte(&r);
	count_encoding = read_byte(&r);
	table_encoding = read_byte(&r);
	if (version != 1)
		return;
	t->eh_frame = read_pointer(&r, frame_encoding);
	nr = read_pointer(&r, count_encoding);
	if (r.failed)
		t->eh_frame = 0;
	if (r.failed || table_encoding != TABLE_ENCODING)
		return;
	t->table = offset + (r.at - bytes);
	room = (room - (r.at - bytes)) / sizeof(struct entry);
	t->nr = nr < room ? nr : room;
}

/* --- One function */

/* Reads up to @bytes at an address in the segment. False: it is not there. */
static bool read_at(const struct functions *t, int fd, uint64_t address, uint8_t *to, size_t bytes, struct reader *r)
{
	uint64_t at = address - t->segment.address;
	ssize_t got;

	if (address < t->segment.address || at >= t->segment.size)
		return false;
	if (bytes > t->segment.size - at)
		bytes = t->segment.size - at;
	got = pread(fd, to, bytes, t->segment.offset + at);
	*r = (struct reader){ to, to + (got > 0 ? got : 0), address - (uintptr_t)to, false };
	return got > 0;
}

/* Reads the length and the id of an entry of .eh_frame, and cuts the reader off where the entry ends. */
static bool begin_entry(struct reader *r, uint64_t *id)
{
	uint64_t length = read_unsigned(r, 4);

	if (length < 4 || length == 0xffffffff)
		return false;
	if (length < (uint64_t)(r->end - r->at))
		r->end = r->at + length;
	*id = read_unsigned(r, 4);
	return !r->failed;
}

static bool read_encoding(const struct functions *t, int fd, uint64_t cie, uint8_t *encoding)
{
	uint8_t bytes[CIE_BYTES];
	struct reader r;
	uint64_t id;

	return read_at(t, fd, cie, bytes, sizeof(bytes), &r) && begin_entry(&r, &id) && !id &&
	       cfi_encoding(&r, encoding);
}

static bool read_fde(const struct functions *t, int fd, uint64_t fde, struct function_range *range)
{
	uint8_t bytes[FDE_BYTES], encoding;
	struct reader r;
	uint64_t id, size;

	if (!read_at(t, fd, fde, bytes, sizeof(bytes), &r) || !begin_entry(&r, &id) || !id ||
	    !read_encoding(t, fd, read_address(&r) - 4 - id, &encoding))
		return false;
	range->from = read_pointer(&r, encoding);
	size = read_pointer(&r, encoding & 0x0f);
	range->to = range->from + size;
	return !r.failed && range->to > range->from;
}

/* --- Looking up */

static bool read_entries(const struct functions *t, int fd, uint64_t at, struct entry *to, size_t nr)
{
	ssize_t bytes = nr * sizeof(*to);

	return pread(fd, to, bytes, t->table + at * sizeof(*to)) == bytes;
}

/* Sets @low to the number of entries at or below @wanted, if the table is sorted, and @last to the last one of them. False:
 * there is none, or the table cannot be read. */
static bool search(const struct functions *t, int fd, int64_t wanted, uint64_t *low, struct entry *last)
{
	static struct entry block[BLOCK];
	uint64_t high = t->nr, first;

	*low = 0;
	while (high - *low > BLOCK) {
		uint64_t middle = *low + (high - *low) / 2;
		struct entry e;

		if (!read_entries(t, fd, middle, &e, 1))
			return false;
		if (e.from <= wanted)
			*low = middle;
		else
			high = middle;
	}
	first = *low;
	if (!read_entries(t, fd, first, block, high - first))
		return false;
	while (*low < high && block[*low - first].from <= wanted)
		*last = block[(*low)++ - first];
	return *low > first;
}

bool functions_find(const struct functions *t, int fd, uint64_t address, struct function_range *r)
{
	int64_t wanted = address - t->address;
	struct entry e = { 0 };
	uint64_t at;

	/* An entry counts only if its FDE confirms it. */
	return t->nr && wanted == (int32_t)wanted && search(t, fd, wanted, &at, &e) &&
	       read_fde(t, fd, t->address + e.fde, r) && r->from == t->address + e.from && address >= r->from &&
	       address < r->to;
}
