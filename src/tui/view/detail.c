/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/view/detail.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "model/owner.h"
#include "tui/screen/host.h"
#include "tui/term/paint.h"
#include "tui/widget/bar.h"
#include "util/format.h"
#include "util/text.h"

#define CHART_HEIGHT 6
#define SCALE_WIDTH 8

static const char *safe_name(const char *comm, char *buf, size_t size)
{
	text_safe(buf, size, comm, 16);
	return buf;
}

/* --- Identity */

static void policy_text(int policy, int priority, char *buf, size_t size)
{
	static const char *const names[] = { "OTHER", "FIFO", "RR", "BATCH", "4", "IDLE", "DEADLINE",
					     "EXT" };
	const char *name = policy >= 0 && policy < 8 ? names[policy] : "?";

	if (priority >= 100)
		snprintf(buf, size, "SCHED_%s nice %d", name, priority - 120);
	else
		snprintf(buf, size, "SCHED_%s priority %d", name, 99 - priority);
}

/* "2026-11-21 09:00:12 (3h02m ago)" */
static void start_text(const struct life *l, const struct tick *t, char *buf, size_t size)
{
	uint64_t age = t->boottime_ns > l->start_ns ? t->boottime_ns - l->start_ns : 0;
	time_t when = t->wall.tv_sec - (time_t)(age / 1000000000);
	char day[32];
	struct tm tm;

	localtime_r(&when, &tm);
	strftime(day, sizeof(day), "%Y-%m-%d %H:%M:%S", &tm);
	snprintf(buf, size, "%s (%s ago)", day, NS_TEXT(age));
}

static void parent_text(const struct detail *d, pid_t ppid, char *buf, size_t size)
{
	const struct row *r = NULL;
	struct subject parent;

	for (size_t i = 0; i < d->tick->nr_processes && !r; i++)
		if (d->tick->processes[i].number == ppid)
			r = &d->tick->processes[i];
	parent = subject_of(r);
	if (r)
		subject_name(&parent, r, buf, size);
	else
		snprintf(buf, size, "%d", ppid);
}

/* "title  text", on as many lines as needed. Returns the next line. */
static int fact(const struct paint *p, int y, const char *title, const char *text)
{
	paint_format(p, y, 0, ROLE_DIM, "%-9s ", title);
	return paint_wrapped(p, y, 10, text); /* at 10, as paint_format() returns 0 off the page */
}

static int owner_fact(const struct paint *p, int y, const char *title, const char *raw, const char *more)
{
	char text[1024];

	text_safe(text, sizeof(text), raw, strlen(raw));
	text_add(text, sizeof(text), "%s%s", *more ? ", " : "", more);
	return fact(p, y, title, text);
}

/* What it belongs to: pod, container and unit, if any. */
static int owner_facts(const struct detail *d, const struct paint *p, int y)
{
	const struct owners of = owners_of(d->row->cgroup);
	char more[512] = "", raw[512], user[64];

	if (of.pod) {
		if (of.pod->pod_id)
			text_safe(more, sizeof(more), of.pod->pod_id, strlen(of.pod->pod_id));
		y = owner_fact(p, y, "pod", of.pod->pod, more);
	}
	if (of.container) {
		const struct owner *c = of.container;

		snprintf(raw, sizeof(raw), "%s%s%.12s%s%s", c->runtime ? c->runtime : "",
			 c->runtime && c->container_id ? " " : "", c->container_id ? c->container_id : "", c->image ? ", image " : "", c->image ? c->image : "");
		text_safe(more, sizeof(more), raw, strlen(raw));
		y = owner_fact(p, y, "container", of.container->container, more);
	}
	if (of.unit) {
		*more = '\0';
		if (of.unit->user != OWNER_SYSTEM) {
			d->context->host->user_name(of.unit->user, user, sizeof(user));
			snprintf(more, sizeof(more), "of user %s", user);
		}
		y = owner_fact(p, y, "unit", of.unit->unit, more);
	}
	return y;
}

static int cgroup_facts(const struct detail *d, const struct paint *p, int y)
{
	const struct cgroup *limiter = row_limiter(d->row);
	const struct cgroup_limit *limit = d->row->limit;
	char path[4096], elided[1024], text[160];
	int x = paint_format(p, y, 0, ROLE_DIM, "%-9s ", "cgroup");

	text_safe(path, sizeof(path), d->row->cgroup->path, strlen(d->row->cgroup->path));
	text_elide(elided, sizeof(elided), path, p->width - x);
	paint_text(p, y++, x, p->width, ROLE_TEXT, elided);
	y = owner_facts(d, p, y);
	if (limiter != d->row->cgroup && limiter->parent) {
		text_safe(path, sizeof(path), limiter->path, strlen(limiter->path));
		y = fact(p, y, "limits", path);
	}
	if (d->row->kind != ROW_CGROUP)
		return y;
	snprintf(text, sizeof(text), "%u, its own %u", d->row->nr_threads, d->row->own_threads);
	y = fact(p, y, "threads", text);
	if (!limit->quota_ns)
		return fact(p, y, "limit", "none");
	snprintf(text, sizeof(text), "%s of CPU time per %s", NS_TEXT(limit->quota_ns), NS_TEXT(limit->period_ns));
	if (limit->nr_throttled == VALUE_NA)
		text_add(text, sizeof(text), "; its effect is not known");
	else
		text_add(text, sizeof(text), "; stopped threads in %" PRIu64 " periods, for %s", limit->nr_throttled,
			 NS_TEXT(limit->throttled_ns));
	return fact(p, y, "limit", text);
}

