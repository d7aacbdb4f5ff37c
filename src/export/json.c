/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/json.h"

#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <string.h>
#include <time.h>

#include "export/json_waits.h"
#include "model/filter.h"
#include "model/loss_names.h"
#include "model/sample.h"
#include "model/tick.h"
#include "model/wait.h"
#include "sym/names.h"
#include "util/map.h"
#include "util/text.h"

static void add(struct json_object *o, const char *key, struct json_object *v)
{
	json_object_object_add(o, key, v);
}

static struct json_object *number(uint64_t v)
{
	return v == VALUE_NA ? NULL : json_object_new_uint64(v);
}

/* Text of foreign origin: what is not fit for a terminal is \xNN here, too. */
static struct json_object *text(const char *s, size_t len)
{
	char safe[4096];

	text_safe(safe, sizeof(safe), s, len);
	return json_object_new_string(safe);
}

static struct json_object *path(const char *s)
{
	return text(s, strlen(s));
}

static void add_values(struct json_object *o, const struct row *r, const struct values *v)
{
	struct row of = *r;

	of.values = v;
	for (int f = 0; f < FIELD_COUNT; f++)
		add(o, fields[f].name, number(row_value(&of, f)));
}

/* --- Samples */

/* What the stacks of a tick come to. */
struct sampled {
	struct names *names;
	struct map samples;    /* life -> samples of it on a CPU */
	uint64_t ns[TIME_KINDS][QUALITIES]; /* of the threads' time */
};

static bool is_unnamed(const struct stack *s, struct names *names)
{
	bool unnamed = false;

	for (int i = 0; s && i < s->nr; i++) {
		const struct symbol *symbol = names_frame(names, s->frames[i], s->tgid);

		unnamed |= !symbol || !symbol->named;
	}
	return unnamed;
}

static int count_sample(void *arg, const struct stack_sample *s)
{
	struct sampled *c = arg;
	uintptr_t before = (uintptr_t)map_get(&c->samples, (uintptr_t)s->life);
	bool user = is_unnamed(s->user, c->names), kernel = is_unnamed(s->kernel, c->names);

	c->ns[s->kind][sample_quality(s, user || kernel)] += s->weight;
	if (s->kind != TIME_CPU)
		return 0;
	return map_put(&c->samples, (uintptr_t)s->life, (void *)(before + s->count));
}

static struct json_object *stacks_object(const struct sampled *c)
{
	struct json_object *o = json_object_new_object();

	for (int kind = 0; kind < TIME_KINDS; kind++) {
		struct json_object *of = json_object_new_object();

		for (int q = 0; q < QUALITIES; q++) {
			char name[32];

			snprintf(name, sizeof(name), "%s_ns", quality_names[q]);
			add(of, name, number(c->ns[kind][q]));
		}
		add(o, time_names[kind], of);
	}
	return o;
}

static struct json_object *thread_object(const struct row *r, const struct sampled *sampled,
					 const struct json_waits *waits)
{
	struct json_object *o = json_object_new_object();

	add(o, "tid", json_object_new_int(r->thread->tid));
	add(o, "tgid", json_object_new_int(r->thread->tgid));
	add(o, "comm", text(r->thread->comm, sizeof(r->thread->comm)));
	add(o, "cgroup", path(r->cgroup->path));
	add(o, "state", json_object_new_string(state_names[r->state]));
	add_values(o, r, r->values);
	add(o, "waited_behind", json_waited_behind(waits, r->thread));
	add(o, "wakers", json_wakers(waits, r->thread));
	add(o, "samples", number((uintptr_t)map_get(&sampled->samples, (uintptr_t)r->thread)));
	add(o, "exited", json_object_new_boolean(r->exited));
	return o;
}

static struct json_object *cgroup_object(const struct row *r)
{
	struct json_object *o = json_object_new_object(), *own = json_object_new_object();

	add(o, "id", number(r->cgroup->id));
	add(o, "path", path(r->cgroup->path));
	add(o, "threads", json_object_new_int64(r->nr_threads));
	add_values(o, r, r->values);
	add(own, "threads", json_object_new_int64(r->own_threads));
	add_values(own, r, r->own);
	add(o, "own", own);
	add(o, "nr_throttled", number(r->limit->nr_throttled));
	add(o, "incomplete", json_object_new_boolean(r->incomplete));
	return o;
}

static struct json_object *cpu_object(const struct cpu_values *c)
{
	struct json_object *o = json_object_new_object();

