/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lines around the flamegraph: its subject, the quality of its stacks, the selected box. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/sample.h"
#include "query/runtimes.h"
#include "sym/names.h"
#include "tui/screen/host.h"
#include "tui/term/paint.h"
#include "tui/view/flame/flame_view.h"
#include "tui/widget/function_text.h"
#include "util/format.h"
#include "util/text.h"

/* Minimum width of a screen with the threads at the left. */
#define WIDE 160
#define THREADS_WIDTH 40

#define TITLE_WIDTH 9

/* Number of lines about the selected box; few on a low screen, which needs them for boxes. */
int flame_about_lines(const struct view_context *c)
{
	return c->height >= 30 ? 10 : c->height >= 20 ? 6 : c->height >= 14 ? 5 : c->height >= 8 ? 3 : 1;
}

int flame_threads_width(const struct view_context *c)
{
	return c->paint->width >= WIDE ? THREADS_WIDTH : 0;
}

static double share(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * part / whole : 0;
}

/* "[On-CPU] Runq Sleep ...  unwound 99% functions 98% named 41% no stack 7%" */
void flame_draw_head(struct flame_view *s, const struct view_context *c)
{
	const struct stack_quality *q = &s->flames[TREE_MAIN].quality;
	char text[64], without[32];
	int x = 0, room;

	for (int i = 0; metric_weight(i) != METRIC_NONE; i++) {
		bool shown = metric_weight(i) == s->options.metric;

		/* There is room only for the usual ones. */
		if (!shown && metrics[metric_weight(i)].drop == DROP_HIDDEN)
			continue;
		x = paint_format(c->paint, c->top, x, shown ? ROLE_SORTED : ROLE_DIM, shown ? "[%s]" : " %s ",
				 metrics[metric_weight(i)].weight.title);
	}
	*without = '\0';
	if (q->stacks < q->total)
		snprintf(without, sizeof(without), " no stack %s", STACK_PERCENT(q->total - q->stacks, q->total));
	room = c->paint->width - x - 1;
	stack_quality_text(q, text, sizeof(text), room - (int)strlen(without));
	if ((int)(strlen(text) + strlen(without)) > room)
		*without = '\0';
	if ((int)strlen(text) <= room)
		paint_format(c->paint, c->top, x + 1, ROLE_TEXT, "%s%s", text, without);
}

/* --- The threads at the left of the graph */

void flame_draw_threads(struct flame_view *s, const struct view_context *c, int bottom)
{
	const struct calltree *f = &s->flames[TREE_MAIN];
	uint64_t all = f->nr ? f->nodes[0].total : 0;
	int y = c->top + 1;

	paint_format(c->paint, y++, 0, ROLE_TITLE, "%7s %6s  %-20s", "TID", "%", "COMM");
	for (size_t i = 0; i < f->nr_threads && y < bottom; i++, y++) {
		const struct calltree_thread *t = &f->threads[i];
		char name[80], cut[80];

		text_safe(name, sizeof(name), t->life->comm, sizeof(t->life->comm));
		text_cut(cut, sizeof(cut), name, 20);
		paint_format(c->paint, y, 0, ROLE_TEXT, "%7d %6.1f  %s", t->life->tid, share(t->total, all), cut);
	}
}

/* --- The selected box */

static int put(const struct view_context *c, int y, const char *title, const char *text)
{
	int x = paint_format(c->paint, y, 0, ROLE_DIM, "%-*s", TITLE_WIDTH, title);

	paint_text(c->paint, y, x, c->paint->width - x, ROLE_TEXT, *text ? text : "-");
	return y + 1;
}

/* Puts a sentence on as many lines as it needs before @end. */
static int put_sentence(const struct view_context *c, int y, int end, const char *title, const char *text)
{
	struct paint above = *c->paint;
	int next;

	above.to = end < above.to ? end : above.to;
	paint_format(&above, y, 0, ROLE_DIM, "%s", title);
	next = paint_wrapped(&above, y, TITLE_WIDTH, text);
	return next < end ? next : end;
}

