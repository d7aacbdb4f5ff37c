/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/trace_index.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "export/redact.h"
#include "model/tick.h"
#include "util/file.h"
#include "util/hash.h"
#include "util/map.h"
#include "util/vec.h"

/* Maximum size of an index: a larger one is refused. */
#define IMAGE_BYTES_MAX (1ULL << 32)

struct trace_index_maker {
	struct trace_index head;
#define _(name, type) \
	type *name;   \
	size_t nr_##name, name##_room;
	TRACE_INDEX_PARTS(_)
#undef _
	struct map known_texts;   /* hash -> offset */
	struct map known_cgroups; /* id -> index + 1 */
	struct map known_frames;  /* key -> index + 1 */
	const struct redact *redact;
	int err;
};

#define PUSH(m, list, element)                                                             \
	do {                                                                               \
		if (!(m)->err && VEC_PUSH((m)->list, (m)->nr_##list, (m)->list##_room, element)) \
			(m)->err = -ENOMEM;                                                \
	} while (0)

struct trace_index_maker *trace_index_maker(const struct trace_index *head)
{
	struct trace_index_maker *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->head = *head;
	if (m->head.end - m->head.from > TRACE_INDEX_WINDOW_MAX_NS)
		m->head.from = m->head.end - TRACE_INDEX_WINDOW_MAX_NS;
	PUSH(m, texts, '\0');
	return m;
}

void trace_index_redact(struct trace_index_maker *m, const struct redact *r)
{
	m->redact = r;
}

void trace_index_free(struct trace_index_maker *m)
{
	if (!m)
		return;
#define _(name, type) free(m->name);
	TRACE_INDEX_PARTS(_)
#undef _
	map_fini(&m->known_texts);
	map_fini(&m->known_cgroups);
	map_fini(&m->known_frames);
	free(m);
}

static void remember(struct trace_index_maker *m, struct map *map, uint64_t key, uintptr_t value)
{
	if (!m->err && map_put(map, key, (void *)value))
		m->err = -ENOMEM;
}

uint32_t trace_index_text(struct trace_index_maker *m, const char *text)
{
	uint64_t hash = hash_text(0, text);
	uint32_t at = (uintptr_t)map_get(&m->known_texts, hash);

	if (!*text)
		return 0;
	if (at && !strcmp(m->texts + at, text))
		return at;
	at = m->nr_texts;
	for (const char *c = text; !m->err; c++) {
		PUSH(m, texts, *c);
		if (!*c)
			break;
	}
	remember(m, &m->known_texts, hash, at);
	return m->err ? 0 : at;
}

static uint32_t cgroup_of(struct trace_index_maker *m, const struct cgroup *c)
{
	uint32_t at = c ? (uintptr_t)map_get(&m->known_cgroups, c->id) : 0;
	char path[4096];

	if (at || !c)
		return at;
	PUSH(m, cgroups, trace_index_text(m, redact_path(m->redact, c->path, path, sizeof(path))));
	remember(m, &m->known_cgroups, c->id, m->nr_cgroups);
	return m->nr_cgroups;
}

void trace_index_thread(struct trace_index_maker *m, const struct life *l, uint64_t from, uint64_t to, uint32_t state)
{
	struct trace_index_thread t = {
		.tid = l->tid, .tgid = l->tgid, .ppid = l->ppid, .uid = l->uid,
		.start_ns = l->start_ns, .from = from, .to = to,
		.prio = l->priority, .cgroup = cgroup_of(m, l->cgroup), .flags = l->flags, .state = state,
	};
	char hash[REDACT_HASH];

	strncpy(t.comm, redact_comm(m->redact, l, hash), sizeof(t.comm) - 1);
	PUSH(m, threads, t);
}

void trace_index_process(struct trace_index_maker *m, const struct trace_index_process *p, const char *arguments)
{
	struct trace_index_process process = *p;

	process.arguments = m->nr_arguments;
	for (uint32_t i = 0; i < p->len; i++)
		PUSH(m, arguments, arguments[i]);
	PUSH(m, processes, process);
}

int64_t trace_index_has_frame(const struct trace_index_maker *m, uint64_t key)
{
	return (int64_t)(uintptr_t)map_get(&m->known_frames, key) - 1;
}

uint32_t trace_index_frame(struct trace_index_maker *m, uint64_t key, const struct trace_index_frame *f)
{
	PUSH(m, frames, *f);
	remember(m, &m->known_frames, key, m->nr_frames);
	return m->nr_frames - 1;
}

void trace_index_stack(struct trace_index_maker *m, uint32_t id, const uint32_t *frames, uint32_t nr)
{
	struct trace_index_stack s = { .id = id, .first = m->nr_refs, .nr = nr };

	for (uint32_t i = 0; i < nr; i++)
		PUSH(m, refs, frames[i]);
	PUSH(m, stacks, s);
}

void trace_index_cpu(struct trace_index_maker *m, const struct trace_index_cpu *c, const struct event_mark *marks)
{
	struct trace_index_cpu cpu = *c;

	cpu.first = m->nr_marks;
	for (uint32_t i = 0; i < cpu.nr; i++)
		PUSH(m, marks, marks[i]);
	PUSH(m, cpus, cpu);
}

void trace_index_irq(struct trace_index_maker *m, int32_t number, const char *name)
{
	struct trace_index_irq irq = { number, trace_index_text(m, name) };

	PUSH(m, irqs, irq);
}

void trace_index_tick(struct trace_index_maker *m, const struct trace_index_tick *t)
{
	PUSH(m, ticks, *t);
}

void trace_index_number(struct trace_index_maker *m, const char *key, int64_t number)
{
	struct trace_index_attribute a = { .key = trace_index_text(m, key), .number = number };

	PUSH(m, attributes, a);
}

void trace_index_words(struct trace_index_maker *m, const char *key, const char *text)
{
	struct trace_index_attribute a = { .key = trace_index_text(m, key), .text = trace_index_text(m, text) };

	PUSH(m, attributes, a);
}

static int by_life(const void *a, const void *b)
{
	const struct trace_index_thread *x = a, *y = b;

	return cmp_int(x->tid, y->tid) ?: cmp_int(x->start_ns, y->start_ns) ?: cmp_int(x->from, y->from);
}

static int by_id(const void *a, const void *b)
{
	const struct trace_index_stack *x = a, *y = b;

	return cmp_int(x->id, y->id);
}

/* Places a part at @end and advances @end past it, in steps of 8 bytes. */
static struct trace_index_part place(uint64_t *end, size_t nr, size_t size)
{
	struct trace_index_part part = { *end, nr };

	*end += (nr * size + 7) & ~7ULL;
	return part;
}

int trace_index_put(struct trace_index_maker *m)
{
	struct trace_index *h = &m->head;
	uint64_t end = sizeof(*h);
	const struct {
		struct trace_index_part *part;
		const void *from;
		size_t nr, size;
	} parts[] = {
#define _(name, type) { &h->name, m->name, m->nr_##name, sizeof(type) },
		TRACE_INDEX_PARTS(_)
#undef _
	};
	int fd = m->err ? m->err : memfd_create("systop-image", MFD_CLOEXEC), err = 0;

	if (fd < 0)
		return m->err ? m->err : -errno;
	VEC_SORT(m->threads, m->nr_threads, by_life);
	VEC_SORT(m->stacks, m->nr_stacks, by_id);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]) && !err; i++) {
		*parts[i].part = place(&end, parts[i].nr, parts[i].size);
		err = file_write(fd, parts[i].part->at, parts[i].from, parts[i].nr * parts[i].size);
	}
	h->magic = TRACE_INDEX_MAGIC;
	h->bytes = end;
	if (!err)
		err = file_write(fd, 0, h, sizeof(*h));
	if (!err && ftruncate(fd, end))
		err = -errno;
	if (!err)
		return fd;
	close(fd);
	return err;
}

