/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stacks in the folded format of FlameGraph: a line "comm;outermost;...;innermost WEIGHT" for each stack of a tick.
 * Kernel frames end in _[k], a missing stack is [no stack]. Weights have the unit of their metric, or count samples for
 * CPU time.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "export/exporter.h"
#include "export/redact.h"
#include "model/sample.h"
#include "model/tick.h"
#include "query/stack_walk.h"
#include "util/hash.h"
#include "util/map.h"
#include "util/text.h"
#include "util/vec.h"

struct line {
	char *text;
	uint64_t weight;
};

struct folding {
	const struct source *source;
	const struct redact *redact;
	enum metric_id metric;
	struct map known; /* hash of the text -> index + 1 */
	struct line *lines;
	size_t nr, room;
};

/* Writes a name without the characters that end a frame or a line. */
static void put_name(FILE *to, const char *name)
{
	char safe[512];

	text_safe(safe, sizeof(safe), name, strlen(name));
	for (const char *c = safe; *c; c++)
		fputc(*c == ';' ? ':' : *c, to);
}

static char *line_text(const struct stack_sample *s, const struct source *source, const struct redact *redact)
{
	char *text = NULL, comm[80], hash[REDACT_HASH], name[512];
	struct stack_walk w;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return NULL;
	text_safe(comm, sizeof(comm), redact_comm(redact, s->life, hash), sizeof(s->life->comm));
	put_name(f, comm);
	stack_walk(&w, source, s, WALK_FROM_ROOT | WALK_MARKS);
	while (stack_walk_next(&w)) {
		fputc(';', f);
		put_name(f, w.mark || !stack_walk_symbol(&w) ? stack_walk_name(&w)
							     : redact_function(redact, stack_walk_symbol(&w), name, sizeof(name)));
		if (!w.mark && w.kernel)
			fputs("_[k]", f);
	}
	if (fclose(f)) {
		free(text);
		return NULL;
	}
	return text;
}

static int fold(void *arg, const struct stack_sample *s)
{
	struct folding *f = arg;
	uint64_t weight = metrics[f->metric].weight.sampled ? s->count : s->weight;
	uintptr_t at;
	char *text;

	if (!metric_weighs(f->metric, s->metric))
		return 0;
	text = line_text(s, f->source, f->redact);
	if (!text)
		return -ENOMEM;
	at = (uintptr_t)map_get(&f->known, hash_text(0, text));
	if (at) {
		f->lines[at - 1].weight += weight;
		free(text);
		return 0;
	}
	if (VEC_PUSH(f->lines, f->nr, f->room, ((struct line){ text, weight }))) {
		free(text);
		return -ENOMEM;
	}
	return map_put(&f->known, hash_text(0, text), (void *)(uintptr_t)f->nr);
}

static const char *word(int n)
{
	enum metric_id m = metric_weight(n);

	return m == METRIC_NONE ? NULL : metrics[m].weight.name;
}

static int begin(struct export *e)
{
	struct folding *f = calloc(1, sizeof(*f));

	if (!f)
		return -ENOMEM;
	f->source = e->source;
	f->redact = e->redact;
	f->metric = metric_weight(e->word);
	e->state = f;
	return 0;
}

static void forget_lines(struct folding *f)
{
	for (size_t i = 0; i < f->nr; i++)
		free(f->lines[i].text);
	f->nr = 0;
	map_fini(&f->known);
}

static int tick(struct export *e, FILE *to, const struct tick *t)
{
	struct folding *f = e->state;
	int err = tick_samples(t, 1, fold, f);

	for (size_t i = 0; i < f->nr && !err; i++)
		if (f->lines[i].weight)
			fprintf(to, "%s %" PRIu64 "\n", f->lines[i].text, f->lines[i].weight);
	forget_lines(f);
	if (!err && fflush(to))
		err = -errno;
	return err;
}

static int end(struct export *e, FILE *to)
{
	struct folding *f = e->state;

	(void)to;
	forget_lines(f);
	free(f->lines);
	free(f);
	return 0;
}

const struct exporter export_folded = {
	.name = "folded",
	.operand = "KIND",
	.word = word,
	.help = "print stacks in FlameGraph's folded format",
	.needs = EXPORT_TICKS | EXPORT_SAMPLES,
	.begin = begin,
	.tick = tick,
	.end = end,
};
