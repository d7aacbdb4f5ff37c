/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/json/json_cmdline.h"

#include <string.h>

#include "export/exporter.h"
#include "export/json/json_text.h"
#include "model/tick.h"

void json_cmdline(struct json *j, const struct process *p, const struct export *e)
{
	const struct cmdline *c = p->cmdline;

	if (!c || e->redact) {
		json_null(j, "cmdline");
		json_boolean(j, "cmdline_cut", false);
		return;
	}
	json_open(j, "cmdline", '[');
	for (size_t at = 0; at < c->len; at += strlen(c->text + at) + 1)
		json_text(j, NULL, c->text + at, c->len - at);
	json_close(j, ']');
	json_boolean(j, "cmdline_cut", c->cut);
}
