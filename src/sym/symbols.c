/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <libiberty/demangle.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "helper/helper.h"
#include "helper/proto.h"
#include "sym/cfi_pack.h"
#include "sym/elf.h"
#include "sym/kallsyms.h"
#include "sym/lines.h"
#include "sym/perfmap.h"
#include "sym/roles.h"
#include "util/map.h"
#include "util/file.h"

struct known {
	struct symtab symtab;
	struct elf_found found; /* by SYMBOLS_FILE */
};

static struct map files; /* id -> struct known */
static struct symtab kernel;

static struct known *known_file(uint32_t id)
{
	struct known *k = map_get(&files, id);

	if (k)
		return k;
	k = calloc(1, sizeof(*k));
	if (k && map_put(&files, id, k)) {
		free(k);
		return NULL;
	}
	return k;
}

/* Whether a file of debug information is this file's. */
static bool is_debug_of(const struct elf_found *file, const struct elf_found *debug, int fd)
{
	if (file->build_id_bytes && debug->build_id_bytes)
		return file->build_id_bytes == debug->build_id_bytes &&
		       !memcmp(file->build_id, debug->build_id, file->build_id_bytes);
	return *file->debuglink && elf_checksum(fd) == file->debuglink_crc;
}

static int load_elf(const struct symbols_request *r, int fd, struct symbols_loaded *a)
{
	struct known *k = known_file(r->file);
	struct elf_found found = { 0 };
	struct symtab debug = { 0 };
	int err;

	if (!k)
		return -ENOMEM;
	if (r->what == SYMBOLS_DEBUG) {
		err = elf_read(fd, true, &debug, &found);
		if (!err && !is_debug_of(&k->found, &found, fd))
			err = -ESTALE;
		if (!err && debug.nr) {
			symtab_fini(&k->symtab);
			k->symtab = debug;
		} else {
			symtab_fini(&debug);
		}
	} else {
		symtab_fini(&k->symtab);
		err = elf_read(fd, false, &k->symtab, &found);
		k->found = found;
	}
	a->symbols = k->symtab.nr;
	a->whole = found.whole;
	a->lines = found.lines;
	a->build_id_bytes = found.build_id_bytes;
	memcpy(a->build_id, found.build_id, sizeof(a->build_id));
	memcpy(a->debuglink, found.debuglink, sizeof(a->debuglink));
	return err;
}

static int load_perf_map(const struct symbols_request *r, int fd)
{
	struct known *k = known_file(r->file);

	return k ? perfmap_read(fd, &k->symtab) : -ENOMEM;
}

static void load(int socket, const struct symbols_request *r, int fd)
{
	struct symbols_loaded a = { .what = r->what, .file = r->file, .err = -EBADF };

	if (fd >= 0)
		a.err = r->what == SYMBOLS_KERNEL     ? kallsyms_read(fd, &kernel)
			: r->what == SYMBOLS_PERF_MAP ? load_perf_map(r, fd)
						      : load_elf(r, fd, &a);
	helper_send(socket, &a, sizeof(a), -1);
}

/* The name at a place, NULL: not known. */
static const char *name_at(uint32_t file, uint64_t at)
{
	const struct known *k;
	uint64_t address;

	if (!file)
		return symtab_find(&kernel, at);
	k = map_get(&files, file);
	if (k && file & JIT_FILE)
		return symtab_find(&k->symtab, at);
	return k && elf_address(&k->found.segments, at, &address) ? symtab_find(&k->symtab, address) : NULL;
}

/* Adds a name as people write it: C++ and Rust ones are taken apart. */
static void put_name(struct symbols_names *a, const char *name)
{
	size_t room = sizeof(a->names) - a->bytes;
	char *plain = name ? cplus_demangle(name, DMGL_AUTO | DMGL_PARAMS) : NULL;
	const char *text = plain ? plain : name ? name : "";
	size_t len = strlen(text);

	if (len > 255)
		len = 255;
	if (len + 1 > room)
		len = room - 1;
	memcpy(a->names + a->bytes, text, len);
	a->names[a->bytes + len] = '\0';
	a->bytes += len + 1;
	free(plain);
}

static void resolve(int socket, const struct symbols_request *r)
{
	static struct symbols_names a;

	a = (struct symbols_names){ .what = SYMBOLS_RESOLVE, .file = r->file };
	for (uint32_t i = 0; i < r->nr && i < SYMBOLS_BATCH; i++) {
		put_name(&a, name_at(r->file, r->at[i]));
		a.at[a.nr++] = r->at[i];
	}
	helper_send(socket, &a, offsetof(struct symbols_names, names) + a.bytes, -1);
}

static void source(int socket, const struct symbols_request *r, int fd)
{
	struct symbols_source a = { .what = SYMBOLS_SOURCE, .file = r->file, .at = r->at[0] };
	const struct known *k = map_get(&files, r->file);
	uint64_t address;

	if (fd >= 0 && k && elf_address(&k->found.segments, r->at[0], &address))
		lines_find(fd, address, a.text, sizeof(a.text));
	helper_send(socket, &a, sizeof(a), -1);
}

/* The table of how to unwind a file's code, in a file of memory. */
static void table(int socket, const struct symbols_request *r, int fd)
{
	struct symbols_loaded a = { .what = SYMBOLS_TABLE, .file = r->file, .err = -EBADF };
	struct cfi_table t = { 0 };
	int to = -1;

	if (fd >= 0)
		a.err = cfi_read(fd, &t);
	if (!a.err) {
		to = memfd_create("table", MFD_CLOEXEC | MFD_ALLOW_SEALING);
		a.err = to < 0 ? -errno : cfi_pack(&t, to);
		if (!a.err)
			a.err = file_seal(to);
		a.symbols = t.nr;
	}
	helper_send(socket, &a, sizeof(a), a.err ? -1 : to);
	if (to >= 0)
		close(to);
	cfi_fini(&t);
}

void symbols_run(int socket)
{
	static struct symbols_request r;
	int fd, n;

	while ((n = helper_receive(socket, &r, sizeof(r), &fd)) > 0) {
		if (r.what == SYMBOLS_RESOLVE)
			resolve(socket, &r);
		else if (r.what == SYMBOLS_SOURCE)
			source(socket, &r, fd);
		else if (r.what == SYMBOLS_TABLE)
			table(socket, &r, fd);
		else
			load(socket, &r, fd);
		if (fd >= 0)
			close(fd);
	}
}
