/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frames of files and processes that come and go: what is in use keeps its name, and the rest makes room. */
#include "unit.h"

#include <stdio.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "model/health.h"
#include "sym/names_internal.h"

#define SECOND 1000000000ULL
#define MINUTE (60 * SECOND)
#define FILES 512        /* in each round, */
#define PLACES 512       /* each with that many frames */
#define ROUNDS 5

static uint64_t now = MINUTE;
static struct names *names;

/* Replaces libc's. */
int clock_gettime(clockid_t id, struct timespec *ts)
{
	(void)id;
	*ts = (struct timespec){ .tv_sec = now / SECOND, .tv_nsec = now % SECOND };
	return 0;
}

/* The other ends of the helpers' sockets, where the case plays them; 0: there are no helpers. */
static int opener, symbols;

pid_t __wrap_helper_pid(uint32_t id);

pid_t __wrap_helper_pid(uint32_t id)
{
	(void)id;
	return symbols ? getpid() : 0;
}

/* CPU time of the helpers, which all wait. */
static uint64_t cpu_ns;

uint64_t __wrap_process_cpu_ns(pid_t pid);
char __wrap_process_state(pid_t tid);

uint64_t __wrap_process_cpu_ns(pid_t pid)
{
	(void)pid;
	return cpu_ns;
}

char __wrap_process_state(pid_t tid)
{
	(void)tid;
	return 'S';
}

static int play(struct worker *w)
{
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
	w->helper.socket = ends[0];
	return ends[1];
}

static void play_helpers(void)
{
	opener = play(&names->open);
	symbols = play(&names->symbols);
}

static int begin(void **state)
{
	struct names_options o = { .kallsyms_fd = -1 };

	(void)state;
	now = MINUTE;
	cpu_ns = 0;
	names = names_new(&o);
	return !names;
}

static int end(void **state)
{
	(void)state;
	names_free(names);
	if (symbols)
		close(opener), close(symbols);
	opener = symbols = 0;
	return 0;
}

static uint64_t frame_of(uint32_t file, uint64_t at)
{
	return (uint64_t)file << FRAME_FILE_SHIFT | at;
}

static void report(uint32_t id)
{
	struct file_event e = { .id = id };

	snprintf(e.names[0], sizeof(e.names[0]), "file%u", id);
	names_file(names, &e);
}

/* The helper's answer to what is requested. */
static void answer(uint32_t id, uint64_t at, const char *name)
{
	names_learn(names, map_get(&names->files, id), at, NAME_SYMBOL, name);
}

/* Lets @ns pass as the main loop does. Each second @ask asks for what is in use. */
static void pass(uint64_t ns, void (*ask)(void))
{
	for (uint64_t until = now + ns; now < until; now += SECOND / 4) {
		if (ask && now % SECOND < SECOND / 4)
			ask();
		names_work(names);
	}
}

/* A file that is always in use: half of its frames have a name. */
#define KEPT 1

static void ask_kept(void)
{
	for (uint64_t at = 0; at < 100; at++)
		assert_non_null(names_frame(names, frame_of(KEPT, at), 1));
}

static void check_kept(void)
{
	char name[64];

	for (uint64_t at = 0; at < 100; at++) {
		const struct symbol *s = names_frame(names, frame_of(KEPT, at), 1);

		assert_string_equal(s->module, "file1");
		snprintf(name, sizeof(name), at % 2 ? "kept%lu" : "file1+0x%lx", (unsigned long)at);
		assert_string_equal(s->name, name);
		assert_int_equal(s->named, at % 2);
	}
}

static void keep_file(void)
{
	char name[32];

	report(KEPT);
	ask_kept();
	for (uint64_t at = 1; at < 100; at += 2) {
		snprintf(name, sizeof(name), "kept%lu", (unsigned long)at);
		answer(KEPT, at, name);
	}
}

/* Round @round's files: each second place has a name. */
static void come(uint32_t round)
{
	char name[32];

	for (uint32_t file = 0; file < FILES; file++) {
		uint32_t id = 2 + round * FILES + file;

		report(id);
		for (uint64_t at = 0; at < PLACES; at++) {
			names_frame(names, frame_of(id, at), 1);
			snprintf(name, sizeof(name), "f%u_%lu", id, (unsigned long)at);
			if (at % 2)
				answer(id, at, name);
		}
	}
}

