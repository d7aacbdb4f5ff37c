/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/tables.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "area.h"
#include "helper/proto.h"
#include "model/health.h"
#include "util/clock.h"
#include "util/format.h"
#include "util/hash.h"
#include "util/stream.h"

/* More often tables are not thrown away: what is over has none until then. */
#define FLUSH_NS 10000000000ULL

/* So often files are looked for whose table was thrown away. */
#define ASK_NS 1000000000ULL

/* When tables are thrown away those that take most of what one file may have go for so long. */
#define HELD_S 600

#define ROWS_OF_PAGE_MAX (1 << UNWIND_PAGE_SHIFT)

struct tables {
	struct tables_memory mem;
	struct unwind_row *chunks[UNWIND_CHUNKS]; /* mapped */
	int chunk_fds[UNWIND_CHUNKS];
	uint32_t nr_chunks;
	uint64_t rows;       /* handed out, with what is left over at the ends of chunks */
	uint32_t pages, rules, files;
	uint32_t *known;     /* hash of a rule -> its place + 1 */
	struct tables_file {
		uint32_t held_until; /* CLOCK_MONOTONIC s: until then it has no table; 0: it may */
		bool large;
	} *file;                     /* UNWIND_FILES */
	uint64_t flushes;
	uint64_t asked_ns;   /* of the last look for files that are wanted */
	uint64_t flushed_ns; /* CLOCK_MONOTONIC of the last time; 0: none */
};

#define KNOWN_ROOM (4 * UNWIND_RULES)

struct tables *tables_new(const struct tables_memory *mem)
{
	struct tables *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->mem = *mem;
	t->known = calloc(KNOWN_ROOM, sizeof(*t->known));
	t->file = calloc(UNWIND_FILES, sizeof(*t->file));
	if (t->known && t->file)
		return t;
	tables_free(t);
	return NULL;
}

void tables_free(struct tables *t)
{
	if (!t)
		return;
	for (uint32_t i = 0; i < t->nr_chunks; i++) {
		munmap(t->chunks[i], UNWIND_CHUNK_BYTES);
		close(t->chunk_fds[i]);
	}
	free(t->known);
	free(t->file);
	free(t);
}

/* --- Room */

/* An update of a map of maps waits until no program runs that began before. */
static void wait_for_programs(struct tables *t)
{
	uint32_t zero = 0;

	if (t->nr_chunks)
		bpf_map_update_elem(t->mem.chunks_fd, &zero, &t->chunk_fds[0], BPF_ANY);
}

static uint32_t now_s(void)
{
	return clock_ns(CLOCK_MONOTONIC) / 1000000000;
}

static bool is_held(const struct tables *t, uint32_t file)
{
	return t->file[file].held_until > now_s();
}

/* What filled the tables is not let in again for a while: the others have room then. */
static void hold_large(struct tables *t)
{
	for (uint32_t i = 0; i < UNWIND_FILES; i++) {
		if (t->file[i].large)
			t->file[i].held_until = now_s() + HELD_S;
		t->file[i].large = false;
	}
}

static void forget_remembered(const struct tables *t)
{
	for (int cpu = 0; cpu < t->mem.nr_cpus; cpu++)
		if (t->mem.areas[cpu])
			memset(t->mem.areas[cpu]->remembered, 0, sizeof(t->mem.areas[cpu]->remembered));
}

/* No file has a table any more, then no rule is remembered; then nobody reads what is written anew. */
static void flush(struct tables *t)
{
	for (uint32_t i = 0; i < UNWIND_FILES; i++)
		t->mem.files[i] = (struct unwind_file){ .nr = 0 };
	wait_for_programs(t);
	forget_remembered(t);
	wait_for_programs(t);
	memset(t->known, 0, KNOWN_ROOM * sizeof(*t->known));
	t->rows = t->pages = t->rules = t->files = 0;
	hold_large(t);
	t->flushes++;
	t->flushed_ns = clock_ns(CLOCK_MONOTONIC);
}

