/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_SYM_SYMTAB_H
#define SYSTOP_SYM_SYMTAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Functions by address: filled, sorted once, and looked up. Initialise with zeroes. */
struct symtab {
	struct symtab_function {
		uint64_t address, size; /* size 0: up to the next one */
		uint32_t name;          /* place in names */
		uint8_t rank;           /* of several at one address the highest is told */
	} *functions;
	size_t nr, room;
	char *names;
	size_t names_len, names_room;
	bool sorted;
};

/* symtab_add - 0 or -ENOMEM. */
int symtab_add(struct symtab *t, uint64_t address, uint64_t size, const char *name, uint8_t rank);

/* symtab_sort - before the first symtab_find() after additions. */
void symtab_sort(struct symtab *t);

/* symtab_find - the name of the function that holds @address, NULL: none does. */
const char *symtab_find(const struct symtab *t, uint64_t address);

void symtab_fini(struct symtab *t);

#endif
