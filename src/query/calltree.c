/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "query/calltree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/sample.h"
#include "model/tick.h"
#include "query/source.h"
#include "query/stack_walk.h"
#include "sym/names.h"
#include "util/hash.h"
#include "util/vec.h"

/* The tree is rebuilt when it has more than STALE_MAX times as many nodes as nodes with time. */
#define STALE_MAX 4

/* Names at the root, and the longest one. */
#define NAMES_MAX 4096
#define NAME_LEN_MAX 63

/* In calltree.leaves: where the stacks end; LEAF_NONE: nowhere, as the focus function is not in them. */
#define LEAF(node) (void *)((uintptr_t)(node) + 1)
#define LEAF_NONE (void *)(uintptr_t)UINTPTR_MAX

struct building {
	struct calltree *flame;
	const struct subject *of;
	const struct calltree_options *options;
	const struct source *source;
	const struct symbol *focus;
	const struct stack_sample *sample;
	int at;       /* the parent of the next frame */
	int err;
};

const char *calltree_name(const struct calltree_node *n)
{
	return n->symbol ? n->symbol->name : n->text;
}

int calltree_find(const struct calltree *f, uint64_t key)
{
	return (int)(uintptr_t)map_get(&f->places, key) - 1;
}

uint64_t calltree_what(const struct symbol *symbol, const char *text)
{
	return symbol ? symbol->id : hash_text(0, text);
}

uint64_t calltree_key_now(const struct calltree *f, uint64_t key, const struct source *source)
{
	int at = calltree_find(f, key), *path, nr = 0;
	uint64_t now = 1; /* of the root */

	if (at <= 0 || !(path = calloc(f->nodes[at].depth, sizeof(*path))))
		return key;
	for (; at > 0; at = f->nodes[at].parent)
		path[nr++] = at;
	while (nr) {
		const struct calltree_node *n = &f->nodes[path[--nr]];
		const struct symbol *symbol = n->symbol ? source->symbol(source->arg, n->at.frame, n->at.tgid) : NULL;

		if (n->symbol && !symbol) { /* out of memory */
			now = key;
			break;
		}
		now = hash_add(now, calltree_what(symbol, n->text));
	}
	free(path);
	return now;
}

static int function_of(struct building *b, const struct calltree_node *like)
{
	struct calltree *f = b->flame;
	uintptr_t known = (uintptr_t)map_get(&f->function_of, (uintptr_t)like->symbol);
	struct calltree_function new = { .symbol = like->symbol, .at = like->at };

	if (known)
		return known - 1;
	b->err = VEC_PUSH(f->functions, f->nr_functions, f->functions_room, new);
	if (!b->err)
		b->err = map_put(&f->function_of, (uintptr_t)like->symbol,
				 (void *)(uintptr_t)f->nr_functions);
	return f->nr_functions - 1;
}

/* Descends to the child of this name, creating it if needed. */
static void go_down(struct building *b, struct calltree_node like)
{
	struct calltree *f = b->flame;
	int at, parent = b->at;

	if (b->err)
		return;
	like.key = parent < 0 ? 1 : hash_add(f->nodes[parent].key, calltree_what(like.symbol, like.text));
	at = calltree_find(f, like.key);
	if (at < 0) {
		like.parent = parent;
		like.child = like.next = -1;
		like.depth = parent < 0 ? 0 : f->nodes[parent].depth + 1;
		like.function = like.symbol ? function_of(b, &like) : -1;
		if (parent >= 0)
			like.next = f->nodes[parent].child;
		at = f->nr;
		if (!b->err)
			b->err = VEC_PUSH(f->nodes, f->nr, f->room, like);
		if (!b->err)
			b->err = map_put(&f->places, like.key, (void *)(uintptr_t)(at + 1));
		if (b->err)
			return;
		if (parent >= 0)
			f->nodes[parent].child = at;
	}
	b->at = at;
}

static void go_text(struct building *b, const char *text)
{
	go_down(b, (struct calltree_node){ .text = text });
}

