/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions that no frame has any more are freed a while later, whatever happens to others meanwhile. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "sym/names_internal.h"
#include "unit.h"

#define S 1000000000ULL

static uint64_t now;

int __wrap_clock_gettime(clockid_t clock, struct timespec *ts);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ts)
{
	(void)clock;
	*ts = (struct timespec){ .tv_sec = (time_t)(now / S), .tv_nsec = (long)(now % S) };
	return 0;
}

bool __wrap_worker_ready(struct worker *w);
bool __wrap_worker_ready(struct worker *w)
{
	(void)w;
	return true;
}

bool __wrap_worker_ask(struct worker *w, const void *request, size_t bytes, int fd);
bool __wrap_worker_ask(struct worker *w, const void *request, size_t bytes, int fd)
{
	(void)w, (void)request, (void)bytes, (void)fd;
	return true;
}

static int set_up(void **state)
{
	*state = calloc(1, sizeof(struct names));
	now = 1000 * S;
	return !*state;
}

static int tear_down(void **state)
{
	age_fini(*state);
	free(*state);
	return 0;
}

static void show(struct names *n, struct frame *f, const char *name)
{
	const struct symbol *s = symbol_hold(n, name, "module", 0, SYMBOL_USER, NAME_NONE);

	assert_non_null(s);
	symbol_change(n, f, s);
}

static size_t kept_after(struct names *n, uint64_t seconds)
{
	now += seconds * S;
	age_work(n);
	return n->symbols_by_name.nr;
}

static const struct symbol *held(struct names *n, const char *name, const char *module, enum symbol_kind kind)
{
	const struct symbol *s = symbol_hold(n, name, module, 0, kind, NAME_SYMBOL);

	assert_non_null(s);
	assert_string_equal(s->name, name);
	assert_int_equal(s->kind, kind);
	return s;
}

/* Made-up names do not get the function of another name: two have the same FNV-1a hash, and a file can be called like the kernel.
 * */
static void names_age_made_up(void **state)
{
	struct names *n = *state;

	held(n, "8yn0iYCKYHlIj4-BwPqk", "module", SYMBOL_USER);
	held(n, "GReLUrM4wMqfg9yzV3KQ", "module", SYMBOL_USER);
	held(n, "schedule", "[kernel]", SYMBOL_KERNEL);
	held(n, "schedule", "[kernel]", SYMBOL_USER);
	assert_ptr_equal(held(n, "schedule", "[kernel]", SYMBOL_KERNEL), held(n, "schedule", "[kernel]", SYMBOL_KERNEL));
}

/* A placeholder is replaced by the function's name. */
static void names_age_replaced(void **state)
{
	struct names *n = *state;
	struct frame f = { 0 };

	show(n, &f, "module+0x10");
	show(n, &f, "alpha");
	assert_int_equal(kept_after(n, 119), 2);
	assert_int_equal(kept_after(n, 1), 1);
	assert_string_equal(f.symbol->name, "alpha");
}

static void names_age_shown_by_two_frames(void **state)
{
	struct names *n = *state;
	struct frame one = { 0 }, two = { 0 };

	show(n, &one, "alpha");
	show(n, &two, "alpha");
	show(n, &one, "beta");
	assert_int_equal(kept_after(n, 1000), 2);
	show(n, &two, "beta");
	assert_int_equal(kept_after(n, 119), 2);
	assert_int_equal(kept_after(n, 1), 1);
}

/* It is freed neither while a frame has it again nor too early afterwards. */
static void names_age_back_in_time(void **state)
{
	struct names *n = *state;
	struct frame f = { 0 };

	show(n, &f, "alpha");
	show(n, &f, "beta");
	assert_int_equal(kept_after(n, 100), 2);
	show(n, &f, "alpha");
	assert_int_equal(kept_after(n, 1000), 1);
	show(n, &f, "beta");
	assert_int_equal(kept_after(n, 119), 2);
	assert_int_equal(kept_after(n, 1), 1);
	assert_string_equal(f.symbol->name, "beta");
}

/* The oldest function comes and goes each minute, as a place in a program that is rebuilt again and again; the others are freed. */
static void names_age_one_comes_and_goes(void **state)
{
	struct names *n = *state;
	struct frame steady = { 0 }, others[100] = { { 0 } };

	for (int i = 0; i < 100; i++) {
		char name[32];

		snprintf(name, sizeof(name), "other%d", i);
		show(n, &steady, "program+0x10");
		show(n, &steady, "main");
		show(n, &others[i], name);
		show(n, &others[i], "main");
		kept_after(n, 60);
	}
	assert_in_range(n->symbols_by_name.nr, 3, 6);
}

static void free_frames(struct names *n)
{
	free(n->kernel.wanted);
	for (size_t i = 0; i < n->frames.room; i++)
		if (n->frames.entries[i].key)
			frame_free(n, n->frames.entries[i].value);
	map_fini(&n->frames);
}

