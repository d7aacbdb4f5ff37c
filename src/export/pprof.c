/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stacks as a pprof profile: samples of all refreshes with all weights, and threads as labels. Each file with code has
 * one mapping, whose addresses are those of the file's own address space, regardless of the process: pprof can then
 * resolve functions without a name from the file, or from its debug file, whose segments may be elsewhere.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "export/exporter.h"
#include "export/pprof_internal.h"
#include "export/redact.h"
#include "model/sample.h"
#include "model/tick.h"
#include "query/source.h"
#include "query/stack_walk.h"
#include "util/file.h"
#include "util/hash.h"
#include "util/map.h"

/* Both stacks and the marks between them. */
#define FRAMES_MAX (STACK_USER_MAX + STACK_KERNEL_MAX + 8)

/* Maximum number of samples, of threads and of locations: 262,144 samples with 40 frames and 20 columns take 150 MB. All that
 * exceeds it becomes one sample. */
#define ITEMS_MAX (1 << 18)

/* --- Labels of a sample */

static void set_label(struct pprof *p, PB(Label) *l, const char *key, int64_t text, int64_t number)
{
	l->key = pprof_string(p, key);
	l->str = text;
	l->num = number;
}

static uint64_t thread_key(const struct life *l)
{
	uint64_t key = hash_text(hash_text(hash_text(0, l->comm), l->process->comm), l->cgroup->path);

	return hash_add(hash_add(hash_add(key_of(ITEM_THREAD, key), l->tid), l->tgid), l->start_ns);
}

static void thread_new(struct pprof *p, const struct life *l)
{
	struct thread *t = NEW_ITEM(p, threads, nr_threads, threads_room, sizeof(*t));
	char hash[REDACT_HASH], path[4096];
	const size_t room = sizeof(l->comm);
	const char *cgroup = redact_path(p->redact, l->cgroup->path, path, sizeof(path));

	if (!t)
		return;
	for (int i = 0; i < NR_LABELS; i++) {
		t->labels[i] = (PB(Label))PB_INIT(LABEL);
		t->list[i] = &t->labels[i];
	}
	set_label(p, &t->labels[0], "thread", pprof_safe_string(p, redact_comm(p->redact, l, hash), room), 0);
	set_label(p, &t->labels[1], "tid", 0, l->tid);
	set_label(p, &t->labels[2], "process",
		  pprof_safe_string(p, redact_process(p->redact, l->process, hash), room), 0);
	set_label(p, &t->labels[3], "pid", 0, l->tgid);
	set_label(p, &t->labels[4], "cgroup", pprof_safe_string(p, cgroup, strlen(cgroup)), 0);
	remember(p, &p->indexes, thread_key(l), p->nr_threads - 1);
}

#define NO_ROOM SIZE_MAX

/* Index of the thread, or NO_ROOM. */
static size_t thread_of(struct pprof *p, const struct life *l)
{
	int64_t index = known(&p->in_refresh, (uintptr_t)l);

	if (index >= 0)
		return index;
	index = known(&p->indexes, thread_key(l));
	if (index < 0 && p->nr_threads >= ITEMS_MAX)
		return NO_ROOM;
	if (index < 0) {
		thread_new(p, l);
		index = p->nr_threads - 1;
	}
	remember(p, &p->in_refresh, (uintptr_t)l, index);
	return index;
}

/* --- Samples */

/* Collects locations, innermost first. Returns their number, or NO_ROOM. */
static size_t locations_of(struct pprof *p, const struct stack_sample *s, uint64_t ids[FRAMES_MAX])
{
	struct stack_walk w;
	size_t nr = 0;

	stack_walk(&w, p->source, s, WALK_INNERMOST | WALK_MARKS);
	while (nr < FRAMES_MAX && stack_walk_next(&w)) {
		ids[nr] = pprof_location(p, &w);
		if (!ids[nr++])
			return NO_ROOM;
	}
	return nr;
}

/* @thread: NULL: of no thread. */
static struct sample *sample_new(struct pprof *p, uint64_t key, const uint64_t *ids, size_t nr, struct thread *thread)
{
	struct sample *s = NEW_ITEM(p, samples, nr_samples, samples_room, sizeof(*s) + (nr + p->nr_columns) * sizeof(s->data[0]));

