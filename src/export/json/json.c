/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/json/json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "export/exporter.h"
#include "export/json/json_text.h"
#include "export/json/json_waits.h"
#include "export/redact.h"
#include "model/loss_names.h"
#include "model/owner.h"
#include "model/sample.h"
#include "model/tick.h"
#include "query/filter.h"
#include "query/source.h"
#include "query/stack_quality.h"
#include "sym/names.h"
#include "util/clock.h"
#include "util/map.h"

/* The values of a row, and those of its levels that @levels selects: bits of enum level_of. */
static void put_values(struct json *j, const struct row *r, const struct values *v, unsigned int levels)
{
	struct row of = *r;

	of.values = v;
	for (int f = 0; f < METRIC_COUNT; f++)
		if (metric_of_threads(f) || metrics[f].level & levels)
			json_number(j, metrics[f].name, row_value(&of, f));
}

/* --- Samples */

/* Statistics of a tick's stacks. */
struct sampled {
	struct map samples;    /* life -> samples of it on a CPU */
	struct stack_quality of[METRIC_COUNT];
};

static int count_sample(void *arg, const struct stack_sample *s)
{
	struct sampled *c = arg;
	uintptr_t before = (uintptr_t)map_get(&c->samples, (uintptr_t)s->life);

	stack_quality_add(&c->of[s->metric], s);
	if (!metrics[s->metric].weight.sampled)
		return 0;
	return map_put(&c->samples, (uintptr_t)s->life, (void *)(before + s->count));
}

static void put_quality(struct json *j, const char *what, enum metric_id m, uint64_t v)
{
	char name[32];

	snprintf(name, sizeof(name), "%s%s", what, metric_suffix(m));
	json_number(j, name, v);
}

/* The total of all threads: samples lack threads that slept all the time and were not looked at. */
static uint64_t total_of(const struct tick *t, const struct sampled *c, enum metric_id m)
{
	uint64_t total = values_value(&t->total, m);

	return total != VALUE_NA && total > c->of[m].total ? total : c->of[m].total;
}

static void put_stacks(struct json *j, const struct tick *t, const struct sampled *c)
{
	json_open(j, "stacks", '{');
	for (int place = 0; metric_weight(place) != METRIC_WALL; place++) {
		enum metric_id m = metric_weight(place);

		json_open(j, metrics[m].weight.name, '{');
		put_quality(j, "total", m, total_of(t, c, m));
		put_quality(j, "stacks", m, c->of[m].stacks);
		put_quality(j, "unwound", m, stack_quality_unwound(&c->of[m]));
		put_quality(j, "functions", m, stack_quality_functions(&c->of[m]));
		put_quality(j, "named", m, stack_quality_named(&c->of[m]));
		json_open(j, "cut", '{');
		for (int i = CUT_NONE + 1; i < CUTS; i++)
			put_quality(j, stack_cuts[i].key, m, c->of[m].cut[i]);
		json_close(j, '}');
		json_open(j, "unnamed", '{');
		for (int i = LACK_NOTHING + 1; i < LACKS; i++)
			put_quality(j, stack_lacks[i].key, m, stack_quality_lack(&c->of[m], i));
		json_close(j, '}');
		json_close(j, '}');
	}
	json_close(j, '}');
}

/* --- Rows */

static void put_thread(struct json *j, const struct row *r, const struct sampled *sampled,
		       const struct json_waits *waits)
{
	json_open(j, NULL, '{');
	json_int(j, "tid", r->thread->tid);
	json_int(j, "tgid", r->thread->tgid);
	json_comm(j, r->thread);
	json_path(j, "cgroup", r->cgroup);
	json_path(j, "cpu_cgroup", row_limiter(r));
	json_string(j, "state", state_names[r->state]);
	put_values(j, r, r->values, 0);
	json_number(j, "cpu_time_ns", r->thread->cpu_ns);
	json_waited_behind(j, waits, r->thread);
	json_wakers(j, waits, r->thread);
	json_number(j, "samples", (uintptr_t)map_get(&sampled->samples, (uintptr_t)r->thread));
	json_boolean(j, "exited", r->exited);
	json_close(j, '}');
}

