/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_SYM_SYMTAB_H
#define SYSTOP_SYM_SYMTAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* With its NUL: longer ones are no names. */
#define SYMTAB_NAME_MAX 4096

/* Functions of one table: 16 bytes each. */
#define SYMTAB_MAX 5000000

/*
 * Functions by address: filled, sorted, and looked up. Names are in memory, or stay in their file and are read when
 * somebody asks: those of a large file take more room than all else. Initialise with zeroes.
 */
struct symtab {
	struct symtab_function {
		uint64_t address;
		uint64_t name : 36;    /* place in names, or in the file */
		uint64_t in_file : 1;
		uint64_t rank : 2;     /* of several at one address the highest is told */
		uint64_t size : 25;    /* 0: up to the next one */
	} *functions;
	size_t nr, room;
	size_t nr_sorted;       /* from the first on */
	char *names;
	size_t names_len, names_room;
	int fd;                 /* borrowed: the file with the names that are not in memory */
	bool in_file;           /* some are there */
	bool versions;          /* names are told without the version of "memcpy@@GLIBC_2.14" */
	bool newest;            /* of several at one address the one that was added last is told */
};

/* symtab_reserve - room for so many more. 0 or -ENOMEM. */
int symtab_reserve(struct symtab *t, size_t nr);

/* symtab_add - with a name of @len bytes. 0, -ENOMEM, or -E2BIG: there are SYMTAB_MAX. */
int symtab_add(struct symtab *t, uint64_t address, uint64_t size, const char *name, size_t len, uint8_t rank);

/* symtab_add_names - room for @bytes of names, each with its NUL, which are in memory from place *@at on. NULL: no memory. */
char *symtab_add_names(struct symtab *t, size_t bytes, uint64_t *at);

/* symtab_add_at - whose name is at a place among those, or in the file @fd. As symtab_add(). */
int symtab_add_at(struct symtab *t, uint64_t address, uint64_t size, uint64_t name, bool in_file, uint8_t rank);

/* symtab_sort - before the first symtab_find() after additions. 0 or -ENOMEM. */
int symtab_sort(struct symtab *t);

/* symtab_trim - gives back the room that was not needed. */
void symtab_trim(struct symtab *t);

/* symtab_find - the name of the function that holds @address, in @buf of SYMTAB_NAME_MAX bytes. NULL: none does. */
const char *symtab_find(const struct symtab *t, uint64_t address, char *buf);

/* symtab_forget_oldest - all but about the last @nr that were added, of a sorted table whose names are in memory. */
void symtab_forget_oldest(struct symtab *t, size_t nr);

/* symtab_bytes - the memory it takes. */
size_t symtab_bytes(const struct symtab *t);

void symtab_fini(struct symtab *t);

#endif
