/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_SYM_CFI_ENTRIES_H
#define SYSTOP_SYM_CFI_ENTRIES_H

#include "sym/cfi.h"
#include "sym/cfi_run.h"
#include "util/map.h"

/* The functions that .eh_frame describes. Initialise with zeroes and the borrowed members. */
struct cfi_entries {
	const struct cfi_section *s;       /* borrowed, like the next two */
	const struct elf_segments *segments;
	const struct cfi_machine *m;
	struct cfi_entry {
		uint32_t offset;           /* of the function in the file */
		uint32_t at;               /* of the entry in the section */
	} *at;                             /* sorted by offset; equal offsets in the order of the section */
	size_t nr, room;
	bool unsorted;
	uint32_t differing;                /* bits that differ among the offsets */
	uint64_t bad;                      /* unreadable entries */
	struct cie *cies;
	size_t nr_cies, cies_room;
	uint64_t cie_bytes;                /* bytes of CIEs read: more than the section has only if CIEs overlap, in order to
					    * cost time */
	struct map cie_at;                 /* offset in the section + 1 -> index in cies + 2; 1: unreadable */
	struct cfi_recent_cie {
		uint64_t at;               /* offset in the section + 1 */
		uint32_t cie;
	} recent[64];                      /* cache by offset: there are few CIEs */
	const struct elf_segment *segment; /* the last one that held an address */
};

/* cfi_encoding - how the FDEs of a CIE encode addresses (DW_EH_PE); @cie: its bytes after its id. False: unknown. */
bool cfi_encoding(struct reader *cie, uint8_t *encoding);

/* cfi_entries_read - finds all entries. Returns 0, -ENOMEM, or -E2BIG: the code is too far back in the file. */
int cfi_entries_read(struct cfi_entries *e);

/* cfi_entries_get - the part of an entry's function that lies in one segment. False: it is empty or broken. */
bool cfi_entries_get(struct cfi_entries *e, const struct cfi_entry *entry, struct cfi_function *f);

void cfi_entries_fini(struct cfi_entries *e);

#endif
