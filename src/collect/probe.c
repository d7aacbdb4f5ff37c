/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/probe.h"

#include <bpf/btf.h>
#include <errno.h>
#include <string.h>

/* A thing to look for: @type of @kind, and in it @member. */
struct question {
	const char *type;
	__u32 kind;
	const char *member;
};

#define HOOK(event) { "btf_trace_" event, BTF_KIND_TYPEDEF, NULL }

static const struct question questions[] = {
	HOOK("sched_switch"),
	HOOK("sched_waking"),
	HOOK("sched_wakeup_new"),
	HOOK("sched_process_free"),
	HOOK("sched_process_exec"),
	HOOK("task_rename"),
	{ "bpf_iter_task", BTF_KIND_FUNC, NULL },
	{ "bpf_map_type", BTF_KIND_ENUM, "BPF_MAP_TYPE_TASK_STORAGE" },
	{ "sched_info", BTF_KIND_STRUCT, "run_delay" },
	{ "sched_entity", BTF_KIND_STRUCT, "cfs_rq" },
	{ "task_struct", BTF_KIND_STRUCT, "__state" },
	{ "bpf_func_id", BTF_KIND_ENUM, "BPF_FUNC_loop" },
	{ "cfs_rq", BTF_KIND_STRUCT, "throttle_count" },
	{ "maple_tree", BTF_KIND_STRUCT, "ma_root" },
	{ "bpf_func_id", BTF_KIND_ENUM, "BPF_FUNC_copy_from_user_task" },
};

#define NR_PROBES (sizeof(questions) / sizeof(questions[0]))

static struct probe table[NR_PROBES] = {
	{ "sched_switch", "where every thread's time goes", true, false, "tracepoint sched_switch" },
	{ "sched_waking", "wakeups, where waits begin", true, false, "tracepoint sched_waking" },
	{ "sched_wakeup_new", "threads from their birth on", true, false, "tracepoint sched_wakeup_new" },
	{ "sched_process_free", "threads whose end was missed", true, false, "tracepoint sched_process_free" },
	{ "sched_process_exec", "names after exec", true, false, "tracepoint sched_process_exec" },
	{ "task_rename", "names after a rename", true, false, "tracepoint task_rename" },
	{ "task iterator", "threads that exist at start", true, false, "BPF task iterator (Linux 5.8)" },
	{ "task storage", "a thread's slot", true, false, "BPF task storage (Linux 5.11)" },
	{ "sched_info", "runqueue waits", true, false, "CONFIG_SCHED_INFO" },
	{ "group scheduling", "the scheduler's clock", true, false, "CONFIG_FAIR_GROUP_SCHED" },
	{ "task state", "states at a switch", true, false, "task_struct.__state (Linux 5.14)" },
	{ "BPF loops", "stacks", true, false, "helper bpf_loop (Linux 5.17)" },
	{ "CPU limits", "throttled time", false, false, "CONFIG_CFS_BANDWIDTH: THR% stays 0" },
	{ "maple tree", "user stacks", false, false, "maple tree of mappings (Linux 6.1): only kernel stacks" },
	{ "blocked iterator", "stacks of threads that are blocked now", false, false,
	  "helper bpf_copy_from_user_task (Linux 5.18)" },
};

static bool has_member(const struct btf *btf, const struct btf_type *t, const char *name)
{
	if (btf_is_enum(t)) {
		const struct btf_enum *e = btf_enum(t);

		for (int i = 0; i < btf_vlen(t); i++)
			if (!strcmp(btf__name_by_offset(btf, e[i].name_off), name))
				return true;
		return false;
	}
	for (int i = 0; i < btf_vlen(t); i++)
		if (!strcmp(btf__name_by_offset(btf, btf_members(t)[i].name_off), name))
			return true;
	return false;
}

static bool answer(const struct btf *btf, const struct question *q)
{
	int id = btf__find_by_name_kind(btf, q->type, q->kind);

	return id > 0 && (!q->member || has_member(btf, btf__type_by_id(btf, id), q->member));
}

int probes_read(const struct probe **probes, size_t *nr)
{
	struct btf *btf = btf__load_vmlinux_btf();

	if (!btf)
		return -errno;
	for (size_t i = 0; i < NR_PROBES; i++)
		table[i].found = answer(btf, &questions[i]);
	btf__free(btf);
	*probes = table;
	*nr = NR_PROBES;
	return 0;
}
