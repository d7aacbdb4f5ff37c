/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/widget/stack_lines.h"

#include <stdio.h>
#include <string.h>

#include "model/sample.h"
#include "query/stack_walk.h"
#include "tui/term/paint.h"
#include "util/text.h"

void stack_lines(const struct paint *p, int y, int end, const struct source *source, const struct stack *kernel,
		 const struct stack *user)
{
	const struct stack_sample sample = { .kernel = kernel, .user = user };
	struct stack_walk walk;
	int x = 0;

	stack_walk(&walk, source, &sample, WALK_INNERMOST);
	while (y < end && stack_walk_next(&walk)) {
		const char *raw = stack_walk_name(&walk);
		char name[200], text[208];

		text_safe(name, sizeof(name), raw, strlen(raw));
		snprintf(text, sizeof(text), walk.kernel ? "(%s)" : "[%s]", name);
		if (x && x + text_width(text) + 1 > p->width) {
			x = 0;
			y++;
		}
		if (y < end)
			x = paint_text(p, y, x, p->width - x, walk.kernel ? ROLE_KERNEL : ROLE_USER, text) + 1;
	}
}
