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
#include "export/redact.h"
#include "model/sample.h"
#include "model/tick.h"
#include "pprof.pb-c.h"
#include "query/source.h"
#include "query/stack_walk.h"
#include "sym/names.h"
#include "util/hash.h"
#include "util/map.h"
#include "util/text.h"
#include "util/vec.h"

#define PB(message) Perftools__Profiles__##message
#define PB_INIT(message) PERFTOOLS__PROFILES__##message##__INIT

/* Both stacks and the marks between them. */
#define FRAMES_MAX (STACK_USER_MAX + STACK_KERNEL_MAX + 8)

/* A column per metric, and another one per metric for its samples. */
#define COLUMNS_MAX (2 * (METRIC_COUNT + 1))

#define NR_LABELS 5

/* Samples, threads and locations: 262,144 samples with 40 frames and 20 columns take 150 MB. The rest is one sample. */
#define ITEMS_MAX (1 << 18)

/* A thread with its packed labels. */
struct thread {
	PB(Label) labels[NR_LABELS], *list[NR_LABELS];
};

/* Output types that embed their message, so that it is packed directly. */
struct location {
	PB(Location) pb;
	PB(Line) line, *list;
	bool named;                /* by a symbol */
};

struct sample {
	PB(Sample) pb;
	uint64_t data[];           /* locations, then the columns' values, which are signed */
};

enum item {
	ITEM_STRING,
	ITEM_MAPPING,
	ITEM_FUNCTION,
	ITEM_LOCATION,
	ITEM_LOCATION_BY_NAME,
	ITEM_SAMPLE,
	ITEM_SAMPLE_WITHOUT_ROOM,
	ITEM_THREAD,
	ITEM_FRAME,
};

struct pprof {
	const struct source *source;
	const struct redact *redact;
	struct column {
		enum metric_id metric;
		bool samples;              /* it counts samples */
		PB(ValueType) pb;
	} columns[COLUMNS_MAX];
	int nr_columns;
	int64_t default_type;
	uint64_t from_ns, duration_ns;
	char **strings;
	size_t nr_strings, strings_room;
	PB(Mapping) **mappings;
	size_t nr_mappings, mappings_room;
	PB(Function) **functions;
	size_t nr_functions, functions_room;
	struct location **locations;
	size_t nr_locations, locations_room;
	struct sample **samples;
	size_t nr_samples, samples_room;
	struct thread **threads;
	size_t nr_threads, threads_room;
	struct map places;         /* hash of an item and its type, enum item -> index + 1 in its list */
	struct map in_refresh;     /* the same for frames and threads, which are valid in one refresh only */
	int err;
};

/* --- Lists */

/* Keys of different kinds have nothing in common, however small the numbers are that follow. */
static uint64_t key_of(enum item kind, uint64_t what)
{
	return hash_add(hash_add(0, kind), what);
}

/* Appends a zeroed item; NULL: no memory. */
#define NEW_ITEM(p, list, nr, room, bytes)                                                                            \
	({                                                                                                             \
		void *item_ = (p)->err ? NULL : calloc(1, bytes);                                                      \
		if (!item_ || VEC_PUSH((p)->list, (p)->nr, (p)->room, item_)) {                                        \
			free(item_);                                                                                   \
			item_ = NULL;                                                                                  \
			(p)->err = -ENOMEM;                                                                            \
		}                                                                                                      \
		item_;                                                                                                 \
	})

static void remember(struct pprof *p, struct map *m, uint64_t key, size_t place)
{
	if (!p->err)
		p->err = map_put(m, key, (void *)(uintptr_t)(place + 1));
}

/* Index of the item with this key; -1: none. */
static int64_t known(const struct map *m, uint64_t key)
{
	return (int64_t)(uintptr_t)map_get(m, key) - 1;
}

static int64_t string(struct pprof *p, const char *text)
{
	uint64_t key = key_of(ITEM_STRING, hash_text(0, text));
	int64_t place = known(&p->places, key);
	char *copy;

	if (place >= 0)
		return place;
	copy = NEW_ITEM(p, strings, nr_strings, strings_room, strlen(text) + 1);
	if (!copy)
		return 0;
	strcpy(copy, text);
	remember(p, &p->places, key, p->nr_strings - 1);
	return p->nr_strings - 1;
}

