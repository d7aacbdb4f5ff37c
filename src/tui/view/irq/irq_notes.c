/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/view/irq/irq_view.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "model/tick.h"
#include "model/wait.h"
#include "query/irq_history.h"
#include "query/subject.h"
#include "tui/screen/host.h"
#include "tui/screen/view.h"
#include "tui/term/paint.h"
#include "util/format.h"
#include "util/text.h"

#define VICTIMS 6 /* per line */

struct notes {
	const struct view_context *c;
	struct irq_note *at;
	int nr, most;
};

static void note(struct notes *n, enum role role, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

static void note(struct notes *n, enum role role, const char *fmt, ...)
{
	va_list args;

	if (n->nr == n->most)
		return;
	va_start(args, fmt);
	n->at[n->nr].role = role;
	vsnprintf(n->at[n->nr].text, sizeof(n->at[0].text), fmt, args);
	va_end(args);
	n->nr++;
}

const char *irq_ago_text(const struct tick *t, uint64_t at, char *buf, size_t size)
{
	uint64_t ago = at < t->boottime_ns ? t->boottime_ns - at : 0;

	if (ago < 9950000000)
		snprintf(buf, size, "-%.1fs", ago / 1e9);
	else
		snprintf(buf, size, "-%s", NS_TEXT(ago));
	return buf;
}

const char *irq_burst_text(const struct tick *t, const struct host *host, const struct irq_burst *b, char *buf,
			   size_t size)
{
	char ago[24], who[96], cut[96];

	irq_ago_text(t, b->who.at, ago, sizeof(ago));
	interrupted_who_text(&b->who, &host->source, who, sizeof(who));
	text_cut(cut, sizeof(cut), who, 22);
	snprintf(buf, size, "%7s %6s %5d  %s%*s %s", ago, NS_TEXT(b->ns), b->cpu, cut, 22 - text_width(cut), "", b->who.cgroup);
	return buf;
}

/* The longest interrupt of all sources. */
static void note_worst(struct notes *n)
{
	const struct tick *t = n->c->tick;
	struct irq_bursts b = { 0 };
	char ago[24], who[96], text[256], cgroup[128] = "";
	int room;

	irq_history_bursts(t, IRQ_ALL, &b);
	if (!b.nr)
		return;
	b.nr = 1;
	irq_bursts_name(t, &b);
	irq_ago_text(t, b.at[0].who.at, ago, sizeof(ago));
	interrupted_who_text(&b.at[0].who, &n->c->host->source, who, sizeof(who));
	snprintf(text, sizeof(text), "worst in %s: %s %s at %s on CPU %d, during %s ",
		 NS_TEXT(t->boottime_ns - irq_history_since(t)), b.at[0].source->name, NS_TEXT(b.at[0].ns), ago, b.at[0].cpu, who);
	room = n->c->paint->width - text_width(text);
	if (room > 3)
		text_elide(cgroup, sizeof(cgroup), b.at[0].who.cgroup, room);
	note(n, ROLE_TEXT, "%s%s", text, cgroup);
}

/* The rows that lost most to interrupts, most first. A cgroup's loss is that of its own threads. */
static int most_lost(const struct row *rows, size_t nr, uint64_t all, const struct row *most[VICTIMS])
{
	int found = 0;

	for (size_t i = 0; i < nr; i++) {
		uint64_t ns = rows[i].own->v[METRIC_IRQ];
		int at = found;

		if (ns == VALUE_NA || ns * 200 < all) /* would show as 0% */
			continue;
		while (at && most[at - 1]->own->v[METRIC_IRQ] < ns)
			at--;
		if (at == VICTIMS)
			continue;
		found += found < VICTIMS;
		memmove(&most[at + 1], &most[at], (found - at - 1) * sizeof(most[0]));
		most[at] = &rows[i];
	}
	return found;
}

/* "lost to interrupts, 11ms: api-worker 2001 61%  java 30 30%" */
static void note_lost(struct notes *n, const char *title, const struct row *rows, size_t nr)
{
	const struct row *most[VICTIMS];
	uint64_t all = n->c->tick->total.v[METRIC_IRQ];
	int found, width;
	char text[512], name[160], one[200];

	if (!all || all == VALUE_NA)
		return;
	found = most_lost(rows, nr, all, most);
	snprintf(text, sizeof(text), "%s", title);
	for (int i = 0; i < found; i++) {
		const struct subject s = subject_of(most[i]);

		subject_name(&s, most[i], name, sizeof(name));
		snprintf(one, sizeof(one), "  %s %.0f%%", name, 100.0 * most[i]->own->v[METRIC_IRQ] / all);
		width = text_width(text) + text_width(one);
		if (i && (width > n->c->paint->width || strlen(text) + strlen(one) >= sizeof(text)))
			break;
		text_add(text, sizeof(text), "%s", one);
	}
	if (found)
		note(n, ROLE_TEXT, "%s", text);
}

static void note_timers(struct notes *n)
{
	if (n->c->tick->timers_unseen)
		note(n, ROLE_WARN, "timer interrupts are not seen here: neither their time nor CPUs without one");
}

static void note_gaps(struct notes *n, int most)
{
	struct irq_bursts b = { 0 };
	const struct tick *t = n->c->tick;
	const char *why = n->c->paint->width < 120 ? "irqs off, or CPU stolen"
						   : "interrupts were off, or a hypervisor took the CPU";

	irq_history_gaps(t, &b);
	irq_bursts_name(t, &b);
	for (int i = 0; i < b.nr && i < most; i++) {
		char ago[24], who[96];

		irq_ago_text(t, b.at[i].who.at, ago, sizeof(ago));
		note(n, ROLE_WARN, "CPU %d: no timer for %s to %s, %s ran: %s", b.at[i].cpu, NS_TEXT(b.at[i].ns), ago,
		     interrupted_who_text(&b.at[i].who, &n->c->host->source, who, sizeof(who)), why);
	}
}

/* What a thread waited behind longest, in the refresh that ended at that time. */
static void behind_text(const struct tick *t, const struct interrupted_who *who, char *buf, size_t size)
{
	const struct wait *longest = NULL;
	char name[80];

	for (uint64_t seq = irq_history_first(t); seq <= t->seq; seq++) {
		const struct tick *then = tick_head(t, seq);

		for (size_t i = 0; then && then->boottime_ns == who->at && i < then->nr_waits; i++) {
			const struct wait *w = &then->waits[i];

			if (w->life->tid == who->tid && w->by && (!longest || w->ns > longest->ns))
				longest = w;
		}
	}
	*buf = '\0';
	if (!longest)
		return;
	text_safe(name, sizeof(name), longest->by->comm, sizeof(longest->by->comm));
	snprintf(buf, size, ", behind %s %d", name, longest->by->tid);
}

/* Work that softirqs leave to ksoftirqd waits until that thread gets its CPU. */
static void note_starved(struct notes *n, int most)
{
	const struct tick *t = n->c->tick;
	struct irq_bursts b = { 0 };

	if (irq_history_starved(t, &b))
		return;
	irq_bursts_name(t, &b);
	for (int i = 0; i < b.nr && i < most; i++) {
		char ago[24], behind[128];

		irq_ago_text(t, b.at[i].who.at, ago, sizeof(ago));
		behind_text(t, &b.at[i].who, behind, sizeof(behind));
		note(n, ROLE_WARN, "%s waited %s to %s%s: softirqs were late",
		     *b.at[i].who.name ? b.at[i].who.name : "ksoftirqd", NS_TEXT(b.at[i].ns), ago, behind);
	}
}

static void note_selected(struct notes *n, const struct irq_source *source)
{
	struct irq_bursts b = { 0 };
	char text[256];

	irq_history_bursts(n->c->tick, source->index, &b);
	irq_bursts_name(n->c->tick, &b);
	if (b.nr)
		note(n, ROLE_TITLE, IRQ_BURST_TITLE "   (%s, the longest of each refresh)", source->name);
	for (int i = 0; i < b.nr; i++)
		note(n, ROLE_TEXT, "%s", irq_burst_text(n->c->tick, n->c->host, &b.at[i], text, sizeof(text)));
}

int irq_notes(const struct view_context *c, const struct irq_source *selected, struct irq_note *notes, int most)
{
	struct notes n = { .c = c, .at = notes, .most = most };
	char title[64];

	snprintf(title, sizeof(title), "lost to interrupts%s, %s:", strcmp(c->host->scope, "all") ? " in scope" : "",
		 NS_TEXT(c->tick->total.v[METRIC_IRQ]));
	note_timers(&n);
	note_worst(&n);
	note_lost(&n, title, c->tick->active, c->tick->nr_active);
	note_starved(&n, most < 8 ? 1 : 3);
	note_gaps(&n, most < 8 ? 1 : 6);
	note_lost(&n, "of these, by cgroup:", c->tick->cgroups, c->tick->nr_cgroups - c->tick->nr_aside);
	if (selected)
		note_selected(&n, selected);
	return n.nr;
}
