/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A table of those whose durations are in a range. */
#include <stdio.h>
#include <string.h>

#include "tui/term/paint.h"
#include "tui/view/latency/latency_view.h"
#include "util/format.h"
#include "util/text.h"

#define NAME_WIDTH 15

/* Of the column between name and who ran instead. */
static int path_width(const struct paint *p, enum hist_id kind)
{
	if (kind != HIST_RUNQ)
		return p->width - 48 < 60 ? p->width - 48 : 60;
	return p->width >= 140 ? 40 : p->width >= 100 ? 16 : 0;
}

void latency_draw_head(const struct paint *p, int y, enum hist_id kind)
{
	int width = path_width(p, kind);

	paint_format(p, y, 0, ROLE_TITLE, "%7s %7s %7s %7s %-*s %-*s%s%-*s", "COUNT",
		     hists[kind].owner == HIST_OF_BLOCKS ? "TOTAL" : "~TOTAL", "~P99",
		     latency_is_irq(kind) ? "MAX" : "TID", NAME_WIDTH, latency_is_irq(kind) ? "IRQ" : "COMM", width,
		     !width ? "" : latency_is_irq(kind) ? "LONGEST" : "CGROUP", width ? " " : "", p->width,
		     kind == HIST_RUNQ ? "RAN INSTEAD" : "");
}

static void behind_text(const struct latency_contributor *who, char *buf, size_t size)
{
	size_t used = snprintf(buf, size, "%s", who->nr_behind ? "" : "-");

	for (int i = 0; i < who->nr_behind && i < 3 && used < size; i++)
		used += snprintf(buf + used, size - used, "%s%s %.0f%%", i ? " " : "", who->behind[i].name,
				 100.0 * who->behind[i].ns / who->behind_ns);
}

/* The cgroup; of a source, its device, and where its longest one was. */
static void path_text(const struct latency_contributor *who, bool irq, int width, char *buf, size_t size)
{
	char path[1024], text[1200];

	text_safe(path, sizeof(path), who->cgroup.path, strlen(who->cgroup.path));
	if (irq && who->hidden)
		snprintf(text, sizeof(text), "%s", path);
	else if (irq && who->max_tid)
		snprintf(text, sizeof(text), "CPU %d, during thread %d  %s", who->max_cpu, who->max_tid, path);
	else if (irq)
		snprintf(text, sizeof(text), "CPU %d, idle  %s", who->max_cpu, path);
	else
		snprintf(text, sizeof(text), "%s", path);
	*buf = '\0';
	if (width > 0)
		text_elide(buf, size, text, width);
}

/* Of the range; where the source had longer ones, what the slot says. */
static void longest_text(const struct latency_contributor *who, char *buf, size_t size)
{
	int top = LOG2_SLOTS - 1;
	char text[16];

	while (top > 0 && !who->n.n[top])
		top--;
	format_value(text, sizeof(text), UNIT_NS, who->hidden ? 2ULL << top : who->max_ns, 0);
	snprintf(buf, size, "%s%s", who->hidden ? "<" : "", text);
}

void latency_draw_contributor(const struct paint *p, int y, const struct latency_contributor *who,
			      enum hist_id kind, bool selected)
{
	char count[16], total[16], p99[16], number[24], name[80], cut[80], path[256], behind[128] = "", line[1024];
	bool irq = latency_is_irq(kind);
	int width = path_width(p, kind);

	format_value(count, sizeof(count), UNIT_COUNT, who->count, 0);
	format_value(total, sizeof(total), UNIT_NS, who->ns, 0);
	format_value(p99, sizeof(p99), UNIT_NS, latency_contributor_quantile(who, kind, 0.99), 0);
	if (irq)
		longest_text(who, number, sizeof(number));
	else
		format_value(number, sizeof(number), UNIT_NONE, who->row.number, 0);
	text_safe(name, sizeof(name), who->life.comm, sizeof(who->life.comm));
	text_cut(cut, sizeof(cut), name, NAME_WIDTH);
	path_text(who, irq, width, path, sizeof(path));
	if (kind == HIST_RUNQ)
		behind_text(who, behind, sizeof(behind));
	snprintf(line, sizeof(line), "%c%6s %7s %7s %7s %s%*s %s%*s%s%s", selected ? '>' : ' ', count, total, p99,
		 number, cut, NAME_WIDTH - text_width(cut), "", path, width - text_width(path), "", width ? " " : "",
		 behind);
	paint_text(p, y, 0, p->width, selected ? ROLE_SELECTED : ROLE_TEXT, line);
}