/* Foreign text: the format requires UTF-8, and terminals show it. */
static int64_t safe_string(struct pprof *p, const char *text, size_t len)
{
	char safe[4096];

	text_safe(safe, sizeof(safe), text, len);
	return string(p, safe);
}

/* --- Locations of frames. Ids are index + 1. */

static uint64_t function_of(struct pprof *p, const char *name)
{
	int64_t text = safe_string(p, name, strlen(name)), place;
	uint64_t key = key_of(ITEM_FUNCTION, text);
	PB(Function) *f;

	place = known(&p->places, key);
	if (place >= 0)
		return place + 1;
	f = NEW_ITEM(p, functions, nr_functions, functions_room, sizeof(*f));
	if (!f)
		return 0;
	*f = (PB(Function))PB_INIT(FUNCTION);
	f->id = p->nr_functions;
	f->name = f->system_name = text;
	remember(p, &p->places, key, p->nr_functions - 1);
	return f->id;
}

/* @build_id: "-": none. The limits tell pprof that all addresses are inside, and that none needs relocation. */
static PB(Mapping) *mapping_of(struct pprof *p, const char *name, const char *build_id)
{
	int64_t file = safe_string(p, name, strlen(name)), id = *build_id == '-' ? 0 : string(p, build_id);
	uint64_t key = hash_add(key_of(ITEM_MAPPING, file), id);
	int64_t place = known(&p->places, key);
	PB(Mapping) *m;

	if (place >= 0)
		return p->mappings[place];
	m = NEW_ITEM(p, mappings, nr_mappings, mappings_room, sizeof(*m));
	if (!m)
		return NULL;
	*m = (PB(Mapping))PB_INIT(MAPPING);
	m->id = p->nr_mappings;
	m->memory_limit = UINT64_MAX;
	m->filename = file;
	m->build_id = id;
	m->has_functions = true; /* until a frame has no function */
	remember(p, &p->places, key, p->nr_mappings - 1);
	return m;
}

static struct location *location_new(struct pprof *p, uint64_t key)
{
	struct location *l = NEW_ITEM(p, locations, nr_locations, locations_room, sizeof(*l));

	if (!l)
		return NULL;
	l->pb = (PB(Location))PB_INIT(LOCATION);
	l->pb.id = p->nr_locations;
	l->line = (PB(Line))PB_INIT(LINE);
	l->list = &l->line;
	l->pb.line = &l->list;
	remember(p, &p->places, key, p->nr_locations - 1);
	return l;
}

/* A location in a file is identified without its name, which may be resolved later. */
static uint64_t location_in_file(struct pprof *p, const struct frame_place *file, uint64_t frame, const struct symbol *s)
{
	struct location *l;
	PB(Mapping) *m;
	int64_t place;
	char id[80], path[512], name[512];
	uint64_t key;

	p->source->build_id(p->source->arg, frame, id, sizeof(id));
	m = mapping_of(p, redact_path(p->redact, file->path, path, sizeof(path)), id);
	if (!m)
		return 0;
	key = hash_add(key_of(ITEM_LOCATION, m->id), file->address);
	place = known(&p->places, key);
	l = place >= 0 ? p->locations[place] : location_new(p, key);
	if (!l)
		return 0;
	l->pb.mapping_id = m->id;
	l->pb.address = file->address;
	if (s && (s->named || s->function) && (!l->pb.n_line || (s->named && !l->named))) {
		l->line.function_id = function_of(p, redact_function(p->redact, s, name, sizeof(name)));
		l->pb.n_line = 1;
		l->named = s->named;
	}
	return l->pb.id;
}