TEST(frames, that_are_no_longer_in_use_make_room_for_others)
{
	size_t most = 0;

	keep_file();
	for (uint32_t round = 0; round < ROUNDS; round++) {
		const struct symbol *s;

		come(round);
		s = names_frame(names, frame_of(2 + round * FILES, 1), 1);
		assert_string_not_equal(s->name, "[too many frames]");
		most = names->symbols_by_name.nr > most ? names->symbols_by_name.nr : most;
		pass(5 * MINUTE, ask_kept);
		check_kept();
	}
	assert_true(names->frames.nr < FRAMES_MAX / 2);
	assert_true(names->symbols_by_name.nr <= 2 * names->frames.nr);
	assert_true(most < 2 * FRAMES_MAX);
}

TEST(frames, that_few_use_are_kept)
{
	size_t frames;

	keep_file();
	frames = names->frames.nr;
	pass(60 * MINUTE, NULL);
	assert_int_equal(names->frames.nr, frames);
	check_kept();
}

/* A tree holds symbols until the generation changes, and is drawn now and then until it is made again. */
TEST(frames, a_symbol_is_valid_for_two_minutes_after_the_generation_has_changed)
{
	const struct symbol *held;
	uint64_t generation, changed;

	keep_file();
	come(0);
	held = names_frame(names, frame_of(2, 1), 1);
	generation = names_generation(names);
	assert_string_equal(held->name, "f2_1");
	pass(SECOND, NULL);
	assert_int_not_equal(names_generation(names), generation);
	changed = now;
	while (now < changed + 2 * MINUTE - SECOND) {
		pass(SECOND, ask_kept);
		assert_string_equal(held->name, "f2_1");
	}
	pass(5 * MINUTE, ask_kept);
	assert_true(names->frames.nr < 200);
	assert_true(names->symbols_by_name.nr < 400);
}

/* A frame that is requested again in time keeps its symbol: equal pointers are equal functions. */
static const struct symbol *again;

static void ask_again(void)
{
	again = names_frame(names, frame_of(3, 1), 1);
	ask_kept();
}

TEST(frames, a_symbol_stays_the_same_while_it_is_in_use)
{
	const struct symbol *before;

	keep_file();
	come(0);
	before = names_frame(names, frame_of(3, 1), 1);
	pass(10 * MINUTE, ask_again);
	assert_ptr_equal(again, before);
	assert_string_equal(again->name, "f3_1");
	assert_true(names->frames.nr < 200);
}

TEST(frames, of_a_file_that_is_reported_later_get_its_name)
{
	const struct symbol *s = names_frame(names, frame_of(7, 0x10), 1);
	uint64_t generation = names_generation(names);

	assert_string_equal(s->name, "[file]+0x10");
	report(7);
	s = names_frame(names, frame_of(7, 0x10), 1);
	assert_string_equal(s->name, "file7+0x10");
	assert_int_not_equal(names_generation(names), generation);
	assert_int_equal(names_pending(names), 1);
}

/* Reports a file of that name and build, of which two places are asked for. */
static void report_build(uint32_t id, uint8_t build)
{
	struct file_event e = { .id = id, .names[0] = "app" };
	struct file *f;

	names_file(names, &e);
	names_frame(names, frame_of(id, 0x10), 1);
	names_frame(names, frame_of(id, 0x20), 1);
	f = map_get(&names->files, id);
	f->about.build_id_bytes = 20;
	memset(f->about.build_id, build, 20);
}

/* As the helper answers for a file with a symbol for one place, and an unwind table for the other. */
static void answer_build(uint32_t id)
{
	names_learn(names, map_get(&names->files, id), 0x10, NAME_SYMBOL, "handle");
	names_learn(names, map_get(&names->files, id), 0x20, NAME_FUNCTION, "fn_20");
}

