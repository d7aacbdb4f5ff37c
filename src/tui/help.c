/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/help.h"

#include "model/health.h"
#include "tui/columns.h"
#include "tui/keymap.h"
#include "tui/paint.h"

#define KEYS_WIDTH 13
#define NAME_WIDTH 18

static const char *const filter_help[] = {
	"word          name contains it, or tid or pid is it; of cgroups: path contains it",
	"cg:api        cgroup's path contains it; with * or ? a pattern for all of it",
	"comm=sh,bash  is one of these; also cg= user= state=D,R",
	"is:kthread    also is:exited, is:throttled",
	"pid=1         also tid ppid threads; = != > >= < <=",
	"cpu>5         any column: shares in % or as a time, waits as a time, rates per second",
	"!term         not that; all terms must hold",
};

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

		if (id < COLUMN_FIELDS && !info.drop)
			continue;
		paint_text(p, y, 1, KEYS_WIDTH, ROLE_TEXT, info.title);
		y = paint_wrapped(p, y, KEYS_WIDTH + 2, ROLE_TEXT, info.help);
	}
	y = title(p, y + 1, "Filter");
	for (size_t i = 0; i < sizeof(filter_help) / sizeof(filter_help[0]); i++)
		paint_text(p, y++, 1, p->width, ROLE_TEXT, filter_help[i]);
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
