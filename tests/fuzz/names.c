/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The helpers that open files and look up names: their requests and answers. */
#include "helpers.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "helper/proto.h"
#include "model/health.h"
#include "sym/debug_folders.h"
#include "sym/names.h"
#include "sym/roles.h"

/* Checks the answers of a role: texts are terminated. */
static void check_answers(int socket)
{
	static union {
		uint32_t what;
		struct symbols_loaded loaded;
		struct symbols_names names;
		struct symbols_source source;
		struct open_answer open;
	} a;
	int fd, got;

	while ((got = helper_receive(socket, &a, sizeof(a), &fd)) > 0) {
		if (fd >= 0)
			close(fd);
		if (a.what == SYMBOLS_SOURCE && got == sizeof(a.source))
			fuzz_check(memchr(a.source.text, 0, sizeof(a.source.text)), "a source without an end");
		if (a.what == SYMBOLS_RESOLVE && got > (int)offsetof(struct symbols_names, names))
			fuzz_check(a.names.nr <= SYMBOLS_BATCH && !a.names.names[a.names.bytes - 1], "%u names in %u bytes",
				   a.names.nr, a.names.bytes);
	}
}

/* --- Requests to symbols */

#define FILES 4 /* and the same number of JITs */

static uint32_t touched; /* in this input, one bit each */

static uint32_t file_of(uint8_t byte)
{
	touched |= 1U << (byte % FILES + (byte & 0x80 ? FILES : 0));
	return byte % FILES + (byte & 0x80 ? JIT_FILE : 0);
}

static void hand_over(int peer, uint32_t what, uint32_t file, const uint8_t *bytes, size_t size)
{
	const struct handed_file h = { .what = what, .file = file };
	int fd = fuzz_fd(bytes, size);

	helper_send(peer, &h, sizeof(h), fd);
	close(fd);
}

static void ask_symbols(struct role_under_test *r, const struct symbols_request *request, int fd)
{
	helper_send(r->ask, request, sizeof(*request), fd);
	if (fd >= 0)
		close(fd);
	symbols_run(r->answer);
	check_answers(r->ask);
}

static void begin_symbols(struct role_under_test *r, struct role_under_test *peer)
{
	const struct symbols_request request = { .what = SYMBOLS_PEER };

	role_begin(r);
	role_begin(peer);
	helper_send(r->ask, &request, sizeof(request), peer->answer);
	close(peer->answer);
}

/* The role forgets files, but keeps state that the next input finds empty. */
static void end_symbols(struct role_under_test *r, struct role_under_test *peer)
{
	struct symbols_request request = { .what = SYMBOLS_CLOSE };

	for (uint32_t i = 0; i < 2 * FILES; i++) {
		request.file = i % FILES + (i < FILES ? 0 : JIT_FILE);
		if (touched & 1U << i)
			ask_symbols(r, &request, -1);
	}
	touched = 0;
	close(peer->ask);
	close(r->ask);
	close(r->answer);
}

void fuzz_symbols(const uint8_t *bytes, size_t size)
{
	struct feed f = { bytes, size };
	struct role_under_test r, peer;

	begin_symbols(&r, &peer);
	while (f.left) {
		uint8_t what = feed_number(&f, 1), file = feed_number(&f, 1);
		size_t len = feed_number(&f, 2);
		struct symbols_request request = { .what = what & 15, .file = file_of(file) };

		if (len > f.left)
			len = f.left;
		if (what & 0x80) { /* a file */
			hand_over(peer.ask, what & 3, file_of(file), f.at, len);
			f.at += len;
			f.left -= len;
			continue;
		}
		request.nr = feed_number(&f, 1) * (what & 0x40 ? 0x1000001 : 1);
		request.debug = file & 0x40;
		for (int i = 0; i < 4; i++)
			request.at[i] = feed_number(&f, 3);
		if (what & 0x20) /* only a few, as each is remembered */
			request.file = len & 0x800f;
		if (request.what != SYMBOLS_PEER)
			ask_symbols(&r, &request, what & 0x10 ? fuzz_fd(f.at, f.left) : -1);
	}
	end_symbols(&r, &peer);
}

/* --- Requests to open */