TEST(frames, a_function_without_a_name_is_another_one_in_another_build)
{
	const struct symbol *of[3][2];

	for (uint32_t id = 1; id <= 3; id++) {
		report_build(id, id == 2);
		answer_build(id);
		for (int i = 0; i < 2; i++)
			of[id - 1][i] = names_frame(names, frame_of(id, 0x10 + 0x10 * i), 1);
	}
	assert_string_equal(of[0][0]->name, "handle");
	assert_string_equal(of[0][1]->name, "app`fn_20");
	assert_string_equal(of[1][1]->name, "app`fn_20");
	/* Files 1 and 3 are the same build. */
	assert_ptr_equal(of[2][1], of[0][1]);
	assert_ptr_not_equal(of[1][1], of[0][1]);
	assert_int_not_equal(of[1][1]->id, of[0][1]->id);
	assert_ptr_equal(of[1][0], of[0][0]);
}

TEST(frames, an_address_is_another_one_in_another_build)
{
	const struct symbol *of[3];

	for (uint32_t id = 1; id <= 3; id++) {
		report_build(id, id == 2);
		names_learn(names, map_get(&names->files, id), 0x20, NAME_NONE, "");
		of[id - 1] = names_frame(names, frame_of(id, 0x20), 1);
		assert_string_equal(of[id - 1]->name, "app+0x20");
	}
	assert_ptr_equal(of[2], of[0]);
	assert_ptr_not_equal(of[1], of[0]);
}

/* A symbol that was freed, and is learnt again, is the same function for code that remembers its id. */
TEST(frames, ids_of_functions_last)
{
	uint64_t id, named;

	keep_file();
	report_build(2, 1);
	answer_build(2);
	named = names_frame(names, frame_of(2, 0x10), 1)->id;
	id = names_frame(names, frame_of(2, 0x20), 1)->id;
	come(1);
	pass(10 * MINUTE, ask_kept);
	assert_string_equal(names_frame(names, frame_of(2, 0x20), 1)->name, "app+0x20");
	names_frame(names, frame_of(2, 0x10), 1);
	answer_build(2);
	assert_true(names_frame(names, frame_of(2, 0x20), 1)->id == id);
	assert_true(names_frame(names, frame_of(2, 0x10), 1)->id == named);
}

static uint64_t anonymous(uint64_t at)
{
	return FRAME_ANONYMOUS | at;
}

TEST(frames, processes_with_a_jit_compiler_are_forgotten)
{
	keep_file();
	for (uint32_t tgid = 1; tgid <= 3000; tgid++)
		for (uint64_t at = 0; at < 100; at++)
			names_frame(names, anonymous(0x1000 + at), tgid);
	assert_int_equal(names->files.nr, 3001);
	pass(6 * MINUTE, ask_kept);
	assert_int_equal(names->files.nr, 1);
	assert_true(names->frames.nr < 200);
	/* One of them comes again. */
	assert_string_equal(names_frame(names, anonymous(0x1000), 5)->name, "[anon]+0x1000");
	assert_int_equal(names->files.nr, 2);
	answer(5 | JIT_FILE, 0x1000, "compiled");
	assert_string_equal(names_frame(names, anonymous(0x1000), 5)->name, "compiled");
}

/* More than there is room for, all in use: the others have no names, and what was there keeps its own. */
/* A file rests while its last names are being looked for; if there is none yet, it is read again. */
TEST(frames, without_a_name_keep_a_jit_compiler_at_work)
{
	struct file *f;

	names_frame(names, FRAME_ANONYMOUS | 0x1000, 5);
	f = map_get(&names->files, 5 | JIT_FILE);
	f->state = FILE_READY;
	f->nr_wanted = 0;
	f->active = false;
	names->nr_active = 0;
	names_learn(names, f, 0x1000, NAME_NONE, "");
	assert_true(f->active);
	assert_int_equal(names->nr_active, 1);
	assert_int_equal(f->nr_unknown, 1);
}

TEST(frames, more_than_the_most)
{
	keep_file();
	for (uint32_t round = 0; round < 3; round++)
		come(round);
	assert_int_equal(names->frames.nr, FRAMES_MAX);
	assert_string_equal(names_frame(names, frame_of(9999, 1), 1)->name, "[too many frames]");
	check_kept();
	pass(5 * MINUTE, ask_kept);
	assert_string_equal(names_frame(names, frame_of(9999, 1), 1)->name, "[file]+0x1");
}

