/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The schema of a JSON line: every property that json.c writes. */
#include "export/json/json.h"

#include <json-c/json.h>
#include <string.h>

#include "model/loss_names.h"
#include "model/sample.h"
#include "model/tick.h"
#include "model/wait.h"
#include "query/stack_quality.h"
#include "sym/names.h"

static void add(struct json_object *o, const char *key, struct json_object *v)
{
	json_object_object_add(o, key, v);
}

/* A schema node of a JSON type; @null: the value may be unknown. */
static struct json_object *node(const char *type, bool null, const char *description)
{
	struct json_object *o = json_object_new_object(), *types;

	if (null) {
		types = json_object_new_array();
		json_object_array_add(types, json_object_new_string(type));
		json_object_array_add(types, json_object_new_string("null"));
		add(o, "type", types);
	} else {
		add(o, "type", json_object_new_string(type));
	}
	if (!strcmp(type, "integer"))
		add(o, "minimum", json_object_new_int(0));
	if (description)
		add(o, "description", json_object_new_string(description));
	return o;
}

/* An object whose properties are all required, without others; fill it with property(). */
static struct json_object *record(const char *description)
{
	struct json_object *o = node("object", false, description);

	add(o, "additionalProperties", json_object_new_boolean(false));
	add(o, "properties", json_object_new_object());
	add(o, "required", json_object_new_array());
	return o;
}

static void property(struct json_object *of, const char *name, struct json_object *schema)
{
	add(json_object_object_get(of, "properties"), name, schema);
	json_object_array_add(json_object_object_get(of, "required"), json_object_new_string(name));
}

static struct json_object *list_of(struct json_object *item)
{
	struct json_object *o = node("array", false, NULL);

	add(o, "items", item);
	return o;
}

static void value_properties(struct json_object *of, unsigned int levels)
{
	for (int f = 0; f < METRIC_COUNT; f++)
		if (metric_of_threads(f) || metrics[f].level & levels)
			property(of, metrics[f].name, node("integer", true, metrics[f].help));
}

static void owner_properties(struct json_object *of)
{
	for (const struct json_owner_property *p = json_owner_properties; p->name; p++)
		property(of, p->name, node("string", true, p->help));
}

/* One of a list of names. */
static struct json_object *choice(const char *const *names, int nr, const char *description)
{
	struct json_object *o = node("string", false, description), *list = json_object_new_array();

	for (int i = 0; i < nr; i++)
		json_object_array_add(list, json_object_new_string(names[i]));
	add(o, "enum", list);
	return o;
}

static struct json_object *wait_schema(void)
{
	struct json_object *o = record("what ran instead in its runqueue waits of at least 100 us (--wait-min): the largest eight");

	property(o, "kind", choice(wait_kind_names, WAIT_KINDS,
				   "thread: this one; several: other earlier ones; wakeup: it was on its way to an idle CPU; "
				   "limit: a cgroup's CPU limit stopped it"));
	property(o, "tgid", node("integer", true, "process of that thread; null: the kind is not thread"));
	property(o, "tid", node("integer", true, "of that thread; null: the kind is not thread"));
	property(o, "comm", node("string", true, "its name; null: the kind is not thread"));
	property(o, "cgroup", node("string", true, "of that thread, or the one with the limit"));
	property(o, "ns", node("integer", false, "of waits that ended in the interval"));
	return o;
}

static struct json_object *waker_schema(void)
{
	struct json_object *o = record("its wakers: the most frequent eight");

	property(o, "kind", choice(wake_context_names, WAKE_CONTEXTS, "a thread, or the kind of interrupt"));
	property(o, "tid", node("integer", true, "of the thread, 0: an idle CPU; null: an interrupt"));
	property(o, "comm", node("string", true, "of the thread, if it is known, or name of the interrupt"));
	property(o, "count", node("integer", false, "times"));
	return o;
}

static struct json_object *thread_schema(void)
{
	struct json_object *o = record("a thread with an event, or not asleep or stopped all the time; one that was moved to "
				       "another cgroup is listed once more, with what it did before the move");

	property(o, "tid", node("integer", false, "its number"));
	property(o, "tgid", node("integer", false, "its process"));
	property(o, "comm", node("string", false, "name; bytes unfit for a terminal as \\xNN"));
	property(o, "cgroup", node("string", false, "path in the shown hierarchy"));
	property(o, "cpu_cgroup", node("string", false, "path in the hierarchy that has the CPU limits: the same, or, where "
						        "that is another one, as in cpu:/PATH"));
	property(o, "state", choice(state_names, STATE_COUNT, "at the end of the interval"));
	value_properties(o, 0);
	property(o, "cpu_time_ns", node("integer", false, "time on a CPU since it began, as of when the line is written"));
	property(o, "waited_behind", list_of(wait_schema()));
	property(o, "wakers", list_of(waker_schema()));
	property(o, "samples", node("integer", false, "times the sampler found it on a CPU"));
	property(o, "exited", node("boolean", false, "it died in this interval"));
	return o;
}

