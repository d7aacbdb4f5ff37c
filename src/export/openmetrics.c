/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Host and cgroups in the OpenMetrics text format, for a textfile collector. Names, units and help derive from the
 * metrics' rows: sums are counters since the start, the maximum of an interval is a gauge, and durations are a
 * histogram, from which quantiles derive. A value that is unknown in a refresh is left out.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "export/exporter.h"
#include "export/redact.h"
#include "model/loss_names.h"
#include "model/owner.h"
#include "model/tick.h"
#include "util/file.h"
#include "util/hash.h"
#include "util/map.h"
#include "util/text.h"
#include "util/vec.h"

/* Values of the host, or of the cgroups with the same path. */
struct series {
	char *label;                /* `{cgroup="/a"`; the host's is "{" */
	char *labels;               /* label with what the cgroup belongs to now: `{cgroup="/a",unit="a.service"`; NULL: label */
	uint64_t seq, listed;       /* last tick that contained it, and last tick that listed it */
	uint64_t threads;           /* at present */
	unsigned __int128 v[METRIC_COUNT]; /* since the start, in the metric's unit; KIND_MAX: since the previous text;
					    * KIND_LEVEL: now. All threads together may have slept for longer than 2^64 ns */
	bool known[METRIC_COUNT];   /* in the last interval; KIND_MAX: since the previous text */
	uint64_t hist[HISTS_OF_THREADS][LOG2_SLOTS];
};

struct openmetrics {
	const struct redact *redact;
	const char *scope;
	struct series host;
	struct series **cgroups;        /* in the order of the tick */
	size_t nr, room;
	struct map by_label;            /* hash of the label -> struct series */
	struct pressure pressure[PRESSURE_COUNT];
	const struct tick *unwritten;   /* the last tick, if it was skipped; else NULL */
};

/* --- Adding up */

/* @since_text: the previous refresh is in no text, so maxima cover both. */
static void begin_series(struct series *s, uint64_t seq, bool since_text)
{
	s->seq = seq;
	s->threads = 0;
	for (enum metric_id m = 0; m < METRIC_COUNT; m++)
		s->known[m] &= since_text && metrics[m].kind == KIND_MAX;
}

static bool is_gauge(enum metric_id m)
{
	return metrics[m].kind == KIND_MAX || metrics[m].kind == KIND_LEVEL;
}

static void add_value(struct series *s, enum metric_id m, uint64_t v)
{
	if (v == VALUE_NA)
		return;
	if (!is_gauge(m))
		s->v[m] += v;
	else if (!s->known[m] || v > s->v[m])
		s->v[m] = v;
	s->known[m] = true;
}

static void add_values(struct series *s, const struct values *v, uint64_t threads)
{
	s->threads += threads;
	for (enum metric_id m = 0; m < METRIC_COUNT; m++)
		if (metrics[m].kind != KIND_QUANTILE)
			add_value(s, m, v->v[m]);
	for (int h = 0; h < HISTS_OF_THREADS; h++)
		for (int i = 0; i < LOG2_SLOTS; i++)
			s->hist[h][i] += v->hist[h].n[i];
}

/* Writes a label value or help text; safe text contains no newlines. */
static void put_escaped(FILE *to, const char *text)
{
	for (; *text; text++) {
		if (*text == '\\' || *text == '"')
			fputc('\\', to);
		fputc(*text, to);
	}
}

/* Writes a label of a cgroup, after the character @before; @raw: its path, or what it belongs to, NULL: nothing. */
static void put_label(FILE *to, char before, const char *name, const char *raw, const struct redact *redact)
{
	char safe[4096], hashed[4096];

	if (!raw)
		return;
	raw = redact_path(redact, raw, hashed, sizeof(hashed));
	text_safe(safe, sizeof(safe), raw, strlen(raw));
	fprintf(to, "%c%s=\"", before, name);
	put_escaped(to, safe);
	fputc('"', to);
}

/* Names of containers and pods arrive later: the series then continues with these labels. */
static int set_labels(struct series *s, const struct cgroup *c, const struct redact *redact)
{
	size_t size;
	FILE *f;

	free(s->labels);
	s->labels = NULL;
	f = open_memstream(&s->labels, &size);
	if (!f)
		return -ENOMEM;
	fputs(s->label, f);
	put_label(f, ',', "unit", owner_unit(c), redact);
	put_label(f, ',', "container", owner_container(c), redact);
	put_label(f, ',', "pod", owner_pod(c), redact);
	return fclose(f) ? -ENOMEM : 0;
}

static const char *labels_of(const struct series *s)
{
	return s->labels ? s->labels : s->label;
}