/* The kernel's symbols are read again for a frame that came after they were read, once: what they lack then, they never have. */
TEST(frames, of_the_kernel_without_a_symbol_are_looked_up_once_more)
{
	const uint64_t frame = FRAME_KERNEL | 0xffffffffc0150000;
	struct file *kernel = &names->kernel;

	kernel->state = FILE_OPEN;
	names_frame(names, frame, 1);
	assert_int_equal(kernel->nr_wanted, 1);
	names_learn(names, kernel, frame, NAME_NONE, "");
	assert_int_equal(kernel->nr_unknown, 1);
	file_want_unnamed(names, kernel);
	names_learn(names, kernel, frame, NAME_NONE, "");
	assert_int_equal(kernel->nr_unknown, 0);
}

/* There is no file to read them from. */
TEST(frames, of_a_kernel_that_hides_its_symbols_have_their_reason)
{
	const uint64_t frame = FRAME_KERNEL | 0xffffffff81000000;
	struct health h = { 0 };

	names_frame(names, frame, 1);
	assert_int_equal(names_lack(names, frame, 1), LACK_HIDDEN);
	assert_int_equal(names_pending(names), 0);
	names_health(names, &h);
	assert_string_equal(h.lines[h.nr - 1].name, "symbols");
	assert_int_equal(h.lines[h.nr - 1].verdict, HEALTH_OFF);
	health_fini(&h);
}

/* Once the kernel's symbols were read again, another module can be where one was. */
TEST(frames, of_modules_are_looked_up_after_each_reading_of_the_kernels_symbols)
{
	const uint64_t of_kernel = FRAME_KERNEL | 0xffffffff81000000, of_module = FRAME_KERNEL | 0xffffffffc0100000;
	struct file *kernel = &names->kernel;

	kernel->state = FILE_READY;
	names_frame(names, of_kernel, 1);
	names_frame(names, of_module, 1);
	names_learn(names, kernel, of_kernel, NAME_SYMBOL, "_stext");
	names_learn(names, kernel, of_module, NAME_SYMBOL, "last [ext4]");
	kernel->nr_wanted = 0;
	names_frame(names, of_module, 1);
	assert_int_equal(kernel->nr_wanted, 0);
	names->kernel_reads++;
	names_frame(names, of_kernel, 1);
	assert_int_equal(kernel->nr_wanted, 0);
	assert_string_equal(names_frame(names, of_module, 1)->module, "[ext4]");
	assert_int_equal(kernel->nr_wanted, 1);
	names_learn(names, kernel, of_module, NAME_SYMBOL, "core::slice::<impl [T]>::len [xfs]");
	assert_string_equal(names_frame(names, of_module, 1)->name, "core::slice::<impl [T]>::len");
	assert_string_equal(names_frame(names, of_module, 1)->module, "[xfs]");
}

/* The symbols helper reports @times times that it has read a part of a file, in @ns of CPU time. */
static void read_parts(uint32_t what, struct file *f, int times, uint64_t ns)
{
	const struct symbols_loaded part = { .what = what, .file = f->id, .err = -EAGAIN };
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
	names->symbols.helper.socket = ends[0];
	names->request.what = what;
	for (int i = 0; i < times; i++) {
		names->symbols.deadline = now + SECOND;
		names->symbols.cpu_before = cpu_ns;
		cpu_ns += ns;
		names->reading = f;
		assert_int_equal(send(ends[1], &part, sizeof(part), 0), sizeof(part));
		names_work(names);
	}
	close(ends[1]);
}

/* What takes too long is given up; what is known of the file without it stays. */
TEST(frames, of_a_file_with_too_much_debug_information_keep_their_names)
{
	struct file *f;

	report(1);
	names_frame(names, frame_of(1, 1), 1);
	f = map_get(&names->files, 1);
	f->state = FILE_DEBUG_READING;
	read_parts(SYMBOLS_DEBUG, f, 1000, SECOND / 5);
	assert_int_equal(f->state, FILE_READY);
	assert_int_equal(f->nr_wanted, 1);
	assert_true(f->no_debug && f->err == -ETIME);
	f->state = FILE_READING;
	read_parts(SYMBOLS_FILE, f, 1000, SECOND / 5);
	assert_int_equal(f->state, FILE_BAD);
	assert_int_equal(f->nr_wanted, 0);
}