static void cmdline_properties(struct json_object *of)
{
	struct json_object *list = node("array", true, "its arguments, at most 4096 bytes of them; without empty ones at the end; "
						       "bytes unfit for a terminal as \\xNN; null: unknown, or a kernel thread; "
						       "of a kernel worker: its name, and what it works on");

	add(list, "items", node("string", false, NULL));
	property(of, "cmdline", list);
	property(of, "cmdline_cut", node("boolean", false, "it has more arguments"));
}

static const char threads[] = "also those that ended in the interval; one that was moved to another cgroup counts in "
			      "both";

static struct json_object *process_schema(void)
{
	struct json_object *o = record("a process with a thread that is in the list of threads, or that --filter matches if one of its "
				       "threads did something (with --all: always), with all of its threads, also those that ended "
				       "in the interval");

	property(o, "tgid", node("integer", false, "its number"));
	cmdline_properties(o);
	property(o, "comm", node("string", false, "name of its first thread; bytes unfit for a terminal as \\xNN"));
	property(o, "cgroup", node("string", false, "of its first thread"));
	owner_properties(o);
	property(o, "threads", node("integer", false, threads));
	value_properties(o, LEVEL_OF_PROCESSES);
	property(o, "cpu_time_ns", node("integer", false, "the same of its threads, also of those that ended since systop began"));
	property(o, "exited", node("boolean", false, "all of its threads ended in this interval"));
	return o;
}

static struct json_object *cgroup_schema(void)
{
	struct json_object *o = record("times of all threads in scope of a cgroup and everything below it; a cgroup out of scope without such threads is left out"),
			   *own = record("the same of its own threads only");

	property(own, "threads", node("integer", false, threads));
	value_properties(own, 0);
	property(o, "id", node("integer", false, "inode of its directory"));
	property(o, "path", node("string", false, "in the shown hierarchy; one with a CPU limit in another hierarchy, and "
						      "those below it, as cpu:/PATH: their threads are in others, too"));
	owner_properties(o);
	property(o, "threads", node("integer", false, threads));
	value_properties(o, LEVEL_OF_CGROUPS);
	property(o, "own", own);
	property(o, "quota_ns", node("integer", true, "CPU time that its limit allows in a period, all CPUs together; null: "
						          "it has no limit"));
	property(o, "period_ns", node("integer", true, "of that limit"));
	property(o, "nr_throttled",
		 node("integer", true, "periods in which its CPU limit stopped it, from cpu.stat"));
	property(o, "incomplete", node("boolean", false, "threads may be missing: some had no slot since the start, or ended in "
							  "this refresh and are not listed (see loss)"));
	return o;
}

static struct json_object *cpu_schema(void)
{
	struct json_object *o = record(NULL);

	property(o, "cpu", node("integer", false, "its number"));
	property(o, "run_ns", node("integer", false, "running a thread"));
	property(o, "idle_ns", node("integer", false, "running none"));
	property(o, "steal_ns", node("integer", true, "taken by the hypervisor; null: not reported by the kernel"));
	property(o, "irq_ns", node("integer", true, "the part of run_ns and idle_ns in interrupts; null: timer interrupts are not seen here"));
	property(o, "switches", node("integer", false, "from one thread to another"));
	return o;
}

static struct json_object *irq_schema(void)
{
	struct json_object *o = record("interrupts on all CPUs, by source");

	property(o, "name", node("string", false, "as in /proc/interrupts or /proc/softirqs; 24+127: line 24 and 127 more of its device"));
	property(o, "kind", choice(irq_kind_names, IRQ_KINDS, "hard: a line, vector: the CPU's own, soft: a softirq"));
	property(o, "device", node("string", false, "handler of a line, from /proc/interrupts; empty for other kinds"));
	property(o, "count", node("integer", false,
				  "number of times it occurred; of a line that devices share, calls of their handlers"));
	property(o, "ns", node("integer", false, "time in it, without nested interrupts"));
	property(o, "max_ns", node("integer", false, "the longest"));
	property(o, "p99_ns", node("integer", true, "99 % took less; from a histogram"));
	property(o, "cpus", node("integer", false, "on how many CPUs"));
	return o;
}

static struct json_object *self_schema(void)
{
	struct json_object *o = record("cost of systop");

