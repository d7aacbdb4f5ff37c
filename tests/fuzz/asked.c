/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The helpers for stacks of blocked threads, for command lines and for unwind tables, in both directions. */
#include "helpers.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "collect/blocked.h"
#include "collect/peek.h"
#include "collect/unwind_tables.h"
#include "helper/proto.h"
#include "model/health.h"
#include "model/model.h"
#include "save/process_info.h"
#include "scene.h"

static const struct tick *tick_of_scene(void)
{
	static struct scene scene;

	if (!scene.model)
		scene_make(&scene, 4);
	return scene.ticks[SCENE_TICKS - 1];
}

/* --- Stacks of blocked threads */

/* The output of the kernel's iterator. */
void fuzz_peek(const uint8_t *bytes, size_t size)
{
	static const struct peek_request request;
	struct role_under_test role;

	role_begin(&role);
	role_ask(&role, &request, sizeof(request), fuzz_fd_again(bytes, size));
	role_ask(&role, &request, sizeof(request), -1);
	role_run(&role, peek_run);
}

#define SLOTS 8
#define THREADS 4
#define STARTER 99

/* Inputs share a model: creating one takes most of the time. */
#define INPUTS 2000

static struct model *shared_model(void)
{
	static struct model *m;
	static int inputs;

	if (inputs++ % INPUTS == 0) {
		model_free(m);
		m = model_new(1 << 16);
	}
	fuzz_check(m, "no memory");
	return m;
}

static struct life *life_of(void *arg, uint32_t slot)
{
	struct life **lives = arg;

	return slot && slot <= THREADS ? lives[slot - 1] : NULL;
}

/* Threads that are blocked, in slots from 1 on; the one behind them is the starter's. */
static void block_threads(struct blocked *b, struct model *m, struct slot *slots, struct life **lives)
{
	static struct cgroup root = { .id = 1, .path = "/" };
	static const struct timespec wall;

	fuzz_check(!model_begin(m, 1000000000, 5000000000, &wall), "no memory");
	for (uint32_t i = 0; i < THREADS; i++) {
		struct identity id = { .tid = 10 + i, .tgid = 10 + i / 2, .comm = "blocked", .start_ns = 5 };
		struct slot *slot = &slots[1 + i];

		*slot = (struct slot){ .state = i % 2 ? SLOT_D : SLOT_SLEEP, .since = 1000 + i, .tid = 10 + i,
				       .tgid = 10 + i / 2 };
		lives[i] = model_life(m, &id, &root);
		fuzz_check(lives[i] && !blocked_thread(b, 1 + i, slot, lives[i], 2000), "no memory");
	}
	slots[1 + THREADS] = (struct slot){ .state = SLOT_SLEEP, .since = 500, .tid = STARTER, .tgid = STARTER };
	fuzz_check(!blocked_look(b, 2000), "no memory");
	blocked_ask(b);
}

static const struct tick *finish(struct model *m)
{
	static const uint64_t loss[LOSS_COUNT];
	static const struct self_cost self;

	return model_end(m, loss, &self);
}

/* An answer that is valid except for what the input changes. */
static void answer_blocked(struct feed *f)
{
	struct peek_answer a = { .record.since = 1000 };
	uint8_t slot = feed_number(f, 1), user = feed_number(f, 1), kernel = feed_number(f, 1);
	size_t bytes = offsetof(struct peek_answer, frames) + (user + kernel) * sizeof(a.frames[0]);

	a.record.slot = slot;
	a.record.since += (uint64_t)slot - 1;
	a.record.nr_user = user;
	a.record.nr_kernel = kernel;
	a.record.user_end = feed_number(f, 1);
	a.record.user_flags = feed_number(f, 1);
	feed_copy(f, a.frames, bytes < 64 ? bytes : 64);
	helpers_answer(0, &a, bytes < sizeof(a) ? bytes : sizeof(a), -1);
}

static void step_blocked(struct feed *f, struct blocked *b)
{
	static const struct peek_answer last = { .last = 1 };
	uint8_t raw[128], what = feed_number(f, 1);

	if (what & 0x40) /* up to 5.1 s */
		fuzz_clock_pass(feed_number(f, 1) * 20000000, 0);
	if (what & 0x20)
		helpers_stick(0);
	switch (what & 7) {
	case 0:
		helpers_answer(0, &last, offsetof(struct peek_answer, frames), -1);
		break;
	case 1: /* anything */
		feed_copy(f, raw, sizeof(raw));
		helpers_answer(0, raw, 1 + feed_number(f, 1) % sizeof(raw), -1);
		break;
	case 2:
		helpers_answer(0, &last, offsetof(struct peek_answer, frames), fuzz_fd_any());
		break;
	case 3:
		helpers_close(0);
		break;
	case 4:
		blocked_ask(b);
		break;
	default:
		answer_blocked(f);
	}
	blocked_work(b);
}