static void go_frame(struct building *b, const struct stack_walk *w)
{
	const struct symbol *symbol = w->mark ? NULL : stack_walk_symbol(w);

	if (w->mark)
		go_text(b, w->mark);
	else if (!symbol)
		b->err = -ENOMEM;
	else
		go_down(b, (struct calltree_node){ .symbol = symbol, .at = { w->frame, w->tgid } });
}

/* Starts a walk over the shown parts of the sample's stacks. */
static void walk_shown(const struct building *b, struct stack_walk *w, int how)
{
	const struct calltree_options *o = b->options;

	stack_walk(w, b->source, b->sample,
		   how | WALK_MARKS | (o->hide_kernel ? WALK_NO_KERNEL : 0) | (o->hide_user ? WALK_NO_USER : 0));
}

static bool is_focus(const struct building *b, const struct stack_walk *w)
{
	return !w->mark && stack_walk_symbol(w) == b->focus;
}

/* Advances to the outermost place of the focus function; false: the stacks do not have it. */
static bool to_focus(const struct building *b, struct stack_walk *w)
{
	struct stack_walk found;
	bool any = false;

	if (b->options->part == CALLTREE_CALLEES) {
		walk_shown(b, w, WALK_FROM_ROOT);
		while (stack_walk_next(w))
			if (is_focus(b, w))
				return true;
		return false;
	}
	walk_shown(b, w, WALK_INNERMOST);
	while (stack_walk_next(w)) {
		if (!is_focus(b, w))
			continue;
		found = *w;
		any = true;
	}
	if (any)
		*w = found;
	return any;
}

static void go_frames(struct building *b)
{
	struct stack_walk w;
	bool more;

	if (b->options->part != CALLTREE_WHOLE) {
		more = to_focus(b, &w);
		if (!more)
			b->at = -1;
	} else {
		walk_shown(b, &w, b->options->inverted ? WALK_INNERMOST : WALK_FROM_ROOT);
		more = stack_walk_next(&w);
		if (!more)
			go_text(b, "[hidden]");
	}
	for (; more && !b->err; more = stack_walk_next(&w))
		go_frame(b, &w);
}

/* Returns a copy of a name, kept until the tree is forgotten; "[others]" if there are too many. */
static const char *keep_name(struct building *b, const char *name)
{
	struct map *names = &b->flame->names;
	size_t len = strlen(name);
	uint64_t key;
	char *kept;

	if (len > NAME_LEN_MAX) /* the end of a long path is more specific */
		name += len - NAME_LEN_MAX;
	key = hash_text(0, name);
	kept = map_get(names, key);
	if (kept || names->nr >= NAMES_MAX)
		return kept ? kept : "[others]";
	kept = strdup(name);
	b->err = kept ? map_put(names, key, kept) : -ENOMEM;
	if (b->err)
		free(kept);
	return b->err ? NULL : kept;
}

/* The name at the root for a thread, NULL: none. */
static const char *who_of(struct building *b, const struct life *life)
{
	switch (b->options->merge) {
	case CALLTREE_MERGE_PROCESS:
		return keep_name(b, life->process->comm);
	case CALLTREE_MERGE_THREAD:
		return keep_name(b, life->comm);
	case CALLTREE_MERGE_CGROUP:
		return keep_name(b, life->cgroup->path);
	default:
		return NULL;
	}
}

static void walk(struct building *b, const char *who)
{
	b->at = -1;
	if (b->options->part == CALLTREE_WHOLE) {
		go_text(b, "");
		if (b->options->metric == METRIC_WALL)
			go_text(b, metrics[b->sample->metric].weight.part);
		if (who)
			go_text(b, who);
	}
	go_frames(b);
}

/* Where the sample's stacks end. Each pair of stacks is walked once. -1: nowhere, as the focus function is not in
 * them, or out of memory. */