static void ask_open(struct feed *f, int socket)
{
	uint8_t how = feed_number(f, 1);
	struct open_request request = { .what = how & 3, .id = feed_number(f, 1) };

	request.tgid = how & 4 ? (uint32_t)getpid() : feed_number(f, 2);
	request.attempt = feed_number(f, 1) << (how & 8 ? 24 : 0);
	request.build_id_bytes = feed_number(f, 1);
	feed_copy(f, request.build_id, 4);
	request.key.device = how & 16 ? FILE_VDSO : feed_number(f, 4);
	request.start = feed_number(f, 6);
	request.end = feed_number(f, 6);
	feed_line(f, request.path, sizeof(request.path));
	feed_line(f, request.debuglink, sizeof(request.debuglink));
	if (how & 32)
		memset(request.debuglink, 'x', sizeof(request.debuglink));
	feed_line(f, request.inside, sizeof(request.inside));
	if (request.what != OPEN_PEER)
		helper_send(socket, &request, how & 64 ? feed_number(f, 1) : sizeof(request), -1);
}

/* Any requests for any process, by a number or our own: files are opened and passed on, and nothing reads them. */
void fuzz_open(const uint8_t *bytes, size_t size)
{
	struct feed f = { bytes, size };
	struct open_request request = { .what = OPEN_PEER };
	struct role_under_test r, peer;

	debug_folders_add(DEBUG_FOLDER, "/usr/lib/debug");
	debug_folders_add(DEBUG_CACHE, "/var/cache/debuginfod_client");
	role_begin(&r);
	role_begin(&peer);
	helper_send(r.ask, &request, sizeof(request), peer.answer);
	close(peer.answer);
	while (f.left)
		ask_open(&f, r.ask);
	open_run(r.answer); /* which can end before it has all of them */
	check_answers(r.ask);
	fuzz_close_sockets();
}

/* --- Answers of both */

#define FRAMES 8
#define OPEN 0
#define SYMBOLS 1

static uint64_t frames[FRAMES] = {
	FRAME_KERNEL | 0xffffff81000100, 1ULL << FRAME_FILE_SHIFT | 0x100, 1ULL << FRAME_FILE_SHIFT | 0x200,
	2ULL << FRAME_FILE_SHIFT | 0x100, 3ULL << FRAME_FILE_SHIFT | 5, FRAME_ANONYMOUS | 0x7f0000001000, FRAME_GAP,
	9ULL << FRAME_FILE_SHIFT,
};

static int take_table(void *arg, uint32_t file, int fd)
{
	struct feed *f = arg;

	fuzz_check(fd >= 0 && file, "file %u, descriptor %d", file, fd);
	return -(int)feed_number(f, 1);
}

static void ask_again(void *arg, const struct file_key *key)
{
	(void)arg;
	(void)key;
}

/* The last request to a helper: valid answers begin like it. */
static uint32_t asked_open;
static struct symbols_request asked;

static void take_requests(void)
{
	struct open_request o;
	int fd, got;

	while (helpers_other(OPEN) >= 0 && (got = helper_receive(helpers_other(OPEN), &o, sizeof(o), &fd)) > 0) {
		asked_open = o.id;
		if (fd >= 0)
			close(fd);
	}
	while (helpers_other(SYMBOLS) >= 0 &&
	       (got = helper_receive(helpers_other(SYMBOLS), &asked, sizeof(asked), &fd)) > 0)
		if (fd >= 0)
			close(fd);
}

static void answer_open(struct feed *f, bool right, uint32_t found)
{
	struct open_answer a = { .id = right ? asked_open : feed_number(f, 1), .err = -(int)feed_number(f, 1),
				 .attempt = feed_number(f, 1), .found = found };

	feed_line(f, a.path, sizeof(a.path));
	helpers_answer(OPEN, &a, right ? sizeof(a) : feed_number(f, 2) % (sizeof(a) + 1), -1);
}

static void answer_loaded(struct feed *f, bool right)
{
	struct symbols_loaded a = { .what = right ? asked.what : feed_number(f, 1),
				    .file = right ? asked.file : feed_number(f, 1) };
	int fd = feed_number(f, 1) & 1 ? fuzz_fd_any() : -1;

	a.err = -(int)feed_number(f, 1);
	a.symbols = a.whole = feed_number(f, 1) & 1;
	a.lines = feed_number(f, 1) & 1;
	a.build_id_bytes = feed_number(f, 1);
	feed_copy(f, a.debuglink, feed_number(f, 1) & 127);
	a.segments.nr = feed_number(f, 1);
	a.segments.at[0].size = feed_number(f, 8);
	a.segments.at[0].address = feed_number(f, 8);
	helpers_answer(SYMBOLS, &a, sizeof(a), fd);
}

