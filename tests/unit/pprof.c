/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ticks.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "export/exporter.h"
#include "model/sample.h"
#include "pprof.pb-c.h"
#include "query/source.h"
#include "sym/names.h"

#define FILE_FRAME (1ULL << FRAME_FILE_SHIFT | 0x1234)
#define JIT_FRAME (FRAME_ANONYMOUS | 0x7f00)
#define KERNEL_FRAME (FRAME_KERNEL | 5)

static const char *file_name; /* name of the function in the file; NULL: none yet */

static const struct symbol *symbol(void *arg, uint64_t frame, uint32_t tgid)
{
	static const struct symbol kernel = { "do_it", "[kernel]", SYMBOL_KERNEL, true }, jit = { "f", "[jit]", SYMBOL_JIT, true },
				   none = { "prog+0x1234", "prog", SYMBOL_USER, false };
	static struct symbol named;

	(void)arg;
	(void)tgid;
	named = (struct symbol){ file_name, "prog", SYMBOL_USER, true };
	return frame == FILE_FRAME ? file_name ? &named : &none : frame == JIT_FRAME ? &jit : &kernel;
}

static void build_id(void *arg, uint64_t frame, char *buf, size_t size)
{
	(void)arg;
	snprintf(buf, size, "%s", frame == FILE_FRAME ? "abcd" : "-");
}

static bool place(void *arg, uint64_t frame, struct frame_place *p)
{
	(void)arg;
	snprintf(p->path, sizeof(p->path), "/opt/a.so.d/prog.sol");
	p->address = 0x401234;
	return frame == FILE_FRAME;
}

static const struct source source = { .symbol = symbol, .build_id = build_id, .place = place };

/* A tick with a CPU sample, with user and kernel stack, and a block without stack. */
static const struct tick *tick_of(struct model *m, struct cgroup *cgroup, struct life *l, uint64_t weight)
{
	struct values v = { .v = { [METRIC_RUN] = weight, [METRIC_D] = 10 } };
	struct {
		struct stack stack;
		uint64_t frames[2];
	} user = { .stack = { .nr = 2, .hash = 1 }, .frames = { JIT_FRAME, FILE_FRAME } },
	  kernel = { .stack = { .nr = 1, .hash = 2 }, .frames = { KERNEL_FRAME } };
	struct stack_sample s = { .life = l, .weight = weight, .count = 3, .metric = METRIC_RUN };

	tick_begin(m);
	assert_int_equal(model_thread(m, l, STATE_RUNNING, false, &v), 0);
	s.user = tick_stack(m, &user.stack);
	s.kernel = tick_stack(m, &kernel.stack);
	assert_int_equal(model_sample(m, &s), 0);
	s = (struct stack_sample){ .life = l, .weight = 10, .count = 1, .metric = METRIC_D, .flags = NOTE_NO_STACK };
	assert_int_equal(model_sample(m, &s), 0);
	tick_cgroup(m, cgroup, NULL);
	return tick_end(m);
}

#define PLAIN_MAX (64 << 20)

static Perftools__Profiles__Profile *unpack(char *packed, size_t bytes)
{
	uint8_t *plain = malloc(PLAIN_MAX);
	z_stream z = { .next_in = (uint8_t *)packed, .avail_in = bytes, .next_out = plain, .avail_out = PLAIN_MAX };
	Perftools__Profiles__Profile *p;

	assert_non_null(plain);
	assert_int_equal(inflateInit2(&z, MAX_WBITS + 16), Z_OK);
	assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
	p = perftools__profiles__profile__unpack(NULL, z.total_out, plain);
	inflateEnd(&z);
	free(packed);
	free(plain);
	assert_non_null(p);
	return p;
}

static Perftools__Profiles__Profile *profile_of(struct export *e)
{
	char *packed;
	size_t bytes;
	FILE *to = open_memstream(&packed, &bytes);

	assert_int_equal(export_pprof.end(e, to), 0);
	fclose(to);
	return unpack(packed, bytes);
}

static Perftools__Profiles__Profile *profile_with(struct export *e, const struct sample_set *set)
{
	assert_int_equal(export_pprof.begin(e), 0);
	assert_int_equal(export_pprof.samples(e, set), 0);
	return profile_of(e);
}

static int column(const Perftools__Profiles__Profile *p, const char *type, const char *unit)
{
	for (size_t i = 0; i < p->n_sample_type; i++)
		if (!strcmp(p->string_table[p->sample_type[i]->type], type)) {
			assert_string_equal(p->string_table[p->sample_type[i]->unit], unit);
			return i;
		}
	fail_msg("no %s", type);
	return -1;
}

