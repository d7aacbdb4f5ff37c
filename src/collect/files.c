/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/files.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "collect/unwind_tables.h"
#include "model/health.h"
#include "model/model.h"
#include "model/sample.h"
#include "slot.h"
#include "unwind.h"

/* Search for unneeded files when less than a quarter of the ids is left, and free up to as many at once. */
#define PART 4

/* Minimum interval of searches if none are found. */
#define LOOK_S 5

/* Maximum number of ids in a request to forget. */
#define FORGET_NR 256

enum files_step {
	FILES_LOOK, /* search for unneeded files */
	FILES_REST,
	FILES_FORGET,
};

/* A file that can go. */
struct aged {
	uint32_t at, used; /* index in keys and values, time of last use */
};

struct files {
	struct files_memory mem;
	const struct model *model;
	struct unwind_tables *tables;
	enum files_step step;
	uint32_t since;         /* start of this step, by shared.seconds, */
	uint32_t looked;        /* and of the last search without a result */
	uint32_t given;         /* ids released for reuse since the start */
	uint32_t recorded_s;    /* see files_work() */
	uint32_t *ids;          /* ids in progress, without keys: */
	size_t nr, needed;      /* the first ones turned out to be needed, */
	size_t done;            /* and all before this index are done */
	uint64_t *marks;        /* a bit per id that stacks in use contain */
	struct file_key *keys;  /* of all files, during a search, */
	uint32_t *values;       /* their ids, */
	struct aged *aged;      /* and the files that can go */
};

struct files *files_new(const struct files_memory *mem, const struct model *model, struct unwind_tables *tables)
{
	struct files *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->mem = *mem;
	f->model = model;
	f->tables = tables;
	f->marks = calloc(UNWIND_FILES / 64, sizeof(*f->marks));
	f->ids = calloc(mem->max, sizeof(*f->ids));
	if (f->marks && f->ids)
		return f;
	files_free(f);
	return NULL;
}

void files_free(struct files *f)
{
	if (!f)
		return;
	free(f->marks);
	free(f->ids);
	free(f);
}

/* --- Number of files */

/* CPUs that competed for the last id may have counted beyond it. */
static uint32_t ever_given(const struct files *f)
{
	uint32_t nr = __atomic_load_n(&f->mem.shared->files, __ATOMIC_RELAXED);

	return nr < f->mem.max ? nr : f->mem.max - 1;
}

static uint32_t waiting(const struct files *f)
{
	return f->given - __atomic_load_n(&f->mem.shared->files_again, __ATOMIC_RELAXED);
}

static uint32_t left(const struct files *f)
{
	return f->mem.max - 1 - ever_given(f) + waiting(f);
}

uint32_t files_in_use(const struct files *f)
{
	return ever_given(f) - waiting(f);
}

/* --- Files that can go */

static bool is_marked(const struct files *f, uint32_t id)
{
	return f->marks[id / 64] >> id % 64 & 1;
}

static bool is_needed(const struct files *f, uint32_t id)
{
	uint32_t used = __atomic_load_n(&f->mem.of[id].used, __ATOMIC_RELAXED);

	return f->mem.shared->seconds - used <= f->recorded_s + f->mem.age_s || is_marked(f, id);
}

static int by_use(const void *a, const void *b)
{
	const struct aged *x = a, *y = b;

	return (x->used > y->used) - (x->used < y->used);
}

/* Reads all files and their ids. Returns their number. */
static uint32_t read_files(struct files *f)
{
	LIBBPF_OPTS(bpf_map_batch_opts, opts);
	uint32_t nr = 0, at = 0;

	for (bool more = true, first = true; more && nr < f->mem.max; first = false) {
		uint32_t got = f->mem.max - nr;
		int err = bpf_map_lookup_batch(f->mem.files_fd, first ? NULL : &at, &at, &f->keys[nr], &f->values[nr], &got, &opts);

		more = !err;
		if (!err || err == -ENOENT) /* that was the last one */
			nr += got;
	}
	return nr;
}

