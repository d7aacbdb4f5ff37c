/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/widget/stack_lines.h"

#include <stdio.h>

#include "query/stack_walk.h"
#include "tui/term/paint.h"
#include "tui/widget/function_text.h"
#include "util/text.h"

void stack_lines(const struct paint *p, int y, int end, const struct source *source, const struct settings *settings,
		 const struct stack_sample *s)
{
	struct stack_walk walk;
	int x = 0;

	stack_walk(&walk, source, s, WALK_INNERMOST | WALK_MARKS);
	while (y < end && stack_walk_next(&walk)) {
		const struct symbol *symbol = walk.mark ? NULL : stack_walk_symbol(&walk);
		const char *marks = function_marks(symbol);
		char name[200], text[208];

		function_text(name, sizeof(name), stack_walk_name(&walk), settings);
		snprintf(text, sizeof(text), "%c%s%c", marks[0], name, marks[1]);
		if (x && x + text_width(text) + 1 > p->width) {
			x = 0;
			y++;
		}
		if (y < end)
			x = paint_text(p, y, x, p->width - x, function_role(symbol), text) + 1;
	}
}
