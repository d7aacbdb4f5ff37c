/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/screen/header.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "model/aggregate.h"
#include "model/loss_names.h"
#include "model/tick.h"
#include "query/stack_quality.h"
#include "tui/input/keymap.h"
#include "tui/screen/host.h"
#include "tui/term/paint.h"
#include "tui/widget/bar.h"
#include "util/format.h"
#include "util/text.h"

/* Text at the right edge, unless it would overlap what ends at @left. */
static void right_aligned(const struct paint *p, int y, int left, enum role role, const char *text)
{
	int at = p->width - text_width(text);

	if (at > left)
		paint_text(p, y, at, p->width, role, text);
}

/* Age of the shown tick: "7s", "1m05s". */
static void ago_text(const struct header *h, char *buf, size_t size)
{
	uint64_t seconds = (h->newest->boottime_ns - h->tick->boottime_ns) / 1000000000;

	if (seconds < 60)
		snprintf(buf, size, "%ds", (int)seconds);
	else
		format_value(buf, size, UNIT_NS, seconds * 1000000000, 0);
}

/* systop HOST 12:03:44 LIVE 1s  scope all 212 cgroups            self 0.4% 38M */
static void line_who(const struct header *h, const struct paint *p)
{
	const struct tick *t = h->tick;
	char clock[16], share[16], rss[16], bpf[16], self[80];
	struct tm tm;
	int x;

	paint_clear(p, 0, 0);
	localtime_r(&t->wall.tv_sec, &tm);
	strftime(clock, sizeof(clock), "%H:%M:%S", &tm);
	if (h->paused) {
		char ago[16];

		ago_text(h, ago, sizeof(ago));
		paint_format(p, 0, 0, ROLE_PAUSED, "%*s", p->width, "");
		x = paint_format(p, 0, 0, ROLE_PAUSED, "systop %s %s PAUSED -%s", h->host->name,
				 clock, ago);
		x = paint_format(p, 0, x, ROLE_PAUSED, "  scope %s", h->host->scope);
		return;
	}
	x = paint_format(p, 0, 0, ROLE_TEXT, "systop %s %s LIVE %gs  scope %s", h->host->name, clock,
			 h->interval_ns / 1e9, h->host->scope);
	x = paint_format(p, 0, x, ROLE_DIM, " %zu cgroups", t->nr_cgroups - t->nr_aside);
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

/* Shares of all CPUs' time: "CPU 61% of 4  us43 sy12 hi1 si4 st0 "; interrupts, softirqs and steal if there is room. */
static int cpu_shares(const struct tick *t, const struct paint *p, uint64_t run, uint64_t all)
{
	uint64_t hard = 0, soft = 0;
	char us[8], sy[8], hi[8], si[8], st[8], cpu[8];
	int x;

	for (size_t i = 0; i < t->nr_cpus; i++) {
		hard += t->cpus[i].hardirq_ns;
		soft += t->cpus[i].softirq_ns;
	}
	x = paint_format(p, 1, 0, ROLE_TEXT, "CPU %s%% of %zu  us%s sy%s ", percent(cpu, sizeof(cpu), run, all),
			 t->nr_cpus, percent(us, sizeof(us), t->total.v[METRIC_USER], all),
			 percent(sy, sizeof(sy), t->total.v[METRIC_KERNEL], all));
	if (p->width < 80)
		return x;
	if (t->timers_unseen)
		hard = VALUE_NA;
	return paint_format(p, 1, x, ROLE_TEXT, "hi%s si%s st%s ", percent(hi, sizeof(hi), hard, all),
			    percent(si, sizeof(si), soft, all), percent(st, sizeof(st), tick_steal(t), all));
}

/* "]  RUNQ p50 ~18us p99 ~2.4ms max 41ms  " */
static void waits_text(const struct tick *t, const struct paint *p, char *buf, size_t size)
{
	char p50[16], p99[16], max[16];

	format_value(p50, sizeof(p50), UNIT_NS, values_value(&t->total, METRIC_RUNQ_P50), 0);
	format_value(p99, sizeof(p99), UNIT_NS, values_value(&t->total, METRIC_RUNQ_P99), 0);
	format_value(max, sizeof(max), UNIT_NS, values_value(&t->total, METRIC_RUNQ_MAX), 0);
	snprintf(buf, size, "]  RUNQ p50 ~%s p99 ~%s%s%s  ", p50, p99, p->width >= 100 ? " max " : "",
		 p->width >= 100 ? max : "");
}

/* CPU 61% of 4  us43 sy12 hi1 si4 st0 [|||##     ]  RUNQ p50 ~18us p99 ~2.4ms  D 14 */
static void line_cpu(const struct header *h, const struct paint *p)
{
	const struct tick *t = h->tick;
	uint64_t run = 0, all = 0;
	int x, width = p->width < 120 ? p->width / 8 : p->width / 4, room, user, kernel;
	char waits[96], d[24];

	for (size_t i = 0; i < t->nr_cpus; i++) {
		run += t->cpus[i].run_ns;
		all += cpu_interval(&t->cpus[i]);
	}
	paint_clear(p, 1, 0);
	x = paint_text(p, 1, cpu_shares(t, p, run, all), 1, ROLE_TEXT, "[");
	waits_text(t, p, waits, sizeof(waits));
	snprintf(d, sizeof(d), "D %u", t->total_d);
	room = p->width - x - (int)strlen(waits) - (int)strlen(d); /* the bar shrinks before the numbers */
	if (width > room && room > 0)
		width = room;
	user = all && t->total.v[METRIC_USER] != VALUE_NA ? width * t->total.v[METRIC_USER] / all : 0;
	kernel = all ? width * run / all - user : 0;
	for (int i = 0; i < width; i++) {
		enum role role = i < user ? ROLE_USER : i < user + kernel ? ROLE_KERNEL : ROLE_TEXT;
		const char *cell = i < user          ? p->unicode ? "█" : "#"
				   : i < user + kernel ? p->unicode ? "▓" : "="
						       : " ";

		x = paint_text(p, 1, x, 1, role, cell);
	}
	x = paint_text(p, 1, x, p->width, ROLE_TEXT, waits);
	paint_text(p, 1, x, p->width, t->total_d ? ROLE_D : ROLE_TEXT, d);
}

/* "v0.1.0  kernel 6.8.0", or as much of it as fits in @room cells. */
static void about_text(const struct host *h, int room, char *buf, size_t size)
{
	int len = snprintf(buf, size, "v%s  kernel %s", h->version, h->kernel);

	if (len > room)
		len = snprintf(buf, size, "kernel %s", h->kernel);
	if (len > room)
		snprintf(buf, size, "%s", h->kernel);
}

/* LOSS 0  STACKS unwound 99% named 41%  BUF 30s           v0.1.0  kernel 6.8.0 */
static void line_loss(const struct header *h, const struct paint *p)
{
	const struct tick *t = h->tick;
	uint64_t sum = loss_sum(t->loss), recorded;
	char about[128], stacks[64];
	int x, largest = 0;

	for (int i = 0; i < LOSS_REPAIRED; i++)
		if (t->loss[i] > t->loss[largest])
			largest = i;
	paint_clear(p, 2, 0);
	if (sum)
		x = paint_format(p, 2, 0, ROLE_ALERT, "LOSS %" PRIu64 " mostly %s %" PRIu64, sum,
				 loss_names[largest].name, t->loss[largest]);
	else
		x = paint_text(p, 2, 0, p->width, ROLE_TEXT, "LOSS 0");
	x = paint_format(p, 2, x, ROLE_TEXT, "  STACKS %s",
			 stack_quality_text(h->stacks, stacks, sizeof(stacks), p->width - x - 20));
	recorded = h->host->source.recorded(h->host->source.arg);
	if (recorded != VALUE_NA)
		x = paint_format(p, 2, x, ROLE_DIM, "  BUF %.0fs", recorded / 1e9);
	about_text(h->host, p->width - x - 1, about, sizeof(about));
	right_aligned(p, 2, x, ROLE_DIM, about);
}

static void line_views(const struct header *h, const struct paint *p)
{
	char help[32], elided[512];
	int x;

	paint_clear(p, 3, 0);
	snprintf(help, sizeof(help), "%s help", h->help_key);
	x = paint_text(p, 3, 0, p->width, *h->crumbs ? ROLE_DIM : ROLE_TEXT, h->views);
	if (*h->crumbs) {
		text_elide(elided, sizeof(elided), h->crumbs, p->width - x - 1);
		x = paint_format(p, 3, x, ROLE_SORTED, " %s", elided);
	}
	right_aligned(p, 3, x, ROLE_TEXT, help);
}

void header_draw(const struct header *h, const struct paint *p)
{
	line_who(h, p);
	line_cpu(h, p);
	line_loss(h, p);
	line_views(h, p);
}

/* "Space pause  / find": the first key of each action that has a word for the footer. */
static void line_keys(const struct footer *f, const struct paint *p, int y)
{
	int x = 0;

	paint_clear(p, y, 0);
	for (int a = 0; a < ACTION_NONE; a++) {
		const char *word = actions[a].footer, *keys = f->keymap->keys[a];
		char text[64];

		if (a == ACTION_CLOSE && f->top)
			word = "quit";
		if (!*word || !*keys || !(actions[a].places & f->places))
			continue;
		snprintf(text, sizeof(text), "%.*s %s", (int)strcspn(keys, " "), keys, word);
		if (x + (int)strlen(text) > p->width)
			break;
		x = paint_format(p, y, x, ROLE_DIM, "%s  ", text);
	}
}

void footer_draw(const struct footer *f, const struct paint *p)
{
	int y = p->height - FOOTER_LINES, x;

	paint_clear(p, y, 0);
	if (*f->notice) {
		paint_text(p, y, 0, p->width, ROLE_ALERT, f->notice);
	} else {
		x = paint_text(p, y, 0, p->width, ROLE_TEXT, f->status);
		if (*f->filter)
			x = paint_format(p, y, x, ROLE_SORTED, "  filter %s", f->filter);
		if (*f->sorted)
			x = paint_format(p, y, x, ROLE_TEXT, "  sort %s", f->sorted);
		if (*f->alert)
			paint_text(p, y, x + 2, p->width, ROLE_ALERT, f->alert);
		else if (f->legend)
			paint_text(p, y, x + 2, p->width, ROLE_DIM, f->legend);
		else
			bar_legend(p, y, x + 2);
	}
	line_keys(f, p, y + 1);
}
