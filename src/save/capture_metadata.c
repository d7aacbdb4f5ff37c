/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "save/capture_metadata.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "collect/collect.h"
#include "export/redact.h"
#include "export/trace_index.h"
#include "model/aggregate.h"
#include "model/cmdline.h"
#include "model/loss_names.h"
#include "model/sample.h"
#include "model/tick.h"
#include "query/stack_walk.h"
#include "record/rings.h"
#include "save/process_info.h"
#include "save/save.h"
#include "sym/names.h"
#include "util/clock.h"
#include "util/hash.h"
#include "util/map.h"

/* Equal keys mean equal frames: anonymous ones belong to a process. */
static uint64_t frame_key(uint64_t frame, uint32_t tgid)
{
	return frame & FRAME_ANONYMOUS && !(frame & FRAME_KERNEL) ? (frame ^ (uint64_t)tgid << 32) * 31 + 1 : frame + 1;
}

struct making {
	const struct save_options *o;
	struct trace_index_maker *m;
	struct map states; /* life -> enum thread_state + 1 */
};

/* A frame that stands for others. */
static uint32_t make_mark(struct making *g, const char *text)
{
	uint64_t key = hash_text(0, text);
	int64_t known = trace_index_has_frame(g->m, key);
	struct trace_index_frame f = { .function = trace_index_text(g->m, text) };

	return known >= 0 ? known : trace_index_frame(g->m, key, &f);
}

static uint32_t make_frame(struct making *g, const struct stack_walk *w)
{
	uint64_t frame = w->frame, key = frame_key(frame, w->tgid);
	int64_t known = trace_index_has_frame(g->m, key);
	const struct symbol *symbol;
	struct trace_index_frame f = { 0 };
	char build_id[80], name[512], hashed[512];
	struct frame_place place;
	const char *module;

	if (known >= 0)
		return known;
	if (frame == FRAME_GAP)
		return make_mark(g, "[left out]");
	symbol = stack_walk_symbol(w);
	names_place(g->o->names, frame, &place);
	f.place = place.address;
	if (symbol) {
		f.function = trace_index_text(g->m, redact_function(g->o->redact, symbol, name, sizeof(name)));
		module = *place.path ? place.path : symbol->module;
		f.path = trace_index_text(g->m, redact_module(g->o->redact, module, hashed, sizeof(hashed)));
		f.kind = symbol->kind;
	}
	names_build_id(g->o->names, frame, build_id, sizeof(build_id));
	f.build_id = *build_id == '-' ? 0 : trace_index_text(g->m, build_id);
	return trace_index_frame(g->m, key, &f);
}

static int make_stack(void *arg, uint32_t id, const struct stack_entry *e, const uint64_t *frames)
{
	struct making *g = arg;
	uint32_t indexes[STACK_USER_MAX + 1], nr = 0;
	struct stack_walk w;

	stack_walk_frames(&w, g->o->source, frames, e->nr, e->tgid);
	while (stack_walk_next(&w))
		indexes[nr++] = make_frame(g, &w);
	if (e->end != STACK_COMPLETE)
		indexes[nr++] = make_mark(g, "[truncated]");
	trace_index_stack(g->m, id, indexes, nr);
	return 0;
}

static int make_life(void *arg, const struct life *l, uint64_t from, uint64_t to)
{
	struct making *g = arg;
	uint32_t state = (uintptr_t)map_get(&g->states, (uintptr_t)l);

	trace_index_thread(g->m, l, from, to, state ? state - 1 : STATE_DEAD);
	return 0;
}

static void make_states(struct making *g, const struct row *rows, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		map_put(&g->states, (uintptr_t)rows[i].thread, (void *)(uintptr_t)(rows[i].state + 1));
}

static void make_processes(struct making *g, const struct process_info_table *table)
{
	char text[CMDLINE_MAX];
	struct process_info w;

	for (uint32_t i = 0; process_info_at(table, i, &w, text); i++) {
		struct trace_index_process p = { .tgid = w.tgid, .nr_nspids = w.nr_nspids, .len = w.len };

		_Static_assert(sizeof(p.nspids) == sizeof(w.nspids), "of as many namespaces");
		memcpy(p.nspids, w.nspids, sizeof(p.nspids));
		trace_index_process(g->m, &p, text);
	}
}

