/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/unwind_tables.h"

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
#include "util/space.h"
#include "util/stream.h"

/* Tables that no stack has needed for longer than this are dropped first. */
#define COLD_S 5

/* Otherwise others are dropped, at most once in this time: until then further files have no table. */
#define HOT_NS 10000000000ULL

/* Interval at which systop looks for files whose table was dropped or had no room. */
#define ASK_NS 1000000000ULL

/* If all tables are needed, the largest (most of what one file may have) are dropped first, and stay away for this
 * time. */
#define HELD_S 600

#define ROWS_OF_PAGE_MAX (1 << UNWIND_PAGE_SHIFT)

/* A round of making room ends when one in EVICT_PART files is gone. */
#define EVICT_PART 8

struct unwind_tables {
	struct unwind_tables_memory mem;
	struct unwind_row *chunks[UNWIND_CHUNKS]; /* mapped */
	int chunk_fds[UNWIND_CHUNKS];
	uint32_t nr_chunks;
	struct space rows, pages, free_rules;
	uint32_t *known;     /* hash of a rule -> its index + 1 */
	uint32_t *rule_uses; /* by how many files */
	uint32_t files;      /* with a table */
	struct unwind_tables_file {
		       uint32_t held_until; /* CLOCK_MONOTONIC s: no table until then; 0: it may have one */
		       bool large;
		       uint32_t nr_rules;
		       uint16_t *rules;     /* of the file -> of all; NULL: no table */
	} *file;                     /* UNWIND_FILES */
	uint64_t evicted;
	bool wanting;        /* files may lack a table that they could have */
	uint64_t asked_ns;   /* of the last look for wanted files */
	uint64_t refused_ns; /* CLOCK_MONOTONIC of the last failure to make room; 0: never */
	uint64_t hot_ns;     /* when tables that were needed were last dropped; 0: never */
};

#define KNOWN_ROOM (4 * UNWIND_RULES)

struct unwind_tables *unwind_tables_new(const struct unwind_tables_memory *mem)
{
	struct unwind_tables *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->mem = *mem;
	t->known = calloc(KNOWN_ROOM, sizeof(*t->known));
	t->rule_uses = calloc(UNWIND_RULES, sizeof(*t->rule_uses));
	t->file = calloc(UNWIND_FILES, sizeof(*t->file));
	if (t->known && t->rule_uses && t->file && !space_give(&t->pages, 0, UNWIND_PAGES) &&
	    !space_give(&t->free_rules, 0, UNWIND_RULES))
		return t;
	unwind_tables_free(t);
	return NULL;
}

void unwind_tables_free(struct unwind_tables *t)
{
	if (!t)
		return;
	for (uint32_t i = 0; i < t->nr_chunks; i++) {
		munmap(t->chunks[i], UNWIND_CHUNK_BYTES);
		if (t->chunk_fds[i] >= 0)
			close(t->chunk_fds[i]);
	}
	for (uint32_t i = 0; t->file && i < UNWIND_FILES; i++)
		free(t->file[i].rules);
	space_fini(&t->rows);
	space_fini(&t->pages);
	space_fini(&t->free_rules);
	free(t->known);
	free(t->rule_uses);
	free(t->file);
	free(t);
}

/* --- Room */

/* An update of a map of maps waits until all running programs have ended. */
static void wait_for_programs(struct unwind_tables *t)
{
	uint32_t zero = 0;

	if (t->nr_chunks && t->mem.chunks_fd >= 0)
		bpf_map_update_elem(t->mem.chunks_fd, &zero, &t->chunk_fds[0], BPF_ANY);
}

static uint32_t now_s(void)
{
	return clock_ns(CLOCK_MONOTONIC) / 1000000000;
}

static bool is_held(const struct unwind_tables *t, uint32_t file)
{
	return t->file[file].held_until > now_s();
}

static void forget_remembered(const struct unwind_tables *t)
{
	for (int cpu = 0; cpu < t->mem.nr_cpus; cpu++)
		if (t->mem.areas[cpu])
			memset(t->mem.areas[cpu]->remembered, 0, sizeof(t->mem.areas[cpu]->remembered));
}

/* Ends a file's use of a rule. Later entries of the hash move up to where they belong, so that no search ends at the
 * hole. */
static void leave_rule(struct unwind_tables *t, uint32_t rule)
{
	uint32_t hole, i;

	if (--t->rule_uses[rule])
		return;
	for (hole = hash_16(&t->mem.rules[rule]) % KNOWN_ROOM; t->known[hole] != rule + 1;)
		hole = (hole + 1) % KNOWN_ROOM;
	for (i = (hole + 1) % KNOWN_ROOM; t->known[i]; i = (i + 1) % KNOWN_ROOM) {
		uint32_t home = hash_16(&t->mem.rules[t->known[i] - 1]) % KNOWN_ROOM;

		if ((i - home) % KNOWN_ROOM >= (i - hole) % KNOWN_ROOM) {
			t->known[hole] = t->known[i];
			hole = i;
		}
	}
	t->known[hole] = 0;
	space_give(&t->free_rules, rule, 1);
}

