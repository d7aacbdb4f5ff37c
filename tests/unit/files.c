/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ticks.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>

#include "collect/collectors.h"
#include "collect/files.h"
#include "collect/unwind_tables.h"
#include "model/sample_list.h"
#include "slot.h"
#include "unwind.h"

#include "systop.skel.h"

#define MAX 64 /* ids are below it */
#define AGE 30
#define REST 10
#define FILES_FD 5
#define ASKED_FD 6

static struct unwind_file of[UNWIND_FILES];
static struct unwind_page pages[UNWIND_PAGES];
static struct cfi_rule rules[UNWIND_RULES];
static struct cpu_area *const no_areas[1];
static struct shared shared;
static struct model *model;
static struct unwind_tables *tables;
static struct files *files;
static bool there[MAX];     /* in the map of files, with the key of this id's inode */
static uint32_t given[MAX]; /* on the stack of free ids, in the order in which they came there */
static size_t nr_given, nr_forgotten;
static bool forgets;

int bpf_map_lookup_batch(int fd, void *in, void *out, void *keys, void *values, __u32 *count,
			 const struct bpf_map_batch_opts *opts)
{
	struct file_key *key = keys;
	uint32_t *value = values, nr = 0;

	(void)opts, (void)out;
	assert_int_equal(fd, FILES_FD);
	assert_null(in); /* there is room for all */
	for (uint32_t id = 1; id < MAX; id++) {
		if (!there[id])
			continue;
		key[nr] = (struct file_key){ .inode = id };
		value[nr++] = id;
	}
	assert_true(nr <= *count);
	*count = nr;
	return -ENOENT;
}

int bpf_map_delete_elem(int fd, const void *key)
{
	uint64_t id = ((const struct file_key *)key)->inode;

	if (fd == ASKED_FD)
		return id == 9 ? 0 : -ENOENT;
	assert_int_equal(fd, FILES_FD);
	assert_true(there[id]);
	there[id] = false;
	return 0;
}

static bool forget(void *arg, const uint32_t *ids, size_t nr)
{
	(void)arg;
	for (size_t i = 0; forgets && i < nr; i++)
		assert_false(there[ids[i]]);
	nr_forgotten += forgets ? nr : 0;
	return forgets;
}

static int begin(void **state)
{
	struct unwind_tables_memory memory = { of, pages, rules, no_areas, 1, -1, 1, &shared.seconds };

	(void)state;
	memset(of, 0, sizeof(of));
	memset(there, 0, sizeof(there));
	shared = (struct shared){ .seconds = 1000, .files_asked = 3 };
	nr_given = nr_forgotten = 0;
	forgets = true;
	model = model_new(0);
	tables = unwind_tables_new(&memory);
	files = files_new(&(struct files_memory){ FILES_FD, ASKED_FD, MAX, AGE, REST, of, &shared }, model, tables);
	return !model || !tables || !files;
}

static int end(void **state)
{
	(void)state;
	files_free(files);
	unwind_tables_free(tables);
	model_free(model);
	return 0;
}

/* Adds files @first to @last, used by a stack at @used. */
static void met(uint32_t first, uint32_t last, uint32_t used)
{
	for (uint32_t id = first; id <= last; id++) {
		there[id] = true;
		of[id].used = used;
	}
	shared.files = last;
}

static void read_given(void)
{
	nr_given = 0;
	for (uint32_t id = (uint32_t)shared.free_files; id; id = of[id].next_free) {
		assert_within(nr_given, 0, MAX - 1);
		memmove(given + 1, given, nr_given++ * sizeof(*given));
		given[0] = id;
	}
	assert_int_equal(shared.free_files >> 32, nr_given); /* each came there by a change */
}

static void seconds(uint32_t nr)
{
	for (uint32_t i = 0; i < 4 * nr; i++) {
		shared.seconds += i % 4 == 3;
		files_work(files, 0, forget, NULL);
	}
	read_given();
}

/* A stack that is held has a frame in the file. */
static const struct stack *keep(uint32_t file)
{
	const struct stack *kept;
	struct stack *s = calloc(1, sizeof(*s) + 2 * sizeof(uint64_t));

	*s = (struct stack){ .hash = 2 * file, .nr = 2 };
	s->frames[0] = FRAME_KERNEL | 77;
	s->frames[1] = (uint64_t)file << FRAME_FILE_SHIFT | 0x100;
	kept = tick_stack(model, s);
	assert_non_null(kept);
	free(s);
	return kept;
}