static const char *name_at(const Perftools__Profiles__Profile *p, const Perftools__Profiles__Sample *s, size_t at)
{
	const Perftools__Profiles__Location *l = p->location[s->location_id[at] - 1];

	return l->n_line ? p->string_table[p->function[l->line[0]->function_id - 1]->name] : "";
}

/* Two refreshes: equal samples are merged, and a name that arrives later is used. */
TEST(pprof, refreshes_are_one_profile)
{
	struct cgroup cgroup = { .id = 1, .path = "/web\n" };
	struct export e = { .source = &source };
	struct model *m = model_new(1 << 20);
	struct life *l = tick_life(m, 1000, "worker", &cgroup);
	Perftools__Profiles__Profile *p;
	const Perftools__Profiles__Sample *on_cpu, *blocked;
	const Perftools__Profiles__Location *in_file;
	const struct tick *t;

	assert_int_equal(export_pprof.begin(&e), 0);
	for (int i = 0; i < 2; i++) {
		file_name = i ? "main" : NULL;
		t = tick_of(m, &cgroup, l, 1000);
		((struct tick *)t)->wall.tv_sec = i;
		assert_int_equal(export_pprof.tick(&e, NULL, t), 0);
		tick_put(t);
	}
	p = profile_of(&e);
	assert_int_equal(p->n_sample, 2);
	on_cpu = p->sample[p->sample[0]->n_location_id == 1];
	blocked = p->sample[p->sample[0]->n_location_id != 1];
	assert_int_equal(on_cpu->n_location_id, 3);
	assert_string_equal(name_at(p, on_cpu, 0), "do_it");
	assert_string_equal(name_at(p, on_cpu, 1), "f");
	assert_string_equal(name_at(p, on_cpu, 2), "main");
	assert_string_equal(name_at(p, blocked, 0), "[no stack]");
	assert_int_equal(on_cpu->value[column(p, "cpu", "nanoseconds")], 2000);
	assert_int_equal(on_cpu->value[column(p, "cpu_samples", "count")], 6);
	assert_int_equal(on_cpu->value[column(p, "d", "nanoseconds")], 0);
	assert_int_equal(blocked->value[column(p, "d", "nanoseconds")], 20);
	assert_int_equal(blocked->value[column(p, "wall", "nanoseconds")], 20);
	assert_int_equal(p->duration_nanos, 2 * SEC);
	assert_int_equal(p->time_nanos, -(int64_t)SEC); /* the first refresh, which ends at 0, takes a second */
	assert_string_equal(p->string_table[p->default_sample_type], "cpu");
	in_file = p->location[on_cpu->location_id[2] - 1];
	assert_int_equal(in_file->address, 0x401234);
	assert_int_equal(p->mapping[0]->id, in_file->mapping_id); /* the kernel was met first */
	assert_string_equal(p->string_table[p->mapping[0]->filename], "/opt/a.so.d/prog.sol");
	assert_string_equal(p->string_table[p->mapping[0]->build_id], "abcd");
	assert_true(p->mapping[0]->has_functions);
	assert_int_equal(on_cpu->n_label, 5);
	assert_string_equal(p->string_table[on_cpu->label[0]->key], "thread");
	assert_string_equal(p->string_table[on_cpu->label[0]->str], "worker");
	assert_int_equal(on_cpu->label[1]->num, 1000);
	assert_string_equal(p->string_table[on_cpu->label[4]->str], "/web\\x0a");
	perftools__profiles__profile__free_unpacked(p, NULL);
	model_life_end(m, l);
	model_free(m);
}

/* Stacks that differ only in their innermost or outermost function are different samples. */
TEST(pprof, stacks_that_differ_in_one_frame)
{
	static const uint64_t frames[][2] = { { JIT_FRAME, FILE_FRAME }, { KERNEL_FRAME, FILE_FRAME }, { JIT_FRAME, KERNEL_FRAME } };
	struct cgroup cgroup = { .id = 1, .path = "/" };
	struct export e = { .source = &source };
	struct model *m = model_new(1 << 20);
	struct life *l = tick_life(m, 1000, "worker", &cgroup);
	Perftools__Profiles__Profile *p;
	const struct tick *t;

	file_name = "main";
	tick_begin(m);
	for (int i = 0; i < 3; i++) {
		struct {
			struct stack stack;
			uint64_t frames[2];
		} user = { .stack = { .nr = 2, .hash = 2 * (i + 1) }, .frames = { frames[i][0], frames[i][1] } };
		struct stack_sample s = { .life = l, .weight = i + 1, .count = 1, .metric = METRIC_RUN };

		s.user = tick_stack(m, &user.stack);
		assert_int_equal(model_sample(m, &s), 0);
	}
	t = tick_end(m);
	assert_int_equal(export_pprof.begin(&e), 0);
	assert_int_equal(export_pprof.tick(&e, NULL, t), 0);
	tick_put(t);
	p = profile_of(&e);
	assert_int_equal(p->n_sample, 3);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(p->sample[i]->value[column(p, "cpu", "nanoseconds")], i + 1);
		assert_string_equal(name_at(p, p->sample[i], 0), i == 1 ? "do_it" : "f");
		assert_string_equal(name_at(p, p->sample[i], 1), i == 2 ? "do_it" : "main");
	}
	perftools__profiles__profile__free_unpacked(p, NULL);
	model_life_end(m, l);
	model_free(m);
}

