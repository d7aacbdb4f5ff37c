/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/json/json_processes.h"

#include <string.h>

#include "export/exporter.h"
#include "export/json/json_text.h"
#include "model/tick.h"
#include "query/filter.h"
#include "util/clock.h"

/* Processes written between two reads of the clock. */
#define SLICE_ROWS 64

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

static void put_process(struct json *j, const struct row *r, const struct export *e)
{
	json_open(j, NULL, '{');
	json_int(j, "tgid", r->process->tgid);
	json_cmdline(j, r->process, e);
	json_close(j, '}');
}

bool json_processes(struct json_processes *p, struct json *j, const struct tick *t, const struct export *e, uint64_t until)
{
	if (!p->begun)
		json_open(j, "processes", '[');
	p->begun = true;
	while (p->at < t->nr_processes) {
		const struct row *r = &t->processes[p->at];

		if ((e->all || r->exited || values_acted(r->values)) && filter_match(e->filter, r, t))
			put_process(j, r, e);
		if (++p->at % SLICE_ROWS == 0 && until && clock_ns(CLOCK_MONOTONIC) >= until)
			return false;
	}
	json_close(j, ']');
	return true;
}