static void stay_while_there_is_room(void **state)
{
	(void)state;
	met(1, 40, 1);
	seconds(100);
	assert_int_equal(files_in_use(files), 40);
	assert_int_equal(nr_given, 0);
}

static void the_oldest_make_room(void **state)
{
	(void)state;
	met(1, 20, 500);
	met(21, 63, 400);
	seconds(REST - 1);
	for (uint32_t id = 1; id <= 20; id++)
		assert_true(there[id]);
	assert_int_equal(nr_given, 0); /* they rest first */
	seconds(REST);
	assert_int_equal(nr_given, MAX / 4);
	assert_int_equal(nr_forgotten, nr_given);
	assert_int_equal(files_in_use(files), 63 - nr_given);
	for (size_t i = 0; i < nr_given; i++)
		assert_within(given[i], 21, 63);
	shared.files_again = 3; /* the programs took some of them back */
	assert_int_equal(files_in_use(files), 63 - nr_given + 3);
}

/* Files of recent stacks, or of stacks that are held, stay. */
static void the_needed_stay(void **state)
{
	(void)state;
	met(1, 30, 995);
	met(31, 63, 10);
	for (uint32_t id = 31; id <= 50; id++)
		keep(id);
	seconds(2 * REST);
	assert_int_equal(nr_given, 13);
	for (uint32_t id = 1; id < MAX; id++)
		assert_int_equal(there[id], id <= 50);
}

/* The files of a list on the screen stay when all its refreshes are gone. */
static void those_of_a_list_stay(void **state)
{
	static struct cgroup cgroup = { .id = 1, .path = "/" }; /* lives as long as the model */
	struct stack_sample sample = { .metric = METRIC_RUN };
	struct sample_list list = { 0 };
	struct life *life = tick_life(model, 7, "worker", &cgroup);

	(void)state;
	met(1, 63, 10);
	sample.life = life;
	sample.user = keep(5);
	keep(6);
	assert_int_equal(sample_list_add(&list, &sample), 0);
	for (int i = 0; i < 100; i++) {
		tick_begin(model);
		tick_cgroup(model, &cgroup, NULL);
		tick_put(tick_end(model));
	}
	seconds(10 * REST);
	assert_true(there[5]);
	assert_false(there[6]);
	sample_list_fini(&list);
	model_life_end(model, life);
}

/* A stack is taken just when its file's key is removed. */
static void one_is_needed_after_all(void **state)
{
	(void)state;
	met(1, 60, 999);
	met(61, 63, 10);
	seconds(REST / 2);
	assert_false(there[62]);
	keep(62);
	of[63].used = shared.seconds;
	seconds(REST);
	assert_int_equal(nr_given, 1);
	assert_int_equal(given[0], 61);
	seconds(AGE);
	for (size_t i = 0; i < nr_given; i++)
		assert_int_not_equal(given[i], 62);
}

/* An id is not reused before everybody has forgotten it. */
static void waits_for_who_knows_it(void **state)
{
	(void)state;
	met(1, 63, 10);
	forgets = false;
	seconds(5 * REST);
	assert_int_equal(nr_given, 0);
	assert_int_equal(of[10].used, 10);
	forgets = true;
	seconds(1);
	assert_int_equal(nr_given, MAX / 4);
	assert_int_equal(of[given[0]].used, 0);
}

static void is_not_asked_for_again(void **state)
{
	(void)state;
	met(1, 63, 100);
	of[9].used = 1;
	seconds(1);
	assert_false(there[9]);
	assert_int_equal(shared.files_asked, 2);
}

/* A request stays until its file is met again, or has no id any more. */
static void all_can_be_asked_for(void **state)
{
	struct systop *skel = systop__open();

	(void)state;
	assert_non_null(skel);
	collector_files.configure(skel, NULL);
	assert_int_equal(bpf_map__max_entries(skel->maps.files_asked), bpf_map__max_entries(skel->maps.files));
	systop__destroy(skel);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(stay_while_there_is_room), CASE(the_oldest_make_room),   CASE(the_needed_stay),
		CASE(those_of_a_list_stay), CASE(one_is_needed_after_all),  CASE(waits_for_who_knows_it), CASE(is_not_asked_for_again),
		cmocka_unit_test(all_can_be_asked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
