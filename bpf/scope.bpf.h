/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_BPF_SCOPE_BPF_H
#define SYSTOP_BPF_SCOPE_BPF_H

/*
 * Whether a thread is in the requested scope, and which cgroup it is in. Decided once and kept in the slot. A switch-in
 * decides again if any thread of the host has changed its cgroup since: cgroup_attach_task and cgroup_transfer_tasks
 * report that, once for a whole process, and a thread born in another cgroup is decided at its birth. A switch-out
 * compares the credentials, which only the thread itself changes, while they are still cached.
 */

#include "maps.bpf.h"

#define CGROUP_DEPTH_MAX 40

struct scope_cgroups_map {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, struct scope_cgroup);
	__type(value, __u8);
};
extern struct scope_cgroups_map scope_cgroups SEC(".maps");

/* Processes (tgid) and threads (tid) given with -p and -t: enum pid_scope; users (effective uid) given with -u. */
struct scope_ids_map {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, __u32);
	__type(value, __u8);
};
extern struct scope_ids_map scope_pids SEC(".maps");
extern struct scope_ids_map scope_uids SEC(".maps");

/* By slot: id of the thread's cgroup in the hierarchy with the CPU limits, if another one is shown; resized before
 * load. */
struct limit_cgroups_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
};
extern struct limit_cgroups_map limit_cgroups SEC(".maps");

/* Cgroups in which a thread was met. */
struct cgroup_events_map {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 18);
};
extern struct cgroup_events_map cgroup_events SEC(".maps");

/* By a hash of its id: the last cgroup that was reported. One that another displaced is reported again. */
struct cgroups_reported_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1 << CGROUPS_REPORTED_BITS);
	__type(key, __u32);
	__type(value, __u64);
};
extern struct cgroups_reported_map cgroups_reported SEC(".maps");

/* Room for 570 threads found to have moved in the 250 ms between two readings. For further ones, everything since the last refresh
 * is shown in their present cgroup. */
struct cgroup_moves_map {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 18);
};
extern struct cgroup_moves_map cgroup_moves SEC(".maps");

/* Whether the cgroup, the credentials or the scope may have changed since the decision. */
static __always_inline bool scope_changed(const struct slot *s, struct task_struct *t)
{
	return s->scope_gen != shared.scope_gen || s->cred != (__u64)t->cred;
}

/* The thread's cgroup in a hierarchy; NULL if that controller is not built in. */
static __always_inline struct cgroup *css_set_cgroup(struct css_set *set, __s32 ssid)
{
	struct cgroup_subsys_state *css;

	if (ssid < 0)
		return set->dfl_cgrp;
	css = *(struct cgroup_subsys_state **)((void *)set + bpf_core_field_offset(set->subsys) +
					       sizeof(css) * ssid);
	return css ? css->cgroup : 0;
}

static __always_inline bool cgroup_in_scope(struct cgroup *cgroup, __s32 ssid)
{
	struct scope_cgroup key = { .ssid = ssid };

	for (int depth = 0; depth < CGROUP_DEPTH_MAX && cgroup; depth++) {
		struct cgroup_subsys_state *parent = cgroup->self.parent;

		key.id = cgroup->kn->id;
		if (bpf_map_lookup_elem(&scope_cgroups, &key))
			return true;
		if (!parent)
			break;
		cgroup = parent->cgroup;
	}
	return false;
}

static __always_inline bool scope_has_cgroup(struct css_set *set)
{
	for (int i = 0; i < SCOPE_HIERARCHIES; i++)
		if (scope_ssid[i] != HIERARCHY_NONE &&
		    cgroup_in_scope(css_set_cgroup(set, scope_ssid[i]), scope_ssid[i]))
			return true;
	return false;
}

/* Ids are unique only within a hierarchy: this bit marks those of the hierarchy with the limits. */
#define CGROUP_OF_LIMITS (1ULL << 63)

static __always_inline __u64 *cgroup_reported(__u64 id)
{
	__u32 at = id * 0x9e3779b97f4a7c15ULL >> (64 - CGROUPS_REPORTED_BITS);

	return bpf_map_lookup_elem(&cgroups_reported, &at);
}

/* The next cgroup to report, and @of of cgroup_emit(). */
struct emit_walk {
	struct cgroup *cgroup;
	__u64 of;
};