/* A frame without a name is left to pprof: it has an address, but no function. */
TEST(pprof, what_has_no_name_is_left_to_pprof)
{
	struct cgroup cgroup = { .id = 1, .path = "/" };
	struct export e = { .source = &source };
	struct model *m = model_new(1 << 20);
	struct life *l = tick_life(m, 1000, "worker", &cgroup);
	const struct tick *t = tick_of(m, &cgroup, l, 1000);
	Perftools__Profiles__Profile *p;
	int nameless = 0;

	file_name = NULL;
	assert_int_equal(export_pprof.begin(&e), 0);
	assert_int_equal(export_pprof.tick(&e, NULL, t), 0);
	tick_put(t);
	p = profile_of(&e);
	for (size_t i = 0; i < p->n_location; i++)
		if (!p->location[i]->n_line) {
			nameless++;
			assert_int_equal(p->location[i]->address, 0x401234);
			assert_int_equal(p->location[i]->mapping_id, p->mapping[0]->id);
			assert_false(p->mapping[0]->has_functions);
		}
	assert_int_equal(nameless, 1);
	perftools__profiles__profile__free_unpacked(p, NULL);
	model_life_end(m, l);
	model_free(m);
}

static int each_one(void *arg, sample_fn *fn, void *fn_arg)
{
	return fn(fn_arg, arg);
}

/* pprof counts a sample's weight for its innermost function. */
TEST(pprof, a_mark_of_the_whole_stack_is_at_its_root)
{
	struct {
		struct stack stack;
		uint64_t frames[1];
	} kernel = { .stack = { .nr = 1 }, .frames = { KERNEL_FRAME } };
	struct cgroup cgroup = { .id = 1, .path = "/" };
	struct process process = { .comm = "worker" };
	struct life l = { .tid = 1, .tgid = 1, .comm = "worker", .process = &process, .cgroup = &cgroup };
	struct stack_sample s = { .life = &l, .kernel = &kernel.stack, .weight = 7, .count = 1, .metric = METRIC_RUNQ,
				  .flags = NOTE_NEAR };
	struct sample_set set = { each_one, &s, METRIC_RUNQ, 77, 88 };
	struct export e = { .source = &source };
	Perftools__Profiles__Profile *p;

	assert_int_equal(export_pprof.begin(&e), 0);
	assert_int_equal(export_pprof.samples(&e, &set), 0);
	p = profile_of(&e);
	assert_int_equal(p->sample[0]->n_location_id, 2);
	assert_string_equal(name_at(p, p->sample[0], 0), "do_it");
	assert_string_equal(name_at(p, p->sample[0], 1), "~");
	perftools__profiles__profile__free_unpacked(p, NULL);
}

static int each(void *arg, sample_fn *fn, void *fn_arg)
{
	return tick_samples(arg, 1, fn, fn_arg);
}

TEST(pprof, sets_have_their_time_and_metric)
{
	struct cgroup cgroup = { .id = 1, .path = "/" };
	struct export e = { .source = &source };
	struct model *m = model_new(1 << 20);
	struct life *l = tick_life(m, 1000, "worker", &cgroup);
	const struct tick *t = tick_of(m, &cgroup, l, 1000);
	struct sample_set set = { each, (void *)t, METRIC_D, 77, 88 };
	Perftools__Profiles__Profile *p;

	assert_int_equal(export_pprof.begin(&e), 0);
	assert_int_equal(export_pprof.samples(&e, &set), 0);
	tick_put(t);
	p = profile_of(&e);
	assert_int_equal(p->time_nanos, 77);
	assert_int_equal(p->duration_nanos, 88);
	assert_string_equal(p->string_table[p->default_sample_type], "d");
	assert_int_equal(p->n_sample, 2);
	perftools__profiles__profile__free_unpacked(p, NULL);
	assert_int_equal(export_pprof.begin(&e), 0);
	assert_int_equal(export_pprof.end(&e, NULL), 0);
	model_life_end(m, l);
	model_free(m);
}

