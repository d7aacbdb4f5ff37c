/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sym/names.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "model/health.h"
#include "sym/names_internal.h"
#include "util/hash.h"
#include "util/text.h"
#include "util/vec.h"

#define OPEN_TIMEOUT_NS 200000000ULL
#define SYMBOLS_TIMEOUT_NS 10000000000ULL

/* About 150 bytes each. */
#define FRAMES_MAX 524288

static const struct symbol too_many = { "[too many frames]", "[none]", SYMBOL_USER, false };

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

const char *file_module(const struct file *f)
{
	if (f->id & JIT_FILE)
		return "[jit]";
	if (f->event.key.device == FILE_VDSO)
		return "[vdso]";
	return f->event.names[0][0] ? f->event.names[0] : "[file]";
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

struct file *file_new(struct names *n, uint32_t id)
{
	struct file *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->id = id;
	f->fd = f->debug_fd = -1;
	if (map_put(&n->files, id, f)) {
		free(f);
		return NULL;
	}
	return f;
}

/* What its JIT says of a process's code. */
static struct file *jit_file(struct names *n, uint32_t tgid)
{
	struct file *f = map_get(&n->files, tgid | JIT_FILE);

	if (!f) {
		f = file_new(n, tgid | JIT_FILE);
		if (f)
			f->event.tgid = tgid;
	}
	return f;
}

/* The file a frame is in, NULL: none is known. Sets where in it. */
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
	return map_get(&n->files, frame >> FRAME_FILE_SHIFT);
}

