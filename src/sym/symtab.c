/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sym/symtab.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/vec.h"

/* Larger functions extend to the next one. */
#define SIZE_LIMIT (1U << 25)

#define NAME_LIMIT (1ULL << 36)

/* A look-up compares at most this many functions: a file may have any number at one address. */
#define COMPARED_MAX 64

/* --- Filling */

int symtab_reserve(struct symtab *t, size_t nr)
{
	struct symtab_function *grown;

	if (t->nr + nr > SYMTAB_MAX)
		nr = SYMTAB_MAX - t->nr;
	if (t->nr + nr <= t->room)
		return 0;
	grown = reallocarray(t->functions, t->nr + nr, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	t->functions = grown;
	t->room = t->nr + nr;
	return 0;
}

int symtab_add_at(struct symtab *t, uint64_t address, uint64_t size, uint64_t name, bool in_file, uint8_t rank)
{
	struct symtab_function f = {
		.address = address,
		.name = name,
		.in_file = in_file,
		.rank = rank,
		.size = size < SIZE_LIMIT ? size : 0,
	};

	if (t->nr == SYMTAB_MAX || name >= NAME_LIMIT)
		return -E2BIG;
	t->in_file |= in_file;
	return VEC_PUSH(t->functions, t->nr, t->room, f);
}

char *symtab_add_names(struct symtab *t, size_t bytes, uint64_t *at)
{
	*at = t->names_len;
	if (t->names_len + bytes > t->names_room) {
		size_t room = t->names_room ? t->names_room * 2 : bytes;
		char *grown;

		while (room < t->names_len + bytes)
			room *= 2;
		grown = realloc(t->names, room);
		if (!grown)
			return NULL;
		t->names = grown;
		t->names_room = room;
	}
	t->names_len += bytes;
	return t->names + *at;
}

int symtab_add(struct symtab *t, uint64_t address, uint64_t size, const char *name, size_t len, uint8_t rank)
{
	uint64_t at;
	char *to = symtab_add_names(t, len + 1, &at);

	if (!to)
		return -ENOMEM;
	memcpy(to, name, len);
	to[len] = '\0';
	return symtab_add_at(t, address, size, at, false, rank);
}

/* --- Sorting: radix sort, SORT_BITS bits of the address at a time, the lowest first. Functions with one address
 * keep the order in which they were added. */

#define SORT_BITS 11
#define SORT_DIGITS (1 << SORT_BITS)

static size_t digit(uint64_t address, int shift)
{
	return address >> shift & (SORT_DIGITS - 1);
}

static void sort_by_digit(const struct symtab_function *from, struct symtab_function *to, size_t nr, int shift)
{
	size_t first[SORT_DIGITS] = { 0 }, at = 0;

	for (size_t i = 0; i < nr; i++)
		first[digit(from[i].address, shift)]++;
	for (size_t i = 0; i < SORT_DIGITS; i++) {
		size_t count = first[i];

		first[i] = at;
		at += count;
	}
	for (size_t i = 0; i < nr; i++)
		to[first[digit(from[i].address, shift)]++] = from[i];
}

/* Sorts the added functions @from, with as much room in @to. Returns where the result is. */
static struct symtab_function *sort_added(struct symtab_function *from, struct symtab_function *to, size_t nr)
{
	uint64_t differing = 0;
	bool unsorted = false;

	for (size_t i = 1; i < nr; i++) {
		differing |= from[i].address ^ from[0].address;
		unsorted |= from[i].address < from[i - 1].address;
	}
	for (int shift = 0; unsorted && shift < 64; shift += SORT_BITS) {
		struct symtab_function *swap = from;

		if (!digit(differing, shift))
			continue;
		sort_by_digit(from, to, nr, shift);
		from = to;
		to = swap;
	}
	return from;
}

/* Merges @added, a sorted copy of the table's last functions, into the sorted ones before them, from the end on. */
static void merge(struct symtab *t, const struct symtab_function *added)
{
	size_t old = t->nr_sorted, new = t->nr - t->nr_sorted;

	for (size_t i = t->nr; new; i--)
		t->functions[i - 1] = old && t->functions[old - 1].address > added[new - 1].address
					      ? t->functions[--old]
					      : added[--new];
}

int symtab_sort(struct symtab *t)
{
	size_t nr = t->nr - t->nr_sorted;
	struct symtab_function *added, *spare, *sorted;

	if (!nr)
		return 0;
	added = t->functions + t->nr_sorted;
	spare = reallocarray(NULL, nr, sizeof(*spare));
	if (!spare)
		return -ENOMEM;
	sorted = sort_added(added, spare, nr);
	if (sorted == added && t->nr_sorted)
		memcpy(spare, added, nr * sizeof(*spare));
	if (sorted != added || t->nr_sorted)
		merge(t, spare);
	free(spare);
	t->nr_sorted = t->nr;
	return 0;
}

void symtab_trim(struct symtab *t)
{
	struct symtab_function *functions = t->nr ? reallocarray(t->functions, t->nr, sizeof(*functions)) : NULL;

	if (!functions)
		return;
	t->functions = functions;
	t->room = t->nr;
}

static bool overlaps(const struct symtab_function *f, const struct symtab_function *next)
{
	return next->address - f->address < f->size || next->address == f->address;
}

/* Names are in the order in which they were added. */
void symtab_keep_newest(struct symtab *t)
{
	size_t kept = 0;

	for (size_t i = 0; i < t->nr; i++) {
		const struct symtab_function f = t->functions[i], *last = kept ? &t->functions[kept - 1] : NULL;

		if (last && overlaps(last, &f)) {
			if (last->name > f.name)
				continue;
			kept--;
		}
		t->functions[kept++] = f;
	}
	t->nr = t->nr_sorted = kept;
}

void symtab_forget_oldest(struct symtab *t, size_t nr)
{
	size_t kept = 0, from = t->names_len;

	if (t->nr <= nr)
		return;
	/* Names are in the order in which they were added, and are taken to have similar lengths. */
	from -= from / t->nr * nr;
	while (from < t->names_len && from && t->names[from - 1])
		from++;
	for (size_t i = 0; i < t->nr; i++) {
		struct symtab_function f = t->functions[i];

		if (f.name < from)
			continue;
		f.name -= from;
		t->functions[kept++] = f;
	}
	memmove(t->names, t->names + from, t->names_len - from);
	t->names_len -= from;
	t->nr = t->nr_sorted = kept;
}

/* --- Looking up */

/* Copies the name to @buf and returns its length; 0: there is none, or it is too long. */
static size_t read_name(const struct symtab *t, const struct symtab_function *f, char *buf)
{
	size_t room = SYMTAB_NAME_MAX, len;
	ssize_t got;

	if (f->in_file) {
		got = pread(t->fd, buf, room, f->name);
		room = got > 0 ? got : 0;
		len = strnlen(buf, room);
	} else {
		if (room > t->names_len - f->name)
			room = t->names_len - f->name;
		len = strnlen(t->names + f->name, room);
		memcpy(buf, t->names + f->name, len);
	}
	if (len == room || !len)
		return 0;
	for (size_t i = 1; t->versions && i < len; i++)
		if (buf[i] == '@')
			len = i;
	buf[len] = '\0';
	return len;
}

static int compare(const struct symtab_function *f, const struct symtab_function *g)
{
	return f->rank != g->rank ? f->rank - g->rank : !!f->size - !!g->size;
}

/* Sets @buf to the shortest name among those as good as @best, from @first to @last. Returns whether there is one. */
static bool shortest(const struct symtab *t, const struct symtab_function *first,
		     const struct symtab_function *last, const struct symtab_function *best, char *buf)
{
	char name[SYMTAB_NAME_MAX];
	size_t shortest = 0;

	for (const struct symtab_function *f = first; f <= last; f++) {
		size_t len = compare(f, best) ? 0 : read_name(t, f, name);

		if (!len || (shortest && shortest <= len))
			continue;
		shortest = len;
		memcpy(buf, name, len + 1);
	}
	return shortest;
}

static bool holds(const struct symtab_function *f, uint64_t address, uint64_t from)
{
	return f->size ? address - f->address < f->size : f->address >= from;
}

/* A function can contain a smaller one, as read() contains __read_nocancel(): code after the smaller one belongs to the larger
 * one. */
const char *symtab_find(const struct symtab *t, uint64_t address, uint64_t from, char *buf)
{
	const struct symtab_function *first, *stop;
	size_t low = 0, high = t->nr_sorted;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (t->functions[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return NULL;
	first = t->functions + low;
	stop = low > COMPARED_MAX ? first - COMPARED_MAX : t->functions;
	while (first > stop) {
		const struct symtab_function *last = --first, *best = last;

		while (first > stop && first[-1].address == last->address) {
			first--;
			if (compare(first, best) > 0)
				best = first;
		}
		if (holds(best, address, from))
			return shortest(t, first, last, best, buf) ? buf : NULL;
		from = address; /* one without a size ends where the next one begins */
	}
	return NULL;
}

size_t symtab_bytes(const struct symtab *t)
{
	return t->room * sizeof(*t->functions) + t->names_room;
}

void symtab_fini(struct symtab *t)
{
	free(t->functions);
	free(t->names);
	*t = (struct symtab){ 0 };
}