	if (!s)
		return NULL;
	memcpy(s->data, ids, nr * sizeof(ids[0]));
	s->pb = (PB(Sample))PB_INIT(SAMPLE);
	s->pb.location_id = s->data;
	s->pb.n_location_id = nr;
	s->pb.value = (int64_t *)(s->data + nr);
	s->pb.n_value = p->nr_columns;
	s->pb.label = thread ? thread->list : NULL;
	s->pb.n_label = thread ? NR_LABELS : 0;
	remember(p, &p->indexes, key, p->nr_samples - 1);
	return s;
}

/* The profile keeps the weight of what it has no room for. */
static struct sample *sample_without_room(struct pprof *p)
{
	uint64_t key = key_of(ITEM_SAMPLE_WITHOUT_ROOM, 0), id;
	int64_t index = known(&p->indexes, key);

	if (index >= 0)
		return p->samples[index];
	p->locations_max++; /* the sample's own */
	id = pprof_location_by_name(p, "[profile full]", NULL);
	return p->err ? NULL : sample_new(p, key, &id, 1, NULL);
}

static struct sample *sample_of(struct pprof *p, const struct stack_sample *s)
{
	uint64_t ids[FRAMES_MAX], key;
	size_t nr, thread;
	int64_t index;

	nr = locations_of(p, s, ids);
	thread = nr == NO_ROOM ? NO_ROOM : thread_of(p, s->life);
	if (p->err)
		return NULL;
	if (thread == NO_ROOM)
		return sample_without_room(p);
	key = key_of(ITEM_SAMPLE, thread);
	for (size_t i = 0; i < nr; i++)
		key = hash_add(key, ids[i]);
	index = known(&p->indexes, key);
	if (index >= 0)
		return p->samples[index];
	return p->nr_samples < ITEMS_MAX ? sample_new(p, key, ids, nr, p->threads[thread]) : sample_without_room(p);
}

static int add_sample(void *arg, const struct stack_sample *s)
{
	struct pprof *p = arg;
	struct sample *to;

	if (!s->weight && !s->count)
		return 0;
	to = sample_of(p, s);
	for (int i = 0; i < p->nr_columns && to; i++)
		if (metric_weighs(p->columns[i].metric, s->metric))
			to->pb.value[i] += p->columns[i].samples ? s->count : s->weight;
	return p->err;
}

static int tick(struct export *e, FILE *to, const struct tick *t)
{
	struct pprof *p = e->state;

	(void)to;
	if (!p->duration_ns)
		p->from_ns = t->wall.tv_sec * 1000000000ULL + t->wall.tv_nsec - t->interval_ns;
	p->duration_ns += t->interval_ns;
	tick_samples(t, 1, add_sample, p);
	map_fini(&p->in_refresh);
	return p->err;
}

static int samples(struct export *e, const struct sample_set *set)
{
	struct pprof *p = e->state;

	p->from_ns = set->from_ns;
	p->duration_ns = set->duration_ns;
	p->default_type = pprof_string(p, metrics[set->metric].weight.name);
	if (!p->err)
		set->each(set->arg, add_sample, p);
	map_fini(&p->in_refresh);
	return p->err;
}

/* --- The file */

static const char *unit_name(enum unit unit)
{
	return unit == UNIT_NS ? "nanoseconds" : unit == UNIT_BYTES ? "bytes" : "count";
}

static void add_column(struct pprof *p, enum metric_id m, bool of_samples, const char *name)
{
	struct column *c = &p->columns[p->nr_columns++];

	*c = (struct column){ .metric = m, .samples = of_samples, .pb = PB_INIT(VALUE_TYPE) };
	c->pb.type = pprof_string(p, name);
	c->pb.unit = pprof_string(p, of_samples ? "count" : unit_name(metrics[m].unit));
}

static int begin(struct export *e)
{
	struct pprof *p = calloc(1, sizeof(*p));
	enum metric_id m;
	char name[64];

	if (!p)
		return -ENOMEM;
	e->state = p;
	p->source = e->source;
	p->redact = e->redact;
	p->locations_max = ITEMS_MAX;
	pprof_string(p, ""); /* the format requires it to be first */
	for (int place = 0; (m = metric_weight(place)) != METRIC_NONE; place++) {
		add_column(p, m, false, metrics[m].weight.name);
		snprintf(name, sizeof(name), "%s_samples", metrics[m].weight.name);
		if (metrics[m].weight.sampled)
			add_column(p, m, true, name);
	}
	p->default_type = p->columns[0].pb.type;
	return p->err;
}

