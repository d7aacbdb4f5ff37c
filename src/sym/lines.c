/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sym/lines.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <gelf.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Whether a section of debug information is sound. libdw (0.188) reads a string up to its NUL, wherever its section ends.
 * In a mapped file it then reads on into the next section, which does no harm; but libelf moves a packed section, or one of
 * another kind, to memory of exactly its size. */
static bool section_is_sound(Elf_Scn *section, const GElf_Shdr *h, const char *name)
{
	Elf_Data *data;

	name += name[1] == 'z' ? 2 : 1;
	if (strncmp(name, "debug_", 6))
		return true;
	if (h->sh_type != SHT_PROGBITS)
		return h->sh_type == SHT_NOBITS;
	if (strcmp(name, "debug_str") && strcmp(name, "debug_line_str"))
		return true;
	data = elf_getdata(section, NULL);
	return !data || !data->d_buf || !data->d_size || !((const char *)data->d_buf)[data->d_size - 1];
}

static bool is_sound(Elf *elf)
{
	Elf_Scn *section = NULL;
	size_t names;
	GElf_Shdr h;

	if (elf_getshdrstrndx(elf, &names))
		return false;
	while ((section = elf_nextscn(elf, section))) {
		const char *name = gelf_getshdr(section, &h) ? elf_strptr(elf, names, h.sh_name) : NULL;

		if (name && *name == '.' && !section_is_sound(section, &h, name))
			return false;
	}
	return true;
}

/* Finds the unit that holds the address: by the index of ranges, or, if the compiler wrote none, by searching all
 * units. */
static bool find_unit(Dwarf *dw, uint64_t address, Dwarf_Die *unit)
{
	Dwarf_CU *cu = NULL;
	uint8_t type;

	if (dwarf_addrdie(dw, address, unit))
		return true;
	while (!dwarf_get_units(dw, cu, &cu, NULL, &type, unit, NULL))
		if (type != DW_UT_type && dwarf_haspc(unit, address) > 0)
			return true;
	return false;
}

static int attribute_number(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attr;
	Dwarf_Word value;

	return dwarf_attr(die, name, &attr) && !dwarf_formudata(&attr, &value) ? (int)value : 0;
}

/* Maximum nesting of scopes. */
#define DEPTH_MAX 64

/* Whether @die holds the address. @maybe: it has no addresses of its own, but what it contains may hold it. */
static bool holds(Dwarf_Die *die, uint64_t address, bool *maybe)
{
	*maybe = false;
	switch (dwarf_tag(die)) {
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
		*maybe = true;
		return true;
	case DW_TAG_subprogram:
	case DW_TAG_inlined_subroutine:
	case DW_TAG_lexical_block:
	case DW_TAG_with_stmt:
	case DW_TAG_catch_block:
	case DW_TAG_try_block:
	case DW_TAG_entry_point:
		return dwarf_haspc(die, address) > 0;
	default:
		return false;
	}
}

/* Appends the scopes around an address to the @nr given ones, as nested in the code, innermost last. Returns the new
 * number, 0: no further scope holds it. dwarf_getscopes() follows an inlined function to where it is defined rather
 * than where it was inlined, and leaks memory if a file is broken. */
static int code_scopes(Dwarf_Die *scopes, int nr, uint64_t address)
{
	Dwarf_Die *die = &scopes[nr];
	bool maybe;
	int found = 0;

	if (nr == DEPTH_MAX || dwarf_child(&scopes[nr - 1], die))
		return 0;
	do {
		if (!holds(die, address, &maybe))
			continue;
		found = code_scopes(scopes, nr + 1, address);
		if (!found && !maybe)
			found = nr + 1;
	} while (!found && !dwarf_siblingof(die, die));
	return found;
}

/* Adds "NAME inlined in NAME at FILE:LINE" for each function around the innermost one. */
static void put_inlined(Dwarf_Die *unit, uint64_t address, char *buf, size_t size)
{
	size_t used = strlen(buf), nr_files;
	Dwarf_Files *files = NULL;
	Dwarf_Die scopes[DEPTH_MAX] = { *unit };

	dwarf_getsrcfiles(unit, &files, &nr_files);
	for (int i = code_scopes(scopes, 1, address) - 1; i >= 0 && used < size; i--) {
		int file = attribute_number(&scopes[i], DW_AT_call_file), outer = i - 1;
		const char *path = files ? dwarf_filesrc(files, file, NULL, NULL) : NULL;

		if (dwarf_tag(&scopes[i]) != DW_TAG_inlined_subroutine)
			continue;
		while (outer >= 0 && dwarf_tag(&scopes[outer]) != DW_TAG_inlined_subroutine &&
		       dwarf_tag(&scopes[outer]) != DW_TAG_subprogram)
			outer--;
		used += snprintf(buf + used, size - used, "\n%s inlined in %s at %s:%d",
				 dwarf_diename(&scopes[i]) ?: "?",
				 outer >= 0 && dwarf_diename(&scopes[outer]) ? dwarf_diename(&scopes[outer]) : "?",
				 path ? basename(path) : "?", attribute_number(&scopes[i], DW_AT_call_line));
	}
}

void lines_find(int fd, uint64_t address, char *buf, size_t size)
{
	Dwarf *dw = dwarf_begin(fd, DWARF_C_READ);
	const char *path;
	Dwarf_Die unit;
	Dwarf_Line *line;
	int number;

	*buf = '\0';
	if (!dw)
		return;
	if (is_sound(dwarf_getelf(dw)) && find_unit(dw, address, &unit)) {
		line = dwarf_getsrc_die(&unit, address);
		path = line ? dwarf_linesrc(line, NULL, NULL) : NULL;
		if (path && !dwarf_lineno(line, &number))
			snprintf(buf, size, "%s:%d", basename(path), number);
		if (*buf)
			put_inlined(&unit, address, buf, size);
	}
	dwarf_end(dw);
}