static void make_ticks(struct making *g, const struct tick *t, uint64_t from)
{
	uint64_t oldest;

	tick_past(t, &oldest);
	for (uint64_t seq = oldest; seq <= t->seq; seq++) {
		const struct tick *head = tick_head(t, seq), *next = tick_head(t, seq + 1);
		struct trace_index_tick at;

		/* The one before the window shows whether the host was suspended between it and the first one in the window. */
		if (!head || (next && next->boottime_ns < from))
			continue;
		at.at = head->boottime_ns;
		at.began = head->boottime_ns - head->interval_ns;
		for (int m = 0; m < METRIC_COUNT; m++)
			at.values[m] = values_value(&head->total, m);
		at.steal_ns = tick_steal(head);
		at.loss = loss_sum(head->loss);
		trace_index_tick(g->m, &at);
	}
}

static void make_irqs(struct making *g)
{
	const struct irq_source *s;
	char name[100];
	int number;

	for (uint32_t i = 0; (s = collect_irq(g->o->collect, i, &number)); i++) {
		snprintf(name, sizeof(name), "%s%s%s", s->name, *s->device ? " " : "", s->device);
		trace_index_irq(g->m, number, name);
	}
}

static void make_cpus(struct making *g, const struct save_end *end)
{
	const struct rings *rings = collect_rings(g->o->collect);
	int nr = collect_nr_cpus(g->o->collect);

	for (int cpu = 0; cpu < nr; cpu++) {
		struct trace_index_cpu c = { .head = end->cpus[cpu].head, .current = end->cpus[cpu].current };
		const struct event_mark *marks = rings_marks(rings, cpu, &c.nr);

		c.online = rings_fd(rings, cpu) >= 0 && (c.head || c.current >= 0);
		trace_index_cpu(g->m, &c, marks);
	}
}

static void make_attributes(struct making *g, const struct tick *t, const struct save_end *end, const char *reason)
{
	const struct save_options *o = g->o;
	char line[4096] = "", key[64];
	size_t len = 0;

	/* systop's own options contain paths, and arguments that a filter looks for; so does the command that it started. */
	for (char **a = o->argv; *a && len < sizeof(line) && (a == o->argv || o->arguments); a++)
		len += snprintf(line + len, sizeof(line) - len, "%s%s", len ? " " : "", *a);
	trace_index_words(g->m, "systop.version", o->version);
	trace_index_words(g->m, "systop.command", line);
	trace_index_words(g->m, "systop.scope", redact_scope(o->redact, o->scope));
	if (*reason && !o->redact)
		trace_index_words(g->m, "systop.reason", reason);
	trace_index_number(g->m, "systop.window_s", (end->at - end->from) / 1000000000);
	for (int i = 0; i < LOSS_COUNT; i++) {
		snprintf(key, sizeof(key), "systop.%s.%s", i < LOSS_REPAIRED ? "lost" : "repaired", loss_names[i].name);
		trace_index_number(g->m, key, t->loss[i]);
	}
}

static void now(struct trace_index_clocks *c)
{
	c->boottime_ns = clock_ns(CLOCK_BOOTTIME);
	c->realtime_ns = clock_ns(CLOCK_REALTIME);
	c->monotonic_ns = clock_ns(CLOCK_MONOTONIC);
	c->monotonic_raw_ns = clock_ns(CLOCK_MONOTONIC_RAW);
}

static struct trace_index head_of(const struct save_options *o, const struct save_end *end)
{
	time_t wall = time(NULL);
	struct trace_index head = {
		.from = end->from,
		.end = end->at,
		.uname = *o->uname,
		.hz = sysconf(_SC_CLK_TCK),
		.page_size = sysconf(_SC_PAGESIZE),
		.nr_cpus = sysconf(_SC_NPROCESSORS_ONLN),
		.ram_bytes = (uint64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE),
		.frequency = collect_samples(o->collect),
		.ring_slots = rings_slots(collect_rings(o->collect)),
		.scoped = o->scoped,
		.cycles = collect_cycles(o->collect),
	};
	struct tm tm;

	localtime_r(&wall, &tm);
	head.utc_offset_min = tm.tm_gmtoff / 60;
	now(&head.clocks);
	return head;
}

int capture_metadata(const struct save_options *o, const struct tick *t, const struct save_end *end,
		     const struct process_info_table *who, const char *reason)
{
	struct trace_index head = head_of(o, end);
	struct making g = { .o = o, .m = trace_index_maker(&head) };
	int fd;

	if (!g.m)
		return -ENOMEM;
	trace_index_redact(g.m, o->redact);
	make_cpus(&g, end);
	make_irqs(&g);
	make_states(&g, t->active, t->nr_active);
	make_states(&g, t->idle, t->nr_idle);
	tick_lives(t, make_life, &g);
	if (who)
		make_processes(&g, who);
	collect_stacks(o->collect, make_stack, &g);
	make_ticks(&g, t, head.from);
	make_attributes(&g, t, end, reason);
	fd = trace_index_put(g.m);
	trace_index_free(g.m);
	map_fini(&g.states);
	return fd;
}