static int thread_facts(const struct detail *d, const struct paint *p, int y)
{
	const struct life *l = d->row->thread;
	const struct row *newest = subject_row(&d->context->within, d->context->newest);
	bool now = d->context->tick == d->context->newest, lives = newest && !newest->exited;
	int policy = l->policy, priority = l->priority;
	char text[256], scheduling[64], cpus[64] = "-", last[16] = "-";

	/* The BPF programs see a change only at the next tick in the thread. Another thread can have the TID of one that ended. */
	if (now && lives)
		d->context->host->scheduling(l->tid, &policy, &priority);
	policy_text(policy, priority, scheduling, sizeof(scheduling));
	if (lives)
		d->context->host->affinity(l->tid, cpus, sizeof(cpus));
	if (l->cpu >= 0)
		snprintf(last, sizeof(last), "%d", l->cpu);
	snprintf(text, sizeof(text), "%s  may%s run on CPU %s  %slast on %s", scheduling,
		 now || !lives ? "" : " now", cpus, now || !lives ? "" : "now ", last);
	y = fact(p, y, "policy", text);
	start_text(l, d->tick, text, sizeof(text));
	return fact(p, y, "started", text);
}

int detail_identity(const struct detail *d, const struct paint *p, int y)
{
	const struct process *process = d->row->process;
	char text[512], name[80], parent[128], user[64];

	if (d->row->kind == ROW_CGROUP)
		return cgroup_facts(d, p, y);
	d->context->host->user_name(row_uid(d->row), user, sizeof(user));
	if (d->row->thread) {
		snprintf(text, sizeof(text), "%s, tid %d, user %s",
			 safe_name(d->row->thread->comm, name, sizeof(name)), d->row->number, user);
		y = fact(p, y, "thread", text);
	}
	parent_text(d, process->ppid, parent, sizeof(parent));
	snprintf(text, sizeof(text), "%s, pid %d, user %s, parent %s",
		 safe_name(process->comm, name, sizeof(name)), process->tgid, user, parent);
	y = fact(p, y, "process", text);
	y = detail_command(d, p, y);
	y = cgroup_facts(d, p, y);
	if (d->row->thread)
		return thread_facts(d, p, y);
	snprintf(text, sizeof(text), "%u", d->row->nr_threads);
	return fact(p, y, "threads", text);
}

/* --- Values of the interval */

#define VALUE_CELLS 26 /* "RUNQ%      22.4   224ms" */

/* Rare values are shown only if they are not 0. */
static bool has_value(const struct detail *d, enum metric_id f)
{
	if (metrics[f].kind == KIND_LEVEL)
		return metrics[f].level & (d->row->kind == ROW_CGROUP ? LEVEL_OF_CGROUPS : LEVEL_OF_PROCESSES);
	return metrics[f].drop && (metrics[f].drop != DROP_HIDDEN || row_value(d->row, f));
}

static void value_text(const struct detail *d, enum metric_id f, char *buf, size_t size)
{
	uint64_t v = row_value(d->row, f), interval = d->tick->interval_ns;

	snprintf(buf, size, "%-7s %7s %7s", metrics[f].title, VALUE_TEXT(metric_shown(f), v, interval),
		 metric_shown(f) != metrics[f].unit ? VALUE_TEXT(metrics[f].unit, v, 0) : "");
}

int detail_values(const struct detail *d, const struct paint *p, int y)
{
	int columns = p->width / VALUE_CELLS ? p->width / VALUE_CELLS : 1, nr = 0, lines, i = 0;

	for (int f = 0; f < METRIC_COUNT; f++)
		nr += has_value(d, f);
	lines = (nr + columns - 1) / columns;
	paint_format(p, y++, 0, ROLE_TITLE, "IN %.3gs (share or rate, and total)",
		     d->tick->interval_ns / 1e9);
	for (int f = 0; f < METRIC_COUNT; f++) {
		char text[64];

		if (!has_value(d, f))
			continue;
		value_text(d, f, text, sizeof(text));
		paint_text(p, y + i % lines, i / lines * VALUE_CELLS, VALUE_CELLS, ROLE_TEXT, text);
		i++;
	}
	return y + lines;
}

/* --- Over time */

/* The refresh in which several threads were busiest: their time of running, runqueue and D state, */
struct busiest {
	uint64_t ns, of; /* and the length of that refresh */
};

