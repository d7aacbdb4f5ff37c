/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A stored flamegraph to compare with. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "query/calltree.h"
#include "query/source.h"
#include "sym/names.h"
#include "util/hash.h"
#include "util/vec.h"

/* Maximum number of builds that are kept: only a long graph of everything has that many files in its stacks. */
#define BUILDS_MAX 512

/* --- Builds of the functions' files */

/* The id of the file that a node's function is in; 0: it is in none, or the file was met before. */
static uint64_t file_of(const struct calltree_node *n, struct map *met)
{
	uint64_t file = n->at.frame >> FRAME_FILE_SHIFT;

	if (!n->symbol || !n->total || n->at.frame & (FRAME_KERNEL | FRAME_ANONYMOUS) || !file || map_get(met, file))
		return 0;
	return map_put(met, file, (void *)n) ? 0 : file;
}

/* False: the build is not known. */
static bool build_of(const struct calltree_node *n, const struct source *source, struct calltree_file *b)
{
	source->build_id(source->arg, n->at.frame, b->build_id, sizeof(b->build_id));
	snprintf(b->name, sizeof(b->name), "%s", n->symbol->module);
	return strcmp(b->build_id, "-");
}

/* Whether the base has this file, and whether it has this build of it. */
static void look_up(const struct calltree_base *b, const struct calltree_file *of, bool *has_file, bool *has_build)
{
	*has_file = *has_build = false;
	for (size_t i = 0; i < b->nr_builds && !*has_build; i++) {
		bool same = !strcmp(b->builds[i].name, of->name);

		*has_file |= same;
		*has_build = same && !strcmp(b->builds[i].build_id, of->build_id);
	}
}

static int keep_builds(struct calltree_base *b, const struct calltree *f, const struct source *source)
{
	struct calltree_file build;
	struct map met = { 0 };
	bool has_file, has_build;
	int err = 0;

	for (size_t i = 0; i < f->nr && b->nr_builds < BUILDS_MAX && !err; i++) {
		if (!file_of(&f->nodes[i], &met) || !build_of(&f->nodes[i], source, &build))
			continue;
		look_up(b, &build, &has_file, &has_build);
		if (!has_build)
			err = VEC_PUSH(b->builds, b->nr_builds, b->builds_room, build);
	}
	map_fini(&met);
	return err;
}

bool calltree_base_changed(const struct calltree_base *b, const struct calltree *f, const struct source *source, char *file,
			   size_t size)
{
	struct calltree_file build;
	bool has_file = false, has_build = true;
	struct map met = { 0 };

	for (size_t i = 0; i < f->nr; i++) {
		if (!file_of(&f->nodes[i], &met) || !build_of(&f->nodes[i], source, &build))
			continue;
		look_up(b, &build, &has_file, &has_build);
		if (has_file && !has_build)
			break;
	}
	map_fini(&met);
	if (!has_file || has_build)
		return false;
	snprintf(file, size, "%s", build.name);
	return true;
}

/* --- The tree */

int calltree_base_set(struct calltree_base *b, const struct calltree *f, const struct source *source)
{
	struct calltree_base new = { .nodes = calloc(f->nr + 1, sizeof(*new.nodes)) };

	if (!new.nodes || keep_builds(&new, f, source)) {
		calltree_base_fini(&new);
		return -ENOMEM;
	}
	for (size_t i = 0; i < f->nr; i++) {
		const struct calltree_node *n = &f->nodes[i];

		new.nodes[i] = (struct calltree_base_node){
			.at = n->at,
			.what = calltree_what(n->symbol, n->text),
			.own = n->total,
			.parent = n->parent,
			.function = n->symbol,
			.named = n->symbol && n->symbol->named,
		};
	}
	new.nr = f->nr;
	calltree_base_fini(b);
	*b = new;
	return 0;
}

/* A name can still arrive, or become better. A name that is gone, with its process or file, is kept. */
static void name_again(struct calltree_base_node *n, const struct source *source)
{
	const struct symbol *s = source->symbol(source->arg, n->at.frame, n->at.tgid);

	if (!s || (n->named && !s->named))
		return;
	n->what = s->id;
	n->named = s->named;
}

/* New names have arrived, so that places of the same frames have other keys now. */
static void rekey(struct calltree_base *b, const struct source *source)
{
	map_fini(&b->shares);
	b->generation = source->names_generation(source->arg);
	for (size_t i = 0; i < b->nr; i++)
		b->nodes[i].total = b->nodes[i].own;
	for (size_t i = 0; i < b->nr; i++) {
		struct calltree_base_node *n = &b->nodes[i], *known;
		uintptr_t at;

		if (n->function)
			name_again(n, source);
		n->key = n->parent < 0 ? 1 : hash_add(b->nodes[n->parent].key, n->what);
		at = (uintptr_t)map_get(&b->shares, n->key);
		known = at ? &b->nodes[at - 1] : NULL;
		if (known) /* two nodes that have the same name now */
			known->total += n->total;
		else
			map_put(&b->shares, n->key, (void *)(uintptr_t)(i + 1));
	}
}

double calltree_base_share(struct calltree_base *b, uint64_t key, const struct source *source)
{
	uintptr_t at;

	if (!b->nr || !b->nodes[0].own)
		return 0;
	if (!b->shares.nr || b->generation != source->names_generation(source->arg))
		rekey(b, source);
	at = (uintptr_t)map_get(&b->shares, key);
	return at ? (double)b->nodes[at - 1].total / b->nodes[0].total : 0;
}

void calltree_base_fini(struct calltree_base *b)
{
	free(b->nodes);
	free(b->builds);
	map_fini(&b->shares);
	*b = (struct calltree_base){ 0 };
}
