/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/header.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "model/tick.h"
#include "tui/actions.h"
#include "tui/bar.h"
#include "tui/paint.h"
#include "tui/tui.h"
#include "tui/view.h"
#include "util/format.h"
#include "util/text.h"

static const char *const loss_names[LOSS_COUNT] = {
#define _(id, name, help) name,
	LOSSES(_)
#undef _
};

/* Text at the right edge, if it stays clear of what ends at @left. */
static void right_aligned(const struct paint *p, int y, int left, enum role role, const char *text)
{
	int at = p->width - text_width(text);

	if (at > left)
		paint_text(p, y, at, p->width, role, text);
}

/* systop HOST 12:03:44 LIVE 1s  scope all 212 cgroups            self 0.4% 38M */
static void line_who(const struct header *h, const struct paint *p)
{
	const struct tick *t = h->tick;
	char clock[16], interval[16], share[16], rss[16], bpf[16], self[80];
	struct tm tm;
	int x;

	paint_clear(p, 0, 0);
	localtime_r(&t->wall.tv_sec, &tm);
	strftime(clock, sizeof(clock), "%H:%M:%S", &tm);
	snprintf(interval, sizeof(interval), "%gs", h->options->interval_ns / 1e9);
	x = paint_format(p, 0, 0, ROLE_TEXT, "systop %s %s ", h->options->host, clock);
	if (h->paused) {
		char ago[16];

		format_value(ago, sizeof(ago), UNIT_NS,
			     (h->newest->boottime_ns - t->boottime_ns) / 1000000000 * 1000000000, 0);
		x = paint_format(p, 0, x, ROLE_ALERT, "PAUSED -%s", *ago == '0' ? "0s" : ago);
	} else {
		x = paint_format(p, 0, x, ROLE_TEXT, "LIVE %s", interval);
	}
	x = paint_format(p, 0, x, ROLE_TEXT, "  scope %s", h->options->scope);
	x = paint_format(p, 0, x, ROLE_DIM, " %zu cgroups", t->nr_cgroups);
	format_value(share, sizeof(share), UNIT_SHARE, t->self.cpu_ns, t->interval_ns);
	format_value(rss, sizeof(rss), UNIT_BYTES, t->self.rss_bytes, 0);
	format_value(bpf, sizeof(bpf), UNIT_BYTES, t->self.bpf_bytes, 0);
	if (p->width >= 120)
		snprintf(self, sizeof(self), "self cpu %s%% rss %s bpf %s", share, rss, bpf);
	else
		snprintf(self, sizeof(self), "self %s%% %s", share, rss);
	right_aligned(p, 0, x, ROLE_DIM, self);
}

static const char *percent(char *buf, size_t size, uint64_t part, uint64_t whole)
{
	if (part == VALUE_NA || !whole)
		snprintf(buf, size, "-");
	else
		snprintf(buf, size, "%.0f", 100.0 * part / whole);
	return buf;
}

