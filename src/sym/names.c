/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sym/names.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sym/elf.h"
#include "sym/names_internal.h"
#include "util/clock.h"
#include "util/file.h"
#include "util/hash.h"
#include "util/vec.h"

#define OPEN_TIMEOUT_NS 200000000ULL
#define SYMBOLS_TIMEOUT_NS 3000000000ULL

/* JIT compilers reuse addresses for other code: names of their code that are in use are looked up again this often, after their
 * file was read again, and less often if there are more than JIT_LOOK_FRAMES frames. */
#define JIT_LOOK_NS 5000000000ULL
#define JIT_LOOK_FRAMES 16384

/* The module of frames in a file without an id. */
#define NO_FILE_ID "[no file id]"

static const struct symbol too_many = { "[too many frames]", "[none]", SYMBOL_USER, .id = 0x746f6f206d616e79 };

/* --- Files and their frames */

const char *file_module(const struct file *f)
{
	if (f->id & JIT_FILE)
		return "[jit]";
	if (f->event.key.device == FILE_VDSO)
		return "[vdso]";
	return f->event.names[0][0] ? f->event.names[0] : SYMBOL_NO_NAME;
}

/* Identifies a build: the same for all files with this build-id; for the file alone if it has none, or is not read yet. */
static uint64_t file_build(const struct file *f)
{
	uint64_t build = hash_add(0, f->id);

	for (uint32_t i = 0; i < f->about.build_id_bytes; i++)
		build = hash_add(i ? build : 0, f->about.build_id[i]);
	return build;
}

static bool is_anonymous(uint64_t frame)
{
	return frame & FRAME_ANONYMOUS && !(frame & FRAME_KERNEL) && frame != FRAME_GAP;
}

static uint64_t frame_key(uint64_t frame, uint32_t tgid)
{
	uint64_t key = frame;

	if (is_anonymous(frame))
		key ^= (uint64_t)tgid * 0x9e3779b97f4a7c15ULL;
	return key ? key : 1;
}

static struct file *file_new(struct names *n, uint32_t id)
{
	struct file *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->id = id;
	f->table_asked = !n->o.table || id & JIT_FILE;
	if (map_put(&n->files, id, f)) {
		free(f);
		return NULL;
	}
	file_wake(n, f);
	return f;
}

static void file_fini(struct file *f)
{
	free(f->path);
	free(f->wanted);
	free(f->unknown);
}

void file_free(struct names *n, struct file *f)
{
	file_forget_wanted(n, f);
	file_release(n, &f->held);
	file_release(n, &f->debug_held);
	map_del(&n->files, f->id);
	file_fini(f);
	free(f);
}

/* The JIT compiler's symbols for a process. */
static struct file *jit_file(struct names *n, uint32_t tgid)
{
	struct file *f = map_get(&n->files, tgid | JIT_FILE);

	if (!f) {
		f = file_new(n, tgid | JIT_FILE);
		if (f)
			f->event.tgid = tgid;
	}
	if (f)
		f->age = n->age.now;
	return f;
}

/* The file that a frame is in, NULL: unknown. Sets @at to the place in it. */
static struct file *frame_file(struct names *n, uint64_t frame, uint32_t tgid, uint64_t *at)
{
	*at = frame;
	if (frame & FRAME_KERNEL)
		return &n->kernel;
	if (frame == FRAME_GAP)
		return NULL;
	if (is_anonymous(frame)) {
		*at = frame & ~FRAME_ANONYMOUS;
		return jit_file(n, tgid);
	}
	*at = frame & FRAME_OFFSET_MASK;
	return map_get(&n->files, frame >> FRAME_FILE_SHIFT); /* 0 is none */
}

static const struct symbol *placeholder(struct names *n, uint64_t frame, const struct file *f)
{
	char name[FILE_NAME_SIZE + 32];

	if (frame & FRAME_KERNEL) {
		snprintf(name, sizeof(name), "[kernel]+0x%" PRIx64, frame);
		return symbol_hold(n, name, "[kernel]", 0, SYMBOL_KERNEL, NAME_NONE);
	}
	if (frame == FRAME_GAP)
		return symbol_hold(n, "[...]", "[none]", 0, SYMBOL_USER, NAME_SYMBOL);
	if (!(frame >> FRAME_FILE_SHIFT)) {
		snprintf(name, sizeof(name), NO_FILE_ID "+0x%" PRIx64, frame);
		return symbol_hold(n, name, NO_FILE_ID, 0, SYMBOL_USER, NAME_NONE);
	}
	if (frame & FRAME_ANONYMOUS) {
		snprintf(name, sizeof(name), "[anon]+0x%llx", frame & ~FRAME_ANONYMOUS);
		return symbol_hold(n, name, "[anon]", 0, SYMBOL_JIT, NAME_NONE);
	}
	snprintf(name, sizeof(name), "%s+0x%llx", f ? file_module(f) : SYMBOL_NO_NAME,
		 frame & FRAME_OFFSET_MASK);
	return symbol_hold(n, name, f ? file_module(f) : SYMBOL_NO_NAME, f ? file_build(f) : 0, SYMBOL_USER, NAME_NONE);
}

