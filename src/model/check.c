/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/check.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "util/text.h"
#include "util/vec.h"

struct check_line *check_add(struct checks *c, const char *name, enum check_ok ok, const char *word, const char *fmt, ...)
{
	static struct check_line lost;
	struct check_line line = { .name = name, .ok = ok, .word = word, .table = true, .json = true };
	va_list args;

	va_start(args, fmt);
	text_set(&line.text, fmt, args);
	va_end(args);
	if (!VEC_PUSH(c->lines, c->nr, c->room, line))
		return &c->lines[c->nr - 1];
	free(line.text);
	return &lost;
}

void check_reason(struct checks *c, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	if (c->nr)
		text_set(&c->lines[c->nr - 1].reason, fmt, args);
	va_end(args);
}

void check_fix(struct checks *c, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	if (c->nr)
		text_set(&c->lines[c->nr - 1].fix, fmt, args);
	va_end(args);
}

void checks_table(const struct checks *c, FILE *to)
{
	const char *before = "";

	for (size_t i = 0; i < c->nr; i++) {
		const struct check_line *l = &c->lines[i];

		if (!l->table)
			continue;
		fprintf(to, "%-18s ", strcmp(l->name, before) ? l->name : "");
		if (l->word)
			fprintf(to, l->text && *l->text ? "%-4s " : "%s", l->word);
		fprintf(to, "%s\n", l->text ? l->text : "");
		before = l->name;
	}
}

void checks_fini(struct checks *c)
{
	for (size_t i = 0; i < c->nr; i++) {
		free(c->lines[i].text);
		free(c->lines[i].reason);
		free(c->lines[i].fix);
	}
	free(c->lines);
	*c = (struct checks){ 0 };
}