/* --- Reading */

static bool is_inside(const struct trace_index *i, const struct trace_index_part *p, size_t size)
{
	return !(p->at % 8) && p->at <= i->bytes && p->nr <= (i->bytes - p->at) / size;
}

static bool has_parts(const struct trace_index *i)
{
	bool inside = true;

#define _(name, type) inside &= is_inside(i, &i->name, sizeof(type));
	TRACE_INDEX_PARTS(_)
#undef _
	return inside;
}

static bool ends(const char *text, size_t size)
{
	return memchr(text, '\0', size);
}

/* Whether texts are terminated and stacks are inside their part; other offsets are checked where they are used. */
static bool has_sound_parts(const struct trace_index *i)
{
	const struct trace_index_thread *threads = TRACE_INDEX_AT(i, threads, struct trace_index_thread);
	const struct trace_index_stack *stacks = TRACE_INDEX_AT(i, stacks, struct trace_index_stack);
	bool sound = i->texts.nr && !TRACE_INDEX_AT(i, texts, char)[i->texts.nr - 1];

	for (size_t k = 0; sound && k < i->threads.nr; k++)
		sound = ends(threads[k].comm, sizeof(threads[k].comm));
	for (size_t k = 0; sound && k < i->stacks.nr; k++)
		sound = stacks[k].first + (uint64_t)stacks[k].nr <= i->refs.nr;
	return sound;
}