/* A BPF program that is newer than the kernel's symbols gets the name of the one before it, until they are read again. */
static void names_age_bpf_programs(void **state)
{
	struct names *n = *state;
	uint64_t old = FRAME_KERNEL | 0x100, met = FRAME_KERNEL | 0x900;
	uint64_t generation;

	n->kernel.state = FILE_OPEN;
	names_frame(n, old, 0);
	n->kernel_reads++; /* as when they are asked for */
	n->kernel.state = FILE_READY;
	names_learn(n, &n->kernel, old, NAME_SYMBOL, "bpf_prog_1_old [bpf]");
	assert_int_equal(n->bpf_met, 0); /* they were read after it was met */
	names_frame(n, met, 0);
	names_learn(n, &n->kernel, met, NAME_SYMBOL, "bpf_prog_1_old [bpf]");
	assert_int_equal(n->bpf_met, met);
	assert_int_equal(n->pending, 0);
	n->kernel_reads++;
	generation = n->generation;
	n->kernel.nr_wanted = 0;
	names_frame(n, old, 0);
	names_frame(n, met, 0);
	names_frame(n, met, 0);
	assert_int_equal(n->kernel.nr_wanted, 2); /* each of them once */
	names_learn(n, &n->kernel, old, NAME_SYMBOL, "bpf_prog_1_old [bpf]");
	assert_int_equal(n->generation, generation);
	names_learn(n, &n->kernel, met, NAME_SYMBOL, "bpf_prog_2_new [bpf]");
	assert_int_equal(n->generation, generation + 1);
	assert_string_equal(names_frame(n, met, 0)->name, "bpf_prog_2_new");
	free_frames(n);
}

static uint32_t loaded; /* the newest program */

static uint32_t newest_program(void *arg)
{
	(void)arg;
	return loaded;
}

/* A place in a BPF program is met, and named by the symbols that are there. */
static void meet_bpf(struct names *n, uint64_t at)
{
	names_frame(n, at, 0);
	n->kernel.nr_wanted = 0;
	names_learn(n, &n->kernel, at, NAME_SYMBOL, "bpf_prog_1_old [bpf]");
	assert_int_equal(n->bpf_met, at);
}

/* The kernel's symbols are read again only if there can be newer programs, and not all the time. */
static void names_age_bpf_loaded(void **state)
{
	struct names *n = *state;

	n->o.newest_program = newest_program;
	loaded = 7;
	n->kernel.state = FILE_OPEN;
	names_frame(n, FRAME_KERNEL | 0x100, 0);
	ask_next(n);
	assert_int_equal(n->kernel.state, FILE_READING);
	n->kernel.state = FILE_READY;
	n->kernel.read_ns = now;
	meet_bpf(n, FRAME_KERNEL | 0x200);
	now += 299 * S;
	ask_next(n);
	assert_int_equal(n->kernel.state, FILE_READY);
	now += 10 * S; /* a program that is attached can have got a trampoline */
	ask_next(n);
	assert_int_equal(n->kernel.state, FILE_READING);
	n->kernel.state = FILE_READY;
	n->kernel.read_ns = now;
	loaded = 8;
	meet_bpf(n, FRAME_KERNEL | 0x300);
	now += 9 * S;
	ask_next(n);
	assert_int_equal(n->kernel.state, FILE_READY);
	now += S;
	ask_next(n);
	assert_int_equal(n->kernel.state, FILE_READING);
	assert_int_equal(n->kernel_program, 8);
	free_frames(n);
}

/* The kernel has code without names: its symbols are read again for new places in it, and ever more rarely, until there are none. */
static void names_age_kernel_in_vain(void **state)
{
	struct names *n = *state;

	n->kernel.state = FILE_OPEN;
	names_frame(n, FRAME_KERNEL, 0);
	for (unsigned int i = 0; i < 9; i++) {
		uint64_t again = (2 * S) << (i < 5 ? i : 5);

		ask_next(n);
		assert_int_equal(n->kernel.state, FILE_READING);
		n->kernel.state = FILE_READY;
		n->kernel.read_ns = now;
		names_frame(n, FRAME_KERNEL | (0x100 + i), 0);
		n->kernel.nr_wanted = 0;
		names_learn(n, &n->kernel, FRAME_KERNEL | (0x100 + i), NAME_NONE, "");
		now += again - 1;
		ask_next(n);
		assert_int_equal(n->kernel.state, FILE_READY);
		now++;
	}
	n->kernel.nr_unknown = 0;
	ask_next(n);
	assert_int_equal(n->kernel_in_vain, 0);
	free_frames(n);
}

#define CASE(name) cmocka_unit_test_setup_teardown(names_age_##name, set_up, tear_down)

int main(void)
{
	RUN_TESTS(CASE(replaced), CASE(shown_by_two_frames), CASE(back_in_time), CASE(one_comes_and_goes),
		  CASE(bpf_programs), CASE(bpf_loaded), CASE(kernel_in_vain), CASE(made_up));
}
