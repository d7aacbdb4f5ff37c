/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/widget/stack_pane.h"

#include <stdio.h>

#include "query/stack_walk.h"
#include "query/wakers.h"
#include "tui/screen/host.h"
#include "tui/screen/view.h"
#include "tui/term/paint.h"
#include "tui/widget/function_text.h"
#include "util/text.h"

void stack_pane(const struct view_context *c, int y, int bottom, const char *title, const struct stack_sample *s,
		const struct wakers *w)
{
	struct stack_walk walk;
	char text[512];
	int x = 0;

	paint_format(c->paint, y++, 0, ROLE_TITLE, "%-*s", c->paint->width, title);
	wakers_text(w, c->tick, &c->host->source, text, sizeof(text));
	paint_format(c->paint, --bottom, 0, ROLE_DIM, "woken by  %s", text);
	stack_walk(&walk, &c->host->source, s, WALK_INNERMOST | WALK_MARKS);
	while (y < bottom && stack_walk_next(&walk)) {
		const struct symbol *symbol = walk.mark ? NULL : stack_walk_symbol(&walk);
		const char *marks = function_marks(symbol);
		char name[200];

		function_text(name, sizeof(name), stack_walk_name(&walk), c->settings);
		snprintf(text, sizeof(text), "%c%s%c", marks[0], name, marks[1]);
		if (x && x + text_width(text) + 1 > c->paint->width) {
			x = 0;
			y++;
		}
		if (y < bottom)
			x = paint_text(c->paint, y, x, c->paint->width - x, function_role(symbol), text) + 1;
	}
}