static bool is_sound(const struct trace_index *i)
{
	const struct utsname *u = &i->uname;

	return i->magic == TRACE_INDEX_MAGIC && i->from <= i->end && i->end - i->from <= TRACE_INDEX_WINDOW_MAX_NS &&
	       ends(u->sysname, sizeof(u->sysname)) && ends(u->nodename, sizeof(u->nodename)) &&
	       ends(u->release, sizeof(u->release)) && ends(u->version, sizeof(u->version)) &&
	       ends(u->machine, sizeof(u->machine)) && has_parts(i) && has_sound_parts(i);
}

const struct trace_index *trace_index_open(int fd)
{
	const struct trace_index *i;
	struct stat st;

	if (fstat(fd, &st) || st.st_size < (off_t)sizeof(*i) || (uint64_t)st.st_size > IMAGE_BYTES_MAX)
		return NULL;
	i = mmap(NULL, st.st_size, PROT_READ, MAP_SHARED, fd, 0);
	if (i == MAP_FAILED)
		return NULL;
	if (i->bytes == (uint64_t)st.st_size && is_sound(i))
		return i;
	munmap((void *)i, st.st_size);
	return NULL;
}

void trace_index_close(const struct trace_index *i)
{
	if (i)
		munmap((void *)i, i->bytes);
}

const char *trace_index_string(const struct trace_index *i, uint32_t text)
{
	return text < i->texts.nr ? TRACE_INDEX_AT(i, texts, char) + text : "";
}

const struct trace_index_thread *trace_index_who(const struct trace_index *i, int32_t tid, uint64_t t)
{
	const struct trace_index_thread *all = TRACE_INDEX_AT(i, threads, struct trace_index_thread), *found = NULL;
	size_t low = 0, high = i->threads.nr;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (all[middle].tid < tid)
			low = middle + 1;
		else
			high = middle;
	}
	/* An entry counts before its .from if it is the first of a life, as systop learns of a life only at the refresh that
	 * shows it, or slightly later. */
	for (; low < i->threads.nr && all[low].tid == tid; low++)
		if (!found || (all[low].start_ns <= t && (all[low].start_ns != found->start_ns || all[low].from <= t)))
			found = &all[low];
	return found;
}

static int by_tgid(const void *a, const void *b)
{
	const struct trace_index_process *x = a, *y = b;

	return cmp_int(x->tgid, y->tgid);
}

const struct trace_index_process *trace_index_find_process(const struct trace_index *i, int32_t tgid)
{
	struct trace_index_process key = { .tgid = tgid };

	return bsearch(&key, TRACE_INDEX_AT(i, processes, struct trace_index_process), i->processes.nr, sizeof(key),
		       by_tgid);
}

const struct trace_index_stack *trace_index_find_stack(const struct trace_index *i, uint32_t id)
{
	struct trace_index_stack key = { .id = id };

	return bsearch(&key, TRACE_INDEX_AT(i, stacks, struct trace_index_stack), i->stacks.nr, sizeof(key), by_id);
}
