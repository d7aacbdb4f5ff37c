/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sym/names.h"

#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "helper/helper.h"
#include "helper/proto.h"
#include "util/hash.h"
#include "util/map.h"
#include "util/vec.h"

/* A helper that does not answer in this time is given up. */
#define OPEN_TIMEOUT_NS 200000000ULL
#define SYMBOLS_TIMEOUT_NS 10000000000ULL
/* So often one is started anew; then its names stay away. */
#define RESTARTS_MAX 16
/* So often a file that could not be opened is asked for again. */
#define ASK_MAX 20

enum file_state {
	FILE_NEW,     /* to be opened */
	FILE_OPENING,
	FILE_OPEN,    /* its symbols are read when somebody asks for one */
	FILE_READING,
	FILE_DEBUG,   /* its debug information is opened, */
	FILE_DEBUG_READING, /* and read */
	FILE_READY,
	FILE_GONE,    /* it could not be opened; perhaps at its next mapping */
	FILE_BAD,     /* reading it ended a helper: not again */
};

struct file {
	uint32_t id;
	enum file_state state;
	int fd, debug_fd;
	int asked;
	struct file_event event;
	uint32_t build_id_bytes;
	uint8_t build_id[32];
	uint64_t *wanted; /* places whose names are asked for */
	size_t nr_wanted, wanted_room;
};

/* A frame that was asked for. */
struct frame {
	uint64_t frame;
	const struct symbol *symbol;
};

/* A helper, and what it was asked. */
struct worker {
	struct helper helper;
	int role, restarts;
	bool busy;
	struct file *file;
	uint64_t deadline;
	uint64_t timeout;
};

struct names {
	struct names_options o;
	struct worker open, symbols;
	int epoll_fd;
	struct map files;   /* id -> struct file; 0 is no key: the kernel is apart */
	struct file kernel;
	struct map frames;  /* struct frame */
	struct map symbols_by_name;
	size_t pending;
	bool kernel_sent;
};

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

/* --- Symbols */

static const struct symbol *symbol_of(struct names *n, const char *name, const char *module,
				      enum symbol_kind kind, bool named)
{
	uint64_t key = hash_text(hash_text(0, name), module);
	struct symbol *s = map_get(&n->symbols_by_name, key);
	size_t name_len = strlen(name) + 1, module_len = strlen(module) + 1;
	char *text;

	if (s)
		return s;
	s = malloc(sizeof(*s) + name_len + module_len);
	if (!s)
		return NULL;
	text = (char *)(s + 1);
	memcpy(text, name, name_len);
	memcpy(text + name_len, module, module_len);
	*s = (struct symbol){ text, text + name_len, kind, named };
	if (map_put(&n->symbols_by_name, key, s)) {
		free(s);
		return NULL;
	}
	return s;
}

static const char *file_module(const struct file *f)
{
	if (f->event.key.device == FILE_VDSO)
		return "[vdso]";
	return f->event.names[0][0] ? f->event.names[0] : "[file]";
}

static uint64_t frame_key(uint64_t frame, uint32_t tgid)
{
	uint64_t key = frame;

	if (frame & FRAME_ANONYMOUS && !(frame & FRAME_KERNEL))
		key ^= (uint64_t)tgid * 0x9e3779b97f4a7c15ULL;
	return key ? key : 1;
}

/* The file a frame is in, NULL: none is known. Sets where in it. */
static struct file *frame_file(struct names *n, uint64_t frame, uint64_t *at)
{
	if (frame & FRAME_KERNEL) {
		*at = frame;
		return &n->kernel;
	}
	*at = frame & FRAME_OFFSET_MASK;
	return frame & FRAME_ANONYMOUS ? NULL : map_get(&n->files, frame >> FRAME_FILE_SHIFT);
}

static const struct symbol *placeholder(struct names *n, uint64_t frame, const struct file *f)
{
	char name[FILE_NAME_SIZE + 32];

	if (frame & FRAME_KERNEL) {
		snprintf(name, sizeof(name), "0x%" PRIx64, frame);
		return symbol_of(n, name, "[kernel]", SYMBOL_KERNEL, false);
	}
	if (frame & FRAME_ANONYMOUS) {
		snprintf(name, sizeof(name), "[anon]+0x%llx", frame & ~FRAME_ANONYMOUS);
		return symbol_of(n, name, "[anon]", SYMBOL_JIT, false);
	}
	snprintf(name, sizeof(name), "%s+0x%llx", f ? file_module(f) : "[file]",
		 frame & FRAME_OFFSET_MASK);
	return symbol_of(n, name, f ? file_module(f) : "[file]", SYMBOL_USER, false);
}