/* "calls  read_file 57.1%  parse 12.0%" */
static void callees_text(const struct view_context *c, const struct calltree *f, const struct calltree_node *n, char *buf,
			 size_t size)
{
	*buf = '\0';
	for (int child = n->child; child >= 0 && f->nodes[child].total && strlen(buf) < size - 1; child = f->nodes[child].next) {
		char callee[80];

		function_text(callee, sizeof(callee), calltree_name(&f->nodes[child]), c->settings);
		text_add(buf, size, "%s%s %.1f%%", *buf ? "   " : "", callee, share(f->nodes[child].total, n->total));
	}
}

/* "main < run < handle": from the immediate caller outwards. */
static void callers_text(const struct view_context *c, const struct calltree *f, const struct calltree_node *n, char *buf,
			 size_t size)
{
	*buf = '\0';
	for (int at = n->parent; at > 0 && strlen(buf) < size - 1; at = f->nodes[at].parent) {
		char caller[80];

		function_text(caller, sizeof(caller), calltree_name(&f->nodes[at]), c->settings);
		text_add(buf, size, "%s%s", *buf ? " < " : "", caller);
	}
}

static void module_text(const struct view_context *c, const struct symbol *symbol, uint64_t frame, char *buf,
			size_t size)
{
	char module[200], id[80];

	text_safe(module, sizeof(module), symbol->module, strlen(symbol->module));
	if (frame & FRAME_KERNEL) {
		snprintf(buf, size, "kernel, %s 0x%" PRIx64, module, frame);
	} else if (frame & FRAME_ANONYMOUS) {
		snprintf(buf, size, "JIT or anonymous memory, 0x%llx", frame & ~FRAME_ANONYMOUS);
	} else {
		c->host->source.build_id(c->host->source.arg, frame, id, sizeof(id));
		snprintf(buf, size, "%s +0x%llx   %sbuild-id %s", module, frame & FRAME_OFFSET_MASK,
			 symbol->named ? "" : symbol->function ? "no symbol: named by where it begins   " :
								 "no symbol covers it   ", id);
	}
}

/* Puts, before @end, how to get a symbol for a frame without one; systop then reads it by itself. Puts nothing if there is
 * no way. */
static int put_missing(const struct view_context *c, int y, int end, const struct symbol *symbol, uint64_t frame)
{
	bool first = true;
	const char *package;
	char id[80], text[256];

	if (symbol->named)
		return y;
	c->host->source.build_id(c->host->source.arg, frame, id, sizeof(id));
	if (strcmp(id, "-")) {
		snprintf(text, sizeof(text), "debuginfod-find debuginfo %s", id);
		y = put(c, y, "get name", text);
		first = false;
	}
	package = y < end ? c->host->package(c->host->arg, frame) : "";
	if (*package) {
		snprintf(text, sizeof(text), "apt install %s", package);
		y = put(c, y, first ? "get name" : "or", text);
	}
	return y;
}

/* Puts line @nr of its source code. */
static int put_source(const struct view_context *c, int y, int end, uint64_t frame)
{
	const char *text = c->host->source.code(c->host->source.arg, frame);
	bool first = true;

	while (*text && y < end) {
		size_t len = strcspn(text, "\n");
		char line[512];

		text_safe(line, sizeof(line), text, len);
		y = put(c, y, first ? "source" : "", line);
		first = false;
		text += len + (text[len] == '\n');
	}
	return first && y < end ? put(c, y, "source", "-") : y;
}

/* The row of a subject that has ended, by a sample of it. */
struct ended {
	const struct subject *subject;
	struct row row;
};

static int take_row(void *arg, const struct stack_sample *sample)
{
	struct ended *e = arg;

	if (!subject_holds_life(e->subject, sample->life))
		return 0;
	e->row = subject_life_row(e->subject, sample->life);
	return 1;
}