/* Reports a cgroup and continues with its parent. Returns whether the walk ends. */
static long cgroup_emit_one(__u32 depth, struct emit_walk *walk)
{
	struct cgroup *cgroup = walk->cgroup, *parent = BPF_CORE_READ(cgroup, self.parent, cgroup);
	struct kernfs_node *kn = BPF_CORE_READ(cgroup, kn);
	__u64 id = BPF_CORE_READ(kn, id), *reported = cgroup_reported(id | walk->of);
	struct cgroup_event *e;

	if (!reported || *reported == (id | walk->of))
		return 1;
	e = bpf_ringbuf_reserve(&cgroup_events, sizeof(*e), 0);
	if (!e)
		return 1;
	e->id = id;
	e->limits = walk->of != 0;
	e->parent = parent ? BPF_CORE_READ(parent, kn, id) : 0;
	if (bpf_probe_read_kernel_str(e->name, sizeof(e->name), BPF_CORE_READ(kn, name)) < 0)
		e->name[0] = 0;
	bpf_ringbuf_submit(e, BPF_RB_NO_WAKEUP);
	*reported = id | walk->of;
	walk->cgroup = parent;
	return !parent;
}

/*
 * cgroup_emit - reports the cgroup at @address and its ancestors, up to one already reported. A cgroup for which there is no room
 * is reported when a thread is next met in it. @of: 0 or CGROUP_OF_LIMITS. Functions that are not static are verified once, and so
 * is the body of bpf_loop().
 */
__weak __noinline int cgroup_emit(__u64 address, __u64 of)
{
	struct emit_walk walk = { .cgroup = (void *)address, .of = of };

	if (kernel_reads)
		bpf_loop(CGROUP_DEPTH_MAX, cgroup_emit_one, &walk, 0);
	return 0;
}

/* Reports a cgroup, so that user space knows its name before it meets its id. */
static __always_inline void cgroup_met(struct cgroup *cgroup, __u64 id, __u64 of, struct cpu_slot *c)
{
	__u64 *reported = cgroup_reported(id | of);

	if (!reported || *reported == (id | of))
		return;
	/* Passed through memory: what comes back is a plain number, which a function can take. */
	*(volatile __u64 *)&c->scope_cgroup = (__u64)cgroup;
	cgroup_emit(*(volatile __u64 *)&c->scope_cgroup, of);
}

/* Notes the cgroup whose CPU limits hold for the thread of slot @index. Returns whether it changed. */
static __always_inline bool limits_note(struct css_set *cgroups, __u32 index, struct cpu_slot *c)
{
	struct cgroup *cgroup = css_set_cgroup(cgroups, limits_ssid);
	__u64 *at = bpf_map_lookup_elem(&limit_cgroups, &index), was;

	if (!at)
		return false;
	was = *at;
	*at = cgroup ? cgroup->kn->id : 0;
	if (cgroup)
		cgroup_met(cgroup, *at, CGROUP_OF_LIMITS, c);
	return *at != was;
}

/* move_emit - reports that a thread moved: the content of its slot so far belongs to the old cgroups and scope. */
__weak __noinline int move_emit(const struct slot *s, __u32 index)
{
	struct cgroup_move *m;

	if (!s)
		return 0;
	m = bpf_ringbuf_reserve(&cgroup_moves, sizeof(*m), 0);
	if (!m)
		return 0;
	m->slot = index;
	m->tid = s->tid;
	m->process = m->spare = m->at = 0;
	__builtin_memcpy(&m->was, s, sizeof(*s));
	bpf_ringbuf_submit(m, BPF_RB_NO_WAKEUP);
	return 0;
}

/* Decides anew. The caller owns the slot, which has index @index. */
static __noinline int scope_decide(struct task_struct *t, struct slot *s, struct cpu_slot *c, __u32 index)
{
	struct css_set *cgroups = task_view(t)->cgroups;
	const struct cred *cred = task_view(t)->cred;
	__u32 gen = *(volatile __u32 *)&shared.scope_gen;
	struct cgroup *cgroup = css_set_cgroup(cgroups, cgroup_ssid);
	__u32 uid = cred->euid.val;
	__u64 id = cgroup ? cgroup->kn->id : 0;
	bool in = true, moved = false;

	if (cgroup)
		cgroup_met(cgroup, id, 0, c);
	if (limits_ssid != HIERARCHY_NONE)
		moved = limits_note(cgroups, index, c);
	if (scope_kinds & SCOPE_CGROUP)
		in = scope_has_cgroup(cgroups);
	if (in && (scope_kinds & SCOPE_PID))
		in = s->pid_scope;
	if (in && (scope_kinds & SCOPE_UID))
		in = bpf_map_lookup_elem(&scope_uids, &uid);
	moved |= s->cgroup_id != id || s->in_scope != in;
	if (moved && s->cred) /* first: a reader that sees the changes below also finds this event */
		move_emit(s, index);
	s->scope_gen = gen;
	s->cred = (__u64)cred;
	s->uid = uid;
	s->cgroup_id = id;
	s->in_scope = in;
	return 0;
}

#endif
