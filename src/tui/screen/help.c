/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/screen/help.h"

#include "model/health.h"
#include "query/filter.h"
#include "tui/input/keymap.h"
#include "tui/term/paint.h"
#include "tui/widget/columns.h"

#define KEYS_WIDTH 14
#define NAME_WIDTH 18

static int title(const struct paint *p, int y, const char *text)
{
	paint_text(p, y, 0, p->width, ROLE_SORTED, text);
	return y + 1;
}

int help_draw(const struct paint *p, const struct keymap *keymap)
{
	int y = title(p, 0, "Keys");

	for (int a = 0; a < ACTION_NONE; a++) {
		paint_text(p, y, 1, KEYS_WIDTH, ROLE_TEXT, keymap->keys[a]);
		y = paint_wrapped(p, y, KEYS_WIDTH + 2, ROLE_TEXT, actions[a].help);
	}
	y = title(p, y + 1, "Columns");
	for (enum column_id id = 0; id < COLUMN_COUNT; id++) {
		struct column_info info = column_info(id);

		if (id < COLUMN_METRICS && !info.drop)
			continue;
		paint_text(p, y, 1, KEYS_WIDTH, ROLE_TEXT, info.title);
		y = paint_wrapped(p, y, KEYS_WIDTH + 2, ROLE_TEXT, info.help);
	}
	y = title(p, y + 1, "Filter");
	for (const struct filter_word *w = filter_words; w->form; w++) {
		paint_text(p, y, 1, KEYS_WIDTH, ROLE_TEXT, w->form);
		y = paint_wrapped(p, y, KEYS_WIDTH + 2, ROLE_TEXT, w->help);
	}
	return y;
}

int health_draw(const struct paint *p, const struct health *h)
{
	static const enum role roles[] = { ROLE_GOOD, ROLE_WARN, ROLE_ALERT, ROLE_TEXT };
	static const char *const words[] = { "on", "degraded", "off", "" };
	const char *section = "";
	int y = 0;

	for (size_t i = 0; i < h->nr; i++) {
		const struct health_line *l = &h->lines[i];
		int x;

		if (l->section != section) {
			section = l->section;
			y = title(p, y + !!y, section);
		}
		paint_text(p, y, 1, NAME_WIDTH, ROLE_TEXT, l->name);
		x = paint_text(p, y, NAME_WIDTH + 2, p->width, roles[l->verdict], words[l->verdict]);
		x += x > NAME_WIDTH + 2;
		if (*l->text)
			y = paint_wrapped(p, y, x, ROLE_TEXT, l->text);
		else
			y++;
	}
	return y;
}