/* What the subject did in the last refreshes; NULL: not known. Searched only once per refresh, as it takes longer than drawing. */
static const struct values *find_past(struct flame_view *s, const struct view_context *c)
{
	struct ended ended = { .subject = &c->within };
	const struct row *r;

	if (s->past && s->past_seq == c->newest->seq)
		return s->past;
	r = subject_row(&c->within, c->newest);
	if (!r && c->within.kind == SUBJECT_ALL && c->newest->nr_cgroups)
		r = &c->newest->cgroups[0];
	if (!r && c->within.kind != SUBJECT_ALL && tick_samples(c->tick, HISTORY_TICKS, take_row, &ended))
		r = &ended.row;
	free(s->past);
	s->past = r ? calloc(HISTORY_TICKS, sizeof(*s->past)) : NULL;
	if (s->past && tick_history(c->newest, &r, 1, HISTORY_TICKS, false, s->past)) {
		free(s->past);
		s->past = NULL;
	}
	s->past_seq = c->newest->seq;
	return s->past;
}

/* Puts the position of the shown refresh in the history, and the metric over time. */
static int put_time(struct flame_view *s, const struct view_context *c, int y)
{
	/* Total wall time never changes. */
	enum metric_id m = s->options.metric == METRIC_WALL ? metric_weight(0) : s->options.metric;
	const struct values *past = find_past(s, c);
	int nr = c->paint->width - TITLE_WIDTH - 5, behind = c->newest->seq - c->tick->seq;
	double most = 0, rates[HISTORY_TICKS];

	nr = nr < HISTORY_TICKS ? nr : HISTORY_TICKS;
	if (past) {
		const struct values *from = past + HISTORY_TICKS - nr;
		int x = paint_format(c->paint, y, 0, ROLE_DIM, "%-*s", TITLE_WIDTH, "time");

		for (int i = 0; i < nr; i++) {
			uint64_t length = tick_length(c->newest, nr - 1 - i);

			rates[i] = values_known(&from[i]) && from[i].v[m] != VALUE_NA && length ? (double)from[i].v[m] / length : 0;
			if (rates[i] > most)
				most = rates[i];
		}
		for (int i = 0; i < nr; i++, x++)
			if (rates[i] > 0)
				paint_eighths(c->paint, y, x, ROLE_USER, 1 + 7 * rates[i] / most);
		paint_text(c->paint, y, x, 4, ROLE_DIM, " now");
		if (behind < nr)
			paint_text(c->paint, y + 1, TITLE_WIDTH + nr - 1 - behind, 1, ROLE_SORTED, "^");
	}
	return y + 2;
}

/* The selected box or function, in any mode. */
struct about {
	const struct symbol *symbol;
	const char *name;
	uint64_t frame, total, self, count;
};

/* Whether a box has its callers below and its callees above: its self time is then not that of the function. */
static bool has_callers(const struct flame_view *s)
{
	return flame_inverted(s) || s->tree == TREE_CALLERS;
}

static int put_name(const struct flame_view *s, const struct view_context *c, const struct about *a, int y)
{
	uint64_t all = s->flames[TREE_MAIN].nodes[0].total;
	enum unit unit = metrics[s->options.metric].unit;
	char name[512];
	int x;

	if (a->symbol)
		function_text(name, sizeof(name), a->name, c->settings);
	else
		text_safe(name, sizeof(name), a->name, strlen(a->name));
	if (!*name)
		flame_root_name(c, name, sizeof(name));
	x = paint_text(c->paint, y, 0, c->paint->width / 2, ROLE_SORTED, name);
	x = paint_format(c->paint, y, x, ROLE_TEXT, "  total %s (%.1f%%)", VALUE_TEXT(unit, a->total, 0),
			 share(a->total, all));
	if (!has_callers(s))
		x = paint_format(c->paint, y, x, ROLE_TEXT, "  self %s (%.1f%%)", VALUE_TEXT(unit, a->self, 0),
				 share(a->self, all));
	if (a->count) /* waits for a CPU are not counted by stack */
		paint_format(c->paint, y, x, ROLE_TEXT, "  %" PRIu64 " %s", a->count,
			     metrics[s->options.metric].weight.sampled ? "samples" : "times");
	return y + 1;
}

