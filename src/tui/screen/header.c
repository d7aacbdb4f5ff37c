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

/* Minimum widths for user and system time, for all shares of the CPUs, for all numbers of the waits, and for everything. */
#define WIDTH_SHARES 60
#define WIDTH_USUAL 80
#define WIDTH_MORE 100
#define WIDTH_ALL 120

/* Text at the right edge, unless it would overlap what ends at @left. Returns the columns that are left for others. */
static int right_aligned(const struct paint *p, int y, int left, enum role role, const char *text)
{
	int at = p->width - text_width(text);

	if (at <= left)
		return p->width;
	paint_text(p, y, at, p->width, role, text);
	return at;
}

/* Age of the shown tick: "7s", "1m05s". */
static void ago_text(const struct header *h, char *buf, size_t size)
{
	uint64_t seconds = (h->newest->boottime_ns - h->tick->boottime_ns + 500000000) / 1000000000; /* refreshes jitter */

	if (seconds < 60)
		snprintf(buf, size, "%ds", (int)seconds);
	else
		format_value(buf, size, UNIT_NS, seconds * 1000000000, 0);
}

/* "41d", "3h12m", "12m", "45s" */
static void uptime_text(uint64_t ns, char *buf, size_t size)
{
	uint64_t s = ns / 1000000000;

	if (ns == VALUE_NA)
		snprintf(buf, size, "-");
	else if (s >= 86400)
		snprintf(buf, size, "%" PRIu64 "d", s / 86400);
	else if (s >= 3600)
		snprintf(buf, size, "%dh%02dm", (int)(s / 3600), (int)(s / 60 % 60));
	else
		snprintf(buf, size, s >= 60 ? "%dm" : "%ds", (int)(s >= 60 ? s / 60 : s));
}

/* "self 0.4% 38M" */
static void self_text(const struct tick *t, int width, char *buf, size_t size)
{
	const char *share = SHARE_TEXT(t->self.cpu_ns, t->interval_ns), *rss = BYTES_TEXT(t->self.rss_bytes);

	if (width >= WIDTH_ALL)
		snprintf(buf, size, "self cpu %s%% rss %s bpf %s", share, rss, BYTES_TEXT(t->self.bpf_bytes));
	else
		snprintf(buf, size, "self %s%% %s", share, rss);
}

/* Cgroups of the shown hierarchy whose numbers are known. */
static size_t cgroups_of(const struct header *h)
{
	const struct tick *t = h->tick;
	size_t nr = t->nr_cgroups - t->nr_aside, seen = 0;

	for (size_t i = 0; i < nr; i++)
		seen += row_is_seen(&t->cgroups[i], h->host->scope);
	return seen;
}

/* systop HOST 12:03:44 LIVE 1s  scope all 212 cgroups  up 41d    self 0.4% 38M */
static void line_who(const struct header *h, const struct paint *p)
{
	const struct tick *t = h->tick;
	char clock[16], cgroups[32], self[80], up[16];
	struct tm tm;
	size_t nr;
	int x, end;

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
	nr = cgroups_of(h);
	snprintf(cgroups, sizeof(cgroups), " %zu cgroup%s", nr, nr == 1 ? "" : "s");
	if (x + (int)strlen(cgroups) <= p->width)
		x = paint_text(p, 0, x, p->width, ROLE_DIM, cgroups);
	self_text(t, p->width, self, sizeof(self));
	end = right_aligned(p, 0, x, ROLE_DIM, self);
	uptime_text(t->host.uptime_ns, up, sizeof(up));
	if (x + (int)strlen("  up  ") + (int)strlen(up) <= end)
		paint_format(p, 0, x, ROLE_TEXT, "  up %s", up);
}

static const char *percent(char *buf, size_t size, uint64_t part, uint64_t whole)
{
	if (part == VALUE_NA || !whole)
		snprintf(buf, size, "-");
	else
		snprintf(buf, size, "%.0f", 100.0 * part / whole);
	return buf;
}

static uint64_t left_of(uint64_t whole, uint64_t part)
{
	return whole == VALUE_NA || part == VALUE_NA ? VALUE_NA : whole - (part < whole ? part : whole);
}

/* A part of a bar, and how it is drawn. */
struct part {
	uint64_t size;
	enum role role;
	const char *unicode, *ascii;
};