#define MANY (1 << 18)

/* The same stack of one thread more than there is room for. */
static int each_of_many(void *arg, sample_fn *fn, void *fn_arg)
{
	struct cgroup cgroup = { .id = 1, .path = "/" };
	struct process process = { .comm = "worker" };
	struct life *lives = calloc(MANY + 1, sizeof(*lives));
	struct stack_sample s = { .weight = 7, .count = 1, .metric = METRIC_RUN, .flags = NOTE_NO_STACK };
	int err = 0;

	(void)arg;
	assert_non_null(lives);
	for (int i = 0; i <= MANY && !err; i++) {
		lives[i] = (struct life){ .tid = 1 + i, .tgid = 1 + i, .comm = "worker", .process = &process,
					  .cgroup = &cgroup };
		s.life = &lives[i];
		err = fn(fn_arg, &s);
	}
	s.life = &lives[1]; /* which has its place */
	err = err ? err : fn(fn_arg, &s);
	free(lives);
	return err;
}

TEST(pprof, a_full_profile_keeps_the_weight)
{
	struct export e = { .source = &source };
	struct sample_set set = { each_of_many, NULL, METRIC_RUN, 77, 88 };
	Perftools__Profiles__Profile *p;
	int cpu;

	p = profile_with(&e, &set);
	cpu = column(p, "cpu", "nanoseconds");
	assert_int_equal(p->n_sample, MANY + 1);
	for (size_t i = 0; i < p->n_sample; i++)
		if (p->sample[i]->value[cpu] != (i == 1 ? 14 : 7))
			fail_msg("sample %zu has %lld ns of 7", i, (long long)p->sample[i]->value[cpu]);
	assert_string_equal(name_at(p, p->sample[0], 0), "[no stack]");
	assert_string_equal(name_at(p, p->sample[MANY], 0), "[profile full]");
	assert_int_equal(p->sample[MANY]->n_label, 0);
	perftools__profiles__profile__free_unpacked(p, NULL);
}

static bool place_of_each(void *arg, uint64_t frame, struct frame_place *p)
{
	(void)arg;
	snprintf(p->path, sizeof(p->path), "/opt/a.so.d/prog.sol");
	p->address = frame;
	return true;
}

/* One stack more than there are places for, each with two of its own; then one that has its places. */
static int each_of_many_places(void *arg, sample_fn *fn, void *fn_arg)
{
	struct {
		struct stack stack;
		uint64_t frames[2];
	} user = { .stack = { .nr = 2 } };
	struct cgroup cgroup = { .id = 1, .path = "/" };
	struct process process = { .comm = "worker" };
	struct life life = { .tid = 1, .tgid = 1, .comm = "worker", .process = &process, .cgroup = &cgroup };
	struct stack_sample s = { .life = &life, .user = &user.stack, .weight = 7, .count = 1, .metric = METRIC_RUN };
	int err = 0;

	(void)arg;
	for (int i = 0; i <= MANY / 2 + 1 && !err; i++) {
		user.frames[0] = FILE_FRAME + 2 * (i <= MANY / 2 ? i : 1);
		user.frames[1] = user.frames[0] + 1;
		err = fn(fn_arg, &s);
	}
	return err;
}

TEST(pprof, a_full_profile_knows_its_places)
{
	const struct source many = { .symbol = symbol, .build_id = build_id, .place = place_of_each };
	struct export e = { .source = &many };
	struct sample_set set = { each_of_many_places, NULL, METRIC_RUN, 77, 88 };
	Perftools__Profiles__Profile *p;
	int cpu;

	p = profile_with(&e, &set);
	cpu = column(p, "cpu", "nanoseconds");
	assert_int_equal(p->n_sample, MANY / 2 + 1);
	assert_int_equal(p->sample[1]->value[cpu], 14);
	assert_string_equal(name_at(p, p->sample[MANY / 2], 0), "[profile full]");
	assert_int_equal(p->sample[MANY / 2]->value[cpu], 7);
	perftools__profiles__profile__free_unpacked(p, NULL);
}

int main(void)
{
	RUN_TESTS(cmocka_unit_test(pprof_refreshes_are_one_profile),
		  cmocka_unit_test(pprof_stacks_that_differ_in_one_frame),
		  cmocka_unit_test(pprof_what_has_no_name_is_left_to_pprof),
		  cmocka_unit_test(pprof_a_mark_of_the_whole_stack_is_at_its_root),
		  cmocka_unit_test(pprof_sets_have_their_time_and_metric),
		  cmocka_unit_test(pprof_a_full_profile_keeps_the_weight),
		  cmocka_unit_test(pprof_a_full_profile_knows_its_places));
}
