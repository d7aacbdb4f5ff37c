/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/unwind_tables.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "area.h"
#include "collect/unwind_tables_internal.h"
#include "model/health.h"
#include "util/clock.h"
#include "util/file.h"
#include "util/format.h"
#include "util/hash.h"

/* Tables that no stack has needed for longer than this are dropped first. */
#define COLD_S 5

/* If there are no such tables, others are dropped, at most once in this time: until then further files have no table. */
#define HOT_NS 10000000000ULL

/* Interval at which systop looks for files whose table was dropped or had no room. */
#define ASK_NS 1000000000ULL

/* If all tables are needed, the largest (most of what one file may have) are dropped first, and stay away for this
 * time. */
#define HELD_S 600

/* A round of making room ends when one in EVICT_PART files is gone. */
#define EVICT_PART 8

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
		file_close(&t->chunk_fds[i]);
	}
	for (uint32_t i = 0; t->files; i++) { /* no further: most of the array was never used, and takes no memory */
		t->files -= t->file[i].rules != NULL;
		free(t->file[i].rules);
	}
	space_fini(&t->rows);
	space_fini(&t->pages);
	space_fini(&t->free_rules);
	free(t->known);
	free(t->rule_uses);
	free(t->file);
	free(t);
}

/* --- Room */

/* An update of a map of maps waits until all running programs that cannot sleep have ended. */
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

bool tables_held(const struct unwind_tables *t, uint32_t file)
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

void tables_leave(struct unwind_tables *t, struct unwind_tables_file *f, uint32_t first, uint32_t nr_pages)
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

/* Removes the tables of these files, then their rules; after that no program reads what is reused, except the iterator over
 * blocked threads: the stack that it is walking may be wrong, and it leaves nothing in the cache. */
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
		tables_leave(t, &t->file[files[i]], t->mem.files[files[i]].first, nr_pages[i]);
	t->files -= nr;
	free(nr_pages);
	return true;
}

/* Drops tables of files that may get one again. */
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

bool tables_make_room(struct unwind_tables *t)
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
		file_close(&fd);
		return err;
	}
	t->chunks[at] = memory;
	t->chunk_fds[at] = fd;
	t->nr_chunks++;
	return 0;
}

int64_t tables_take_rows(struct unwind_tables *t, uint32_t nr)
{
	int64_t first = space_take(&t->rows, nr, UNWIND_CHUNK_ROWS);
	int err;

	if (first >= 0)
		return first;
	err = add_chunk(t);
	t->starved = err && err != -ENOSPC;
	if (err)
		return -ENOSPC;
	return space_take(&t->rows, nr, UNWIND_CHUNK_ROWS);
}

int tables_take_rule(struct unwind_tables *t, const struct cfi_rule *rule)
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

		if (!f->met || f->nr || tables_held(t, i))
			continue;
		f->met = 0;
		return i;
	}
	return 0;
}

void unwind_tables_health(const struct unwind_tables *t, struct health *h)
{
	health_add(h, "Maps", "unwind tables", HEALTH_ON,
		   "%u files, %u of %u pages, %u rows in %s, %u of %u rules; %" PRIu64 " evicted", t->files,
		   UNWIND_PAGES - t->pages.left, UNWIND_PAGES, t->nr_chunks * UNWIND_CHUNK_ROWS - t->rows.left,
		   BYTES_TEXT((uint64_t)t->nr_chunks * UNWIND_CHUNK_BYTES),
		   UNWIND_RULES - t->free_rules.left, UNWIND_RULES, t->evicted);
}