/* A frame outside of files is identified by its name alone. @module: NULL: it is no code. */
static uint64_t location_by_name(struct pprof *p, const char *name, const char *module)
{
	const PB(Mapping) *m = module ? mapping_of(p, module, "-") : NULL;
	uint64_t function = function_of(p, name), key = hash_add(key_of(ITEM_LOCATION_BY_NAME, m ? m->id : 0), function);
	int64_t place = known(&p->places, key);
	struct location *l;

	if (place >= 0)
		return place + 1;
	l = location_new(p, key);
	if (!l)
		return 0;
	l->pb.mapping_id = m ? m->id : 0;
	l->line.function_id = function;
	l->pb.n_line = 1;
	l->named = true;
	return l->pb.id;
}

static uint64_t location_of(struct pprof *p, const struct stack_walk *w)
{
	uint64_t key = hash_add(key_of(ITEM_FRAME, w->frame), w->frame & FRAME_ANONYMOUS ? w->tgid : 0), id;
	int64_t place = w->mark ? -1 : known(&p->in_refresh, key);
	char name[512], module[512];
	const struct symbol *s;
	struct frame_place file;

	if (w->mark)
		return location_by_name(p, w->mark, NULL);
	if (place >= 0)
		return place + 1;
	s = stack_walk_symbol(w);
	if (p->source->place(p->source->arg, w->frame, &file))
		id = location_in_file(p, &file, w->frame, s);
	else
		id = location_by_name(p, s ? redact_function(p->redact, s, name, sizeof(name)) : "?",
				      s && w->frame != FRAME_GAP ? redact_path(p->redact, s->module, module, sizeof(module)) : NULL);
	if (id)
		remember(p, &p->in_refresh, key, id - 1);
	return id;
}

/* --- Labels of a sample */

static void set_label(struct pprof *p, PB(Label) *l, const char *key, int64_t text, int64_t number)
{
	l->key = string(p, key);
	l->str = text;
	l->num = number;
}

static const char *comm_of_process(const struct life *l)
{
	return l->process ? l->process->comm : l->comm;
}

static const char *redact_process(const struct pprof *p, const struct life *l, char hash[REDACT_HASH])
{
	return redact_name(l->flags & PF_KTHREAD ? NULL : p->redact, comm_of_process(l), sizeof(l->comm), hash);
}

static uint64_t thread_key(const struct life *l)
{
	uint64_t key = hash_text(hash_text(hash_text(0, l->comm), comm_of_process(l)), l->cgroup->path);

	return hash_add(hash_add(hash_add(key_of(ITEM_THREAD, key), l->tid), l->tgid), l->start_ns);
}

static void thread_new(struct pprof *p, const struct life *l)
{
	struct thread *t = NEW_ITEM(p, threads, nr_threads, threads_room, sizeof(*t));
	char hash[REDACT_HASH], path[4096];
	const char *cgroup = redact_path(p->redact, l->cgroup->path, path, sizeof(path));

	if (!t)
		return;
	for (int i = 0; i < NR_LABELS; i++) {
		t->labels[i] = (PB(Label))PB_INIT(LABEL);
		t->list[i] = &t->labels[i];
	}
	set_label(p, &t->labels[0], "thread", safe_string(p, redact_comm(p->redact, l, hash), sizeof(l->comm)), 0);
	set_label(p, &t->labels[1], "tid", 0, l->tid);
	set_label(p, &t->labels[2], "process", safe_string(p, redact_process(p, l, hash), sizeof(l->comm)), 0);
	set_label(p, &t->labels[3], "pid", 0, l->tgid);
	set_label(p, &t->labels[4], "cgroup", safe_string(p, cgroup, strlen(cgroup)), 0);
	remember(p, &p->places, thread_key(l), p->nr_threads - 1);
}

/* Index of the thread. */
static size_t thread_of(struct pprof *p, const struct life *l)
{
	int64_t place = known(&p->in_refresh, (uintptr_t)l);

	if (place >= 0)
		return place;
	place = known(&p->places, thread_key(l));
	if (place < 0) {
		thread_new(p, l);
		place = p->nr_threads - 1;
	}
	remember(p, &p->in_refresh, (uintptr_t)l, place);
	return place;
}

/* --- Samples */

