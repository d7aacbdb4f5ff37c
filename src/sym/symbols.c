/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "helper/message.h"
#include "helper/proto.h"
#include "helper/watch.h"
#include "owner/parse.h"
#include "sym/kallsyms.h"
#include "sym/known.h"
#include "sym/plt.h"
#include "sym/roles.h"
#include "util/clock.h"
#include "util/file.h"
#include "util/heap.h"
#include "util/short_name.h"

/* A large file is read in slices of this length, in turns with others. */
#define SLICE_NS 200000000ULL

#define NAMES_CPU_MS 300

/* Of libiberty, declared here: Fedora packages it without this header. */
#define DMGL_PARAMS (1 << 0)
#define DMGL_AUTO (1 << 8)
char *cplus_demangle(const char *mangled, int options);

static struct symtab kernel;
static int peer = -1; /* the open helper */
static int config = -1; /* a runtime's file, which was handed over for container @config_of */
static uint32_t config_of;

/* Limits the CPU time of a request. Names take a few ms, but a short mangled name can demangle to a very long one. */
static void begin_budget(const struct symbols_request *r)
{
	static struct symbols_loaded late;

	late = (struct symbols_loaded){ .what = r->what, .file = r->file, .err = -ETIME };
	watch_budget(r->what == SYMBOLS_RESOLVE     ? NAMES_CPU_MS
		     : r->what == SYMBOLS_CONTAINER ? OWNER_CPU_MS
		     : r->what == SYMBOLS_KERNEL    ? SYMBOLS_KERNEL_CPU_MS
						    : SYMBOLS_CPU_MS,
		     &late, sizeof(late));
}

/* --- Files */

/* Takes the files that the open helper has handed over. */
static void take_files(void)
{
	struct handed_file h;
	int fd;

	while (peer >= 0 && helper_receive(peer, &h, sizeof(h), &fd) == sizeof(h)) {
		struct known *k;
		int *to;

		if (h.what == OPEN_CONTAINER) {
			file_close(&config);
			config = fd;
			config_of = h.file;
			continue;
		}
		k = known_file(h.file);
		to = !k ? &fd : h.what == OPEN_DEBUG ? &k->debug_fd : &k->fd;
		file_close(to);
		if (k)
			*to = fd;
	}
}

/* There is a new open helper: first takes the files that the previous one handed over. */
static void take_peer(int fd)
{
	take_files();
	file_close(&peer);
	peer = fd;
}

static int load(const struct symbols_request *r, int fd, struct symbols_loaded *a)
{
	struct known *k;
	int err;

	if (r->what == SYMBOLS_KERNEL)
		return fd < 0 ? -EBADF : kallsyms_read(fd, &kernel);
	k = known_file(r->file);
	if (!k)
		return -ENOMEM;
	err = known_load(k, r->what, clock_ns(CLOCK_MONOTONIC) + SLICE_NS, a);
	if (r->what == SYMBOLS_PERF_MAP && err != -EAGAIN)
		file_close(&k->fd);
	if (r->what == SYMBOLS_DEBUG && err && err != -EAGAIN)
		file_close(&k->debug_fd);
	return err;
}

/* --- Names */

/* A part of a function that the compiler has moved elsewhere counts as the function: cuts ".cold" and ".cold.3". In code of
 * JIT compilers, and in Go unless C++ or Rust mangled the name, it can be the name of a function. */
static void cut_cold(char *name)
{
	char *cold = strstr(name, ".cold");

	if (cold && cold > name && (!cold[5] || (cold[5] == '.' && !cold[6 + strspn(cold + 6, "0123456789")])))
		*cold = '\0';
}

/* The source form of a C++ or Rust name, also before PLT_SUFFIX, to be freed. NULL: it is none of them. */
static char *demangle(const char *name)
{
	size_t len = strlen(name), suffix = strlen(PLT_SUFFIX);
	char *mangled, *plain, *stub = NULL;

	if (len <= suffix || strcmp(name + len - suffix, PLT_SUFFIX))
		return cplus_demangle(name, DMGL_AUTO | DMGL_PARAMS);
	mangled = strndup(name, len - suffix);
	plain = mangled ? cplus_demangle(mangled, DMGL_AUTO | DMGL_PARAMS) : NULL;
	if (plain && asprintf(&stub, "%s" PLT_SUFFIX, plain) < 0)
		stub = NULL;
	free(mangled);
	free(plain);
	return stub;
}