/* "[||||##     ]": @width cells between the brackets. An unknown part is not drawn. Returns the column after it. */
static int bar(const struct paint *p, int y, int x, int width, const struct part *parts, int nr, uint64_t whole)
{
	uint64_t sum = 0;
	int cells = 0;

	x = paint_text(p, y, x, 1, ROLE_TEXT, "[");
	for (int i = 0; i < nr && whole; i++) {
		sum += parts[i].size == VALUE_NA ? 0 : parts[i].size;
		for (; cells < width && cells < (int)((double)width * sum / whole); cells++)
			x = paint_text(p, y, x, 1, parts[i].role, p->unicode ? parts[i].unicode : parts[i].ascii);
	}
	return paint_format(p, y, x, ROLE_TEXT, "%*s]", width - cells, "");
}

/* Shares of all CPUs' time: "CPU 61% of 4 us43 sy12 hi1 si4 st0 ", or as many of them as there is room for. */
static int cpu_shares(const struct tick *t, const struct paint *p, uint64_t run, uint64_t all)
{
	uint64_t hard = 0, soft = 0;
	char us[8], sy[8], hi[8], si[8], st[8], cpu[8];
	int x;

	for (size_t i = 0; i < t->nr_cpus; i++) {
		hard += t->cpus[i].hardirq_ns;
		soft += t->cpus[i].softirq_ns;
	}
	x = paint_format(p, 1, 0, ROLE_TEXT, "CPU %s%% of %zu ", percent(cpu, sizeof(cpu), run, all), t->nr_cpus);
	if (p->width < WIDTH_SHARES)
		return x;
	x = paint_format(p, 1, x, ROLE_TEXT, "us%s sy%s ", percent(us, sizeof(us), t->total.v[METRIC_USER], all),
			 percent(sy, sizeof(sy), t->total.v[METRIC_KERNEL], all));
	if (p->width < WIDTH_USUAL)
		return x;
	if (t->timers_unseen)
		hard = VALUE_NA;
	return paint_format(p, 1, x, ROLE_TEXT, "hi%s si%s st%s ", percent(hi, sizeof(hi), hard, all),
			    percent(si, sizeof(si), soft, all), percent(st, sizeof(st), tick_steal(t), all));
}

/* "RUNQ p50 ~18us p99 ~2.4ms max 41ms  " */
static void waits_text(const struct tick *t, int width, char *buf, size_t size)
{
	const char *p99 = ABOUT_TEXT(values_value(&t->total, METRIC_RUNQ_P99));

	if (width >= WIDTH_MORE)
		snprintf(buf, size, "RUNQ p50 %s p99 %s max %s  ", ABOUT_TEXT(values_value(&t->total, METRIC_RUNQ_P50)), p99,
			 NS_TEXT(values_value(&t->total, METRIC_RUNQ_MAX)));
	else
		snprintf(buf, size, "RUNQ p99 %s  ", p99);
}

/* "LOSS 0", "LOSS 2 waits": with the largest cause, if there is room. */
static uint64_t loss_text(const struct tick *t, int width, char *buf, size_t size)
{
	uint64_t sum = loss_sum(t->loss);
	int largest = 0;

	for (int i = 0; i < LOSS_REPAIRED; i++)
		if (t->loss[i] > t->loss[largest])
			largest = i;
	if (!sum || width < WIDTH_USUAL)
		snprintf(buf, size, "LOSS %" PRIu64, sum);
	else if (width < WIDTH_MORE)
		snprintf(buf, size, "LOSS %" PRIu64 " %s", sum, loss_names[largest].name);
	else
		snprintf(buf, size, "LOSS %" PRIu64 " mostly %s %" PRIu64, sum, loss_names[largest].name, t->loss[largest]);
	return sum;
}

static int widest_bar(const struct paint *p)
{
	return p->width < WIDTH_ALL ? 10 : p->width / 8;
}

/* A bar takes what the text leaves, but is left out below this width, where it would show little. */
#define BAR_LEAST 4

static int bar_width(const struct paint *p, int room)
{
	int width = room - 2 < widest_bar(p) ? room - 2 : widest_bar(p);

	return width < BAR_LEAST ? 0 : width;
}