const struct symbol *names_frame(struct names *n, uint64_t frame, uint32_t tgid)
{
	uint64_t key = frame_key(frame, tgid), at;
	struct frame *f = map_get(&n->frames, key);
	struct file *file;

	if (f)
		return f->symbol;
	file = frame_file(n, frame, &at);
	f = calloc(1, sizeof(*f));
	if (!f)
		return NULL;
	f->frame = frame;
	f->symbol = placeholder(n, frame, file);
	if (!f->symbol || map_put(&n->frames, key, f)) {
		free(f);
		return NULL;
	}
	if (file && !VEC_PUSH(file->wanted, file->nr_wanted, file->wanted_room, at))
		n->pending++;
	return f->symbol;
}

size_t names_pending(const struct names *n)
{
	return n->pending;
}

/* --- Files */

void names_file(struct names *n, const struct file_event *e)
{
	struct file *f = map_get(&n->files, e->id);

	if (!f) {
		f = calloc(1, sizeof(*f));
		if (!f)
			return;
		f->id = e->id;
		f->fd = f->debug_fd = -1;
		if (map_put(&n->files, e->id, f)) {
			free(f);
			return;
		}
	} else if (f->state != FILE_GONE) {
		return;
	}
	f->event = *e;
	for (int i = 0; i < FILE_NAMES; i++)
		f->event.names[i][FILE_NAME_SIZE - 1] = '\0';
	f->state = FILE_NEW;
	names_work(n);
}

/* The kernel gives every process the same image of its own. */
static int vdso_fd(void)
{
	const Elf64_Ehdr *image = (const Elf64_Ehdr *)getauxval(AT_SYSINFO_EHDR);
	size_t size;
	int fd;

	if (!image)
		return -1;
	size = image->e_shoff + (size_t)image->e_shnum * image->e_shentsize;
	fd = memfd_create("vdso", MFD_CLOEXEC);
	if (fd >= 0 && write(fd, image, size) != (ssize_t)size) {
		close(fd);
		return -1;
	}
	return fd;
}

static void file_path(const struct file *f, char *buf, size_t size)
{
	size_t used = 0;

	*buf = '\0';
	for (int i = FILE_NAMES - 1; i >= 0; i--)
		if (f->event.names[i][0] && used < size)
			used += snprintf(buf + used, size - used, "/%s", f->event.names[i]);
	/* Names that were cut, or folders above those that were kept, lead nowhere: that is told by
	 * what is found there. */
}

/* --- Workers */

static void worker_start(struct names *n, struct worker *w)
{
	struct epoll_event ev = { .events = EPOLLIN };

	w->busy = false;
	w->helper.socket = -1;
	if (w->restarts++ >= RESTARTS_MAX || helper_open(w->role, &w->helper))
		return;
	epoll_ctl(n->epoll_fd, EPOLL_CTL_ADD, w->helper.socket, &ev);
}

static bool worker_ask(struct worker *w, const void *request, size_t bytes, int fd, struct file *file)
{
	if (helper_send(w->helper.socket, request, bytes, fd) < 0)
		return false;
	w->busy = true;
	w->file = file;
	w->deadline = now_ns() + w->timeout;
	return true;
}

static void file_gone(struct names *n, struct file *f)
{
	f->state = FILE_GONE;
	if (f->asked++ < ASK_MAX && n->o.ask_again)
		n->o.ask_again(n->o.arg, &f->event.key);
}

/* Files that the symbols helper had read, it knows no more. */
static void files_again(struct names *n)
{
	for (size_t i = 0; i < n->files.room; i++) {
		struct file *f = n->files.entries[i].value;

		if (f && (f->state == FILE_READY || f->state == FILE_READING ||
			  f->state == FILE_DEBUG || f->state == FILE_DEBUG_READING))
			f->state = FILE_OPEN;
	}
	n->kernel_sent = false;
	n->kernel.state = FILE_OPEN;
}

/* It ended, or did not answer: what it was asked for last is to blame. */
static void worker_failed(struct names *n, struct worker *w)
{
	struct file *f = w->busy ? w->file : NULL;

	helper_kill(&w->helper);
	if (w == &n->symbols)
		files_again(n);
	if (f && w == &n->symbols)
		f->state = FILE_BAD;
	else if (f && f->state == FILE_DEBUG)
		f->state = FILE_READY;
	else if (f)
		file_gone(n, f);
	worker_start(n, w);
}

/* --- Asking */