/* Puts the whole name on at most @most lines, if the line above does not show it. */
static int put_full_name(const struct view_context *c, const struct about *a, int y, int most)
{
	int width = c->paint->width - TITLE_WIDTH;
	char name[1024], shown[512], line[1024];

	text_safe(name, sizeof(name), a->name, strlen(a->name));
	function_text(shown, sizeof(shown), a->name, c->settings);
	if (width <= 0 || (!strcmp(name, shown) && text_width(name) <= c->paint->width / 2))
		return y;
	for (const char *at = name; *at && most > 0; at += strlen(line), most--) {
		text_cut(line, sizeof(line), at, width);
		if (!*line)
			break;
		y = put(c, y, at == name ? "name" : "", line);
	}
	return y;
}

/* Puts how to make the function's runtime write names, if they are missing. @n: one of its nodes */
static int put_runtime(const struct view_context *c, const struct calltree *f, const struct calltree_node *n, int y, int end)
{
	char text[256];

	return n && runtime_hint(f, n, text, sizeof(text)) ? put_sentence(c, y, end, "runtime", text) : y;
}

/* The heaviest node of a function. */
static const struct calltree_node *node_of(const struct calltree *f, const struct symbol *symbol)
{
	const struct calltree_node *best = NULL;

	for (size_t i = 0; i < f->nr; i++)
		if (f->nodes[i].symbol == symbol && (!best || f->nodes[i].total > best->total))
			best = &f->nodes[i];
	return best;
}

void flame_draw_about(struct flame_view *s, const struct view_context *c, int y)
{
	const struct calltree_node *n = s->mode == MODE_FUNCTIONS ? NULL : flame_selected(s);
	const struct calltree_function *fn = s->mode == MODE_FUNCTIONS ? flame_function_selected(s) : NULL;
	const struct calltree *f = &s->flames[s->tree];
	int lines = flame_about_lines(c), end = y + lines;
	struct about a;
	char text[1024];

	if (n)
		a = (struct about){ n->symbol, calltree_name(n), n->at.frame, n->total, n->self, n->count };
	else if (fn)
		a = (struct about){ fn->symbol, fn->symbol->name, fn->at.frame, fn->total, fn->self, fn->count };
	else
		return;
	y = put_name(s, c, &a, y);
	if (lines >= 5 && a.symbol)
		y = put_full_name(c, &a, y, lines >= 10 ? 3 : 1);
	if (y < end && !a.symbol && !strcmp(a.name, "[no stack]"))
		y = put_sentence(c, y, end, "why", "too short for a stack, or beyond their budget: see STACKS in systop(8)");
	if (y < end && a.symbol) {
		module_text(c, a.symbol, a.frame, text, sizeof(text));
		y = put(c, y, "in", text);
	}
	if (lines >= 5 && a.symbol)
		y = put_runtime(c, f, n ? n : node_of(f, a.symbol), y, end);
	if (y < end && n) {
		callees_text(c, f, n, text, sizeof(text));
		y = put(c, y, has_callers(s) ? "callers" : "calls", text);
	}
	if (lines >= 5 && y < end && a.symbol && !(a.frame & (FRAME_KERNEL | FRAME_ANONYMOUS))) {
		int before = y, room = end - y;

		y = put_missing(c, y, y + (lines < 10 || room < 2 ? 1 : 2), a.symbol, a.frame);
		if (y == before)
			y = put_source(c, y, y + (lines < 10 ? 1 : room < 3 ? room : 3), a.frame);
	}
	if (lines >= 10 && y < end && n && !has_callers(s)) {
		callers_text(c, f, n, text, sizeof(text));
		y = put(c, y, "from", text);
	}
	if (lines >= 6 && s->flames[TREE_MAIN].wakers.nr && y < end - 2) {
		snprintf(text, sizeof(text), "(all boxes) ");
		wakers_text(&s->flames[TREE_MAIN].wakers, c->tick, &c->host->source, text + strlen(text),
			    sizeof(text) - strlen(text));
		y = put(c, y, "woken by", text);
	}
	if (y <= end - 2 && !s->source) /* a metric's past is not that of the samples of a source */
		put_time(s, c, end - 2);
}
