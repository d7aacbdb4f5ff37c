/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sym/perfmap.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/clock.h"

/* A longer file has only its end read. */
#define BYTES_MAX (256 << 20)

/* With more functions or bytes of names, the older half is forgotten. */
#define FUNCTIONS_MAX 500000
#define NAMES_MAX (32 << 20)

/* A longer line is skipped. */
#define LINE_MAX_BYTES (SYMTAB_NAME_MAX + 64)
#define BLOCK_BYTES (16 * LINE_MAX_BYTES)

static const char *read_hex(const char *at, const char *end, uint64_t *value)
{
	const char *first = at;

	*value = 0;
	if (end - at > 2 && at[0] == '0' && (at[1] | 0x20) == 'x')
		first = at += 2;
	for (; at < end; at++) {
		char c = *at | 0x20;

		if (*at >= '0' && *at <= '9')
			*value = *value << 4 | (*at - '0');
		else if (c >= 'a' && c <= 'f')
			*value = *value << 4 | (c - 'a' + 10);
		else
			break;
	}
	return at > first ? at : NULL;
}

static const char *skip_blanks(const char *at, const char *end)
{
	while (at < end && (*at == ' ' || *at == '\t'))
		at++;
	return at;
}

/* Adds one line, given without its end. Malformed lines are skipped. */
static int add_line(struct symtab *t, const char *at, const char *end)
{
	uint64_t address, size;

	while (end > at && (end[-1] == '\r' || !end[-1]))
		end--;
	at = read_hex(skip_blanks(at, end), end, &address);
	if (at)
		at = read_hex(skip_blanks(at, end), end, &size);
	if (!at || at == end || memchr(at, '\0', end - at))
		return 0;
	at = skip_blanks(at, end);
	return at < end ? symtab_add(t, address, size, at, end - at, 0) : 0;
}

/* Adds all complete lines of a block. Returns the bytes they take, or -errno. */
static ssize_t add_lines(struct perfmap *m, const char *block, size_t bytes)
{
	const char *at = block, *end;

	while ((end = memchr(at, '\n', block + bytes - at))) {
		int err = m->skip ? 0 : add_line(&m->symtab, at, end);

		if (err)
			return err;
		m->skip = false;
		at = end + 1;
	}
	return at - block;
}

static bool is_full(const struct symtab *t)
{
	return t->nr > FUNCTIONS_MAX || t->names_len > NAMES_MAX;
}

static int sort(struct symtab *t)
{
	if (t->nr == t->nr_sorted)
		return 0;
	if (symtab_sort(t))
		return -ENOMEM;
	symtab_keep_newest(t);
	if (is_full(t))
		symtab_forget_oldest(t, t->nr / 2);
	return 0;
}

/* Reads one block. Returns 0, -ENODATA: there is no more, or -errno. */
static int read_block(struct perfmap *m, int fd)
{
	static char block[BLOCK_BYTES];
	ssize_t got = pread(fd, block, sizeof(block), m->at), used;

	if (got <= 0)
		return got ? -errno : -ENODATA;
	used = add_lines(m, block, got);
	if (used < 0)
		return used;
	m->at += used;
	if (is_full(&m->symtab) && sort(&m->symtab))
		return -ENOMEM;
	if (got - used < LINE_MAX_BYTES) /* the start of a line, to be read again */
		return got < (ssize_t)sizeof(block) ? -ENODATA : 0;
	m->at += got - used;
	m->skip = true;
	return 0;
}

/* Reads the last bytes before m->at. Returns whether all of them are there. */
static bool read_last(const struct perfmap *m, int fd, char last[PERFMAP_LAST])
{
	ssize_t bytes = m->at < PERFMAP_LAST ? m->at : PERFMAP_LAST;

	return pread(fd, last, bytes, m->at - bytes) == bytes;
}

static bool is_same(const struct perfmap *m, int fd, const struct stat *st)
{
	char last[PERFMAP_LAST] = { 0 };

	return st->st_dev == m->device && st->st_ino == m->inode && read_last(m, fd, last) && !memcmp(last, m->last, sizeof(last));
}

int perfmap_read(struct perfmap *m, int fd, uint64_t until)
{
	struct stat st;
	int err;

	if (fstat(fd, &st))
		return -errno;
	if (!is_same(m, fd, &st)) {
		symtab_fini(&m->symtab);
		*m = (struct perfmap){ .device = st.st_dev, .inode = st.st_ino };
	}
	if (st.st_size - m->at > BYTES_MAX) {
		m->at = st.st_size - BYTES_MAX;
		m->skip = true;
	}
	do
		err = read_block(m, fd);
	while (!err && (!until || clock_ns(CLOCK_MONOTONIC) < until));
	read_last(m, fd, m->last);
	if (sort(&m->symtab))
		err = -ENOMEM;
	return !err ? -EAGAIN : err == -ENODATA ? 0 : err;
}