/* On a slow disk, or beside many busy threads, the helper has hardly any CPU time. */
TEST(frames, of_a_file_that_is_read_slowly_get_their_names)
{
	struct file *f;

	report(1);
	names_frame(names, frame_of(1, 1), 1);
	f = map_get(&names->files, 1);
	for (int i = 0; i < 2; i++) {
		f->state = FILE_READING;
		read_parts(SYMBOLS_FILE, f, 1000, SECOND / 50);
		assert_int_equal(f->state, FILE_READING);
		f->slices = 0; /* it is read from the beginning */
	}
	read_parts(SYMBOLS_FILE, f, 10000, 0);
	assert_int_equal(f->state, FILE_BAD);
}

/* --- Files that are opened again */

/* Takes the next request to open a file, and returns whose; 0: there is none. The first look can find that one is due. */
static uint32_t asked_open(void)
{
	struct open_request r;

	names_work(names);
	names_work(names);
	return recv(opener, &r, sizeof(r), 0) == sizeof(r) ? r.tgid : 0;
}

static void answer_open(uint32_t id, int err)
{
	const struct open_answer a = { .id = id, .err = err };

	assert_int_equal(send(opener, &a, sizeof(a), 0), sizeof(a));
	names_work(names);
}

/* What the symbols helper is asked next, -1: nothing. */
static int asked_symbols(void)
{
	struct symbols_request r;

	names_work(names);
	return recv(symbols, &r, sizeof(r), 0) == sizeof(r) ? (int)r.what : -1;
}

static void send_name(uint64_t at)
{
	const struct symbols_names name = { .what = SYMBOLS_RESOLVE, .file = 1, .nr = 1, .at = { at },
					    .kinds = { NAME_SYMBOL }, .names = "main" };

	assert_int_equal(asked_symbols(), SYMBOLS_RESOLVE);
	send(symbols, &name, offsetof(struct symbols_names, names) + sizeof("main"), 0);
	names_work(names);
}

static void send_loaded(void)
{
	static const struct symbols_loaded loaded = { .what = SYMBOLS_FILE, .file = 1, .whole = true, .lines = true };

	assert_int_equal(asked_symbols(), SYMBOLS_FILE);
	send(symbols, &loaded, sizeof(loaded), 0);
}

/* The symbols helper has ended, and is replaced. */
static void replace_symbols(void)
{
	close(symbols);
	names_work(names);
	symbols = play(&names->symbols);
}

/* A file with line numbers that was read and closed. */
static struct file *closed_file(uint32_t id)
{
	struct file *f;

	report(id);
	f = map_get(&names->files, id);
	f->state = FILE_READY;
	f->about.lines = true;
	f->event.tgid = 1;
	play_helpers();
	return f;
}

static int asked_again;

static void count_asked(void *arg, const struct file_key *key)
{
	(void)arg;
	(void)key;
	asked_again++;
}

TEST(frames, of_a_deleted_file_have_source_lines_through_another_process)
{
	const struct file_event another = { .id = 1, .tgid = 2 };

	closed_file(1);
	names->o.ask_again = count_asked;
	asked_again = 0;
	names_source(names, frame_of(1, 0x10));
	assert_int_equal(asked_open(), 1);
	answer_open(1, -ENOENT);
	assert_int_equal(asked_open(), 0);
	assert_int_equal(asked_again, 1);
	names_file(names, &another);
	assert_int_equal(asked_open(), 2);
	answer_open(1, 0);
	assert_int_equal(asked_symbols(), SYMBOLS_SOURCE);
	assert_int_equal(asked_again, 1);
}