/* Collects locations, innermost first. */
static size_t locations_of(struct pprof *p, const struct stack_sample *s, uint64_t ids[FRAMES_MAX])
{
	struct stack_walk w;
	size_t nr = 0;

	stack_walk(&w, p->source, s, WALK_FROM_ROOT | WALK_MARKS);
	while (nr < FRAMES_MAX && stack_walk_next(&w))
		ids[nr++] = location_of(p, &w);
	for (size_t i = 0; i < nr / 2; i++) {
		uint64_t outer = ids[i];

		ids[i] = ids[nr - 1 - i];
		ids[nr - 1 - i] = outer;
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
	remember(p, &p->places, key, p->nr_samples - 1);
	return s;
}

static bool is_full(const struct pprof *p)
{
	return p->nr_samples >= ITEMS_MAX || p->nr_threads >= ITEMS_MAX || p->nr_locations >= ITEMS_MAX;
}

/* The profile keeps the weight of what it has no room for. */
static struct sample *sample_without_room(struct pprof *p)
{
	uint64_t key = key_of(ITEM_SAMPLE_WITHOUT_ROOM, 0), id;
	int64_t place = known(&p->places, key);

	if (place >= 0)
		return p->samples[place];
	id = location_by_name(p, "[profile full]", NULL);
	return p->err ? NULL : sample_new(p, key, &id, 1, NULL);
}

static struct sample *sample_of(struct pprof *p, const struct stack_sample *s)
{
	uint64_t ids[FRAMES_MAX], key;
	size_t nr, thread;
	int64_t place;

	if (is_full(p))
		return sample_without_room(p);
	nr = locations_of(p, s, ids);
	thread = thread_of(p, s->life);
	if (p->err)
		return NULL;
	key = key_of(ITEM_SAMPLE, thread);
	for (size_t i = 0; i < nr; i++)
		key = hash_add(key, ids[i]);
	place = known(&p->places, key);
	return place >= 0 ? p->samples[place] : sample_new(p, key, ids, nr, p->threads[thread]);
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

static void forget_refresh(struct pprof *p)
{
	map_fini(&p->in_refresh);
	p->in_refresh = (struct map){ 0 };
}

static int tick(struct export *e, FILE *to, const struct tick *t)
{
	struct pprof *p = e->state;

	(void)to;
	if (!p->duration_ns)
		p->from_ns = t->wall.tv_sec * 1000000000ULL + t->wall.tv_nsec - t->interval_ns;
	p->duration_ns += t->interval_ns;
	tick_samples(t, 1, add_sample, p);
	forget_refresh(p);
	return p->err;
}

static int samples(struct export *e, const struct sample_set *set)
{
	struct pprof *p = e->state;

	p->from_ns = set->from_ns;
	p->duration_ns = set->duration_ns;
	p->default_type = string(p, metrics[set->metric].weight.name);
	if (!p->err)
		set->each(set->arg, add_sample, p);
	forget_refresh(p);
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
	c->pb.type = string(p, name);
	c->pb.unit = string(p, of_samples ? "count" : unit_name(metrics[m].unit));
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
	string(p, ""); /* the format requires it to be first */
	for (int place = 0; (m = metric_weight(place)) != METRIC_NONE; place++) {
		add_column(p, m, false, metrics[m].weight.name);
		snprintf(name, sizeof(name), "%s_samples", metrics[m].weight.name);
		if (metrics[m].weight.sampled)
			add_column(p, m, true, name);
	}
	p->default_type = p->columns[0].pb.type;
	return p->err;
}

/* Marks mappings with missing names: pprof looks for the names of these. */
static void mark_nameless(struct pprof *p)
{
	for (size_t i = 0; i < p->nr_locations; i++)
		if (!p->locations[i]->named && p->locations[i]->pb.mapping_id)
			p->mappings[p->locations[i]->pb.mapping_id - 1]->has_functions = false;
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
	return done != Z_STREAM_END || fflush(to) || ferror(to) ? -EIO : 0;
}

/* Collects pointers to the message at the start of each item. */
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
	map_fini(&p->places);
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
