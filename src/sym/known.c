/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The files that were handed to the symbols helper, and what it has read from them, within a memory limit. */
#include "sym/known.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sym/cfi_pack.h"
#include "sym/lines.h"
#include "sym/plt.h"
#include "util/file.h"
#include "util/map.h"

/* Limit for the symbols of all files: beyond it, those unused for longest are forgotten, and read again on demand.
 * One file takes up to SYMTAB_MAX functions, and twice that while they are sorted. */
#define SYMBOLS_BYTES_MAX (96UL << 20)

/* The limit while line numbers are read, which take most of the memory. */
#define SYMBOLS_BYTES_LINES (32UL << 20)

static struct map files; /* id -> struct known */
static uint64_t now;     /* raised by each use */

struct known *known_find(uint32_t id)
{
	struct known *k = map_get(&files, id);

	if (k)
		k->used = ++now;
	return k;
}

struct known *known_file(uint32_t id)
{
	struct known *k = known_find(id);

	if (k || !id) /* 0 is no file */
		return k;
	k = calloc(1, sizeof(*k));
	if (!k || map_put(&files, id, k)) {
		free(k);
		return NULL;
	}
	k->fd = k->debug_fd = -1;
	k->used = ++now;
	return k;
}

/* --- Memory */

static void forget(struct known *k)
{
	symtab_fini(&k->symtab);
	symtab_fini(&k->plt);
	symtab_fini(&k->debug);
	symtab_fini(&k->map.symtab);
	k->map = (struct perfmap){ 0 };
	k->step = KNOWN_IDLE;
	k->read = false;
}

static size_t bytes_of(const struct known *k)
{
	return symtab_bytes(&k->symtab) + symtab_bytes(&k->plt) + symtab_bytes(&k->debug) + symtab_bytes(&k->map.symtab);
}

/* Forgets symbols of files other than @except until the symbols of all files take at most @max bytes. Returns whether it forgot
 * any. */
static bool make_room(const struct known *except, size_t max)
{
	bool forgot = false;

	for (;;) {
		struct known *oldest = NULL, *k;
		size_t bytes = 0;

		MAP_EACH (&files, k) {
			if (!bytes_of(k))
				continue;
			bytes += bytes_of(k);
			if (k != except && (!oldest || k->used < oldest->used))
				oldest = k;
		}
		if (!oldest || bytes <= max)
			return forgot;
		forget(oldest);
		forgot = true;
	}
}

/* --- Symbols */

static void begin(struct known *k, enum known_step step)
{
	k->step = step;
	k->progress = (struct elf_progress){ 0 };
}

static int read_file(struct known *k, uint64_t until)
{
	int err;

	if (k->step != KNOWN_FILE) {
		forget(k);
		begin(k, KNOWN_FILE);
	}
	k->progress.until = until;
	err = elf_read(k->fd, false, &k->symtab, &k->found, &k->progress);
	if (err != -EAGAIN && plt_read(k->fd, &k->plt) == -ENOMEM)
		err = -ENOMEM;
	return err;
}

static bool was_checked(const struct known *k)
{
	const struct stat *was = &k->checked;
	struct stat st;

	return !fstat(k->debug_fd, &st) && st.st_dev == was->st_dev && st.st_ino == was->st_ino && st.st_size == was->st_size &&
	       st.st_mtim.tv_sec == was->st_mtim.tv_sec && st.st_mtim.tv_nsec == was->st_mtim.tv_nsec;
}

/* Whether the debug information file can belong to this file: 0, -ESTALE: no, -EAGAIN: its checksum decides, or another -errno. */
static int check_debug(struct known *k)
{
	const struct elf_found *file = &k->found, *debug = &k->debug_found;
	int err = elf_about(k->debug_fd, &k->debug_found);

	if (err)
		return err;
	if (!file->build_id_bytes || !debug->build_id_bytes)
		return !*file->debuglink ? -ESTALE : was_checked(k) ? 0 : -EAGAIN;
	return file->build_id_bytes == debug->build_id_bytes &&
			       !memcmp(file->build_id, debug->build_id, file->build_id_bytes)
		       ? 0
		       : -ESTALE;
}

/* Checks first whether it belongs to the file: it may be large and another file's. A copy of a stripped file has its build-id,
 * and nothing to add. */
static int read_debug(struct known *k, uint64_t until)
{
	int err;

	if (k->step != KNOWN_DEBUG_CHECK && k->step != KNOWN_DEBUG) {
		symtab_fini(&k->debug);
		err = check_debug(k);
		if (err && err != -EAGAIN)
			return err;
		begin(k, err ? KNOWN_DEBUG_CHECK : KNOWN_DEBUG);
	}
	k->progress.until = until;
	if (k->step == KNOWN_DEBUG_CHECK) {
		err = elf_checksum(k->debug_fd, &k->progress);
		if (err)
			return err;
		if (k->progress.crc != k->found.debuglink_crc)
			return -ESTALE;
		if (fstat(k->debug_fd, &k->checked))
			return -errno;
		begin(k, KNOWN_DEBUG);
		k->progress.until = until;
	}
	err = elf_read(k->debug_fd, true, &k->debug, &k->debug_found, &k->progress);
	if (!err && !k->debug_found.whole && !k->debug_found.lines)
		return -ESTALE;
	if (!err && k->debug.nr) {
		symtab_fini(&k->symtab);
		k->symtab = k->debug;
		k->debug = (struct symtab){ 0 };
	}
	return err;
}

