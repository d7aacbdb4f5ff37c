/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sym/symtab.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/vec.h"

int symtab_add(struct symtab *t, uint64_t address, uint64_t size, const char *name, uint8_t rank)
{
	size_t len = strlen(name) + 1;
	struct symtab_function f = { address, size, t->names_len, rank };

	if (t->names_len + len > UINT32_MAX)
		return -ENOMEM;
	if (t->names_len + len > t->names_room) {
		size_t room = t->names_room ? t->names_room * 2 : 65536;
		char *grown;

		while (room < t->names_len + len)
			room *= 2;
		grown = realloc(t->names, room);
		if (!grown)
			return -ENOMEM;
		t->names = grown;
		t->names_room = room;
	}
	memcpy(t->names + t->names_len, name, len);
	t->names_len += len;
	t->sorted = false;
	return VEC_PUSH(t->functions, t->nr, t->room, f);
}

/* By address; of several at one the last is the one to tell: highest rank, then a size, then the
 * shorter name. */
static int compare(const void *a, const void *b, void *names)
{
	const struct symtab_function *f = a, *g = b;

	if (f->address != g->address)
		return f->address < g->address ? -1 : 1;
	if (f->rank != g->rank)
		return f->rank - g->rank;
	if (!f->size != !g->size)
		return f->size ? 1 : -1;
	return (int)strlen((char *)names + g->name) - (int)strlen((char *)names + f->name);
}

void symtab_sort(struct symtab *t)
{
	if (t->nr)
		qsort_r(t->functions, t->nr, sizeof(*t->functions), compare, t->names);
	t->sorted = true;
}

const char *symtab_find(const struct symtab *t, uint64_t address)
{
	size_t low = 0, high = t->nr;
	const struct symtab_function *f;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (t->functions[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return NULL;
	f = &t->functions[low - 1];
	if (f->size && address >= f->address + f->size)
		return NULL;
	return t->names + f->name;
}

void symtab_fini(struct symtab *t)
{
	free(t->functions);
	free(t->names);
	*t = (struct symtab){ 0 };
}
