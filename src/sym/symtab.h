/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_SYM_SYMTAB_H
#define SYSTOP_SYM_SYMTAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Maximum length of a name with its NUL: anything longer is no name. */
#define SYMTAB_NAME_MAX 4096

/* Functions of one table, 16 bytes each. */
#define SYMTAB_MAX 5000000

/*
 * Functions by address: filled, sorted, and looked up. Names are in memory, or stay in their file and are read on
 * demand: those of a large file need more room than everything else. Initialise with zeroes.
 */
struct symtab {
	struct symtab_function {
		uint64_t address;
		uint64_t name : 36;    /* offset in names, or in the file */
		uint64_t in_file : 1;
		uint64_t rank : 2;     /* among several at one address the highest counts */
		uint64_t size : 25;    /* 0: up to the next one */
	} *functions;
	size_t nr, room;
	size_t nr_sorted;       /* sorted functions, which come first */
	char *names;
	size_t names_len, names_room;
	int fd;                 /* borrowed: the file with names that are not in memory */
	bool in_file;           /* some names are in the file */
	bool versions;          /* names are reported without the version of "memcpy@@GLIBC_2.14" */
};

/* symtab_reserve - makes room for @nr more. 0 or -ENOMEM. */
int symtab_reserve(struct symtab *t, size_t nr);

/* symtab_add - adds a function with a name of @len bytes. 0, -ENOMEM, or -E2BIG: there are SYMTAB_MAX. */
int symtab_add(struct symtab *t, uint64_t address, uint64_t size, const char *name, size_t len, uint8_t rank);

/* symtab_add_names - makes room for @bytes of names, each with its NUL, from offset *@at on. NULL: no memory. */
char *symtab_add_names(struct symtab *t, size_t bytes, uint64_t *at);

/* symtab_add_at - adds a function whose name is at an offset in the names, or in the file @fd. Returns as
 * symtab_add(). */
int symtab_add_at(struct symtab *t, uint64_t address, uint64_t size, uint64_t name, bool in_file, uint8_t rank);

/* symtab_sort - call before the first symtab_find() after additions. 0 or -ENOMEM. */
int symtab_sort(struct symtab *t);

/* symtab_trim - frees unused room. */
void symtab_trim(struct symtab *t);

/* symtab_find - the name of the function that holds @address, in @buf of SYMTAB_NAME_MAX bytes. NULL: none does.
 * @from: a function without a size does not count if it begins before this address */
const char *symtab_find(const struct symtab *t, uint64_t address, uint64_t from, char *buf);

/* symtab_keep_newest - forgets the functions in whose place a later one was added, in a sorted table whose names are in
 * memory. */
void symtab_keep_newest(struct symtab *t);

/* symtab_forget_oldest - forgets all but about the last @nr added, in a sorted table whose names are in memory. */
void symtab_forget_oldest(struct symtab *t, size_t nr);

/* symtab_bytes - the memory it uses. */
size_t symtab_bytes(const struct symtab *t);

void symtab_fini(struct symtab *t);

#endif
