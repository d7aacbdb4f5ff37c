/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The memory of a process or cgroup in the detail: what columns show, and what a helper reads only for the detail. */
#include <inttypes.h>
#include <stdio.h>

#include "model/memory_facts.h"
#include "tui/screen/host.h"
#include "tui/term/paint.h"
#include "tui/view/detail.h"
#include "util/format.h"
#include "util/text.h"

/* "4.0 % of 31G" */
static void share_text(const struct detail *d, uint64_t v, char *buf, size_t size)
{
	uint64_t all = d->tick->host.mem_total;

	*buf = '\0';
	if (v != VALUE_NA && all != VALUE_NA)
		snprintf(buf, size, ", %s %% of %s", SHARE_TEXT(v, all), BYTES_TEXT(all));
}

/* Whether the shown refresh is a past one: what a helper reads is always the present. */
static bool is_past(const struct detail *d)
{
	return d->context->tick != d->context->newest;
}

static int process_memory(const struct detail *d, const struct paint *p, int y, const struct memory_facts *facts)
{
	uint64_t rss = row_value(d->row, METRIC_RSS);
	const struct level_error *e = &d->tick->rss_error;
	uint64_t nr = d->row->kind == ROW_PROCESS ? d->row->nr_threads : 1;
	char share[64];

	share_text(d, rss, share, sizeof(share));
	paint_format(p, y++, 0, ROLE_TITLE, "MEMORY of the process: %s%s, swap %s", BYTES_TEXT(rss), share,
		     BYTES_TEXT(row_value(d->row, METRIC_SWAP)));
	if (rss == VALUE_NA || d->gone)
		return y;
	paint_format(p, y++, 0, ROLE_TEXT, "counted by the kernel in batches: up to %s more or less%s",
		     BYTES_TEXT(e->process + e->thread * nr), e->thread && d->row->thread ? " for each thread" : "");
	if (!facts || facts->bytes[MEMORY_RSS] == VALUE_NA) {
		paint_text(p, y++, 0, p->width, ROLE_DIM,
			   facts ? "its page tables cannot be read" : "its page tables are being read");
		return y;
	}
	paint_format(p, y++, 0, ROLE_TEXT, "mapped pages%s: %s, anonymous %s; %s if what is shared is split (PSS)",
		     is_past(d) ? " now" : "", BYTES_TEXT(facts->bytes[MEMORY_RSS]), BYTES_TEXT(facts->bytes[MEMORY_ANONYMOUS]),
		     BYTES_TEXT(facts->bytes[MEMORY_PSS]));
	return y;
}

static const char *percent(char buf[24], uint64_t hundredths)
{
	if (hundredths == VALUE_NA)
		snprintf(buf, 24, "-");
	else
		snprintf(buf, 24, "%" PRIu64 ".%02" PRIu64, hundredths / 100, hundredths % 100);
	return buf;
}

/* The kernel does not define "full" of CPUs for the whole host, and prints 0. */
static int cgroup_pressure(const struct detail *d, const struct paint *p, int y, const struct memory_facts *facts)
{
	static const char *const names[PRESSURE_COUNT] = { "CPU", "memory", "I/O" };
	bool host = !d->row->cgroup->parent;
	char some[24], full[24], text[256] = "";

	for (int i = 0; i < PRESSURE_COUNT; i++)
		if (facts->pressure[i].some != VALUE_NA)
			text_add(text, sizeof(text), "%s%s %s %s",
				 *text	    ? ", " :
				 is_past(d) ? "now, of 10 s, some or all of it waited for: " :
					      "of 10 s, some or all of it waited for: ",
				 names[i], percent(some, facts->pressure[i].some),
				 percent(full, host && i == PRESSURE_CPU ? VALUE_NA : facts->pressure[i].full));
	if (!*text)
		return y;
	text_add(text, sizeof(text), " %%");
	return paint_wrapped(p, y, 0, text);
}

static int cgroup_memory(const struct detail *d, const struct paint *p, int y, const struct memory_facts *facts)
{
	uint64_t charged = row_value(d->row, METRIC_MEMORY);
	char share[64];

	share_text(d, charged, share, sizeof(share));
	paint_format(p, y++, 0, ROLE_TITLE, "MEMORY charged: %s%s, swap %s", BYTES_TEXT(charged), share,
		     BYTES_TEXT(row_value(d->row, METRIC_SWAP)));
	if (!facts)
		return y;
	if (facts->bytes[MEMORY_ANONYMOUS] != VALUE_NA)
		paint_format(p, y++, 0, ROLE_TEXT, "%sanonymous %s, files %s (of these shared memory %s), kernel %s",
			     is_past(d) ? "now: " : "", BYTES_TEXT(facts->bytes[MEMORY_ANONYMOUS]),
			     BYTES_TEXT(facts->bytes[MEMORY_FILE]), BYTES_TEXT(facts->bytes[MEMORY_SHARED]),
			     BYTES_TEXT(facts->bytes[MEMORY_KERNEL]));
	return cgroup_pressure(d, p, y, facts);
}

int detail_memory(const struct detail *d, const struct paint *p, int y)
{
	bool cgroup = d->row->kind == ROW_CGROUP;
	const struct host *host = d->context->host;

	if (cgroup)
		return cgroup_memory(d, p, y, host->memory_facts(host->arg, 0, d->row->cgroup));
	if (d->row->process->flags & PF_KTHREAD)
		return y - 1; /* no line at all */
	return process_memory(d, p, y, d->gone ? NULL : host->memory_facts(host->arg, d->row->process->tgid, NULL));
}
