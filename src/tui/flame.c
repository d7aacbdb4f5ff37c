/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/flame.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/sample.h"
#include "model/tick.h"
#include "sym/names.h"
#include "tui/host.h"
#include "util/hash.h"
#include "util/vec.h"

const char *const flame_metric_names[FLAME_METRICS] = { "On-CPU", "Runq", "Sleep", "D-state",
							"Wall" };

struct building {
	struct flame *flame;
	const struct flame_options *options;
	const struct host *host;
	const struct stack_sample *sample;
	int at;  /* node the next frame goes below */
	int err;
};

const char *flame_name(const struct flame_node *n)
{
	return n->symbol ? n->symbol->name : n->text;
}

int flame_find(const struct flame *f, uint64_t key)
{
	return (int)(uintptr_t)map_get(&f->places, key) - 1;
}

static uint64_t mix(uint64_t parent, uint64_t what)
{
	uint64_t h = (parent ^ what) * 0x9e3779b97f4a7c15ULL;

	h ^= h >> 32;
	return h ? h : 1;
}

/* Goes on to the child of this name, which is made if it is not there. */
static void go_down(struct building *b, struct flame_node like, uint64_t what)
{
	struct flame *f = b->flame;
	int at, parent = b->at;

	if (b->err)
		return;
	like.key = parent < 0 ? 1 : mix(f->nodes[parent].key, what);
	at = flame_find(f, like.key);
	if (at < 0) {
		like.parent = parent;
		like.child = like.next = -1;
		like.depth = parent < 0 ? 0 : f->nodes[parent].depth + 1;
		if (parent >= 0)
			like.next = f->nodes[parent].child;
		at = f->nr;
		b->err = VEC_PUSH(f->nodes, f->nr, f->room, like);
		if (!b->err)
			b->err = map_put(&f->places, like.key, (void *)(uintptr_t)(at + 1));
		if (b->err)
			return;
		if (parent >= 0)
			f->nodes[parent].child = at;
		if (like.depth > f->depth)
			f->depth = like.depth;
	}
	f->nodes[at].total += b->sample->weight;
	f->nodes[at].count += b->sample->count;
	b->at = at;
}

static void go_text(struct building *b, const char *text)
{
	go_down(b, (struct flame_node){ .text = text }, hash_text(0, text));
}

static void go_frame(struct building *b, const struct stack *s, int i)
{
	const struct symbol *symbol = b->host->symbol(b->host->arg, s->frames[i], s->tgid);
	struct flame_node n = { .symbol = symbol, .frame = s->frames[i], .tgid = s->tgid };

	if (symbol)
		go_down(b, n, (uintptr_t)symbol);
	else
		b->err = -ENOMEM;
}

/* Frames of both stacks as one list, outermost first: user, then kernel. */
static void go_frames(struct building *b)
{
	const struct flame_options *o = b->options;
	const struct stack *user = o->hide_user ? NULL : b->sample->user;
	const struct stack *kernel = o->hide_kernel ? NULL : b->sample->kernel;
	int users = user ? user->nr : 0, kernels = kernel ? kernel->nr : 0;

	for (int i = 0; i < users + kernels && !b->err; i++) {
		int at = o->inverted ? i : users + kernels - 1 - i; /* from the innermost on */

		if (at < kernels)
			go_frame(b, kernel, at);
		else
			go_frame(b, user, at - kernels);
	}
	if (!users && !kernels)
		go_text(b, b->sample->user || b->sample->kernel ? "[hidden]" : "[no stack]");
}

/* A name that lives as long as the flame; "others" when there are too many. */
static const char *keep_name(struct flame *f, const char *comm)
{
	for (int i = 0; i < f->nr_names; i++)
		if (!strncmp(f->names[i], comm, 16))
			return f->names[i];
	if (f->nr_names == (int)(sizeof(f->names) / sizeof(f->names[0])))
		return "[others]";
	memcpy(f->names[f->nr_names], comm, 16);
	return f->names[f->nr_names++];
}

static void count_quality(struct flame *f, const struct stack_sample *s)
{
	const struct stack *user = s->user;

	if (!s->user && !s->kernel)
		f->without += s->weight;
	else if ((user && user->end != STACK_COMPLETE) ||
		 s->flags & (NOTE_USER_LOST | NOTE_KERNEL_LOST | NOTE_NO_USER))
		f->truncated += s->weight;
	else
		f->complete += s->weight;
}

static void add_sample(struct building *b, const struct stack_sample *s)
{
	b->sample = s;
	b->at = -1;
	go_text(b, "");
	if (b->options->merge == FLAME_MERGE_PROCESS)
		go_text(b, keep_name(b->flame, s->life->process->comm));
	else if (b->options->merge == FLAME_MERGE_THREAD)
		go_text(b, keep_name(b->flame, s->life->comm));
	go_frames(b);
	if (!b->err)
		b->flame->nodes[b->at].self += s->weight;
	count_quality(b->flame, s);
}

static bool is_wanted(const struct stack_sample *s, const struct subject *of,
		      const struct flame_options *o)
{
	const struct row row = { .kind = ROW_THREAD, .number = s->life->tid, .thread = s->life,
				 .process = s->life->process, .cgroup = s->life->cgroup };

	return ((int)o->metric == s->kind || o->metric == FLAME_WALL) &&
	       (subject_is(of, &row) || subject_holds(of, &row));
}

/* --- Order */

static int heavier(const void *a, const void *b, void *nodes)
{
	const struct flame_node *x = (struct flame_node *)nodes + *(const int *)a;
	const struct flame_node *y = (struct flame_node *)nodes + *(const int *)b;

	if (x->total != y->total)
		return x->total > y->total ? -1 : 1;
	return x->key < y->key ? -1 : 1;
}

static int sort_children(struct flame *f, int parent, int *scratch)
{
	int nr = 0;

	for (int c = f->nodes[parent].child; c >= 0; c = f->nodes[c].next)
		scratch[nr++] = c;
	qsort_r(scratch, nr, sizeof(*scratch), heavier, f->nodes);
	for (int i = 0; i < nr; i++)
		f->nodes[scratch[i]].next = i + 1 < nr ? scratch[i + 1] : -1;
	if (nr)
		f->nodes[parent].child = scratch[0];
	return nr;
}

static int sort_all(struct flame *f)
{
	int *scratch = calloc(f->nr + 1, sizeof(*scratch));

	if (!scratch)
		return -ENOMEM;
	for (size_t i = 0; i < f->nr; i++)
		sort_children(f, i, scratch);
	free(scratch);
	return 0;
}

int flame_build(struct flame *f, const struct tick *t, const struct subject *of,
		const struct flame_options *o, const struct host *host)
{
	struct building b = { .flame = f, .options = o, .host = host };
	uint64_t first = t->seq >= o->ticks ? t->seq - o->ticks + 1 : 1;

	f->nr = 0;
	f->depth = f->nr_names = 0;
	f->complete = f->truncated = f->without = 0;
	map_fini(&f->places);
	f->places = (struct map){ 0 };
	for (uint64_t seq = first; seq <= t->seq && !b.err; seq++) {
		size_t nr;
		const struct stack_sample *s = tick_samples(t, seq, &nr);

		for (size_t i = 0; i < nr && !b.err; i++)
			if (is_wanted(&s[i], of, o))
				add_sample(&b, &s[i]);
	}
	return b.err ? b.err : sort_all(f);
}

void flame_fini(struct flame *f)
{
	free(f->nodes);
	map_fini(&f->places);
	*f = (struct flame){ 0 };
}