/* Requests the name of a frame at @at in @file. */
static void want_name(struct names *n, struct frame *f, struct file *file, uint64_t at)
{
	if (!file || file->forget)
		return;
	f->asked = true;
	f->look = file == &n->kernel ? n->kernel_reads : n->jit_look;
	if (file->state != FILE_GONE)
		file_want(n, file, at);
	else if (file != &n->kernel) /* kept until the file is there; kallsyms never will be */
		VEC_PUSH(file->unknown, file->nr_unknown, file->unknown_room, at);
}

/* Requests the name of a frame whose file was not known, or was being forgotten, when the frame was met. */
static void want_late(struct names *n, struct frame *f, uint32_t tgid)
{
	uint64_t at;
	struct file *file = frame_file(n, f->frame, tgid, &at);
	const struct symbol *s = file && !file->forget ? placeholder(n, f->frame, file) : NULL;

	if (!s)
		return;
	symbol_change(n, f, s);
	want_name(n, f, file, at);
}

/* Marks the frame's file as in use: its debug information is worth looking for, and a JIT compiler's names are kept, and
 * looked up again. */
static void used_file(struct names *n, struct frame *f, uint32_t tgid)
{
	uint64_t at;
	struct file *file = f->frame & FRAME_KERNEL ? NULL : frame_file(n, f->frame, tgid, &at);

	if (!file)
		return;
	file->unnamed_ns = n->now_ns;
	file->unnamed_asked = true;
	if (!(file->id & JIT_FILE) || !f->symbol->named || f->look == n->jit_look)
		return;
	if (file->state == FILE_READY && n->now_ns >= file->read_ns + JIT_LOOK_NS / 10)
		file->state = FILE_NEW;
	want_name(n, f, file, at);
}

/* The module of BPF programs, in kallsyms. */
#define BPF_MODULE "[bpf]"

/* Looks a frame up again if the kernel's symbols were read since: another BPF program, or another module, may be at the address. */
static void look_again(struct names *n, struct frame *f)
{
	if (!f->answered || f->look == n->kernel_reads)
		return;
	f->look = n->kernel_reads;
	if (strcmp(f->symbol->module, "[kernel]"))
		want_name(n, f, &n->kernel, f->frame);
}

static struct frame *frame_new(struct names *n, uint64_t key, uint64_t frame, uint32_t tgid)
{
	struct frame *f = calloc(1, sizeof(*f));
	struct file *file;
	uint64_t at;

	if (!f)
		return NULL;
	file = frame_file(n, frame, tgid, &at);
	f->frame = frame;
	f->symbol = placeholder(n, frame, file);
	if (!f->symbol || map_put(&n->frames, key, f)) {
		frame_free(n, f);
		return NULL;
	}
	want_name(n, f, file, at);
	return f;
}

/* Requests its name if it is new. NULL: out of memory, or too many. */
static struct frame *frame_use(struct names *n, uint64_t frame, uint32_t tgid)
{
	uint64_t key = frame_key(frame, tgid);
	struct frame *f = map_get(&n->frames, key);

	if (!f && n->frames.nr < FRAMES_MAX)
		f = frame_new(n, key, frame, tgid);
	else if (f && !f->asked)
		want_late(n, f, tgid);
	if (f)
		f->age = n->age.now;
	return f;
}

const struct symbol *names_frame(struct names *n, uint64_t frame, uint32_t tgid)
{
	struct frame *f = frame_use(n, frame, tgid);

	if (!f)
		return n->frames.nr < FRAMES_MAX ? NULL : &too_many;
	if (frame & FRAME_KERNEL)
		look_again(n, f);
	if (!f->symbol->named || is_anonymous(frame))
		used_file(n, f, tgid);
	return f->symbol;
}

enum frame_lack names_lack(struct names *n, uint64_t frame, uint32_t tgid)
{
	const struct frame *f = frame_use(n, frame, tgid);
	struct file *file;
	uint64_t at;