static struct busiest busiest(const struct values *past, const uint64_t *lengths, int nr)
{
	struct busiest most = { 0, 1 };

	for (int i = 0; i < nr; i++) {
		const uint64_t *v = past[i].v;
		uint64_t busy = v[METRIC_RUN] + v[METRIC_RUNQ] + v[METRIC_D], of = lengths[i];

		if (values_known(&past[i]) && of && (double)busy / of > (double)most.ns / most.of)
			most = (struct busiest){ busy, of };
	}
	return most;
}

int detail_time(const struct detail *d, const struct paint *p, int y)
{
	bool one = d->row->kind == ROW_THREAD;
	int width = p->width - SCALE_WIDTH < HISTORY_TICKS ? p->width - SCALE_WIDTH : HISTORY_TICKS;
	const struct values *past = d->past + HISTORY_TICKS - width;
	const uint64_t *lengths = d->lengths + HISTORY_TICKS - width;
	struct busiest whole = one ? (struct busiest){ 1, 1 } : busiest(past, lengths, width);
	unsigned long long wholes[HISTORY_TICKS];
	int known = 0;
	char drawn[32] = "";

	for (int i = 0; i < HISTORY_TICKS; i++)
		known += values_known(&d->past[i]);
	for (int i = 0; i < width; i++)
		wholes[i] = (double)whole.ns / whole.of * lengths[i];
	if (known > width)
		snprintf(drawn, sizeof(drawn), ", %d drawn", width);
	paint_format(p, y++, 0, ROLE_TITLE, "THE LAST %d REFRESH%s%s (right: the one shown)", known, known == 1 ? "" : "ES", drawn);
	paint_format(p, y, 0, ROLE_DIM, "%5s %%", SHARE_TEXT(whole.ns, whole.of));
	paint_format(p, y + CHART_HEIGHT - 1, 0, ROLE_DIM, "%5s %%", "0");
	if (whole.ns)
		bar_chart(p, y, SCALE_WIDTH, width, CHART_HEIGHT, past, one ? NULL : wholes);
	y += CHART_HEIGHT;
	bar_legend(p, y, SCALE_WIDTH);
	return y + 1;
}

/* --- Waits for a CPU */

int detail_waits(const struct detail *d, const struct paint *p, int y)
{
	struct hist all = { { 0 } };
	uint64_t longest = 0;

	for (int i = 0; i < HISTORY_TICKS; i++) {
		if (!values_known(&d->past[i]))
			continue;
		hist_add(&all, &d->past[i].hist[HIST_RUNQ]);
		if (d->past[i].v[METRIC_RUNQ_MAX] > longest)
			longest = d->past[i].v[METRIC_RUNQ_MAX];
	}
	if (hist_quantile(&all, HIST_RUNQ, 1, VALUE_NA) == VALUE_NA) {
		paint_format(p, y++, 0, ROLE_TITLE, longest ? "RUNQUEUE WAITS in these refreshes: none ended, the present one %s"
							    : "RUNQUEUE WAITS in these refreshes: none",
			     NS_TEXT(longest));
		return y;
	}
	paint_format(p, y++, 0, ROLE_TITLE, "RUNQUEUE WAITS in these refreshes: p50 ~%s p90 ~%s p99 ~%s max %s",
		     NS_TEXT(hist_quantile(&all, HIST_RUNQ, 0.50, longest)), NS_TEXT(hist_quantile(&all, HIST_RUNQ, 0.90, longest)),
		     NS_TEXT(hist_quantile(&all, HIST_RUNQ, 0.99, longest)), NS_TEXT(longest));
	return bar_hist(p, y, &all, HIST_RUNQ, ROLE_RUNQ);
}

/* --- Quality of its stacks */

int detail_stacks(const struct detail *d, const struct paint *p, int y)
{
	int head = y++, weight;

	for (int i = 0; (weight = metric_weight(i)) != METRIC_WALL; i++) {
		const struct stack_quality *q = &d->stacks[weight];
		char cut[160], lack[240];

		if (!q->total)
			continue;
		paint_format(p, y++, 0, ROLE_TEXT, "%-8s %7s %9s %10s %7s %10s  %s", metrics[weight].weight.title,
			     VALUE_TEXT(metrics[weight].unit, q->total, 0), STACK_PERCENT(stack_quality_unwound(q), q->stacks),
			     STACK_PERCENT(stack_quality_functions(q), q->stacks), STACK_PERCENT(stack_quality_named(q), q->stacks),
			     STACK_PERCENT(q->total - q->stacks, q->total), stack_quality_cut_text(q, cut, sizeof(cut)));
		if (*stack_quality_lack_text(q, lack, sizeof(lack)))
			paint_format(p, y++, 0, ROLE_DIM, "  %s", lack);
	}
	paint_format(p, head, 0, ROLE_TITLE, y > head + 1 ? "%-8s %7s %9s %10s %7s %10s" : "STACKS in this refresh: none", "STACKS",
		     "of", "unwound", "functions", "named", "no stack");
	return y;
}