static int add_chunk(struct tables *t)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);
	uint32_t at = t->nr_chunks;
	void *memory;
	int fd, err;

	if (at == UNWIND_CHUNKS || at == t->mem.max_chunks)
		return -ENOSPC;
	fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "unwind_chunk", 4, UNWIND_CHUNK_BYTES, 1, &opts);
	if (fd < 0)
		return -errno;
	memory = mmap(NULL, UNWIND_CHUNK_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	err = memory == MAP_FAILED || bpf_map_update_elem(t->mem.chunks_fd, &at, &fd, BPF_ANY) ? -errno : 0;
	if (err) {
		if (memory != MAP_FAILED)
			munmap(memory, UNWIND_CHUNK_BYTES);
		close(fd);
		return err;
	}
	t->chunks[at] = memory;
	t->chunk_fds[at] = fd;
	t->nr_chunks++;
	return 0;
}

/* Room for a page's rows, all in one chunk. Returns the first, or -errno. */
static int64_t take_rows(struct tables *t, uint32_t nr)
{
	uint32_t left = UNWIND_CHUNK_ROWS - t->rows % UNWIND_CHUNK_ROWS;
	uint64_t first = t->rows + (nr > left ? left : 0);

	while (first + nr > (uint64_t)t->nr_chunks * UNWIND_CHUNK_ROWS) {
		int err = add_chunk(t);

		if (err)
			return err;
	}
	t->rows = first + nr;
	return first;
}

/* The place of a rule among those of all files, -ENOSPC: no room. */
static int find_rule(struct tables *t, const struct cfi_rule *rule)
{
	uint32_t at = hash_16(rule) % KNOWN_ROOM;

	while (t->known[at] && memcmp(&t->mem.rules[t->known[at] - 1], rule, sizeof(*rule)))
		at = (at + 1) % KNOWN_ROOM;
	if (!t->known[at]) {
		if (t->rules == UNWIND_RULES)
			return -ENOSPC;
		t->mem.rules[t->rules] = *rule;
		t->known[at] = ++t->rules;
	}
	return t->known[at] - 1;
}

/* --- Reading. What the helper wrote is checked: it came out of a foreign file. */

/* Read at once: much more than by stdio itself. */
#define BUFFER_BYTES (1 << 16)

struct input {
	FILE *from;
	char *buffer;
	struct cfi_packed head;
	uint16_t *rules; /* of the file -> of all */
};

static bool read_exactly(struct input *in, void *to, size_t bytes)
{
	return fread(to, 1, bytes, in->from) == bytes;
}

static int read_rules(struct tables *t, struct input *in)
{
	if (!read_exactly(in, &in->head, sizeof(in->head)) || in->head.nr_rules > CFI_RULES_MAX ||
	    in->head.nr_pages > CFI_PAGES_MAX)
		return -EINVAL;
	for (uint32_t i = 0; i < in->head.nr_rules; i++) {
		struct cfi_rule rule;
		int at;

		if (!read_exactly(in, &rule, sizeof(rule)) || rule.kind >= CFI_KINDS)
			return -EINVAL;
		at = find_rule(t, &rule);
		if (at < 0)
			return at;
		in->rules[i] = at;
	}
	return 0;
}

/* No page names the rows until they are right: they may be read to where they stay. */
static int read_page(struct tables *t, struct input *in, const struct cfi_packed_page *head, uint32_t base)
{
	struct unwind_row *rows;
	int64_t first;

	if (head->page >= in->head.nr_pages || !head->nr || head->nr > ROWS_OF_PAGE_MAX)
		return -EINVAL;
	first = take_rows(t, head->nr);
	if (first < 0)
		return first;
	rows = &t->chunks[first / UNWIND_CHUNK_ROWS][first % UNWIND_CHUNK_ROWS];
	if (!read_exactly(in, rows, head->nr * sizeof(*rows)))
		return -EINVAL;
	for (uint32_t i = 0; i < head->nr; i++) {
		if (rows[i].rule >= in->head.nr_rules)
			return -EINVAL;
		rows[i].rule = in->rules[rows[i].rule];
	}
	t->mem.pages[base + head->page] = (struct unwind_page){ first, head->nr };
	return 0;
}