static const struct symbol *placeholder(struct names *n, uint64_t frame, const struct file *f)
{
	char name[FILE_NAME_SIZE + 32];

	if (frame & FRAME_KERNEL) {
		snprintf(name, sizeof(name), "[kernel]+0x%" PRIx64, frame);
		return symbol_of(n, name, "[kernel]", SYMBOL_KERNEL, false);
	}
	if (frame == FRAME_GAP)
		return symbol_of(n, "[...]", "[none]", SYMBOL_USER, true);
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
	if (n->frames.nr >= FRAMES_MAX)
		return &too_many;
	file = frame_file(n, frame, tgid, &at);
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

/* "name [module]", of kallsyms */
static void split_module(char *name, char *module, size_t size)
{
	size_t len = strlen(name);
	char *m = strstr(name, " [");

	if (len < 4 || name[len - 1] != ']' || !m)
		return;
	snprintf(module, size, "%s", m + 1);
	*m = '\0';
}

void names_learn(struct names *n, struct file *f, uint64_t at, const char *name)
{
	bool kernel = f == &n->kernel, jit = f->id & JIT_FILE;
	uint64_t frame = kernel ? at : jit ? at | FRAME_ANONYMOUS : (uint64_t)f->id << FRAME_FILE_SHIFT | at;
	struct frame *known = map_get(&n->frames, frame_key(frame, f->id & ~JIT_FILE));
	char text[256], module[64] = "[kernel]";
	const struct symbol *s;

	n->pending -= !!n->pending;
	if (!*name && (kernel || jit)) { /* perhaps when it is read the next time */
		VEC_PUSH(f->unknown, f->nr_unknown, f->unknown_room, at);
		return;
	}
	if (!*name || !known)
		return;
	snprintf(text, sizeof(text), "%s", name);
	if (kernel)
		split_module(text, module, sizeof(module));
	s = symbol_of(n, text, kernel ? module : file_module(f),
		      kernel ? SYMBOL_KERNEL : jit ? SYMBOL_JIT : SYMBOL_USER, true);
	if (s) {
		known->symbol = s;
		n->generation++;
	}
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
	else if (f->state != FILE_GONE)
		return;
	if (!f)
		return;
	f->event = *e;
	for (int i = 0; i < FILE_NAMES; i++)
		f->event.names[i][FILE_NAME_SIZE - 1] = '\0';
	f->state = FILE_NEW;
	ask_next(n);
}

void names_table(struct names *n, uint32_t file)
{
	struct file *f = map_get(&n->files, file);

	if (f && !f->table_err)
		f->table_asked = false;
}

void names_table_answered(struct names *n, struct file *f, int fd, int err)
{
	if (fd >= 0 && !err && n->o.table)
		err = n->o.table(n->o.arg, f->id, fd);
	f->table_err = err == -ENOSPC ? 0 : err;
}

struct source *names_source_of(struct names *n, uint64_t frame)
{
	for (int i = 0; i < SOURCES; i++)
		if (n->sources[i].frame == frame)
			return &n->sources[i];
	return NULL;
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

void names_build_id(const struct names *n, uint64_t frame, char *buf, size_t size)
{
	const struct file *f = frame & (FRAME_KERNEL | FRAME_ANONYMOUS)
				       ? NULL
				       : map_get(&n->files, frame >> FRAME_FILE_SHIFT);
	size_t used = 0;

	snprintf(buf, size, "-");
	for (uint32_t i = 0; f && i < f->about.build_id_bytes && used < size; i++)
		used += snprintf(buf + used, size - used, "%02x", f->about.build_id[i]);
}

void names_path(const struct names *n, uint64_t frame, char *buf, size_t size)
{
	const struct file *f = frame & (FRAME_KERNEL | FRAME_ANONYMOUS)
				       ? NULL
				       : map_get(&n->files, frame >> FRAME_FILE_SHIFT);

	if (!f)
		snprintf(buf, size, "%s", frame & FRAME_KERNEL ? "[kernel]" : "[jit]");
	else if (f->event.key.device == FILE_VDSO)
		snprintf(buf, size, "[vdso]");
	else
		file_path(f, buf, size);
}

/* --- Life */

bool names_work(struct names *n)
{
	size_t before = n->pending;

	ask_answers(n);
	ask_next(n);
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
	n->kernel.fd = o->kallsyms_fd;
	n->kernel.debug_fd = -1;
	n->kernel.state = o->kallsyms_fd < 0 ? FILE_GONE : FILE_OPEN;
	n->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	worker_start(&n->open, o->open_role, OPEN_TIMEOUT_NS, n->epoll_fd);
	worker_start(&n->symbols, o->symbols_role, SYMBOLS_TIMEOUT_NS, n->epoll_fd);
	return n;
}

static void file_fini(struct file *f)
{
	if (f->fd >= 0)
		close(f->fd);
	if (f->debug_fd >= 0)
		close(f->debug_fd);
	free(f->wanted);
	free(f->unknown);
}

void names_free(struct names *n)
{
	if (!n)
		return;
	for (size_t i = 0; i < n->files.room; i++) {
		struct file *f = n->files.entries[i].value;

		if (f)
			file_fini(f);
		free(f);
	}
	for (size_t i = 0; i < n->frames.room; i++)
		free(n->frames.entries[i].value);
	for (size_t i = 0; i < n->symbols_by_name.room; i++)
		free(n->symbols_by_name.entries[i].value);
	map_fini(&n->files);
	map_fini(&n->frames);
	map_fini(&n->symbols_by_name);
	file_fini(&n->kernel);
	worker_stop(&n->open);
	worker_stop(&n->symbols);
	if (n->epoll_fd >= 0)
		close(n->epoll_fd);
	free(n);
}

/* --- Health */

static void worker_health(const struct worker *w, const char *name, const char *what, struct health *h)
{
	if (w->off)
		health_add(h, "Helpers", name, HEALTH_OFF, "%d of them are stuck in the kernel: no more are made",
			   w->nr_stuck);
	else if (w->helper.socket < 0 && *helper_trouble())
		health_add(h, "Helpers", name, HEALTH_OFF, "it ended, and no other can be started");
	else if (w->helper.socket < 0)
		health_add(h, "Helpers", name, HEALTH_OFF, "it ended or did not answer (%" PRIu64
			   " times): the next one comes soon", w->failures);
	else if (w->failures)
		health_add(h, "Helpers", name, HEALTH_DEGRADED, "%s; replaced %" PRIu64 " times", what,
			   w->failures);
	else
		health_add(h, "Helpers", name, HEALTH_ON, "%s", what);
}

/* Files that have no unwind table, and why the last one has none. */
static void tables_health(const struct names *n, struct health *h)
{
	char name[160] = "";
	size_t failed = 0;
	int err = 0;

	for (size_t i = 0; i < n->files.room; i++) {
		const struct file *f = n->files.entries[i].value;

		if (!f || !f->table_err)
			continue;
		failed++;
		err = f->table_err;
		text_safe(name, sizeof(name), file_module(f), strlen(file_module(f)));
	}
	health_add(h, "Helpers", "tables", failed ? HEALTH_DEGRADED : HEALTH_ON,
		   "%zu files have no unwind table, and are walked by frame pointers%s%s%s%s", failed, failed ? ": " : "",
		   name, failed ? ": " : "", !failed ? "" : err == -ENOENT ? "no .eh_frame" : strerror(-err));
}

void names_health(const struct names *n, struct health *h)
{
	size_t gone = 0, bad = 0, nr = 0;
	char last[160] = "";

	worker_health(&n->open, "open", "opens the files that processes have mapped", h);
	worker_health(&n->symbols, "symbols", "reads names from them", h);
	for (size_t i = 0; i < n->files.room; i++) {
		const struct file *f = n->files.entries[i].value;

		if (!f || f->id & JIT_FILE)
			continue;
		nr++;
		gone += f->state == FILE_GONE;
		bad += f->state == FILE_BAD;
		if (f->state == FILE_BAD)
			text_safe(last, sizeof(last), file_module(f), strlen(file_module(f)));
	}
	health_add(h, "Helpers", "files", gone || bad ? HEALTH_DEGRADED : HEALTH_ON,
		   "%zu mapped ones met; %zu could not be opened; reading %zu ended a helper%s%s", nr, gone,
		   bad, bad ? ": " : "", last);
	tables_health(n, h);
	health_add(h, "Helpers", "names", n->frames.nr < FRAMES_MAX ? HEALTH_FACT : HEALTH_DEGRADED,
		   "of %zu frames, %zu not answered yet", n->frames.nr, n->pending);
}