/* The process in which the file was met first can have ended, and be in another container than the debug information. */
TEST(frames, have_debug_information_of_another_process)
{
	const struct file_event another = { .id = 1, .tgid = 2 };
	struct file *f = closed_file(1);

	names->o.ask_again = count_asked;
	asked_again = 0;
	f->about.build_id_bytes = 20;
	names_frame(names, frame_of(1, 0x10), 1);
	f->nr_wanted = 0;
	names_learn(names, f, 0x10, NAME_FUNCTION, "fn_10");
	for (int second = 0; second < 50; second++, now += SECOND) {
		names_frame(names, frame_of(1, 0x10), 1);
		assert_int_equal(asked_open(), second ? 2 : 1);
		answer_open(1, -ENOENT);
		assert_int_equal(asked_again, 1 + second / 5);
		names_file(names, &another);
	}
}

/* As by the header of every view: nothing shows their names. */
TEST(frames, that_are_only_counted_have_debug_information_looked_for_every_five_seconds)
{
	struct file *f = closed_file(1);

	f->about.build_id_bytes = 20;
	assert_int_equal(names_lack(names, frame_of(1, 0x10), 1), LACK_READ);
	assert_int_equal(f->nr_wanted, 1); /* it is asked for */
	f->nr_wanted = 0;
	names_learn(names, f, 0x10, NAME_FUNCTION, "fn_10");
	for (int second = 0; second < 20; second++, now += SECOND) {
		assert_int_equal(names_lack(names, frame_of(1, 0x10), 1), LACK_SYMBOL);
		assert_int_equal(asked_open(), second % 5 ? 0 : 1);
		if (second % 5 == 0)
			answer_open(1, -ENOENT);
	}
}

TEST(frames, with_names_have_source_lines_after_the_helper_was_replaced)
{
	struct file *f = closed_file(1);

	names_frame(names, frame_of(1, 0x10), 1);
	answer(1, 0x10, "main");
	f->nr_wanted = 0;
	replace_symbols();
	names_source(names, frame_of(1, 0x10));
	assert_int_equal(asked_open(), 1);
	answer_open(1, 0);
	send_loaded();
	send_name(0x10);
	assert_int_equal(asked_symbols(), SYMBOLS_SOURCE);
	assert_int_equal(names_pending(names), 0);
}

/* It ends while it works on a request of this kind. */
static void end_helper(int what)
{
	assert_int_equal(asked_symbols(), what);
	replace_symbols();
}

/* The kernel ends helpers first when memory runs out: once in a while is not the file's fault, nor while it is closed. */
TEST(frames, of_a_file_that_ends_two_helpers_have_no_names)
{
	struct file *f = closed_file(1);

	f->held = true;
	names->nr_held = 1;
	now += MINUTE;
	end_helper(SYMBOLS_CLOSE);
	names_frame(names, frame_of(1, 0x10), 1);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(f->state, FILE_CLOSED);
		now += i == 1 || i == 2 ? 10 * MINUTE : MINUTE;
		assert_int_equal(asked_open(), 1);
		answer_open(1, 0);
		end_helper(SYMBOLS_FILE);
	}
	assert_int_equal(f->state, FILE_BAD);
	assert_int_equal(f->err, -EOWNERDEAD);
}

/* That the symbols helper has ended is noticed when it is to read a file, or to look up names. */
TEST(frames, are_requested_again_when_a_request_cannot_be_sent)
{
	static const enum file_state states[] = { FILE_OPEN, FILE_READY };
	const struct file_event e = { .id = 1, .tgid = 1 };
	struct file *f = closed_file(1);

	for (int i = 0; i < 2; i++) {
		f->state = states[i];
		f->held = true;
		names->nr_held = 1;
		names_frame(names, frame_of(1, i), 1);
		close(symbols);
		names_file(names, &e);
		symbols = play(&names->symbols);
		assert_int_equal(names_pending(names), 1);
		assert_int_equal(asked_open(), 1);
		answer_open(1, 0);
		send_loaded();
		send_name(i);
		assert_int_equal(names_pending(names), 0);
	}
}

/* The open helper does not answer, and is replaced. */
static void replace_opener(void)
{
	close(opener);
	names_work(names);
	opener = play(&names->open);
}