/* Adds a name in source form: C++ and Rust names are demangled. @k: its file; NULL: the kernel, where " [module]" can follow it. */
static void put_name(struct symbols_names *a, enum name_kind kind, char *name, const struct known *k)
{
	size_t room = sizeof(a->names) - a->bytes, len;
	char fits[SYMBOLS_NAME], module[64] = "", *plain = NULL, *space;
	const char *text;

	if (kind == NAME_SYMBOL) {
		space = name + (k ? strlen(name) : strcspn(name, " "));
		snprintf(module, sizeof(module), "%s", space);
		*space = '\0';
		if (!(a->file & JIT_FILE || (k && k->found.go && *name != '_')))
			cut_cold(name);
		plain = demangle(name);
	}
	text = plain ? plain : kind ? name : "";
	if (strlen(text) + strlen(module) >= sizeof(fits)) {
		short_name(fits, sizeof(fits) - strlen(module), text);
		text = fits;
	}
	len = snprintf(a->names + a->bytes, room, "%s%s", text, module);
	a->bytes += len < room ? len + 1 : room;
	free(plain);
}

static int find_name(const struct symbols_request *r, struct known *k, uint64_t at, char *buf)
{
	if (!r->file)
		return symtab_find(&kernel, at, 0, buf) ? NAME_SYMBOL : NAME_NONE;
	return k ? known_name(k, r->file & JIT_FILE, at, buf) : NAME_NONE;
}

/* Sends the names. -ESTALE: their file must be read again first. */
static int resolve(int socket, const struct symbols_request *r)
{
	struct known *k = r->file ? known_find(r->file) : NULL;
	static struct symbols_names a;
	char buf[SYMTAB_NAME_MAX];

	/* A JIT compiler's file is read again anyway when a name is missing. */
	if (r->file && !(r->file & JIT_FILE) && (!k || !k->read))
		return -ESTALE;
	a = (struct symbols_names){ .what = SYMBOLS_RESOLVE, .file = r->file };
	for (uint32_t i = 0; i < r->nr && i < SYMBOLS_BATCH; i++) {
		int kind = find_name(r, k, r->at[i], buf);

		if (kind < 0)
			return kind;
		put_name(&a, kind, buf, k);
		a.kinds[a.nr] = kind;
		a.at[a.nr++] = r->at[i];
	}
	helper_send(socket, &a, offsetof(struct symbols_names, names) + a.bytes, -1);
	return 0;
}

static void source(int socket, const struct symbols_request *r)
{
	struct symbols_source a = { .what = SYMBOLS_SOURCE, .file = r->file, .at = r->at[0] };
	struct known *k = known_find(r->file);

	if (k)
		known_source(k, r->debug, r->at[0], a.text, sizeof(a.text));
	helper_send(socket, &a, sizeof(a), -1);
}

/* --- Containers */

static void container(int socket, const struct symbols_request *r)
{
	struct symbols_container a = { .what = SYMBOLS_CONTAINER, .file = r->file, .err = -EBADF };
	char id[sizeof(r->at)];

	memcpy(id, r->at, sizeof(id));
	id[sizeof(id) - 1] = '\0';
	if (config >= 0 && config_of == r->file)
		a.err = parse_names(config, r->debug, id, &a);
	file_close(&config);
	helper_send(socket, &a, sizeof(a), -1);
}

/* The answer comes last: by then no file system can delay anything. */
static void answer(int socket, const struct symbols_request *r, int fd)
{
	struct symbols_loaded a = { .what = r->what, .file = r->file };
	struct known *k;
	int table = -1;

	begin_budget(r);
	take_files();
	switch (r->what) {
	case SYMBOLS_RESOLVE:
		a.err = resolve(socket, r);
		if (!a.err)
			return;
		break;
	case SYMBOLS_SOURCE:
		source(socket, r);
		return;
	case SYMBOLS_CONTAINER:
		container(socket, r);
		return;
	case SYMBOLS_TABLE:
		k = known_find(r->file);
		table = k ? known_table(k) : -EBADF;
		a.err = table < 0 ? table : 0;
		break;
	case SYMBOLS_CLOSE:
		k = known_find(r->file);
		if (k)
			known_close(k);
		break;
	case SYMBOLS_FORGET:
		for (uint32_t i = 0; i < r->nr && i < SYMBOLS_BATCH; i++)
			known_forget(r->at[i]);
		break;
	default:
		a.err = load(r, fd, &a);
	}
	helper_send(socket, &a, sizeof(a), table);
	file_close(&table);
}

void symbols_run(int socket)
{
	static struct symbols_request r;
	int fd, n;

	while ((n = helper_receive(socket, &r, sizeof(r), &fd)) > 0) {
		if (r.what == SYMBOLS_PEER) {
			take_peer(fd);
			continue;
		}
		answer(socket, &r, fd);
		file_close(&fd);
		heap_trim(clock_ns(CLOCK_MONOTONIC)); /* returns what reading a large file took */
	}
}