/* CPU 61% of 4 us43 sy12 hi1 si4 st0 [|||##     ]  RUNQ p99 ~2.4ms  D 14  LOSS 0. The time of threads out of scope
 * is not split into user and kernel. */
static void line_cpu(const struct header *h, const struct paint *p)
{
	const struct tick *t = h->tick;
	uint64_t run = 0, all = 0, scoped, user = t->total.v[METRIC_USER];
	char waits[96], d[24], loss[64];
	int x, end, width;

	for (size_t i = 0; i < t->nr_cpus; i++) {
		run += t->cpus[i].run_ns;
		all += cpu_interval(&t->cpus[i]);
	}
	scoped = strcmp(h->host->scope, "all") ? t->total.v[METRIC_RUN] : run;
	paint_clear(p, 1, 0);
	end = right_aligned(p, 1, 0, loss_text(t, p->width, loss, sizeof(loss)) ? ROLE_ALERT : ROLE_TEXT, loss) - 1;
	x = cpu_shares(t, p, run, all);
	waits_text(t, p->width, waits, sizeof(waits));
	snprintf(d, sizeof(d), "D %u", t->total_d);
	width = bar_width(p, end - x - (int)strlen(waits) - (int)strlen(d) - 2);
	if (width) {
		const struct part parts[] = {
			{ user, ROLE_USER, "█", "#" },
			{ user == VALUE_NA ? scoped : left_of(scoped, user), ROLE_KERNEL, "▓", "=" },
			{ left_of(run, scoped), ROLE_DIM, "▒", ":" },
		};

		x = bar(p, 1, x, width, parts, 3, all) + 2;
	}
	if (x + (int)strlen(waits) + (int)strlen(d) > end)
		waits[0] = '\0';
	x = paint_text(p, 1, x, end - x, ROLE_TEXT, waits);
	paint_text(p, 1, x, end - x, t->total_d ? ROLE_D : ROLE_TEXT, d);
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

/* "21/31G": the first number has a unit only if it differs. */
static void part_text(uint64_t part, uint64_t whole, char *buf, size_t size)
{
	const char *a = BYTES_TEXT(part), *b = BYTES_TEXT(whole);
	int len = strlen(a);

	if (len > 1 && strlen(b) > 1 && a[len - 1] == b[strlen(b) - 1] && (a[len - 1] < '0' || a[len - 1] > '9'))
		len--;
	snprintf(buf, size, "%.*s/%s", len, a, b);
}

/* "load 3.1", or "load 3.1 2.9 2.2" */
static void load_text(const struct host_state *m, int width, char *buf, size_t size)
{
	snprintf(buf, size, "load");
	for (int i = 0; i < (width < WIDTH_MORE ? 1 : HOST_LOADS); i++)
		if (m->load[i] == VALUE_NA)
			text_add(buf, size, " -");
		else
			text_add(buf, size, " %.*f", m->load[i] < 1000 ? 1 : 0, m->load[i] / 100.0);
}

/* "swap 0", "swap 1.2G", or "swap 1.2/2.0G" */
static void swap_text(const struct host_state *m, int width, char *buf, size_t size)
{
	char text[40] = "0";

	if (width >= WIDTH_MORE && m->swap_total && m->swap_total != VALUE_NA)
		part_text(m->swap_used, m->swap_total, text, sizeof(text));
	else if (m->swap_used)
		format_value(text, sizeof(text), UNIT_BYTES, m->swap_used, 0);
	snprintf(buf, size, "swap %s", text);
}

/* "MEM 21/31G [||||::  ] swap 0  load 3.1", with bars of at most @room cells together. Returns the column after it. */
static int memory_text(const struct host_state *m, const struct paint *p, int room)
{
	uint64_t used = left_of(m->mem_total, m->mem_available);
	const struct part memory[] = {
		{ used, ROLE_MEMORY, "█", "#" },
		{ left_of(m->mem_available, m->mem_free), ROLE_CACHE, "▒", ":" },
	};
	const struct part swap = { m->swap_used, ROLE_D, "█", "#" };
	bool swap_bar = p->width >= WIDTH_ALL && m->swap_total && m->swap_total != VALUE_NA;
	int x, width = bar_width(p, swap_bar ? (room - 1) / 2 : room);
	char text[64];

	part_text(used, m->mem_total, text, sizeof(text));
	x = paint_format(p, 2, 0, ROLE_TEXT, "MEM %s ", text);
	if (width)
		x = bar(p, 2, x, width, memory, 2, m->mem_total == VALUE_NA ? 0 : m->mem_total) + 1;
	else
		x++;
	swap_text(m, p->width, text, sizeof(text));
	x = paint_text(p, 2, x, p->width, ROLE_TEXT, text);
	if (swap_bar && width)
		x = bar(p, 2, x + 1, width, &swap, 1, m->swap_total);
	load_text(m, p->width, text, sizeof(text));
	return paint_format(p, 2, x, ROLE_TEXT, "  %s", text);
}

/* Cells of memory_text() without bars. */
static int memory_width(const struct host_state *m, const struct paint *p)
{
	char memory[64], swap[64], load[64];

	part_text(left_of(m->mem_total, m->mem_available), m->mem_total, memory, sizeof(memory));
	swap_text(m, p->width, swap, sizeof(swap));
	load_text(m, p->width, load, sizeof(load));
	return strlen("MEM   ") + strlen(memory) + strlen(swap) + strlen("  ") + strlen(load);
}

/* MEM 21/31G [||||::  ] swap 0  load 3.1  STACKS unwound 99% named 41%  BUF 30s */
static void line_memory(const struct header *h, const struct paint *p)
{
	const struct host_state *m = &h->tick->host;
	uint64_t recorded = h->host->source.recorded(h->host->source.arg);
	char about[128], stacks[80], text[64], buf[24] = "";
	int x, end = p->width, room, left;

	paint_clear(p, 2, 0);
	if (recorded != VALUE_NA)
		snprintf(buf, sizeof(buf), "BUF %.0fs", recorded / 1e9);
	left = p->width - memory_width(m, p) - (int)strlen(buf) - 2;
	snprintf(stacks, sizeof(stacks), "STACKS %s", /* the bar comes before the third of its numbers */
		 stack_quality_text(h->stacks, text, sizeof(text), left - widest_bar(p) - (int)strlen("  STACKS ")));
	room = left - (int)strlen(stacks) - 2;
	x = memory_text(m, p, room < 0 ? left : room);
	if (room >= 0)
		x = paint_format(p, 2, x, ROLE_TEXT, "  %s", stacks);
	if (p->width >= WIDTH_ALL) {
		about_text(h->host, p->width - x - (int)strlen(buf) - 4, about, sizeof(about));
		end = right_aligned(p, 2, x + (int)strlen(buf) + 3, ROLE_DIM, about);
	}
	if (end == p->width)
		right_aligned(p, 2, x, ROLE_DIM, buf);
	else
		paint_format(p, 2, x, ROLE_DIM, "  %s", buf);
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
	line_memory(h, p);
	line_views(h, p);
}

/* "Space pause  / find": a key of each action that has a word for the footer. */
static void line_keys(const struct footer *f, const struct paint *p, int y)
{
	int x = 0;

	paint_clear(p, y, 0);
	for (int a = 0; a < ACTION_NONE; a++) {
		const char *word = actions[a].footer;
		char key[16], text[64];

		if (a == ACTION_CLOSE && f->top)
			word = "quit";
		if (!*word || !(actions[a].places & f->places))
			continue;
		if (!*keymap_key(f->keymap, a, f->places, key, sizeof(key)))
			continue;
		snprintf(text, sizeof(text), "%s %s", key, word);
		if (x + (int)strlen(text) > p->width)
			break;
		x = paint_format(p, y, x, ROLE_DIM, "%s  ", text);
	}
}

/* Draws as many parts of the legend as fit; two blanks separate them. */
static void legend_draw(const struct paint *p, int y, int x, const char *legend)
{
	while (*legend) {
		const char *end = strstr(legend, "  ");
		int len = end ? (int)(end - legend) : (int)strlen(legend);

		if (x + len > p->width)
			return;
		x = paint_format(p, y, x, ROLE_DIM, "%.*s ", len, legend);
		legend += len + strspn(legend + len, " ");
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
			legend_draw(p, y, x + 2, f->legend);
		else
			bar_legend(p, y, x + 2);
	}
	line_keys(f, p, y + 1);
}