	property(o, "cpu_ns", node("integer", false, "CPU time of its processes"));
	property(o, "rss_bytes", node("integer", true, "memory of its main process that is in RAM"));
	property(o, "bpf_ns", node("integer", false, "estimated run time of its BPF programs"));
	property(o, "bpf_bytes", node("integer", false, "memory of its BPF maps"));
	property(o, "turn_ns", node("integer", false, "longest turn of its main loop in the last 10 to 20 s"));
	property(o, "turn_work_ns", node("integer", false, "the same, without waits for a CPU"));
	return o;
}

/* Of a weight; @null: nothing has a stack. */
static void quality_property(struct json_object *of, const char *what, enum metric_id m, bool null, const char *help)
{
	char name[32];

	snprintf(name, sizeof(name), "%s%s", what, metric_suffix(m));
	property(of, name, node("integer", null, help));
}

static struct json_object *stacks_schema(void)
{
	struct json_object *o = record("quality of stacks, by weight");

	for (int place = 0; metric_weight(place) != METRIC_WALL; place++) {
		enum metric_id m = metric_weight(place);
		struct json_object *weight = record(NULL), *cut = record("the part of stacks that reaches no root, by the reason");
		struct json_object *unnamed = record("the part missing from named, by reason; all except stripped and reading_debug is also missing from functions");

		quality_property(weight, "total", m, false, "of all threads, and of idle CPUs in interrupts");
		quality_property(weight, "stacks", m, false, "the part with a stack; the rest has none: the block was too short, the budget was used up, there was no room, or the thread slept all the time");
		quality_property(weight, "unwound", m, true, "the part whose stacks reach a root; null: nothing has a stack");
		quality_property(weight, "functions", m, true, "each stack's weight times the share of its frames whose function is known, with or without a name; null: nothing has a stack");
		quality_property(weight, "named", m, true, "each stack's weight times the share of its frames that have a name; null: nothing has a stack");
		for (int i = CUT_NONE + 1; i < CUTS; i++)
			quality_property(cut, stack_cuts[i].key, m, false, stack_cuts[i].text);
		property(weight, "cut", cut);
		for (int i = LACK_NOTHING + 1; i < LACKS; i++)
			quality_property(unnamed, stack_lacks[i].key, m, false, stack_lacks[i].text);
		property(weight, "unnamed", unnamed);
		property(o, metrics[m].weight.name, weight);
	}
	return o;
}

static struct json_object *load_schema(void)
{
	struct json_object *o = list_of(node("number", true, NULL));

	add(o, "description", json_object_new_string("the host's load averages of 1, 5 and 15 minutes"));
	add(o, "minItems", json_object_new_int(HOST_LOADS));
	add(o, "maxItems", json_object_new_int(HOST_LOADS));
	return o;
}

void json_schema(FILE *to)
{
	struct json_object *o = record("one line per interval; a number is of that interval unless its description says otherwise"),
			   *loss = record("what is missing since the start, by cause"),
			   *repaired = record("what was missed since the start and found elsewhere, by cause: no loss");

	for (int i = 0; i < LOSS_COUNT; i++)
		property(i < LOSS_REPAIRED ? loss : repaired, loss_names[i].name, node("integer", false, loss_names[i].help));
	property(o, "schema", node("integer", false, "version of this schema"));
	property(o, "time", node("string", false, "UTC, end of the interval"));
	property(o, "boottime_ns", node("integer", false, "CLOCK_BOOTTIME, end of the interval"));
	property(o, "interval_ns", node("integer", false, "length, without time in suspend"));
	property(o, "host", node("string", false, "its name"));
	property(o, "kernel", node("string", false, "its release"));
	property(o, "scope", node("string", false, "what is in scope, as the screen shows it; all: the whole host"));
	property(o, "mem_total_bytes", node("integer", true, "memory of the host"));
	property(o, "mem_available_bytes", node("integer", true, "the part still available to programs, including caches"));
	property(o, "swap_total_bytes", node("integer", true, "swap of the host"));
	property(o, "swap_used_bytes", node("integer", true, "the part of it in use"));
	property(o, "load", load_schema());
	property(o, "loss", loss);
	property(o, "repaired", repaired);
	property(o, "dropped_refreshes", node("integer", false, "refreshes not written since the start because the reader was slow"));
	property(o, "self", self_schema());
	property(o, "shed", list_of(node("string", false, "details left out to stay below --max-cpu and --max-mem")));
	property(o, "stacks", stacks_schema());
	property(o, "cpus", list_of(cpu_schema()));
	property(o, "irqs", list_of(irq_schema()));
	property(o, "cgroups", list_of(cgroup_schema()));
	property(o, "threads", list_of(thread_schema()));
	property(o, "processes", list_of(process_schema()));
	add(o, "$schema", json_object_new_string("http://json-schema.org/draft-07/schema#"));
	add(o, "title", json_object_new_string("systop --json"));

	fprintf(to, "%s\n", json_object_to_json_string_ext(o, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(o);
}