static char *cgroup_label(const struct cgroup *c, const struct redact *redact)
{
	char *label = NULL;
	size_t size;
	FILE *f = open_memstream(&label, &size);

	if (!f)
		return NULL;
	put_label(f, '{', "cgroup", c->path, redact);
	if (!fclose(f))
		return label;
	free(label);
	return NULL;
}

static void series_free(struct series *s)
{
	if (s) {
		free(s->label);
		free(s->labels);
	}
	free(s);
}

/* Sets @to to the series with the label of this cgroup, a new one if there is none and @make, or else NULL. 0 or -ENOMEM. */
static int series_of(struct openmetrics *o, const struct cgroup *c, bool make, struct series **to)
{
	char *label = cgroup_label(c, o->redact);
	struct series *s;
	uint64_t key;

	if (!label)
		return -ENOMEM;
	key = hash_text(0, label);
	*to = map_get(&o->by_label, key);
	if (*to || !make) {
		free(label);
		return 0;
	}
	s = calloc(1, sizeof(*s));
	if (!s) {
		free(label);
		return -ENOMEM;
	}
	s->label = label;
	if (map_put(&o->by_label, key, s)) {
		series_free(s);
		return -ENOMEM;
	}
	*to = s;
	return 0;
}

/* Drops the cgroups of the list that are gone. */
static void forget_gone(struct openmetrics *o, uint64_t seq)
{
	for (size_t i = 0; i < o->nr; i++) {
		struct series *s = o->cgroups[i];

		if (s->seq == seq)
			continue;
		map_del(&o->by_label, hash_text(0, s->label));
		series_free(s);
	}
	o->nr = 0;
}

/* Two cgroups can have the same path if one of them was removed in this interval. One that was never in scope has no
 * series. */
static int add_cgroup(struct openmetrics *o, const struct row *r, uint64_t seq)
{
	struct series *s;

	if (series_of(o, r->cgroup, row_is_seen(r, o->scope), &s))
		return -ENOMEM;
	if (!s)
		return 0;
	if (s->seq != seq)
		begin_series(s, seq, o->unwritten);
	add_values(s, r->values, r->nr_threads);
	return 0;
}

static int list_cgroup(struct openmetrics *o, const struct row *r, uint64_t seq)
{
	struct series *s;

	if (series_of(o, r->cgroup, false, &s))
		return -ENOMEM;
	if (!s || s->listed == seq)
		return 0;
	s->listed = seq;
	if (set_labels(s, r->cgroup, o->redact))
		return -ENOMEM;
	return VEC_PUSH(o->cgroups, o->nr, o->room, s);
}

static void add_pressure(struct openmetrics *o, const struct tick *t)
{
	for (int i = 0; i < PRESSURE_COUNT; i++) {
		o->pressure[i].some_ns += t->pressure[i].some_ns == VALUE_NA ? 0 : t->pressure[i].some_ns;
		o->pressure[i].full_ns += t->pressure[i].full_ns == VALUE_NA ? 0 : t->pressure[i].full_ns;
	}
}

static int add_tick(struct openmetrics *o, const struct tick *t)
{
	int err = 0;

	begin_series(&o->host, t->seq, o->unwritten);
	add_values(&o->host, &t->total, t->nr_active + t->nr_idle);
	add_pressure(o, t);
	for (size_t i = 0; i < t->nr_cgroups && !err; i++)
		err = add_cgroup(o, &t->cgroups[i], t->seq);
	if (!err)
		forget_gone(o, t->seq);
	for (size_t i = 0; i < t->nr_cgroups && !err; i++)
		err = list_cgroup(o, &t->cgroups[i], t->seq);
	return err;
}

/* --- The text */

/* Converts to base units: ns to seconds. */
static void put_number(FILE *to, enum unit unit, unsigned __int128 v)
{
	if (unit == UNIT_NS)
		fprintf(to, "%" PRIu64 ".%09" PRIu64, (uint64_t)(v / 1000000000), (uint64_t)(v % 1000000000));
	else
		fprintf(to, "%" PRIu64, (uint64_t)v);
}

static void put_family(FILE *to, const char *name, const char *type, enum unit unit, const char *help)
{
	fprintf(to, "# TYPE %s %s\n", name, type);
	if (unit == UNIT_NS || unit == UNIT_BYTES)
		fprintf(to, "# UNIT %s %s\n", name, unit == UNIT_NS ? "seconds" : "bytes");
	fprintf(to, "# HELP %s ", name);
	put_escaped(to, help);
	fputc('\n', to);
}