/* Frees the room of a table, of @nr_pages pages from @first on. */
static void leave(struct unwind_tables *t, struct unwind_tables_file *f, uint32_t first, uint32_t nr_pages)
{
	for (uint32_t i = 0; i < nr_pages; i++)
		space_give(&t->rows, t->mem.pages[first + i].first, t->mem.pages[first + i].nr);
	space_give(&t->pages, first, nr_pages);
	for (uint32_t i = 0; i < f->nr_rules; i++)
		leave_rule(t, f->rules[i]);
	free(f->rules);
	f->rules = NULL;
	f->nr_rules = 0;
}

/* Removes the tables of these files, then their rules; after that no program reads what is reused. */
static bool drop(struct unwind_tables *t, const uint32_t *files, uint32_t nr)
{
	uint32_t *nr_pages = calloc(nr, sizeof(*nr_pages));

	if (!nr_pages)
		return false;
	for (uint32_t i = 0; i < nr; i++) {
		nr_pages[i] = t->mem.files[files[i]].nr;
		__atomic_store_n(&t->mem.files[files[i]].nr, 0, __ATOMIC_RELEASE);
	}
	wait_for_programs(t);
	forget_remembered(t);
	wait_for_programs(t);
	for (uint32_t i = 0; i < nr; i++)
		leave(t, &t->file[files[i]], t->mem.files[files[i]].first, nr_pages[i]);
	t->files -= nr;
	free(nr_pages);
	return true;
}

/* They may get a table again. */
static void evict(struct unwind_tables *t, const uint32_t *files, uint32_t nr)
{
	if (!drop(t, files, nr))
		return;
	t->evicted += nr;
	t->wanting = true;
}

/* A file whose table may go. */
struct candidate {
	uint32_t file, used;
};

static int by_use(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	return (x->used > y->used) - (x->used < y->used);
}

/* Files with a table, the least recently used first. @large: only those with large tables. */
static uint32_t find_candidates(const struct unwind_tables *t, struct candidate *c, bool large)
{
	uint32_t nr = 0;

	for (uint32_t i = 1; i < UNWIND_FILES; i++)
		if (t->file[i].rules && (!large || t->file[i].large))
			c[nr++] = (struct candidate){ i, t->mem.files[i].used };
	qsort(c, nr, sizeof(*c), by_use);
	return nr;
}

/* Moves the candidates to be dropped to the front and returns their number. */
static uint32_t choose(struct unwind_tables *t, struct candidate *c)
{
	uint32_t now = *t->mem.seconds, nr = find_candidates(t, c, false), cold = 0, part = nr / EVICT_PART + 1;
	uint64_t clock = clock_ns(CLOCK_MONOTONIC);

	while (cold < nr && cold < part && now - c[cold].used > COLD_S)
		cold++;
	if (cold || !nr)
		return cold;
	if (t->hot_ns && clock - t->hot_ns < HOT_NS)
		return 0;
	t->hot_ns = clock;
	nr = find_candidates(t, c, true);
	for (uint32_t i = 0; i < nr; i++)
		t->file[c[i].file].held_until = now_s() + HELD_S;
	if (nr)
		return nr;
	nr = find_candidates(t, c, false);
	return part < nr ? part : nr;
}

/* Returns whether there is more room than before. */
static bool make_room(struct unwind_tables *t)
{
	struct candidate *c = malloc(UNWIND_FILES * sizeof(*c));
	uint32_t *files = malloc(UNWIND_FILES * sizeof(*files)), nr = 0;

	if (c && files)
		nr = choose(t, c);
	for (uint32_t i = 0; i < nr; i++)
		files[i] = c[i].file;
	if (nr)
		evict(t, files, nr);
	free(c);
	free(files);
	return nr;
}

/* Memory of a chunk, which is a map; without a map of chunks no program reads it, and it is plain memory. */
static void *chunk_memory(const struct unwind_tables *t, int *fd)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);

	*fd = -1;
	if (t->mem.chunks_fd < 0)
		return mmap(NULL, UNWIND_CHUNK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	*fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "unwind_chunk", 4, UNWIND_CHUNK_BYTES, 1, &opts);
	return *fd < 0 ? MAP_FAILED : mmap(NULL, UNWIND_CHUNK_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
}