static void answer_names(struct feed *f, bool right)
{
	static struct symbols_names a;
	uint8_t len = feed_number(f, 1);

	a = (struct symbols_names){ .what = SYMBOLS_RESOLVE, .file = asked.file, .nr = right ? asked.nr : feed_number(f, 4),
				    .bytes = feed_number(f, 1) };
	memcpy(a.at, asked.at, sizeof(a.at));
	feed_copy(f, a.names, len);
	helpers_answer(SYMBOLS, &a, offsetof(struct symbols_names, names) + len, -1);
}

static void answer_source(struct feed *f)
{
	struct symbols_source a = { .what = SYMBOLS_SOURCE, .file = asked.file, .at = asked.at[0] };

	feed_copy(f, a.text, feed_number(f, 2) % (sizeof(a.text) + 1));
	helpers_answer(SYMBOLS, &a, sizeof(a), -1);
}

/* An answer of the requested kind. */
static void answer_asked(struct feed *f)
{
	if (asked.what == SYMBOLS_RESOLVE)
		answer_names(f, true);
	else if (asked.what == SYMBOLS_SOURCE)
		answer_source(f);
	else
		answer_loaded(f, true);
}

static void answer_any(struct feed *f, int nr)
{
	uint8_t raw[200];
	size_t len = 1 + feed_number(f, 1) % sizeof(raw);

	feed_copy(f, raw, len);
	helpers_answer(nr, raw, len, -1);
}

static void step_names(struct feed *f, struct names *n)
{
	uint8_t what = feed_number(f, 1);

	if (what & 0x40) /* up to 25.5 s, and CPU time for one request */
		fuzz_clock_pass(feed_number(f, 1) * 100000000, what & 0x20 ? 10000000000 : 0);
	if (what & 0x10)
		helpers_stick(what & 0x80 ? OPEN : SYMBOLS);
	take_requests();
	switch (what % 8) {
	case 0:
		answer_open(f, !(what & 0x80), !(what & 8) ? 0 : what & 0x20 ? OPEN_FOUND_FOLDERS : OPEN_FOUND);
		break;
	case 1:
		answer_asked(f);
		break;
	case 2:
		answer_loaded(f, !(what & 0x80));
		break;
	case 3:
		answer_names(f, !(what & 0x80));
		break;
	case 4:
		answer_source(f);
		break;
	case 5:
		answer_any(f, what & 0x80 ? OPEN : SYMBOLS);
		break;
	case 6:
		if (what & 0x80) {
			uint32_t file = feed_number(f, 1) % FILES;

			names_forget(n, &file, 1);
			break;
		}
		names_source(n, frames[feed_number(f, 1) % FRAMES]);
		names_table(n, feed_number(f, 1) % FILES);
		break;
	default:
		helpers_close(what & 0x80 ? OPEN : SYMBOLS);
	}
	names_work(n);
}

static void look_at(struct names *n)
{
	struct health h = { 0 };
	struct frame_place p;
	char text[512];

	for (int i = 0; i < FRAMES; i++) {
		const struct symbol *s = names_frame(n, frames[i], 7);

		fuzz_check(s && strlen(s->name) && strlen(s->module), "frame %d has no name", i);
		names_build_id(n, frames[i], text, sizeof(text));
		names_place(n, frames[i], &p);
		fuzz_check(memchr(p.path, '\0', sizeof(p.path)), "the path of frame %d has no end", i);
		fuzz_check(strlen(names_source(n, frames[i])) < sizeof(((struct symbols_source *)0)->text), "no end");
	}
	names_health(n, &h);
	for (size_t i = 0; i < h.nr; i++)
		fuzz_safe(h.lines[i].text, "a line of the health page");
	health_fini(&h);
}

void fuzz_names(const uint8_t *bytes, size_t size)
{
	struct feed f = { bytes, size };
	struct names_options o = { .open_role = OPEN, .symbols_role = SYMBOLS, .kallsyms_fd = fuzz_fd_again(NULL, 0),
				   .ask_again = ask_again, .table = take_table, .arg = &f };
	struct file_event e = { .key.size = 5000, .tgid = 7, .start = 0x1000, .end = 0x2000, .names = { "a.out", "bin" } };
	struct names *n;

	fuzz_clock_begin();
	n = names_new(&o);
	fuzz_check(n, "no memory");
	memset(&asked, 0, sizeof(asked));
	for (e.id = 1; e.id < FILES; e.id++) {
		e.key.device = e.id == 3 ? FILE_VDSO : 1;
		names_file(n, &e);
	}
	for (int i = 0; i < FRAMES; i++)
		names_frame(n, frames[i], 7);
	names_work(n);
	while (f.left)
		step_names(&f, n);
	look_at(n);
	names_free(n);
	helpers_forget();
	fuzz_clock_end();
}