static const char *unit_suffix(enum unit unit)
{
	return unit == UNIT_NS ? "_seconds" : unit == UNIT_BYTES ? "_bytes" : "";
}

static void put_sample(FILE *to, const char *name, const char *suffix, const char *label, enum unit unit,
		       unsigned __int128 v)
{
	fprintf(to, "%s%s", name, suffix);
	if (label[1])
		fprintf(to, "%s}", label);
	fputc(' ', to);
	put_number(to, unit, v);
	fputc('\n', to);
}

static void put_metric(FILE *to, const char *of, enum metric_id m, struct series *const *list, size_t nr)
{
	bool gauge = is_gauge(m);
	char name[80], help[256];

	snprintf(name, sizeof(name), "systop_%s_%s%s", of, metrics[m].stem, unit_suffix(metrics[m].unit));
	snprintf(help, sizeof(help), "%s%s", metrics[m].help, metrics[m].kind == KIND_MAX ? " (of the last interval)" : "");
	put_family(to, name, gauge ? "gauge" : "counter", metrics[m].unit, help);
	for (size_t i = 0; i < nr; i++)
		if (list[i]->known[m])
			put_sample(to, name, gauge ? "" : "_total", labels_of(list[i]), metrics[m].unit, list[i]->v[m]);
}

/* Slot bounds are bucket bounds; the last slot has none. */
static void put_buckets(FILE *to, const char *name, enum hist_id h, const struct series *s)
{
	const char *comma = s->label[1] ? "," : "", *labels = labels_of(s);
	uint64_t count = 0;

	for (int i = 0; i < hists[h].last; i++) {
		count += s->hist[h][i];
		if (i < hists[h].first)
			continue;
		fprintf(to, "%s_bucket%s%sle=\"", name, labels, comma);
		put_number(to, UNIT_NS, 2ULL << i);
		fprintf(to, "\"} %" PRIu64 "\n", count);
	}
	count += s->hist[h][hists[h].last];
	fprintf(to, "%s_bucket%s%sle=\"+Inf\"} %" PRIu64 "\n", name, labels, comma, count);
	put_sample(to, name, "_count", labels, UNIT_COUNT, count);
}

static void put_hist(FILE *to, const char *of, enum hist_id h, struct series *const *list, size_t nr)
{
	enum metric_id sum = hists[h].weight;
	char name[80], help[256];

	snprintf(name, sizeof(name), "systop_%s_%s_seconds", of, hists[h].name);
	for (char *c = name; *c; c++)
		*c = *c == ' ' ? '_' : *c;
	snprintf(help, sizeof(help), "%s that ended, %s; the sum is %s and includes those in progress", hists[h].more,
		 hists[h].which, metrics[sum].stem);
	put_family(to, name, "histogram", UNIT_NS, help);
	for (size_t i = 0; i < nr; i++) {
		put_buckets(to, name, h, list[i]);
		put_sample(to, name, "_sum", labels_of(list[i]), UNIT_NS, list[i]->v[sum]);
	}
}

static void put_threads(FILE *to, const char *of, struct series *const *list, size_t nr)
{
	char name[80];

	snprintf(name, sizeof(name), "systop_%s_threads", of);
	put_family(to, name, "gauge", UNIT_COUNT, "threads at the end of the last interval, including those that ended in it");
	for (size_t i = 0; i < nr; i++)
		put_sample(to, name, "", labels_of(list[i]), UNIT_COUNT, list[i]->threads);
}

/* Writes all subjects of one kind: the host, or cgroups including their descendants, which have these levels. */
static void put_subject(FILE *to, const char *of, struct series *const *list, size_t nr, unsigned int levels)
{
	put_threads(to, of, list, nr);
	for (enum metric_id m = 0; m < METRIC_COUNT; m++)
		if (metric_of_threads(m) ? metrics[m].kind != KIND_QUANTILE : metrics[m].level & levels)
			put_metric(to, of, m, list, nr);
	for (enum hist_id h = 0; h < HISTS_OF_THREADS; h++)
		put_hist(to, of, h, list, nr);
}

static void put_pressure_of(FILE *to, const char *resource, const char *share, uint64_t now, uint64_t sum)
{
	if (now != VALUE_NA) {
		fprintf(to, "systop_pressure_seconds_total{resource=\"%s\",share=\"%s\"} ", resource, share);
		put_number(to, UNIT_NS, sum);
		fputc('\n', to);
	}
}