static int add_chunk(struct unwind_tables *t)
{
	uint32_t at = t->nr_chunks;
	void *memory;
	int fd, err;

	if (at == UNWIND_CHUNKS || at == t->mem.max_chunks)
		return -ENOSPC;
	memory = chunk_memory(t, &fd);
	err = memory == MAP_FAILED || (fd >= 0 && bpf_map_update_elem(t->mem.chunks_fd, &at, &fd, BPF_ANY)) ? -errno : 0;
	if (!err)
		err = space_give(&t->rows, at * UNWIND_CHUNK_ROWS, UNWIND_CHUNK_ROWS);
	if (err) {
		if (memory != MAP_FAILED)
			munmap(memory, UNWIND_CHUNK_BYTES);
		if (fd >= 0)
			close(fd);
		return err;
	}
	t->chunks[at] = memory;
	t->chunk_fds[at] = fd;
	t->nr_chunks++;
	return 0;
}

/* Room for a page's rows, all in one chunk. Returns the first, or -errno. */
static int64_t take_rows(struct unwind_tables *t, uint32_t nr)
{
	int64_t first = space_take(&t->rows, nr, UNWIND_CHUNK_ROWS);
	int err;

	if (first >= 0)
		return first;
	err = add_chunk(t);
	return err ? err : space_take(&t->rows, nr, UNWIND_CHUNK_ROWS);
}

/* Index of a rule among those of all files, -ENOSPC: no room. */
static int take_rule(struct unwind_tables *t, const struct cfi_rule *rule)
{
	uint32_t at = hash_16(rule) % KNOWN_ROOM;
	int64_t place;

	while (t->known[at] && memcmp(&t->mem.rules[t->known[at] - 1], rule, sizeof(*rule)))
		at = (at + 1) % KNOWN_ROOM;
	if (!t->known[at]) {
		place = space_take(&t->free_rules, 1, UNWIND_RULES);
		if (place < 0)
			return place;
		t->mem.rules[place] = *rule;
		t->known[at] = place + 1;
	}
	t->rule_uses[t->known[at] - 1]++;
	return t->known[at] - 1;
}

/* --- Reading. The output of the helper is checked: it derives from a foreign file. */

/* Bytes per read: much more than stdio's default. */
#define BUFFER_BYTES (1 << 16)

struct input {
	FILE *from;
	char *buffer;
	struct cfi_packed head;
	struct unwind_tables_file *file;
	uint64_t rows;
};

static bool read_exactly(struct input *in, void *to, size_t bytes)
{
	return fread(to, 1, bytes, in->from) == bytes;
}

static int read_rules(struct unwind_tables *t, struct input *in)
{
	if (!read_exactly(in, &in->head, sizeof(in->head)) || in->head.nr_rules > CFI_RULES_MAX ||
	    in->head.nr_pages > CFI_PAGES_MAX)
		return -EINVAL;
	for (uint32_t i = 0; i < in->head.nr_rules; i++) {
		struct cfi_rule rule;
		int at;

		if (!read_exactly(in, &rule, sizeof(rule)) || rule.kind >= CFI_KINDS)
			return -EINVAL;
		at = take_rule(t, &rule);
		if (at < 0)
			return at;
		in->file->rules[in->file->nr_rules++] = at;
	}
	return 0;
}

/* No file refers to the page until its rows are valid: they may be read in place. */
static int read_page(struct unwind_tables *t, struct input *in, const struct cfi_packed_page *head, uint32_t base)
{
	struct unwind_row *rows;
	int64_t first;

	if (head->page >= in->head.nr_pages || !head->nr || head->nr > ROWS_OF_PAGE_MAX ||
	    t->mem.pages[base + head->page].nr)
		return -EINVAL;
	first = take_rows(t, head->nr);
	if (first < 0)
		return first;
	t->mem.pages[base + head->page] = (struct unwind_page){ first, head->nr };
	in->rows += head->nr;
	rows = &t->chunks[first / UNWIND_CHUNK_ROWS][first % UNWIND_CHUNK_ROWS];
	if (!read_exactly(in, rows, head->nr * sizeof(*rows)))
		return -EINVAL;
	for (uint32_t i = 0; i < head->nr; i++) {
		if (rows[i].rule >= in->head.nr_rules)
			return -EINVAL;
		rows[i].rule = in->file->rules[rows[i].rule];
	}
	return 0;
}

static int read_pages(struct unwind_tables *t, struct input *in, uint32_t base)
{
	struct cfi_packed_page head;
	int err = 0;

	memset(&t->mem.pages[base], 0, in->head.nr_pages * sizeof(*t->mem.pages));
	while (!err && read_exactly(in, &head, sizeof(head)))
		err = in->rows > CFI_ROWS_MAX ? -EINVAL : read_page(t, in, &head, base);
	return err;
}