void fuzz_blocked(const uint8_t *bytes, size_t size)
{
	struct feed f = { bytes, size };
	struct shared shared = { .peek_slot = feed_number(&f, 1), .slots_used = 1 + THREADS };
	struct model *m = shared_model();
	uint64_t wanted[SLOTS] = { 0 };
	struct slot slots[SLOTS] = { 0 };
	static const struct unwind_file files[UNWIND_FILES];
	struct life *lives[THREADS];
	struct blocked_options o = { .model = m, .wanted = wanted, .slots = slots, .max_slots = SLOTS, .life = life_of,
				     .arg = lives, .shared = &shared, .files = files, .starter_tgid = STARTER };
	struct blocked *b;
	struct health h = { 0 };

	fuzz_clock_begin();
	b = blocked_new(&o);
	fuzz_check(b, "no memory");
	block_threads(b, m, slots, lives);
	while (f.left)
		step_blocked(&f, b);
	blocked_health(b, &h);
	for (uint32_t i = 0; i < THREADS; i++)
		blocked_end(b, 1 + i, lives[i]);
	for (uint32_t i = 0; i < THREADS; i++)
		model_life_end(m, lives[i]);
	tick_put(finish(m));
	blocked_free(b);
	health_fini(&h);
	helpers_forget();
	fuzz_clock_end();
}

/* --- Command lines: a table in memory that both have */

/* As the helper: the processes and the size of the table. */
static void run_who(struct feed *f)
{
	struct process_request request = { .nr = feed_number(f, 4), .arguments = 1 };
	struct role_under_test role;

	role_begin(&role);
	role_ask(&role, &request, sizeof(request), fuzz_fd(f->at, f->left));
	role_run(&role, process_info_run);
}

/* As the caller: the table that a helper wrote. */
static void ask_who(struct feed *f)
{
	struct process_info_table *w = process_info_request(0, tick_of_scene(), true);
	struct process_request request;
	char text[CMDLINE_MAX];
	struct process_info who;
	int fd = -1;

	fuzz_check(w && helper_receive(helpers_other(0), &request, sizeof(request), &fd) == sizeof(request) && fd >= 0,
		   "nobody was asked");
	fuzz_check(pwrite(fd, f->at, f->left, 0) == (ssize_t)f->left, "the table cannot be written: %m");
	close(fd);
	process_info_done(w);
	for (uint32_t i = 0; process_info_at(w, i, &who, text); i++) {
		fuzz_check(who.len <= sizeof(text) && who.nr_nspids <= PROCESS_INFO_LEVELS, "%u bytes, %u numbers",
			   who.len, who.nr_nspids);
		fuzz_check(!who.len || !text[who.len - 1], "arguments without an end");
	}
	process_info_free(w);
	helpers_forget();
}

void fuzz_who(const uint8_t *bytes, size_t size)
{
	struct feed f = { bytes, size };

	if (feed_number(&f, 1) & 1)
		run_who(&f);
	else
		ask_who(&f);
}

/* --- Unwind tables */

static struct unwind_file table_files[UNWIND_FILES];
static struct unwind_page table_pages[UNWIND_PAGES];
static struct cfi_rule table_rules[UNWIND_RULES];
static struct cpu_area *const no_areas[1];
static const uint32_t table_seconds = 100;

static void check_unwind_table(const struct unwind_file *file)
{
	fuzz_check(file->first + (uint64_t)file->nr <= UNWIND_PAGES, "%u pages from %u on", file->nr, file->first);
	for (uint32_t i = 0; i < file->nr; i++) {
		const struct unwind_page *p = &table_pages[file->first + i];

		fuzz_check(!p->nr || p->first / UNWIND_CHUNK_ROWS == (p->first + p->nr - 1) / UNWIND_CHUNK_ROWS,
			   "page %u: %u rows from %u on", i, p->nr, p->first);
		fuzz_check(p->nr <= 1U << UNWIND_PAGE_SHIFT, "page %u has %u rows", i, p->nr);
	}
}

/* What the symbols helper made from a file. */
void fuzz_table(const uint8_t *bytes, size_t size)
{
	static const struct unwind_tables_memory memory = {
		.files = table_files, .pages = table_pages, .rules = table_rules, .areas = no_areas,
		.nr_cpus = 1, .chunks_fd = -1, .max_chunks = UNWIND_CHUNKS, .seconds = &table_seconds,
	};
	static struct unwind_tables *tables;
	struct feed f = { bytes, size };
	uint32_t file = 1 + feed_number(&f, 1);
	int fd = fuzz_fd_again(f.at, f.left);
	struct health h = { 0 };

	if (!tables)
		tables = unwind_tables_new(&memory);
	fuzz_check(tables, "no memory");
	if (!unwind_tables_read(tables, file, fd))
		check_unwind_table(&table_files[file]);
	unwind_tables_wanted(tables, 0);
	unwind_tables_health(tables, &h);
	health_fini(&h);
	close(fd);
}