static int leaf_of(struct building *b)
{
	const struct stack_sample *s = b->sample;
	const char *who = who_of(b, s->life);
	uint64_t key = hash_add((uintptr_t)who, b->options->metric == METRIC_WALL ? 1 + s->metric : 0);
	void *known;

	if (s->user)
		key = hash_add(key, s->user->hash ^ (uint64_t)s->user->check << 32);
	key = hash_add(key, sample_lacks_user(s) | (s->flags & NOTE_NEAR)); /* the marks of the whole stack */
	if (s->kernel)
		key = hash_add(key, s->kernel->hash ^ (uint64_t)s->kernel->check << 32);
	known = map_get(&b->flame->leaves, key);
	if (!known) {
		walk(b, who);
		known = b->at < 0 ? LEAF_NONE : LEAF(b->at);
		if (!b->err)
			b->err = map_put(&b->flame->leaves, key, known);
	}
	return b->err || known == LEAF_NONE ? -1 : (int)(uintptr_t)known - 1;
}

static void count_thread(struct building *b)
{
	struct calltree *f = b->flame;
	const struct life *life = b->sample->life;
	uintptr_t known = (uintptr_t)map_get(&f->thread_of, (uintptr_t)life);

	if (!known) {
		b->err = VEC_PUSH(f->threads, f->nr_threads, f->threads_room, ((struct calltree_thread){ life, 0 }));
		known = f->nr_threads;
		if (!b->err)
			b->err = map_put(&f->thread_of, (uintptr_t)life, (void *)known);
	}
	if (!b->err)
		f->threads[known - 1].total += b->sample->weight;
}

static bool is_wanted(const struct building *b, const struct stack_sample *s)
{
	return metric_weighs(b->options->metric, s->metric) && subject_holds_life(b->of, s->life);
}

static int add_sample(void *arg, const struct stack_sample *s)
{
	struct building *b = arg;
	struct calltree_node *n;
	int leaf;

	if (!is_wanted(b, s))
		return 0;
	b->sample = s;
	leaf = leaf_of(b);
	if (leaf < 0)
		return b->err;
	n = &b->flame->nodes[leaf];
	n->self += s->weight;
	n->self_count += s->count;
	stack_quality_add(&b->flame->quality, s);
	if (s->user && s->user->flags & STACK_BY_FP)
		b->flame->by_fp += s->weight;
	wakers_add(&b->flame->wakers, s);
	count_thread(b);
	return b->err;
}

/* --- Sums and order */

/* Parents precede their children. */
static void sum_up(struct calltree *f)
{
	for (size_t i = 0; i < f->nr; i++) {
		f->nodes[i].total = f->nodes[i].self;
		f->nodes[i].count = f->nodes[i].self_count;
	}
	for (size_t i = f->nr; i-- > 1;) {
		f->nodes[f->nodes[i].parent].total += f->nodes[i].total;
		f->nodes[f->nodes[i].parent].count += f->nodes[i].count;
	}
}

static int heavier(const void *a, const void *b, void *nodes)
{
	const struct calltree_node *x = (struct calltree_node *)nodes + *(const int *)a;
	const struct calltree_node *y = (struct calltree_node *)nodes + *(const int *)b;

	return cmp_int(y->total, x->total) ?: cmp_int(x->key, y->key);
}

static void sort_children(struct calltree *f, int parent, int *scratch)
{
	bool sorted = true;
	int nr = 0;

	for (int c = f->nodes[parent].child; c >= 0; c = f->nodes[c].next) {
		scratch[nr++] = c;
		sorted &= nr < 2 || heavier(&scratch[nr - 2], &scratch[nr - 1], f->nodes) < 0;
	}
	if (sorted)
		return;
	qsort_r(scratch, nr, sizeof(*scratch), heavier, f->nodes);
	for (int i = 0; i < nr; i++)
		f->nodes[scratch[i]].next = i + 1 < nr ? scratch[i + 1] : -1;
	f->nodes[parent].child = scratch[0];
}

static int sort_all(struct calltree *f)
{
	int *scratch = calloc(f->nr + 1, sizeof(*scratch));

	if (!scratch)
		return -ENOMEM;
	for (size_t i = 0; i < f->nr; i++)
		sort_children(f, i, scratch);
	free(scratch);
	return 0;
}

static int more_time(const void *a, const void *b)
{
	const struct calltree_thread *x = a, *y = b;

	return cmp_int(y->total, x->total) ?: x->life->tid - y->life->tid;
}

/* --- Building */

static void forget(struct calltree *f)
{
	f->nr = f->nr_functions = 0;
	map_free(&f->names);
	map_fini(&f->places);
	map_fini(&f->leaves);
	map_fini(&f->function_of);
}