	add(o, "cpu", json_object_new_int(c->cpu));
	add(o, "run_ns", number(c->run_ns));
	add(o, "idle_ns", number(c->idle_ns));
	add(o, "irq_ns", number(c->hardirq_ns + c->softirq_ns));
	add(o, "switches", number(c->switches));
	return o;
}

static struct json_object *irq_object(const struct irq_values *v)
{
	struct json_object *o = json_object_new_object();

	add(o, "name", path(v->source->name));
	add(o, "kind", json_object_new_string(irq_kind_names[v->source->kind]));
	add(o, "device", path(v->source->device));
	add(o, "count", number(v->count));
	add(o, "ns", number(v->ns));
	add(o, "max_ns", number(v->max_ns));
	add(o, "p99_ns", number(irq_quantile(v, 0.99)));
	add(o, "cpus", json_object_new_int(v->nr_cpus));
	return o;
}

static struct json_object *loss_object(const struct tick *t)
{
	struct json_object *o = json_object_new_object();

	for (int i = 0; i < LOSS_COUNT; i++)
		add(o, loss_names[i].name, number(t->loss[i]));
	return o;
}

static struct json_object *self_object(const struct self_cost *s, const struct json_options *options)
{
	struct json_object *o = json_object_new_object();

	add(o, "cpu_ns", number(s->cpu_ns));
	add(o, "rss_bytes", number(s->rss_bytes));
	add(o, "bpf_ns", number(s->bpf_ns));
	add(o, "bpf_bytes", number(s->bpf_bytes));
	add(o, "turn_ns", number(options->turn_ns));
	add(o, "turn_work_ns", number(options->turn_work_ns));
	return o;
}

static struct json_object *time_object(const struct timespec *ts)
{
	char buf[64], day[32];
	struct tm tm;

	gmtime_r(&ts->tv_sec, &tm);
	strftime(day, sizeof(day), "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(buf, sizeof(buf), "%s.%06ldZ", day, ts->tv_nsec / 1000);
	return json_object_new_string(buf);
}

static void add_threads(struct json_object *list, const struct row *rows, size_t nr,
			const struct tick *t, const struct json_options *o, const struct sampled *sampled,
			const struct json_waits *waits)
{
	for (size_t i = 0; i < nr; i++)
		if (filter_match(o->filter, &rows[i], t))
			json_object_array_add(list, thread_object(&rows[i], sampled, waits));
}

int json_tick(FILE *to, const struct tick *t, const struct json_options *o)
{
	struct json_object *line = json_object_new_object(), *list;
	struct sampled sampled = { .names = o->names };
	struct json_waits waits = { .thread_name = o->thread_name, .arg = o->thread_name_arg };
	int err;

	if (json_waits_begin(&waits, t)) {
		json_waits_end(&waits);
		json_object_put(line);
		return -ENOMEM;
	}
	tick_samples(t, 1, count_sample, &sampled);

	add(line, "schema", json_object_new_int(JSON_SCHEMA));
	add(line, "time", time_object(&t->wall));
	add(line, "boottime_ns", number(t->boottime_ns));
	add(line, "interval_ns", number(t->interval_ns));
	add(line, "host", path(o->host));
	add(line, "kernel", path(o->kernel));
	add(line, "scope", path(o->scope));
	add(line, "loss", loss_object(t));
	add(line, "dropped_refreshes", number(o->dropped));
	add(line, "self", self_object(&t->self, o));
	add(line, "stacks", stacks_object(&sampled));

	add(line, "cpus", list = json_object_new_array());
	for (size_t i = 0; i < t->nr_cpus; i++)
		json_object_array_add(list, cpu_object(&t->cpus[i]));
	add(line, "irqs", list = json_object_new_array());
	for (size_t i = 0; i < t->nr_irqs; i++)
		json_object_array_add(list, irq_object(&t->irqs[i]));
	add(line, "cgroups", list = json_object_new_array());
	for (size_t i = 0; i < t->nr_cgroups; i++)
		json_object_array_add(list, cgroup_object(&t->cgroups[i]));
	add(line, "threads", list = json_object_new_array());
	add_threads(list, t->active, t->nr_active, t, o, &sampled, &waits);
	if (o->all)
		add_threads(list, t->idle, t->nr_idle, t, o, &sampled, &waits);
	map_fini(&sampled.samples);
	json_waits_end(&waits);

	err = fprintf(to, "%s\n",
		      json_object_to_json_string_ext(line, JSON_C_TO_STRING_PLAIN |
								   JSON_C_TO_STRING_NOSLASHESCAPE)) < 0;
	json_object_put(line);
	return err || fflush(to) ? -errno : 0;
}