	if (f && f->symbol->named && !is_anonymous(frame))
		return LACK_NOTHING;
	file = frame_file(n, frame, tgid, &at);
	if (!f || !file)
		return LACK_FILE;
	file->unnamed_ns = n->now_ns;
	if (f->symbol->named)
		return LACK_NOTHING;
	if (f->symbol->function)
		return file->state == FILE_DEBUG_READING || (file->state == FILE_DEBUG && !file->look_at) ? LACK_DEBUG : LACK_SYMBOL;
	if (is_anonymous(frame))
		return f->answered || file->missing ? LACK_JIT : LACK_READ;
	if (!(frame & FRAME_KERNEL) && !strcmp(file_module(file), SYMBOL_NO_NAME))
		return LACK_JIT; /* in shared memory */
	if (file->state == FILE_GONE)
		return file == &n->kernel ? LACK_HIDDEN : LACK_GONE;
	if (file->state == FILE_BAD)
		return LACK_BAD;
	return f->answered ? LACK_UNWIND : LACK_READ;
}

/* Splits "name [module]", of kallsyms. Names of Rust can have such brackets, too: "<impl [T]>::len". */
static void split_module(char *name, char *module, size_t size)
{
	char *m = strrchr(name, ' ');

	if (!m || m == name || m[1] != '[' || name[strlen(name) - 1] != ']')
		return;
	snprintf(module, size, "%s", m + 1);
	*m = '\0';
}

/* A helper that answers with places of another file is not trusted. */
static bool is_place(const struct names *n, const struct file *f, uint64_t at)
{
	if (f == &n->kernel)
		return at & FRAME_KERNEL;
	return !(at & (f->id & JIT_FILE ? FRAME_KERNEL | FRAME_ANONYMOUS : ~FRAME_OFFSET_MASK));
}

/* The file has been read: an address is the same in all files with its build-id. */
static void learn_build(struct names *n, struct frame *known, const struct file *f)
{
	const struct symbol *s;

	if (known->symbol->named || known->symbol->function || file_grows(n, f))
		return;
	s = placeholder(n, known->frame, f);
	if (s)
		symbol_change(n, known, s);
}

/* The frame at a place in a file, NULL: there is none any more. */
static struct frame *frame_at(const struct names *n, const struct file *f, uint64_t at)
{
	bool kernel = f == &n->kernel, jit = f->id & JIT_FILE;
	uint64_t frame = kernel ? at : jit ? at | FRAME_ANONYMOUS : (uint64_t)f->id << FRAME_FILE_SHIFT | at;

	return map_get(&n->frames, frame_key(frame, f->id & ~JIT_FILE));
}

bool names_asks_again(const struct names *n, const struct file *f, uint64_t at)
{
	const struct frame *known = f->id & JIT_FILE ? frame_at(n, f, at) : NULL;

	return known && known->symbol->named;
}

void names_learn(struct names *n, struct file *f, uint64_t at, enum name_kind kind, const char *name)
{
	bool kernel = f == &n->kernel, jit = f->id & JIT_FILE;
	struct frame *known = frame_at(n, f, at);
	char text[SYMBOLS_NAME + FILE_NAME_SIZE], module[64] = "[kernel]";
	const struct symbol *s;

	n->pending -= !!n->pending;
	if (!known || !is_place(n, f, at))
		return;
	/* A BPF program can be newer than the symbols: then it seems to be part of the one before it, as they have no ends. */
	if (kernel && !known->answered && known->look == n->kernel_reads && strstr(name, " " BPF_MODULE))
		n->bpf_met = at;
	n->generation += !known->answered;
	/* The kernel's symbols precede its code: those that were read after a frame was met have its name, or none has. */
	if (kind != NAME_SYMBOL && !(kernel && known->answered) && !names_asks_again(n, f, at))
		file_unnamed(n, f, at);
	known->answered = true;
	if (kind == NAME_NONE) {
		learn_build(n, known, f);
		return;
	}
	if (kind == NAME_FUNCTION)
		snprintf(text, sizeof(text), "%s`%s", file_module(f), name);
	else
		snprintf(text, sizeof(text), "%s", name);
	if (kernel)
		split_module(text, module, sizeof(module));
	s = symbol_hold(n, text, kernel ? module : file_module(f), file_build(f),
			kernel ? SYMBOL_KERNEL : jit ? SYMBOL_JIT : SYMBOL_USER, kind);
	if (s)
		symbol_change(n, known, s);
}

uint64_t names_generation(const struct names *n)
{
	return n->generation;
}

size_t names_pending(const struct names *n)
{
	return n->pending;
}

/* --- Files */