static void put_cmdline(struct json *j, const struct cmdline *c)
{
	if (!c || j->redact) {
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

const struct json_owner_property json_owner_properties[] = {
	{ "container", "name of its container, or the first 12 characters of the id while that is all that is known",
	  owner_container },
	{ "pod", "namespace/name of its pod, or its UID", owner_pod },
	{ "unit", "its systemd unit: its own or that of the nearest cgroup above it", owner_unit },
	{ NULL, NULL, NULL },
};

static void put_owner(struct json *j, const struct cgroup *c)
{
	for (const struct json_owner_property *p = json_owner_properties; p->name; p++) {
		const char *text = p->text(c);
		char hashed[512];

		json_foreign(j, p->name, text ? redact_path(j->redact, text, hashed, sizeof(hashed)) : NULL);
	}
}

static void put_process(struct json *j, const struct row *r)
{
	json_open(j, NULL, '{');
	json_int(j, "tgid", r->process->tgid);
	put_cmdline(j, r->process->cmdline);
	json_process_comm(j, r->process);
	json_path(j, "cgroup", r->cgroup);
	put_owner(j, r->cgroup);
	json_int(j, "threads", r->nr_threads);
	put_values(j, r, r->values, LEVEL_OF_PROCESSES);
	json_number(j, "cpu_time_ns", r->process->cpu_ns);
	json_boolean(j, "exited", r->exited);
	json_close(j, '}');
}

static void put_cgroup(struct json *j, const struct row *r)
{
	json_open(j, NULL, '{');
	json_number(j, "id", r->cgroup->id);
	json_path(j, "path", r->cgroup);
	put_owner(j, r->cgroup);
	json_int(j, "threads", r->nr_threads);
	put_values(j, r, r->values, LEVEL_OF_CGROUPS);
	json_open(j, "own", '{');
	json_int(j, "threads", r->own_threads);
	put_values(j, r, r->own, 0);
	json_close(j, '}');
	json_number(j, "quota_ns", r->limit->quota_ns ? r->limit->quota_ns : VALUE_NA);
	json_number(j, "period_ns", r->limit->quota_ns ? r->limit->period_ns : VALUE_NA);
	json_number(j, "nr_throttled", r->limit->nr_throttled);
	json_boolean(j, "incomplete", r->incomplete);
	json_close(j, '}');
}

static void put_cpu(struct json *j, const struct cpu_values *c, bool timers_unseen)
{
	json_open(j, NULL, '{');
	json_int(j, "cpu", c->cpu);
	json_number(j, "run_ns", c->run_ns);
	json_number(j, "idle_ns", c->idle_ns);
	json_number(j, "steal_ns", c->steal_ns);
	json_number(j, "irq_ns", timers_unseen ? VALUE_NA : cpu_irq(c));
	json_number(j, "switches", c->switches);
	json_close(j, '}');
}

static void put_irq(struct json *j, const struct irq_values *v)
{
	json_open(j, NULL, '{');
	json_foreign(j, "name", v->source->name);
	json_string(j, "kind", irq_kind_names[v->source->kind]);
	json_foreign(j, "device", v->source->device);
	json_number(j, "count", v->count);
	json_number(j, "ns", v->ns);
	json_number(j, "max_ns", v->max_ns);
	json_number(j, "p99_ns", hist_quantile(&v->hist, irq_hist(v->source->kind), 0.99, v->max_ns));
	json_int(j, "cpus", v->nr_cpus);
	json_close(j, '}');
}

/* --- The line */

/* Writes the losses by cause from @first to before @end. */
static void put_loss(struct json *j, const char *name, const struct tick *t, int first, int end)
{
	json_open(j, name, '{');
	for (int i = first; i < end; i++)
		json_number(j, loss_names[i].name, t->loss[i]);
	json_close(j, '}');
}

static void put_self(struct json *j, const struct self_cost *s, const struct export *options)
{
	json_open(j, "self", '{');
	json_number(j, "cpu_ns", s->cpu_ns);
	json_number(j, "rss_bytes", s->rss_bytes);
	json_number(j, "bpf_ns", s->bpf_ns);
	json_number(j, "bpf_bytes", s->bpf_bytes);
	json_number(j, "turn_ns", options->turn_ns);
	json_number(j, "turn_work_ns", options->turn_work_ns);
	json_close(j, '}');
}

static void put_shed(struct json *j, const struct self_cost *s)
{
	json_open(j, "shed", '[');
	for (int i = 0; i < s->nr_shed; i++)
		json_string(j, NULL, s->shed[i]);
	json_close(j, ']');
}

static void put_host(struct json *j, const struct host_state *h)
{
	json_number(j, "mem_total_bytes", h->mem_total);
	json_number(j, "mem_available_bytes", h->mem_available);
	json_number(j, "swap_total_bytes", h->swap_total);
	json_number(j, "swap_used_bytes", h->swap_used);
	json_open(j, "load", '[');
	for (int i = 0; i < HOST_LOADS; i++)
		json_hundredths(j, NULL, h->load[i]);
	json_close(j, ']');
}

static void put_time(struct json *j, const struct timespec *ts)
{
	char buf[64], day[32];
	struct tm tm;

	gmtime_r(&ts->tv_sec, &tm);
	strftime(day, sizeof(day), "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(buf, sizeof(buf), "%s.%06ldZ", day, ts->tv_nsec / 1000);
	json_string(j, "time", buf);
}

static void put_head(struct json *j, const struct tick *t, const struct export *o, const struct sampled *sampled)
{
	json_int(j, "schema", JSON_SCHEMA);
	put_time(j, &t->wall);
	json_number(j, "boottime_ns", t->boottime_ns);
	json_number(j, "interval_ns", t->interval_ns);
	json_foreign(j, "host", o->host);
	json_foreign(j, "kernel", o->kernel);
	json_foreign(j, "scope", redact_scope(o->redact, o->scope));
	put_host(j, &t->host);
	put_loss(j, "loss", t, 0, LOSS_REPAIRED);
	put_loss(j, "repaired", t, LOSS_REPAIRED, LOSS_COUNT);
	json_number(j, "dropped_refreshes", o->dropped);
	put_self(j, &t->self, o);
	put_shed(j, &t->self);
	put_stacks(j, t, sampled);
}

static void put_lists(struct json *j, const struct tick *t, const char *scope)
{
	json_open(j, "cpus", '[');
	for (size_t i = 0; i < t->nr_cpus; i++)
		put_cpu(j, &t->cpus[i], t->timers_unseen);
	json_close(j, ']');
	json_open(j, "irqs", '[');
	for (size_t i = 0; i < t->nr_irqs; i++)
		put_irq(j, &t->irqs[i]);
	json_close(j, ']');
	json_open(j, "cgroups", '[');
	for (size_t i = 0; i < t->nr_cgroups; i++)
		if (row_is_seen(&t->cgroups[i], scope))
			put_cgroup(j, &t->cgroups[i]);
	json_close(j, ']');
}

/* Processes and threads written between two reads of the clock. */
#define SLICE_ROWS 64

/* Of a process: one of its threads did something; one is in the list of threads. */
enum { MARK_ACTIVE = 1, MARK_LISTED = 2 };

/* A tick as one line, written in slices: always valid UTF-8. */
struct line {
	const struct tick *tick;
	bool begun;        /* all up to the list of processes is written */
	struct json_waits waits;
	struct sampled sampled;
	struct map processes; /* -> MARK_ACTIVE, MARK_LISTED */
	size_t at;         /* in the processes, followed by the active threads, and by the idle ones */
	struct json json;
};

/* Frees the line, if there is one. Returns @err. */
static int line_end(struct export *e, int err)
{
	struct line *l = e->state;

	if (l) {
		map_fini(&l->sampled.samples);
		map_fini(&l->processes);
		json_waits_end(&l->waits);
		tick_put(l->tick);
		free(l);
	}
	e->state = NULL;
	return err;
}

static uintptr_t marks_of(const struct line *l, const struct process *p)
{
	return (uintptr_t)map_get(&l->processes, (uintptr_t)p);
}

static int mark_processes(struct line *l, const struct export *e, const struct row *threads, size_t nr, uintptr_t mark)
{
	int err = 0;

	for (size_t i = 0; !err && i < nr; i++) {
		const struct process *p = threads[i].process;
		uintptr_t had = marks_of(l, p), marks = had | mark;

		if (!(had & MARK_LISTED) && filter_match(e->filter, &threads[i], l->tick))
			marks |= MARK_LISTED;
		if (marks != had)
			err = map_put(&l->processes, (uintptr_t)p, (void *)marks);
	}
	return err;
}

static int tick(struct export *e, FILE *to, const struct tick *t)
{
	struct line *l = calloc(1, sizeof(*l));

	if (!l)
		return -ENOMEM;
	l->tick = tick_get(t);
	l->waits.source = e->source;
	l->json.to = to;
	l->json.redact = e->redact;
	e->state = l;
	return 1;
}

/* Writes the line up to its list of processes. */
static int begin_line(struct line *l, const struct export *e)
{
	const struct tick *t = l->tick;
	int err = json_waits_begin(&l->waits, t);

	if (!err)
		err = mark_processes(l, e, t->active, t->nr_active, MARK_ACTIVE);
	if (!err && e->all)
		err = mark_processes(l, e, t->idle, t->nr_idle, 0);
	if (err)
		return err;
	for (int m = 0; m < METRIC_COUNT; m++)
		stack_quality_begin(&l->sampled.of[m], e->source);
	tick_samples(t, 1, count_sample, &l->sampled);
	json_open(&l->json, NULL, '{');
	put_head(&l->json, t, e, &l->sampled);
	put_lists(&l->json, t, e->scope);
	json_open(&l->json, "processes", '[');
	l->begun = true;
	return 0;
}

/* The row that the line has at @at. */
static const struct row *line_row(const struct tick *t, size_t at)
{
	if (at < t->nr_processes)
		return &t->processes[at];
	at -= t->nr_processes;
	return at < t->nr_active ? &t->active[at] : &t->idle[at - t->nr_active];
}

static bool is_listed(const struct line *l, const struct export *e, const struct row *r)
{
	uintptr_t marks = r->kind == ROW_THREAD ? MARK_ACTIVE : marks_of(l, r->process);

	return marks & MARK_LISTED || ((e->all || marks & MARK_ACTIVE) && filter_match(e->filter, r, l->tick));
}

static void put_row(struct line *l, const struct export *e, const struct row *r)
{
	if (!is_listed(l, e, r))
		return;
	if (r->kind == ROW_THREAD)
		put_thread(&l->json, r, &l->sampled, &l->waits);
	else
		put_process(&l->json, r);
}

/* Writes processes and threads until @until. Returns true when all are written. */
static bool put_rows(struct line *l, const struct export *e, uint64_t until)
{
	const struct tick *t = l->tick;
	size_t all = t->nr_processes + t->nr_active + (e->all ? t->nr_idle : 0);

	while (l->at < all) {
		if (l->at == t->nr_processes) {
			json_close(&l->json, ']');
			json_open(&l->json, "threads", '[');
		}
		put_row(l, e, line_row(t, l->at));
		if (++l->at % SLICE_ROWS == 0 && until && clock_ns(CLOCK_MONOTONIC) >= until)
			return false;
	}
	return true;
}

static int more(struct export *e, uint64_t until)
{
	struct line *l = e->state;
	int err;

	if (until && clock_ns(CLOCK_MONOTONIC) >= until)
		return 1;
	err = l->begun ? 0 : begin_line(l, e);
	if (err)
		return line_end(e, err);
	if (!put_rows(l, e, until))
		return 1;
	if (!l->tick->nr_active && !(e->all && l->tick->nr_idle)) { /* the list of threads is not there yet */
		json_close(&l->json, ']');
		json_open(&l->json, "threads", '[');
	}
	json_close(&l->json, ']');
	json_close(&l->json, '}');
	return line_end(e, json_end(&l->json));
}

static int end(struct export *e, FILE *to)
{
	(void)to;
	return line_end(e, 0);
}

const struct exporter export_json = {
	.name = "json",
	.help = "print one JSON object per line",
	.needs = EXPORT_TICKS | EXPORT_COMMANDS,
	.tick = tick,
	.more = more,
	.end = end,
};