static int read_symbols(struct known *k, uint32_t what, uint64_t until)
{
	if ((what == SYMBOLS_DEBUG ? k->debug_fd : k->fd) < 0)
		return -EBADF;
	if (what == SYMBOLS_PERF_MAP)
		return perfmap_read(&k->map, k->fd, until);
	return what == SYMBOLS_DEBUG ? read_debug(k, until) : read_file(k, until);
}

int known_load(struct known *k, uint32_t what, uint64_t until, struct symbols_loaded *a)
{
	const struct elf_found *found = what == SYMBOLS_DEBUG ? &k->debug_found : &k->found;
	int err;

	make_room(k, SYMBOLS_BYTES_MAX);
	err = read_symbols(k, what, until);
	if (err == -ENOMEM && make_room(k, 0)) {
		k->step = KNOWN_IDLE;
		err = read_symbols(k, what, until);
	}
	if (err == -EAGAIN)
		return err;
	symtab_fini(&k->debug);
	k->step = KNOWN_IDLE;
	if (what == SYMBOLS_FILE) {
		k->read = true;
		k->closed = false;
	}
	if (what != SYMBOLS_DEBUG || (!err && found->whole))
		k->whole = found->whole;
	a->symbols = k->symtab.nr;
	a->whole = found->whole;
	a->lines = found->lines;
	a->build_id_bytes = found->build_id_bytes;
	memcpy(a->build_id, found->build_id, sizeof(a->build_id));
	memcpy(a->debuglink, found->debuglink, sizeof(a->debuglink));
	a->segments = k->found.segments;
	return err;
}

/* If not all symbols are known, a symbol without a size says nothing about code beyond its function, whose end is in the
 * unwind information. */
int known_name(struct known *k, bool jit, uint64_t at, char *buf)
{
	struct function_range r;
	uint64_t address;
	bool found;

	if (jit)
		return symtab_find(&k->map.symtab, at, 0, buf) ? NAME_SYMBOL : NAME_NONE;
	if (!elf_address(&k->found.segments, at, &address))
		return NAME_NONE;
	/* First, as a function without a size would extend over the stubs that follow it. */
	if (symtab_find(&k->plt, address, 0, buf))
		return NAME_SYMBOL;
	if (k->whole && symtab_find(&k->symtab, address, 0, buf))
		return NAME_SYMBOL;
	if (k->found.functions.nr && k->closed)
		return -ESTALE;
	found = functions_find(&k->found.functions, k->fd, address, &r);
	if (!k->whole && symtab_find(&k->symtab, address, found ? r.from : address, buf))
		return NAME_SYMBOL;
	if (!found)
		return NAME_NONE;
	snprintf(buf, SYMTAB_NAME_MAX, "fn_%" PRIx64, r.from);
	return NAME_FUNCTION;
}

/* --- Other requests */

int known_table(const struct known *k)
{
	struct cfi_table t = { 0 };
	int err = k->fd < 0 ? -EBADF : cfi_read(k->fd, &t), to = -1;

	if (err == -ENOMEM && make_room(NULL, 0)) {
		cfi_fini(&t);
		err = cfi_read(k->fd, &t);
	}
	if (!err) {
		to = memfd_create("table", MFD_CLOEXEC | MFD_ALLOW_SEALING);
		err = to < 0 ? -errno : cfi_pack(&t, to);
		if (!err)
			err = file_seal(to);
	}
	cfi_fini(&t);
	if (err)
		file_close(&to);
	return err ? err : to;
}

/* A debug information file that was closed and opened again may be another build's by now. */
void known_source(struct known *k, bool debug, uint64_t at, char *text, size_t size)
{
	int fd = debug ? k->debug_fd : k->fd;
	uint64_t address;

	if (fd < 0 || (debug && check_debug(k)) || !elf_address(&k->found.segments, at, &address))
		return;
	make_room(NULL, SYMBOLS_BYTES_LINES);
	lines_find(fd, address, text, size);
}

void known_close(struct known *k)
{
	k->closed = true;
	if (k->symtab.in_file || k->step != KNOWN_IDLE)
		forget(k);
	file_close(&k->fd);
	file_close(&k->debug_fd);
}

void known_forget(uint32_t id)
{
	struct known *k = map_get(&files, id);

	if (!k)
		return;
	forget(k);
	file_close(&k->fd);
	file_close(&k->debug_fd);
	map_del(&files, id);
	free(k);
}