void names_file(struct names *n, const struct file_event *e)
{
	struct file *f = map_get(&n->files, e->id);

	if (e->id & JIT_FILE || !e->id)
		return;
	if (!f)
		f = file_new(n, e->id);
	if (!f)
		return;
	f->event = *e;
	for (int i = 0; i < FILE_NAMES; i++)
		f->event.names[i][FILE_NAME_SIZE - 1] = '\0';
	if (f->state == FILE_GONE) {
		f->state = FILE_NEW;
		file_want_unnamed(n, f);
	}
	sources_again(n, f);
	file_wake(n, f);
	ask_next(n);
}

void names_table(struct names *n, uint32_t file)
{
	struct file *f = map_get(&n->files, file);

	if (!f || f->table_err || !n->o.table)
		return;
	f->table_asked = false;
	f->reopen = f->state == FILE_READY && !f->held;
	file_wake(n, f);
}

struct source *names_source_of(struct names *n, uint64_t frame)
{
	for (int i = 0; i < SOURCES; i++)
		if (n->sources[i].frame == frame)
			return &n->sources[i];
	return NULL;
}

void sources_again(struct names *n, const struct file *f)
{
	for (int i = 0; i < SOURCES; i++)
		if (n->sources[i].frame >> FRAME_FILE_SHIFT == f->id && !*n->sources[i].text)
			n->sources[i].asked = false;
}

const char *names_source(struct names *n, uint64_t frame)
{
	struct source *s = names_source_of(n, frame);

	if (frame & (FRAME_KERNEL | FRAME_ANONYMOUS))
		return "";
	if (s)
		return s->text;
	s = &n->sources[n->next_source++ % SOURCES];
	*s = (struct source){ .frame = frame };
	ask_next(n);
	return "";
}

/* NULL: the frame is in no file. */
static const struct file *file_of(const struct names *n, uint64_t frame)
{
	return frame & (FRAME_KERNEL | FRAME_ANONYMOUS) ? NULL : map_get(&n->files, frame >> FRAME_FILE_SHIFT);
}

void names_build_id(const struct names *n, uint64_t frame, char *buf, size_t size)
{
	const struct file *f = file_of(n, frame);
	size_t used = 0;

	snprintf(buf, size, "-");
	for (uint32_t i = 0; f && i < f->about.build_id_bytes && used < size; i++)
		used += snprintf(buf + used, size - used, "%02x", f->about.build_id[i]);
}

static uint64_t address_of(const struct file *f, uint64_t at)
{
	uint64_t address;

	return elf_address(&f->about.segments, at, &address) ? address : at;
}

bool names_place(const struct names *n, uint64_t frame, struct frame_place *p)
{
	const struct file *f = file_of(n, frame);

	if (!f) {
		snprintf(p->path, sizeof(p->path), "%s",
			 frame & FRAME_KERNEL ? "[kernel]" : frame & FRAME_ANONYMOUS ? "[jit]" : NO_FILE_ID);
		p->address = frame & FRAME_KERNEL ? frame : frame & ~FRAME_ANONYMOUS;
		return false;
	}
	if (f->path && *f->path)
		snprintf(p->path, sizeof(p->path), "%s", f->path);
	else if (f->event.key.device == FILE_VDSO)
		snprintf(p->path, sizeof(p->path), "[vdso]");
	else
		file_path(f, p->path, sizeof(p->path));
	p->address = address_of(f, frame & FRAME_OFFSET_MASK);
	p->key = f->event.key;
	return true;
}

/* --- Life */

void names_work(struct names *n)
{
	n->now_ns = clock_ns(CLOCK_MONOTONIC);
	if (n->now_ns >= n->jit_look_at) {
		n->jit_look++;
		n->jit_look_at = n->now_ns + JIT_LOOK_NS * (1 + n->frames.nr / JIT_LOOK_FRAMES);
	}
	age_work(n);
	ask_answers(n);
	ask_next(n);
}

struct names *names_new(const struct names_options *o)
{
	struct names *n = calloc(1, sizeof(*n));

	if (!n)
		return NULL;
	n->o = *o;
	n->kernel.state = o->kallsyms_fd < 0 ? FILE_GONE : FILE_OPEN;
	worker_init(&n->open, o->open_role, OPEN_TIMEOUT_NS);
	worker_init(&n->symbols, o->symbols_role, SYMBOLS_TIMEOUT_NS);
	worker_ready(&n->open); /* they start now, before there is anything to ask for */
	worker_ready(&n->symbols);
	return n;
}

void names_free(struct names *n)
{
	struct file *f;

	if (!n)
		return;
	MAP_EACH (&n->files, f) {
		file_fini(f);
		free(f);
	}
	age_fini(n);
	map_fini(&n->files);
	file_fini(&n->kernel);
	free(n->active);
	file_close(&n->o.kallsyms_fd);
	worker_stop(&n->open);
	worker_stop(&n->symbols);
	free(n);
}