/* The file is opened again until its file system answers, ever more rarely. */
TEST(frames, of_a_file_system_that_was_silent_for_minutes_get_their_names)
{
	const struct file_event e = { .id = 1, .tgid = 1 };
	uint64_t until = now + 2 * MINUTE;
	int attempts = 0;

	play_helpers();
	names->o.ask_again = count_asked;
	asked_again = 1;
	names_frame(names, frame_of(1, 0x10), 1);
	for (; now < until || !asked_again; now += SECOND / 4) {
		if (asked_again)
			names_file(names, &e);
		names_frame(names, frame_of(1, 0x10), 1);
		asked_again = 0;
		if (asked_open() == 1) {
			replace_opener();
			attempts++;
			assert_int_equal(names_pending(names), 0);
		}
		assert_true(now < until + MINUTE);
	}
	assert_in_range(attempts, 5, 10);
	asked_again = 0;
	names_file(names, &e);
	assert_int_equal(asked_open(), 1);
	answer_open(1, 0);
	send_loaded();
	send_name(0x10);
	assert_string_equal(names_frame(names, frame_of(1, 0x10), 1)->name, "main");
	now += MINUTE;
	names_work(names);
	assert_int_equal(asked_again, 0);
}

/* Its file system answers again each time. */
TEST(frames, of_a_file_whose_reading_was_late_get_their_names)
{
	struct file *f = closed_file(1);

	for (uint64_t at = 0; at < 5; at++) {
		names_frame(names, frame_of(1, at), 1);
		assert_int_equal(asked_symbols(), SYMBOLS_RESOLVE);
		now += 4 * SECOND;
		names_work(names);
		replace_symbols();
		assert_int_equal(f->state, FILE_CLOSED);
		assert_int_equal(asked_open(), 1);
		answer_open(1, 0);
		send_loaded();
		send_name(at);
		assert_string_equal(names_frame(names, frame_of(1, at), 1)->name, "main");
	}
}

/* It answers each time the file is read, but never for a name. */
TEST(frames, of_a_file_that_is_always_late_have_no_names)
{
	struct file *f = closed_file(1);

	names_frame(names, frame_of(1, 0x10), 1);
	for (int i = 0; i < 3; i++) {
		assert_int_not_equal(f->state, FILE_BAD);
		assert_int_equal(asked_symbols(), SYMBOLS_RESOLVE);
		now += 4 * SECOND;
		names_work(names);
		replace_symbols();
		if (i == 2)
			break;
		assert_int_equal(asked_open(), 1);
		answer_open(1, 0);
		send_loaded();
		names_work(names);
	}
	assert_int_equal(f->state, FILE_BAD);
	assert_int_equal(f->err, -ETIMEDOUT);
}

TEST(frames, of_a_jit_compiler_are_looked_for_again_when_its_file_was_late)
{
	play_helpers();
	names_frame(names, anonymous(0x1000), 5);
	for (int seconds = 1; seconds <= 4; seconds *= 2) {
		assert_int_equal(asked_open(), 5);
		replace_opener();
		assert_int_equal(names_pending(names), 0);
		now += seconds * SECOND;
		assert_int_equal(asked_open(), 0);
		now += SECOND;
	}
	assert_int_equal(asked_open(), 5);
	answer_open(5 | JIT_FILE, 0);
	assert_int_equal(asked_symbols(), SYMBOLS_PERF_MAP);
}

/* The same where only the folder with its debug information is skipped for a while. */
TEST(frames, have_source_lines_when_the_debug_information_was_late)
{
	static const uint32_t found[] = { OPEN_FOUND, OPEN_FOUND_HOST };
	struct file *f = closed_file(1);

	f->debug_lines = true;
	for (int i = 0; i < 2; i++) {
		const struct open_answer a = { .id = 1, .found = found[i] };
		int seconds = 0;

		f->debug_where = OPEN_FOUND_HOST;
		names_source(names, frame_of(1, i));
		assert_int_equal(asked_open(), 1);
		send(opener, &a, sizeof(a), 0);
		names_work(names);
		replace_opener();
		for (; seconds < 20 && !asked_open(); seconds++)
			now += SECOND;
		assert_int_equal(seconds, i ? 10 : 1);
		answer_open(1, 0);
		assert_int_equal(asked_symbols(), SYMBOLS_SOURCE);
		replace_symbols();
		f->state = FILE_READY;
	}
}

