/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <libiberty/demangle.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "helper/helper.h"
#include "helper/proto.h"
#include "sym/elf.h"
#include "sym/kallsyms.h"
#include "sym/roles.h"
#include "util/map.h"

struct known {
	struct symtab symtab;
	struct elf_segments segments;
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

static void load_file(int socket, const struct symbols_request *r, int fd)
{
	struct symbols_loaded a = { .what = r->what, .file = r->file, .err = -ENOMEM };
	struct known *k = known_file(r->file);
	struct elf_found found = { 0 };

	if (k) {
		a.err = elf_read(fd, r->what == SYMBOLS_DEBUG, &k->symtab, &found);
		if (r->what == SYMBOLS_FILE)
			k->segments = found.segments;
		a.symbols = k->symtab.nr;
		a.whole = found.whole;
		a.build_id_bytes = found.build_id_bytes;
		memcpy(a.build_id, found.build_id, sizeof(a.build_id));
	}
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
	return k && elf_address(&k->segments, at, &address) ? symtab_find(&k->symtab, address) : NULL;
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

void symbols_run(int socket)
{
	static struct symbols_request r;
	int fd, n;

	while ((n = helper_receive(socket, &r, sizeof(r), &fd)) > 0) {
		switch (r.what) {
		case SYMBOLS_FILE:
		case SYMBOLS_DEBUG:
			load_file(socket, &r, fd);
			break;
		case SYMBOLS_KERNEL:
			if (fd >= 0)
				kallsyms_read(fd, &kernel);
			fd = -1;
			break;
		case SYMBOLS_RESOLVE:
			resolve(socket, &r);
			break;
		}
		if (fd >= 0)
			close(fd);
	}
}