/* Retires the oldest files, up to @most: they are no longer found, and their ids rest. */
static void retire(struct files *f, uint32_t most)
{
	uint32_t all = read_files(f), nr = 0;

	for (uint32_t i = 0; i < all; i++)
		if (f->values[i] && f->values[i] < f->mem.max && !is_needed(f, f->values[i]))
			f->aged[nr++] = (struct aged){ i, f->mem.of[f->values[i]].used };
	qsort(f->aged, nr, sizeof(*f->aged), by_use);
	for (uint32_t i = 0; i < nr && i < most; i++) {
		const struct file_key *key = &f->keys[f->aged[i].at];

		if (bpf_map_delete_elem(f->mem.files_fd, key))
			continue;
		f->ids[f->nr++] = f->values[f->aged[i].at];
		if (!bpf_map_delete_elem(f->mem.asked_fd, key))
			__atomic_fetch_sub(&f->mem.shared->files_asked, 1, __ATOMIC_RELAXED);
	}
}

static void step_to(struct files *f, enum files_step step)
{
	f->step = step;
	f->since = f->mem.shared->seconds;
}

static void look(struct files *f)
{
	if (left(f) >= f->mem.max / PART || f->mem.shared->seconds - f->looked < LOOK_S)
		return;
	f->keys = malloc(f->mem.max * sizeof(*f->keys));
	f->values = malloc(f->mem.max * sizeof(*f->values));
	f->aged = malloc(f->mem.max * sizeof(*f->aged));
	if (f->keys && f->values && f->aged) {
		model_files(f->model, f->marks, f->mem.max);
		retire(f, f->mem.max / PART);
	}
	free(f->keys);
	free(f->values);
	free(f->aged);
	f->keys = NULL;
	f->values = NULL;
	f->aged = NULL;
	if (!f->nr)
		f->looked = f->mem.shared->seconds;
	step_to(f, f->nr ? FILES_REST : FILES_LOOK);
}

/* A stack may have been taken at that moment: the id of its file then rests for longer. The others can be forgotten. */
static void rest(struct files *f)
{
	if (f->mem.shared->seconds - f->since < f->mem.rest_s)
		return;
	model_files(f->model, f->marks, f->mem.max);
	f->needed = 0;
	for (size_t i = 0; i < f->nr; i++) {
		uint32_t id = f->ids[i];

		if (!is_needed(f, id))
			continue;
		f->ids[i] = f->ids[f->needed];
		f->ids[f->needed++] = id;
	}
	f->done = f->needed;
	step_to(f, FILES_FORGET);
}

/* Lets another file have the id. Programs take ids from this stack at the same time. */
static void release(struct files *f, uint32_t id)
{
	uint64_t was = __atomic_load_n(&f->mem.shared->free_files, __ATOMIC_RELAXED), next;

	do {
		f->mem.of[id] = (struct unwind_file){ .next_free = (uint32_t)was };
		next = ((was >> 32) + 1) << 32 | id;
	} while (!__atomic_compare_exchange_n(&f->mem.shared->free_files, &was, next, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED));
	f->given++;
}

static void forget_some(struct files *f, files_forget *forget, void *arg)
{
	const uint32_t *ids = f->ids + f->done;
	size_t nr = f->nr - f->done < FORGET_NR ? f->nr - f->done : FORGET_NR;

	if (!forget(arg, ids, nr) || !unwind_tables_forget(f->tables, ids, nr))
		return;
	for (size_t i = 0; i < nr; i++)
		release(f, ids[i]);
	f->done += nr;
}

void files_work(struct files *f, uint32_t recorded_s, files_forget *forget, void *arg)
{
	f->recorded_s = recorded_s;
	switch (f->step) {
	case FILES_LOOK:
		look(f);
		break;
	case FILES_REST:
		rest(f);
		break;
	case FILES_FORGET:
		if (f->done < f->nr)
			forget_some(f, forget, arg);
		if (f->done < f->nr)
			break;
		f->nr = f->needed;
		step_to(f, FILES_LOOK);
	}
}

void files_health(const struct files *f, uint64_t waited, struct health *h)
{
	uint32_t nr = files_in_use(f), most = f->mem.max - 1;

	health_add(h, "Maps", "files", nr < most ? HEALTH_ON : HEALTH_DEGRADED,
		   "%u of %u: %.1f %%; %u evicted; %" PRIu64 " new ones deferred by samples to the next switch or tick", nr,
		   most, 100.0 * nr / most, f->given, waited);
}
