/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/probe.h"

#include <bpf/btf.h>
#include <errno.h>
#include <string.h>

#include "collect/kernel_types.h"
#include "unwind.h"

/* Something to look up: @type of @kind, and its @member, which takes @bytes unless that is 0; or an event, and its number
 * of arguments. */
struct question {
	const char *type;
	__u32 kind;
	const char *member;
	int arguments;
	__s64 bytes;
};

#define HOOK(event) { "btf_trace_" event, BTF_KIND_TYPEDEF }
#define ARGUMENTS(event, number) { "btf_trace_" event, BTF_KIND_TYPEDEF, NULL, number }
#define MEMBER(type, member) { type, BTF_KIND_STRUCT, member }
#define SIZED(type, member, bytes) { type, BTF_KIND_STRUCT, member, 0, bytes }
#define VALUE(type, value) { type, BTF_KIND_ENUM, value }

static const struct {
	struct probe probe;
	struct question look;
	struct question or; /* its equivalent in other kernels, if any */
	struct question and; /* needed as well, if any */
} rows[] = {
	{ { "sched_switch", "where every thread's time goes", true, false, "tracepoint sched_switch" },
	  HOOK("sched_switch") },
	{ { "sched_waking", "wakeups, where waits begin", true, false, "tracepoint sched_waking" },
	  HOOK("sched_waking") },
	{ { "sched_wakeup_new", "new threads", true, false, "tracepoint sched_wakeup_new" },
	  HOOK("sched_wakeup_new") },
	{ { "task_newtask", "memory for new threads", true, false, "tracepoint task_newtask" },
	  HOOK("task_newtask") },
	{ { "sched_process_free", "threads whose end was missed", true, false, "tracepoint sched_process_free" },
	  HOOK("sched_process_free") },
	{ { "sched_process_exec", "names after exec", true, false, "tracepoint sched_process_exec" },
	  HOOK("sched_process_exec") },
	{ { "task_rename", "names after a rename", true, false, "tracepoint task_rename" },
	  HOOK("task_rename") },
	{ { "task iterator", "threads that exist at start", true, false, "BPF task iterator (Linux 5.8)" },
	  { "bpf_iter_task", BTF_KIND_FUNC } },
	{ { "task storage", "a thread's slot", true, false, "BPF task storage (Linux 5.11)" },
	  VALUE("bpf_map_type", "BPF_MAP_TYPE_TASK_STORAGE") },
	{ { PROBE_STORAGE_MEMORY, "threads first seen at a switch", false, false,
	    "dedicated memory for task storage (Linux 6.4): these threads have no row" },
	  MEMBER("bpf_local_storage_map", "bpf_ma"), MEMBER("bpf_local_storage_elem", "free_node") },
	{ { PROBE_HASH_LOCKS, "files first seen in samples", false, false,
	    "locks of hashes that an NMI may take (Linux 6.15): files are entered at the next switch or tick" },
	  { "rqspinlock_t", BTF_KIND_TYPEDEF } },
	{ { "sched_info", "runqueue waits", true, false, "CONFIG_SCHED_INFO" },
	  MEMBER("sched_info", "run_delay") },
	{ { "group scheduling", "the scheduler's clock", true, false, "CONFIG_FAIR_GROUP_SCHED" },
	  MEMBER("sched_entity", "cfs_rq") },
	{ { "task state", "states at a switch", true, false, "task_struct.__state (Linux 5.14)" },
	  MEMBER("task_struct", "__state") },
	{ { "BPF loops", "stacks", true, false, "helper bpf_loop (Linux 5.17)" },
	  VALUE("bpf_func_id", "BPF_FUNC_loop") },
	{ { "state at a switch", "why a thread leaves", true, false, "argument prev_state of sched_switch (Linux 5.18)" },
	  ARGUMENTS("sched_switch", 4) },
	{ { "CPU limits", "throttled time", false, false, "CONFIG_CFS_BANDWIDTH: THR% stays 0" },
	  MEMBER("cfs_rq", "throttle_count") },
	{ { PROBE_MAPLE_TREE, "user stacks", false, false,
	    "maple tree of mappings (Linux 6.1), with nodes of a known size: only kernel stacks" },
	  SIZED("maple_range_64", "pivot", MAPLE_PIVOTS * 8), {},
	  SIZED("maple_arange_64", "pivot", MAPLE_ARANGE_PIVOTS * 8) },
	{ { "blocked iterator", "stacks of threads that are blocked now", false, false,
	    "helper bpf_copy_from_user_task (Linux 5.18)" },
	  VALUE("bpf_func_id", "BPF_FUNC_copy_from_user_task") },
};

#define NR_PROBES (sizeof(rows) / sizeof(rows[0]))

static bool has_value(const struct btf *btf, const struct btf_type *t, const char *name)
{
	for (int i = 0; i < btf_vlen(t); i++)
		if (!strcmp(btf__name_by_offset(btf, btf_enum(t)[i].name_off), name))
			return true;
	return false;
}

/* Members of unnamed structs and unions count as its own. */
static bool has_member(const struct btf *btf, const struct btf_type *t, const char *name, __s64 bytes)
{
	for (int i = 0; i < btf_vlen(t); i++) {
		const struct btf_member *m = &btf_members(t)[i];
		const struct btf_type *inner = m->name_off ? NULL : btf__type_by_id(btf, m->type);

		if (inner && btf_is_composite(inner) ? has_member(btf, inner, name, bytes)
						     : !strcmp(btf__name_by_offset(btf, m->name_off), name) &&
							       (!bytes || btf__resolve_size(btf, m->type) == bytes))
			return true;
	}
	return false;
}

/* A tracepoint is a pointer to a function; its first argument is internal to the tracepoint. */
static int nr_arguments(const struct btf *btf, const struct btf_type *t)
{
	t = btf__type_by_id(btf, t->type);
	t = t && btf_is_ptr(t) ? btf__type_by_id(btf, t->type) : NULL;
	return t && btf_is_func_proto(t) ? btf_vlen(t) - 1 : 0;
}

static bool answer(const struct btf *btf, const struct question *q)
{
	__u32 id = q->type ? kernel_type(btf, q->type, q->kind) : 0;
	const struct btf_type *t = id ? btf__type_by_id(btf, id) : NULL;

	return t &&
	       (!q->member || (btf_is_enum(t) ? has_value(btf, t, q->member) : has_member(btf, t, q->member, q->bytes))) &&
	       (!q->arguments || nr_arguments(btf, t) >= q->arguments);
}

bool probe_found(const struct btf *btf, const char *name)
{
	for (size_t i = 0; btf && i < NR_PROBES; i++)
		if (!strcmp(rows[i].probe.name, name))
			return (answer(btf, &rows[i].look) || answer(btf, &rows[i].or)) &&
			       (!rows[i].and.type || answer(btf, &rows[i].and));
	return false;
}

int probes_read(const struct probe **probes, size_t *nr)
{
	static struct probe table[NR_PROBES];
	const struct btf *btf = kernel_types();

	if (!btf)
		return -errno;
	for (size_t i = 0; i < NR_PROBES; i++) {
		table[i] = rows[i].probe;
		table[i].found = probe_found(btf, table[i].name);
	}
	*probes = table;
	*nr = NR_PROBES;
	return 0;
}
