/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/health.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/vec.h"

/* Index after the last line of the section, or the end. */
static size_t place_in(const struct health *h, const char *section)
{
	for (size_t i = h->nr; i > 0; i--)
		if (!strcmp(h->lines[i - 1].section, section))
			return i;
	return h->nr;
}

void health_add(struct health *h, const char *section, const char *name,
		enum health_verdict verdict, const char *fmt, ...)
{
	struct health_line *grown = vec_grow(h->lines, h->nr, &h->room, sizeof(*grown)), *l;
	va_list args;
	size_t at;

	if (!grown)
		return;
	h->lines = grown;
	at = place_in(h, section);
	l = &grown[at];
	memmove(l + 1, l, (h->nr++ - at) * sizeof(*l));
	l->section = section;
	l->verdict = verdict;
	snprintf(l->name, sizeof(l->name), "%s", name);
	va_start(args, fmt);
	vsnprintf(l->text, sizeof(l->text), fmt, args);
	va_end(args);
}

void health_fini(struct health *h)
{
	free(h->lines);
	*h = (struct health){ 0 };
}