static void put_pressure(FILE *to, const struct openmetrics *o, const struct tick *t)
{
	static const char *const names[PRESSURE_COUNT] = { "cpu", "memory", "io" };

	put_family(to, "systop_pressure_seconds", "counter", UNIT_NS,
		   "time in which some, or all, tasks of the host that had work waited for a resource (/proc/pressure)");
	for (int i = 0; i < PRESSURE_COUNT; i++) {
		put_pressure_of(to, names[i], "some", t->pressure[i].some_ns, o->pressure[i].some_ns);
		put_pressure_of(to, names[i], "full", t->pressure[i].full_ns, o->pressure[i].full_ns);
	}
}

static void put_host(FILE *to, const struct host_state *h)
{
	static const int minutes[HOST_LOADS] = { 1, 5, 15 };
	const struct {
		const char *name, *help;
		uint64_t bytes;
	} of[] = {
		{ "systop_host_memory_total_bytes", "memory of the host", h->mem_total },
		{ "systop_host_memory_available_bytes", "the part still available to programs, including caches", h->mem_available },
		{ "systop_host_swap_total_bytes", "swap of the host", h->swap_total },
		{ "systop_host_swap_used_bytes", "the part of it in use", h->swap_used },
	};

	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		put_family(to, of[i].name, "gauge", UNIT_BYTES, of[i].help);
		if (of[i].bytes != VALUE_NA)
			put_sample(to, of[i].name, "", "{", UNIT_BYTES, of[i].bytes);
	}
	put_family(to, "systop_host_load", "gauge", UNIT_COUNT, "load average");
	for (int i = 0; i < HOST_LOADS; i++)
		if (h->load[i] != VALUE_NA)
			fprintf(to, "systop_host_load{minutes=\"%d\"} %" PRIu64 ".%02" PRIu64 "\n", minutes[i], h->load[i] / 100,
				h->load[i] % 100);
}

/* Writes the losses by cause from @first to before @end. */
static void put_loss(FILE *to, const char *name, const char *help, const struct tick *t, int first, int end)
{
	put_family(to, name, "counter", UNIT_COUNT, help);
	for (int i = first; i < end; i++)
		fprintf(to, "%s_total{cause=\"%s\"} %" PRIu64 "\n", name, loss_names[i].name, t->loss[i]);
}

static int put_text(FILE *to, struct openmetrics *o, const struct tick *t)
{
	struct series *host = &o->host;

	put_subject(to, "host", &host, 1, 0);
	put_subject(to, "cgroup", o->cgroups, o->nr, LEVEL_OF_CGROUPS);
	put_host(to, &t->host);
	put_pressure(to, o, t);
	put_loss(to, "systop_lost", "lost since the start, by cause", t, 0, LOSS_REPAIRED);
	put_loss(to, "systop_repaired", "missed but recovered since the start, by cause: no loss", t,
		 LOSS_REPAIRED, LOSS_COUNT);
	fputs("# EOF\n", to);
	return file_flush(to);
}

static void set_unwritten(struct openmetrics *o, const struct tick *t)
{
	if (o->unwritten)
		tick_put(o->unwritten);
	o->unwritten = t ? tick_get(t) : NULL;
}

static int tick(struct export *e, FILE *to, const struct tick *t)
{
	struct openmetrics *o = e->state;
	int err = add_tick(o, t);

	set_unwritten(o, NULL);
	return err ? err : put_text(to, o, t);
}

/* The next text has the sums of this tick. */
static int skip(struct export *e, const struct tick *t)
{
	struct openmetrics *o = e->state;
	int err = add_tick(o, t);

	set_unwritten(o, err ? NULL : t);
	return err;
}

static int begin(struct export *e)
{
	struct openmetrics *o = calloc(1, sizeof(*o));

	if (!o)
		return -ENOMEM;
	o->redact = e->redact;
	o->scope = e->scope;
	o->host.label = "{";
	e->state = o;
	return 0;
}

static int end(struct export *e, FILE *to)
{
	struct openmetrics *o = e->state;
	int err = to && o->unwritten ? put_text(to, o, o->unwritten) : 0;

	set_unwritten(o, NULL);
	for (size_t i = 0; i < o->by_label.room; i++)
		series_free(o->by_label.entries[i].key ? o->by_label.entries[i].value : NULL);
	map_fini(&o->by_label);
	free(o->cgroups);
	free(o);
	return err;
}

const struct exporter export_openmetrics = {
	.name = "openmetrics",
	.operand = "FILE",
	.help = "write host and cgroups to FILE as OpenMetrics text at each refresh, replacing the previous text; - is stdout",
	.needs = EXPORT_TICKS,
	.others_read = true,
	.begin = begin,
	.tick = tick,
	.skip = skip,
	.end = end,
};