/* Marks mappings in which names are missing, so that pprof looks for them. */
static void mark_nameless(struct pprof *p)
{
	for (size_t i = 0; i < p->nr_locations; i++)
		if (!p->locations[i]->named && p->locations[i]->pb.mapping_id)
			p->mappings[p->locations[i]->pb.mapping_id - 1]->has_functions = false;
}

/* pprof names a profile after its first mapping: better a program than the kernel or a library. */
static void program_first(struct pprof *p)
{
	for (size_t i = 0; i < p->nr_mappings; i++) {
		const char *name = p->strings[p->mappings[i]->filename], *so = strstr(basename(name), ".so");
		PB(Mapping) *first = p->mappings[0];

		if (*name == '[' || (so && (!so[3] || so[3] == '.')))
			continue;
		p->mappings[0] = p->mappings[i];
		p->mappings[i] = first;
		return;
	}
}

static int compress_to(FILE *to, const uint8_t *bytes, size_t size)
{
	z_stream z = { .next_in = (uint8_t *)bytes, .avail_in = size };
	uint8_t out[1 << 15];
	int done = Z_OK;

	if (size > UINT32_MAX)
		return -EFBIG;
	if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + 16 /* gzip */, 8, Z_DEFAULT_STRATEGY) != Z_OK)
		return -ENOMEM;
	while (done == Z_OK) {
		z.next_out = out;
		z.avail_out = sizeof(out);
		done = deflate(&z, Z_FINISH);
		fwrite(out, 1, sizeof(out) - z.avail_out, to);
	}
	deflateEnd(&z);
	return done != Z_STREAM_END ? -EIO : file_flush(to);
}

/* Passes the lists of items as lists of messages, as each item begins with its message. */
static int write_profile(struct pprof *p, FILE *to)
{
	PB(Profile) profile = PB_INIT(PROFILE);
	PB(ValueType) *types[COLUMNS_MAX];
	uint8_t *bytes;
	size_t size;
	int err;

	for (int i = 0; i < p->nr_columns; i++)
		types[i] = &p->columns[i].pb;
	mark_nameless(p);
	program_first(p);
	profile.sample_type = types;
	profile.n_sample_type = p->nr_columns;
	profile.sample = (PB(Sample) **)p->samples;
	profile.n_sample = p->nr_samples;
	profile.mapping = p->mappings;
	profile.n_mapping = p->nr_mappings;
	profile.location = (PB(Location) **)p->locations;
	profile.n_location = p->nr_locations;
	profile.function = p->functions;
	profile.n_function = p->nr_functions;
	profile.string_table = p->strings;
	profile.n_string_table = p->nr_strings;
	profile.time_nanos = p->from_ns;
	profile.duration_nanos = p->duration_ns;
	profile.default_sample_type = p->default_type;
	size = protobuf_c_message_get_packed_size(&profile.base);
	bytes = malloc(size + 1);
	if (!bytes)
		return -ENOMEM;
	protobuf_c_message_pack(&profile.base, bytes);
	err = compress_to(to, bytes, size);
	free(bytes);
	return err;
}

#define FREE_ITEMS(list, nr)                      \
	do {                                      \
		for (size_t i = 0; i < (nr); i++) \
			free((list)[i]);          \
		free(list);                       \
	} while (0)

static int end(struct export *e, FILE *to)
{
	struct pprof *p = e->state;
	int err = to ? write_profile(p, to) : 0;

	FREE_ITEMS(p->strings, p->nr_strings);
	FREE_ITEMS(p->mappings, p->nr_mappings);
	FREE_ITEMS(p->functions, p->nr_functions);
	FREE_ITEMS(p->locations, p->nr_locations);
	FREE_ITEMS(p->samples, p->nr_samples);
	FREE_ITEMS(p->threads, p->nr_threads);
	map_fini(&p->indexes);
	map_fini(&p->in_refresh);
	free(p);
	e->state = NULL;
	return err;
}

const struct exporter export_pprof = {
	.name = "pprof",
	.operand = "FILE",
	.help = "write the stacks of all intervals with all weights to FILE as a profile for pprof, until -n or Ctrl-C; - is stdout",
	.needs = EXPORT_TICKS | EXPORT_SAMPLES | EXPORT_REST,
	.begin = begin,
	.tick = tick,
	.samples = samples,
	.end = end,
	.suffix = "pprof.gz",
};