static void ask_open(struct names *n, struct file *f, enum open_what what)
{
	struct open_request r = {
		.what = what,
		.id = f->id,
		.tgid = f->event.tgid,
		.start = f->event.start,
		.end = f->event.end,
		.key = f->event.key,
		.bytes = f->build_id_bytes,
	};

	file_path(f, r.path, sizeof(r.path));
	memcpy(r.build_id, f->build_id, sizeof(r.build_id));
	if (worker_ask(&n->open, &r, sizeof(r), -1, f) && what == OPEN_MAPPED)
		f->state = FILE_OPENING;
}

/* Opens what is new; debug information comes after. */
static void open_next(struct names *n)
{
	struct file *debug = NULL;

	for (size_t i = 0; i < n->files.room && !n->open.busy; i++) {
		struct file *f = n->files.entries[i].value;

		if (!f)
			continue;
		if (f->state == FILE_NEW && f->event.key.device == FILE_VDSO) {
			f->fd = vdso_fd();
			f->state = f->fd < 0 ? FILE_BAD : FILE_OPEN;
		} else if (f->state == FILE_NEW) {
			ask_open(n, f, OPEN_MAPPED);
		} else if (f->state == FILE_DEBUG && f->debug_fd < 0) {
			debug = f;
		}
	}
	if (debug && !n->open.busy)
		ask_open(n, debug, OPEN_BUILD_ID);
}

static void ask_file(struct names *n, struct file *f, enum symbols_what what, int fd)
{
	struct symbols_request r = { .what = what, .file = f->id };

	if (worker_ask(&n->symbols, &r, sizeof(r), fd, f))
		f->state = what == SYMBOLS_FILE ? FILE_READING : FILE_DEBUG_READING;
}

static void ask_names(struct names *n, struct file *f)
{
	struct symbols_request r = { .what = SYMBOLS_RESOLVE, .file = f->id };

	while (r.nr < SYMBOLS_BATCH && r.nr < f->nr_wanted) {
		r.at[r.nr] = f->wanted[f->nr_wanted - 1 - r.nr];
		r.nr++;
	}
	if (worker_ask(&n->symbols, &r, sizeof(r), -1, f))
		f->nr_wanted -= r.nr;
}

static void symbols_next(struct names *n)
{
	if (!n->kernel_sent && n->o.kallsyms_fd >= 0) {
		struct symbols_request r = { .what = SYMBOLS_KERNEL };

		n->kernel_sent = true;
		n->kernel.state = FILE_READY;
		helper_send(n->symbols.helper.socket, &r, sizeof(r), n->o.kallsyms_fd);
	}
	if (n->kernel.nr_wanted && n->kernel.state == FILE_READY)
		ask_names(n, &n->kernel);
	for (size_t i = 0; i < n->files.room && !n->symbols.busy; i++) {
		struct file *f = n->files.entries[i].value;

		if (!f || !(f->nr_wanted || f->state == FILE_DEBUG))
			continue;
		if (f->state == FILE_OPEN)
			ask_file(n, f, SYMBOLS_FILE, f->fd);
		else if (f->state == FILE_DEBUG && f->debug_fd >= 0)
			ask_file(n, f, SYMBOLS_DEBUG, f->debug_fd);
		else if (f->state == FILE_READY)
			ask_names(n, f);
	}
}

/* --- Answers */

static bool open_answered(struct names *n)
{
	struct file *f = n->open.file;
	struct open_answer a;
	int fd, got = helper_receive(n->open.helper.socket, &a, sizeof(a), &fd);

	if (got == -EAGAIN)
		return false;
	if (got != sizeof(a) || !n->open.busy || a.id != f->id) {
		if (fd >= 0)
			close(fd);
		worker_failed(n, &n->open);
		return true;
	}
	n->open.busy = false;
	if (f->state == FILE_DEBUG) {
		f->debug_fd = fd;
		if (fd < 0)
			f->state = FILE_READY;
	} else if (fd < 0) {
		file_gone(n, f);
	} else {
		f->fd = fd;
		f->state = FILE_OPEN;
	}
	return true;
}

static void loaded(struct file *f, const struct symbols_loaded *a)
{
	bool debug = a->what == SYMBOLS_FILE && !a->whole && a->build_id_bytes &&
		     a->build_id_bytes <= sizeof(f->build_id) && f->debug_fd < 0;

	f->state = debug ? FILE_DEBUG : FILE_READY;
	if (!debug)
		return;
	f->build_id_bytes = a->build_id_bytes;
	memcpy(f->build_id, a->build_id, sizeof(f->build_id));
}