static bool is_stale(const struct calltree *f)
{
	size_t with_time = 0;

	for (size_t i = 0; i < f->nr; i++)
		with_time += f->nodes[i].total > 0;
	return f->nr > 1024 && f->nr > STALE_MAX * with_time;
}

static bool same_tree(const struct calltree_options *a, const struct calltree_options *b)
{
	return a->metric == b->metric && a->merge == b->merge && a->part == b->part && a->inverted == b->inverted &&
	       a->hide_kernel == b->hide_kernel && a->hide_user == b->hide_user &&
	       a->focus.frame == b->focus.frame && a->focus.tgid == b->focus.tgid;
}

bool calltree_is_built(const struct calltree *f, const struct calltree_options *o, const struct source *source)
{
	return same_tree(&f->built, o) && f->built.ticks == o->ticks && f->generation == source->names_generation(source->arg);
}

int calltree_build(struct calltree *f, const struct tick *t, const struct subject *of,
		   const struct calltree_options *o, const struct source *source)
{
	struct building b = { .flame = f, .of = of, .options = o, .source = source };
	uint64_t generation = source->names_generation(source->arg);

	f->nr_options += !same_tree(&f->built, o);
	if (!same_tree(&f->built, o) || f->generation != generation || is_stale(f))
		forget(f);
	f->built = *o;
	f->generation = generation;
	f->nr_threads = 0;
	wakers_fini(&f->wakers);
	map_fini(&f->thread_of);
	stack_quality_begin(&f->quality, source);
	f->by_fp = 0;
	for (size_t i = 0; i < f->nr; i++)
		f->nodes[i].self = f->nodes[i].self_count = 0;
	if (o->part != CALLTREE_WHOLE)
		b.focus = source->symbol(source->arg, o->focus.frame, o->focus.tgid);
	if (o->samples)
		o->samples(o->samples_arg, add_sample, &b);
	else
		tick_samples(t, o->ticks, add_sample, &b);
	sum_up(f);
	wakers_sort(&f->wakers);
	VEC_SORT(f->threads, f->nr_threads, more_time);
	return b.err ? b.err : sort_all(f);
}

void calltree_fini(struct calltree *f)
{
	forget(f);
	free(f->nodes);
	free(f->functions);
	free(f->threads);
	map_fini(&f->thread_of);
	wakers_fini(&f->wakers);
	*f = (struct calltree){ 0 };
}

/* --- Functions */

/* A node below another one of its function does not add to the function's total: the function called itself. */
static void count_functions(struct calltree *f, int node)
{
	const struct calltree_node *n = &f->nodes[node];
	struct calltree_function *fn = n->function < 0 ? NULL : &f->functions[n->function];

	if (!n->total)
		return;
	if (fn) {
		fn->self += n->self;
		if (!fn->open++) {
			fn->total += n->total;
			fn->count += n->count;
		}
	}
	for (int c = n->child; c >= 0; c = f->nodes[c].next)
		count_functions(f, c);
	if (fn)
		fn->open--;
}

static int busier(const void *a, const void *b)
{
	const struct calltree_function *x = a, *y = b;

	return cmp_int(y->self, x->self) ?: cmp_int(y->total, x->total) ?: strcmp(x->symbol->name, y->symbol->name);
}

int calltree_functions(struct calltree *f)
{
	for (size_t i = 0; i < f->nr_functions; i++)
		f->functions[i].total = f->functions[i].self = f->functions[i].count = 0;
	if (f->nr)
		count_functions(f, 0);
	VEC_SORT(f->functions, f->nr_functions, busier);
	/* Sorting moved them. */
	for (size_t i = 0; i < f->nr_functions; i++)
		if (map_put(&f->function_of, (uintptr_t)f->functions[i].symbol, (void *)(uintptr_t)(i + 1)))
			return -ENOMEM;
	for (size_t i = 0; i < f->nr; i++)
		if (f->nodes[i].symbol)
			f->nodes[i].function =
				(uintptr_t)map_get(&f->function_of, (uintptr_t)f->nodes[i].symbol) - 1;
	return 0;
}