static int read_table(struct unwind_tables *t, struct input *in, uint32_t file)
{
	int err = read_rules(t, in);
	int64_t base = err ? err : !in->head.nr_pages ? 0 : space_take(&t->pages, in->head.nr_pages, UNWIND_PAGES);

	if (base >= 0)
		err = read_pages(t, in, base);
	else
		err = base;
	in->file->large = in->head.nr_rules > CFI_RULES_MAX / 2 || in->head.nr_pages > CFI_PAGES_MAX / 2 ||
			  in->rows > CFI_ROWS_MAX / 2;
	if (err || !in->head.nr_pages) {
		leave(t, in->file, base, base < 0 ? 0 : in->head.nr_pages);
		return err;
	}
	t->files++;
	t->mem.files[file].first = base;
	__atomic_store_n(&t->mem.files[file].nr, in->head.nr_pages, __ATOMIC_RELEASE);
	return 0;
}

/* Starts from the beginning: if there was not enough room before, all of it was given back. */
static int try_read(struct unwind_tables *t, uint32_t file, int fd, char *buffer)
{
	struct input in = { .from = stream_of(fd, "r"), .buffer = buffer, .file = &t->file[file] };
	int err = -ENOMEM;

	in.file->rules = in.from ? malloc(CFI_RULES_MAX * sizeof(*in.file->rules)) : NULL;
	if (in.file->rules) {
		setvbuf(in.from, in.buffer, _IOFBF, BUFFER_BYTES);
		err = read_table(t, &in, file);
	}
	if (in.file->rules && in.file->nr_rules) { /* the unused part of the maximum */
		uint16_t *less = realloc(in.file->rules, in.file->nr_rules * sizeof(*less));

		in.file->rules = less ? less : in.file->rules;
	}
	if (in.from)
		fclose(in.from);
	return err;
}

int unwind_tables_read(struct unwind_tables *t, uint32_t file, int fd)
{
	char *buffer;
	int err;

	if (!file || file >= UNWIND_FILES)
		return -EINVAL;
	if (is_held(t, file))
		return -ENOSPC;
	if (t->file[file].rules)
		return 0;
	buffer = malloc(BUFFER_BYTES);
	err = buffer ? try_read(t, file, fd, buffer) : -ENOMEM;
	while (err == -ENOSPC && t->files && make_room(t))
		err = try_read(t, file, fd, buffer);
	free(buffer);
	if (err == -ENOSPC && !t->files)
		return -E2BIG;
	if (err == -ENOSPC) {
		t->refused_ns = clock_ns(CLOCK_MONOTONIC);
		t->wanting = true;
	}
	return err;
}

bool unwind_tables_forget(struct unwind_tables *t, const uint32_t *files, size_t nr)
{
	uint32_t *with = malloc(nr * sizeof(*with)), nr_with = 0;
	bool done;

	for (size_t i = 0; with && i < nr; i++)
		if (files[i] < UNWIND_FILES && t->file[files[i]].rules)
			with[nr_with++] = files[i];
	done = with && (!nr_with || drop(t, with, nr_with));
	for (size_t i = 0; done && i < nr; i++)
		if (files[i] < UNWIND_FILES)
			t->file[files[i]] = (struct unwind_tables_file){ 0 };
	free(with);
	return done;
}

uint32_t unwind_tables_wanted(struct unwind_tables *t, uint32_t from)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	if (!t->wanting || (!from && now - t->asked_ns < ASK_NS) || (t->refused_ns && now - t->refused_ns < HOT_NS))
		return 0;
	if (!from)
		t->asked_ns = now;
	for (uint32_t i = from + 1; i < UNWIND_FILES; i++) {
		struct unwind_file *f = &t->mem.files[i];

		if (!f->met || f->nr || is_held(t, i))
			continue;
		f->met = 0;
		return i;
	}
	return 0;
}

void unwind_tables_health(const struct unwind_tables *t, struct health *h)
{
	char bytes[16];

	format_value(bytes, sizeof(bytes), UNIT_BYTES, (uint64_t)t->nr_chunks * UNWIND_CHUNK_BYTES, 0);
	health_add(h, "Maps", "unwind tables", HEALTH_ON,
		   "%u files, %u of %u pages, %u rows in %s, %u of %u rules; %" PRIu64 " evicted", t->files,
		   UNWIND_PAGES - t->pages.left, UNWIND_PAGES, t->nr_chunks * UNWIND_CHUNK_ROWS - t->rows.left, bytes,
		   UNWIND_RULES - t->free_rules.left, UNWIND_RULES, t->evicted);
}