static void learn(struct names *n, struct file *f, uint64_t at, const char *name)
{
	uint64_t frame = f == &n->kernel ? at : (uint64_t)f->id << FRAME_FILE_SHIFT | at;
	struct frame *known = map_get(&n->frames, frame_key(frame, 0));
	const struct symbol *s;
	char text[256], module[64] = "[kernel]";
	int len = strlen(name);

	n->pending -= !!n->pending;
	if (!*name || !known)
		return;
	snprintf(text, sizeof(text), "%s", name);
	/* "name [module]" */
	if (f == &n->kernel && len > 3 && name[len - 1] == ']' && strstr(name, " [")) {
		const char *m = strstr(name, " [");

		snprintf(module, sizeof(module), "%.*s", (int)sizeof(module) - 1, m + 1);
		text[m - name] = '\0';
	}
	s = symbol_of(n, text, f == &n->kernel ? module : file_module(f),
		      f == &n->kernel ? SYMBOL_KERNEL : SYMBOL_USER, true);
	if (s)
		known->symbol = s;
}

/* Returns whether the answer is what it should be. */
static bool learn_all(struct names *n, struct file *f, const struct symbols_names *a, int bytes)
{
	int room = bytes - (int)offsetof(struct symbols_names, names), at = 0;

	if (room < 0 || a->nr > SYMBOLS_BATCH || a->file != f->id)
		return false;
	for (uint32_t i = 0; i < a->nr; i++) {
		int len = strnlen(a->names + at, room - at);

		if (len == room - at)
			return false; /* no end */
		learn(n, f, a->at[i], a->names + at);
		at += len + 1;
	}
	return true;
}

static bool symbols_answered(struct names *n)
{
	static union {
		uint32_t what;
		struct symbols_loaded loaded;
		struct symbols_names names;
	} a;
	struct file *f = n->symbols.file;
	int fd, got = helper_receive(n->symbols.helper.socket, &a, sizeof(a), &fd);
	bool ok = n->symbols.busy;

	if (got == -EAGAIN)
		return false;
	if (fd >= 0)
		close(fd);
	if (ok && got == sizeof(a.loaded) && a.what != SYMBOLS_RESOLVE && a.loaded.file == f->id)
		loaded(f, &a.loaded);
	else
		ok = ok && got > 0 && a.what == SYMBOLS_RESOLVE && learn_all(n, f, &a.names, got);
	if (ok)
		n->symbols.busy = false;
	else
		worker_failed(n, &n->symbols);
	return true;
}

static void check_deadline(struct names *n, struct worker *w)
{
	if (w->busy && now_ns() > w->deadline)
		worker_failed(n, w);
}

bool names_work(struct names *n)
{
	size_t before = n->pending;

	while (n->open.helper.socket >= 0 && open_answered(n))
		;
	while (n->symbols.helper.socket >= 0 && symbols_answered(n))
		;
	check_deadline(n, &n->open);
	check_deadline(n, &n->symbols);
	if (n->open.helper.socket >= 0 && !n->open.busy)
		open_next(n);
	if (n->symbols.helper.socket >= 0 && !n->symbols.busy)
		symbols_next(n);
	return n->pending < before;
}

int names_fd(const struct names *n)
{
	return n->epoll_fd;
}

struct names *names_new(const struct names_options *o)
{
	struct names *n = calloc(1, sizeof(*n));

	if (!n)
		return NULL;
	n->o = *o;
	n->kernel.fd = -1;
	n->kernel.state = FILE_OPEN;
	n->open = (struct worker){ .role = o->open_role, .timeout = OPEN_TIMEOUT_NS };
	n->symbols = (struct worker){ .role = o->symbols_role, .timeout = SYMBOLS_TIMEOUT_NS };
	n->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	worker_start(n, &n->open);
	worker_start(n, &n->symbols);
	return n;
}

void names_free(struct names *n)
{
	if (!n)
		return;
	for (size_t i = 0; i < n->files.room; i++) {
		struct file *f = n->files.entries[i].value;

		if (!f)
			continue;
		if (f->fd >= 0)
			close(f->fd);
		if (f->debug_fd >= 0)
			close(f->debug_fd);
		free(f->wanted);
		free(f);
	}
	for (size_t i = 0; i < n->frames.room; i++)
		free(n->frames.entries[i].value);
	for (size_t i = 0; i < n->symbols_by_name.room; i++)
		free(n->symbols_by_name.entries[i].value);
	map_fini(&n->files);
	map_fini(&n->frames);
	map_fini(&n->symbols_by_name);
	free(n->kernel.wanted);
	helper_kill(&n->open.helper);
	helper_kill(&n->symbols.helper);
	if (n->epoll_fd >= 0)
		close(n->epoll_fd);
	if (n->o.kallsyms_fd >= 0)
		close(n->o.kallsyms_fd);
	free(n);
}