/* CPU 61% us43 sy12 [||||####    ]  RUNQ p50 18us p99 2.4ms  D 14 */
static void line_cpu(const struct header *h, const struct paint *p)
{
	const struct tick *t = h->tick;
	uint64_t run = 0, all = 0;
	char us[8], sy[8], cpu[8], p50[16], p99[16], max[16];
	int x, width = p->width / 4, user, kernel;
	const struct row total = { .values = &t->total };

	for (size_t i = 0; i < t->nr_cpus; i++) {
		run += t->cpus[i].run_ns;
		all += t->cpus[i].run_ns + t->cpus[i].idle_ns;
	}
	paint_clear(p, 1, 0);
	x = paint_format(p, 1, 0, ROLE_TEXT, "CPU %s%% of %zu  us%s sy%s [",
			 percent(cpu, sizeof(cpu), run, all), t->nr_cpus,
			 percent(us, sizeof(us), t->total.v[FIELD_USER], all),
			 percent(sy, sizeof(sy), t->total.v[FIELD_KERNEL], all));
	user = all && t->total.v[FIELD_USER] != VALUE_NA ? width * t->total.v[FIELD_USER] / all : 0;
	kernel = all ? width * run / all - user : 0;
	for (int i = 0; i < width; i++) {
		enum role role = i < user ? ROLE_USER : i < user + kernel ? ROLE_KERNEL : ROLE_TEXT;
		const char *cell = i < user          ? p->unicode ? "█" : "#"
				   : i < user + kernel ? p->unicode ? "▓" : "="
						       : " ";

		x = paint_text(p, 1, x, 1, role, cell);
	}
	format_value(p50, sizeof(p50), UNIT_NS, row_value(&total, FIELD_RUNQ_P50), 0);
	format_value(p99, sizeof(p99), UNIT_NS, row_value(&total, FIELD_RUNQ_P99), 0);
	format_value(max, sizeof(max), UNIT_NS, row_value(&total, FIELD_RUNQ_MAX), 0);
	x = paint_format(p, 1, x, ROLE_TEXT, "]  RUNQ p50 ~%s p99 ~%s", p50, p99);
	if (p->width >= 100)
		x = paint_format(p, 1, x, ROLE_TEXT, " max %s", max);
	x = paint_text(p, 1, x, p->width, ROLE_TEXT, "  ");
	paint_format(p, 1, x, t->total_d ? ROLE_D : ROLE_TEXT, "D %u", t->total_d);
}

/* LOSS 0                                                          v0.1.0 6.8.0 */
static void line_loss(const struct header *h, const struct paint *p)
{
	const struct tick *t = h->tick;
	uint64_t sum = 0;
	char about[128];
	int x, largest = 0;

	for (int i = 0; i < LOSS_COUNT; i++) {
		sum += t->loss[i];
		if (t->loss[i] > t->loss[largest])
			largest = i;
	}
	paint_clear(p, 2, 0);
	if (sum)
		x = paint_format(p, 2, 0, ROLE_ALERT, "LOSS %" PRIu64 " mostly %s %" PRIu64, sum,
				 loss_names[largest], t->loss[largest]);
	else
		x = paint_text(p, 2, 0, p->width, ROLE_TEXT, "LOSS 0");
	snprintf(about, sizeof(about), "v%s  kernel %s", h->options->version, h->options->kernel);
	right_aligned(p, 2, x, ROLE_DIM, about);
}

static void line_views(const struct paint *p, const struct view *const *views, int nr, int current)
{
	int x = 0;

	paint_clear(p, 3, 0);
	for (int i = 0; i < nr; i++) {
		const char *fmt = i == current ? "[%d:%s]" : " %d:%s ";
		char text[64];

		snprintf(text, sizeof(text), fmt, i + 1, views[i]->name);
		x = paint_text(p, 3, x, p->width, i == current ? ROLE_SORTED : ROLE_TEXT, text);
	}
	right_aligned(p, 3, x, ROLE_TEXT, "? help");
}

void header_draw(const struct header *h, const struct paint *p, const struct view *const *views,
		 int nr, int current)
{
	line_who(h, p);
	line_cpu(h, p);
	line_loss(h, p);
	line_views(p, views, nr, current);
}

static void line_keys(const struct paint *p, int y)
{
	int x = 0;

	paint_clear(p, y, 0);
	for (int a = 0; a < ACTION_NONE; a++) {
		char key[16];

		if (!*actions[a].footer)
			continue;
		snprintf(key, sizeof(key), "%.*s", (int)strcspn(actions[a].keys, " "),
			 actions[a].keys);
		if (strchr(actions[a].footer, ' ')) /* names its keys itself */
			x = paint_format(p, y, x, ROLE_DIM, "%s  ", actions[a].footer);
		else
			x = paint_format(p, y, x, ROLE_DIM, "%s %s  ", key, actions[a].footer);
	}
}

void footer_draw(const struct paint *p, const char *status, const char *sorted, const char *notice)
{
	int y = p->height - FOOTER_LINES, x;

	paint_clear(p, y, 0);
	if (*notice) {
		paint_text(p, y, 0, p->width, ROLE_ALERT, notice);
	} else {
		x = paint_format(p, y, 0, ROLE_TEXT, "%s  sort %s  ", status, sorted);
		bar_legend(p, y, x);
	}
	line_keys(p, y + 1);
}
