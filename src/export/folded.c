/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/folded.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "model/sample.h"
#include "model/tick.h"
#include "sym/names.h"
#include "util/hash.h"
#include "util/map.h"
#include "util/text.h"
#include "util/vec.h"

const char *const folded_names[FOLDED_KINDS] = { "cpu", "runq", "sleep", "d", "irq", "wall" };

struct line {
	char *text;
	uint64_t weight;
};

struct folding {
	struct names *names;
	enum folded_kind kind;
	struct map known; /* hash of the text -> index + 1 */
	struct line *lines;
	size_t nr, room;
};

static void ask_stack(const struct stack *s, struct names *names)
{
	for (int i = 0; s && i < s->nr; i++)
		names_frame(names, s->frames[i], s->tgid);
}

static int ask_sample(void *names, const struct stack_sample *s)
{
	ask_stack(s->user, names);
	ask_stack(s->kernel, names);
	return 0;
}

void folded_ask(const struct tick *t, struct names *names)
{
	tick_samples(t, 1, ask_sample, names);
}

/* A name without what would end a frame or a line. */
static void put_name(FILE *to, const char *name)
{
	char safe[512];

	text_safe(safe, sizeof(safe), name, strlen(name));
	for (const char *c = safe; *c; c++)
		fputc(*c == ';' ? ':' : *c, to);
}

static void put_stack(FILE *to, const struct stack *s, struct names *names)
{
	if (s && s->end != STACK_COMPLETE)
		fputs(";[truncated]", to);
	for (int i = s ? s->nr : 0; i-- > 0;) {
		const struct symbol *symbol = names_frame(names, s->frames[i], s->tgid);

		fputc(';', to);
		put_name(to, symbol ? symbol->name : "?");
		if (s->frames[i] & FRAME_KERNEL)
			fputs("_[k]", to);
	}
}

static char *line_text(const struct stack_sample *s, struct names *names)
{
	char *text = NULL, comm[80];
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return NULL;
	text_safe(comm, sizeof(comm), s->life->comm, sizeof(s->life->comm));
	put_name(f, comm);
	if (s->flags & (NOTE_NO_USER | NOTE_USER_LOST) && s->kernel && !(s->life->flags & PF_KTHREAD))
		fputs(";[user stack not taken]", f);
	put_stack(f, s->user, names);
	put_stack(f, s->kernel, names);
	if (!s->user && !s->kernel)
		fputs(";[no stack]", f);
	if (s->flags & NOTE_NEAR)
		fputs(";~", f);
	if (fclose(f)) {
		free(text);
		return NULL;
	}
	return text;
}

static int fold(void *arg, const struct stack_sample *s)
{
	struct folding *f = arg;
	uint64_t weight = f->kind == FOLDED_CPU ? s->count : s->weight;
	uintptr_t at;
	char *text;

	if (s->kind != (int)f->kind && f->kind != FOLDED_WALL)
		return 0;
	text = line_text(s, f->names);
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

int folded_tick(FILE *to, const struct tick *t, enum folded_kind kind, struct names *names)
{
	struct folding f = { .names = names, .kind = kind };
	int err = tick_samples(t, 1, fold, &f);

	for (size_t i = 0; i < f.nr; i++) {
		if (!err && f.lines[i].weight)
			fprintf(to, "%s %" PRIu64 "\n", f.lines[i].text, f.lines[i].weight);
		free(f.lines[i].text);
	}
	free(f.lines);
	map_fini(&f.known);
	if (!err && fflush(to))
		err = -errno;
	return err;
}
