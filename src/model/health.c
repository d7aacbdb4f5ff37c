/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/health.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "util/vec.h"

void health_add(struct health *h, const char *section, const char *name,
		enum health_verdict verdict, const char *fmt, ...)
{
	struct health_line *grown = vec_grow(h->lines, h->nr, &h->room, sizeof(*grown)), *l;
	va_list args;

	if (!grown)
		return;
	h->lines = grown;
	l = &h->lines[h->nr++];
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