static int read_pages(struct tables *t, struct input *in, uint32_t base)
{
	uint64_t first = t->rows;
	struct cfi_packed_page head;
	int err = 0;

	memset(&t->mem.pages[base], 0, in->head.nr_pages * sizeof(*t->mem.pages));
	while (!err && read_exactly(in, &head, sizeof(head)))
		err = t->rows - first > CFI_ROWS_MAX ? -EINVAL : read_page(t, in, &head, base);
	return err;
}

static int read_table(struct tables *t, struct input *in, uint32_t file)
{
	uint32_t base = t->pages;
	uint64_t rows = t->rows;
	int err = read_rules(t, in);

	if (!err && base + in->head.nr_pages > UNWIND_PAGES)
		err = -ENOSPC;
	if (!err)
		err = read_pages(t, in, base);
	t->file[file].large = in->head.nr_rules > CFI_RULES_MAX / 2 || in->head.nr_pages > CFI_PAGES_MAX / 2 ||
			      t->rows - rows > CFI_ROWS_MAX / 2;
	if (err)
		t->rows = rows;
	if (err || !in->head.nr_pages)
		return err;
	t->pages += in->head.nr_pages;
	t->files++;
	t->mem.files[file].first = base;
	__atomic_store_n(&t->mem.files[file].nr, in->head.nr_pages, __ATOMIC_RELEASE);
	return 0;
}

int tables_read(struct tables *t, uint32_t file, int fd)
{
	struct input in = { .buffer = malloc(BUFFER_BYTES), .rules = malloc(CFI_RULES_MAX * sizeof(*in.rules)) };
	int err = -ENOMEM;

	if (file && file < UNWIND_FILES && is_held(t, file))
		err = -ENOSPC;
	else if (file && file < UNWIND_FILES)
		in.from = stream_of(fd, "r");
	if (in.from && in.buffer && in.rules) {
		setvbuf(in.from, in.buffer, _IOFBF, BUFFER_BYTES);
		err = read_table(t, &in, file);
		if (err == -ENOSPC && !t->files)
			err = -E2BIG;
		else if (err == -ENOSPC && clock_ns(CLOCK_MONOTONIC) - t->flushed_ns > FLUSH_NS)
			flush(t);
	}
	if (in.from)
		fclose(in.from);
	free(in.buffer);
	free(in.rules);
	return err;
}

uint32_t tables_wanted(struct tables *t, uint32_t from)
{
	if (!t->flushed_ns || (!from && clock_ns(CLOCK_MONOTONIC) - t->asked_ns < ASK_NS))
		return 0;
	if (!from)
		t->asked_ns = clock_ns(CLOCK_MONOTONIC);
	for (uint32_t i = from + 1; i < UNWIND_FILES; i++) {
		struct unwind_file *f = &t->mem.files[i];

		if (!f->met || f->nr || is_held(t, i))
			continue;
		f->met = 0;
		return i;
	}
	return 0;
}

void tables_health(const struct tables *t, struct health *h)
{
	char bytes[16];

	format_value(bytes, sizeof(bytes), UNIT_BYTES, (uint64_t)t->nr_chunks * UNWIND_CHUNK_BYTES, 0);
	health_add(h, "Maps", "unwind tables", HEALTH_ON,
		   "%u files, %u of %u pages, %" PRIu64 " rows in %s, %u of %u rules; thrown away %" PRIu64 " times",
		   t->files, t->pages, UNWIND_PAGES, t->rows, bytes, t->rules, UNWIND_RULES, t->flushes);
}