static void send_kernel_name(uint64_t at)
{
	const struct symbols_loaded loaded = { .what = SYMBOLS_KERNEL };
	const struct symbols_names name = { .what = SYMBOLS_RESOLVE, .nr = 1, .at = { at }, .kinds = { NAME_SYMBOL },
					    .names = "schedule" };

	assert_int_equal(asked_symbols(), SYMBOLS_KERNEL);
	send(symbols, &loaded, sizeof(loaded), 0);
	assert_int_equal(asked_symbols(), SYMBOLS_RESOLVE);
	send(symbols, &name, offsetof(struct symbols_names, names) + sizeof("schedule"), 0);
}

/* The tables of all large programs take seconds on a busy host. */
TEST(frames, of_the_kernel_have_names_before_unwind_tables_are_made)
{
	const uint64_t frame = FRAME_KERNEL | 0xffffffff81000000;
	struct file *f = closed_file(1);

	f->held = true;
	f->table_asked = false;
	names->kernel.state = FILE_OPEN;
	names_frame(names, frame, 1);
	send_kernel_name(frame);
	assert_int_equal(asked_symbols(), SYMBOLS_TABLE);
	assert_string_equal(names_frame(names, frame, 1)->name, "schedule");
}

/* The kernel's symbols take an emulated machine seconds. Without them, no other file would have its turn. */
TEST(frames, of_the_kernel_may_take_longer_than_others)
{
	const struct symbols_loaded loaded = { .what = SYMBOLS_KERNEL };

	play_helpers();
	names->kernel.state = FILE_OPEN;
	names_frame(names, FRAME_KERNEL | 0xffffffff81000000, 1);
	assert_int_equal(asked_symbols(), SYMBOLS_KERNEL);
	cpu_ns += 20 * SECOND;
	names_work(names);
	assert_int_equal(names->symbols.failures, 0);
	send(symbols, &loaded, sizeof(loaded), 0);
	assert_int_equal(asked_symbols(), SYMBOLS_RESOLVE);
	cpu_ns += 5 * SECOND;
	names_work(names);
	assert_int_equal(names->symbols.failures, 1);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(frames_##name, begin, end)
	RUN_TESTS(CASE(that_are_no_longer_in_use_make_room_for_others), CASE(that_few_use_are_kept),
		  CASE(a_symbol_is_valid_for_two_minutes_after_the_generation_has_changed),
		  CASE(a_symbol_stays_the_same_while_it_is_in_use), CASE(of_a_file_that_is_reported_later_get_its_name),
		  CASE(a_function_without_a_name_is_another_one_in_another_build),
		  CASE(an_address_is_another_one_in_another_build), CASE(ids_of_functions_last),
		  CASE(processes_with_a_jit_compiler_are_forgotten), CASE(without_a_name_keep_a_jit_compiler_at_work),
		  CASE(more_than_the_most), CASE(of_the_kernel_without_a_symbol_are_looked_up_once_more),
		  CASE(of_a_kernel_that_hides_its_symbols_have_their_reason),
		  CASE(of_modules_are_looked_up_after_each_reading_of_the_kernels_symbols),
		  CASE(of_a_file_with_too_much_debug_information_keep_their_names),
		  CASE(of_a_file_that_is_read_slowly_get_their_names),
		  CASE(of_a_deleted_file_have_source_lines_through_another_process),
		  CASE(have_debug_information_of_another_process),
		  CASE(that_are_only_counted_have_debug_information_looked_for_every_five_seconds),
		  CASE(with_names_have_source_lines_after_the_helper_was_replaced),
		  CASE(of_a_file_that_ends_two_helpers_have_no_names),
		  CASE(are_requested_again_when_a_request_cannot_be_sent),
		  CASE(of_a_file_system_that_was_silent_for_minutes_get_their_names),
		  CASE(of_a_file_whose_reading_was_late_get_their_names),
		  CASE(of_a_file_that_is_always_late_have_no_names),
		  CASE(of_a_jit_compiler_are_looked_for_again_when_its_file_was_late),
		  CASE(of_the_kernel_may_take_longer_than_others),
		  CASE(have_source_lines_when_the_debug_information_was_late),
		  CASE(of_the_kernel_have_names_before_unwind_tables_are_made));
}
