/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "export/perfetto/trace_internal.h"
#include "model/tick.h"
#include "model/wait.h"
#include "sym/names.h"
#include "util/hash.h"

#define SEC 1000000000ULL

/* Maximum number of frames of both stacks, each with a mark if it is cut. */
#define FRAMES_MAX (STACK_USER_MAX + STACK_KERNEL_MAX + 2)

#define SEEN_BITS 2 /* of enum seen */
#define SEEN_NOT (-1)

void trace_remember(struct trace *t, struct map *m, uint64_t key, uint64_t value)
{
	if (map_put(m, key, (void *)(uintptr_t)value))
		t->err = -ENOMEM;
}

int trace_threads_begin(struct trace *t)
{
	t->seconds = (t->index->end - t->start) / SEC + 1;
	t->cgroup_ns = calloc((t->index->cgroups.nr + 1) * t->seconds, sizeof(*t->cgroup_ns));
	return t->cgroup_ns ? 0 : -ENOMEM;
}

void trace_threads_end(struct trace *t)
{
	free(t->cgroup_ns);
	map_fini(&t->seen);
	map_fini(&t->after);
	for (int use = 0; use < PERFETTO_USES; use++)
		map_fini(&t->stacks[use]);
	map_fini(&t->tracks);
	map_fini(&t->rows);
	map_fini(&t->block_ends);
	map_fini(&t->born);
	map_fini(&t->ends);
	map_fini(&t->last_deaths);
	map_fini(&t->renamed_first);
	map_fini(&t->renamed_last);
}

/* --- Processes and threads */

static uint64_t first_seen(const struct trace *t, int32_t tid)
{
	return (uintptr_t)map_get(&t->seen, (uint64_t)tid + 1);
}

/* An enum seen or SEEN_NOT. */
static int seen(const struct trace *t, int32_t tid)
{
	uint64_t first = first_seen(t, tid);

	return first ? (int)((first - 1) & ((1 << SEEN_BITS) - 1)) : SEEN_NOT;
}

static bool was_there(const struct trace_index_thread *th, uint64_t at)
{
	return th->start_ns <= at && th->to > at;
}

/* Whether the thread still existed at the end, under whatever name. */
static bool survives(const struct trace *t, const struct trace_index_thread *th)
{
	const struct trace_index_thread *last = trace_index_who(t->index, th->tid, t->index->end);

	return last->start_ns == th->start_ns && last->to > t->index->end;
}

static void tree_process(struct trace *t, const struct trace_index_thread *th)
{
	char cgroup[4200];
	const uint32_t *paths = TRACE_INDEX_AT(t->index, cgroups, uint32_t);
	struct perfetto_process p = {
		.pid = th->tgid, .ppid = th->ppid, .uid = th->uid, .comm = th->comm,
		.kthread = th->flags & PF_KTHREAD, .start_ns = th->start_ns,
	};

	const struct trace_index_process *known = trace_index_find_process(t->index, th->tgid);

	/* Details are known only of the process that had the number at the end. */
	if (known && survives(t, th) && known->arguments + (uint64_t)known->len <= t->index->arguments.nr) {
		p.cmdline = TRACE_INDEX_AT(t->index, arguments, char) + known->arguments;
		p.cmdline_len = known->len;
		p.nspids = known->nspids;
		p.nr_nspids = known->nr_nspids <= TRACE_INDEX_LEVELS ? known->nr_nspids : 0;
	}
	if (th->cgroup && th->cgroup <= t->index->cgroups.nr) {
		snprintf(cgroup, sizeof(cgroup), "cgroup:%s", trace_index_string(t->index, paths[th->cgroup - 1]));
		p.label = cgroup;
	}
	perfetto_tree_process(t->p, &p);
}

static void tree_thread(struct trace *t, const struct trace_index_thread *th)
{
	struct perfetto_thread thread = { .tid = th->tid, .tgid = th->tgid, .comm = th->comm };
	const struct trace_index_process *known =
		th->tid == th->tgid ? trace_index_find_process(t->index, th->tgid) : NULL;

	if (known && survives(t, th)) {
		thread.nstids = known->nspids;
		thread.nr_nstids = known->nr_nspids <= TRACE_INDEX_LEVELS ? known->nr_nspids : 0;
	}
	perfetto_tree_thread(t->p, &thread);
}

/* The index has an entry for each name and cgroup of a thread: the trace contains it once, as it was at @at. */
static bool is_it(const struct trace *t, const struct trace_index_thread *th, uint64_t at)
{
	return was_there(th, at) && trace_index_who(t->index, th->tid, at) == th;
}

void trace_tree(struct trace *t)
{
	const struct trace_index_thread *all = TRACE_INDEX_AT(t->index, threads, struct trace_index_thread);
	struct map processes = { 0 };

	perfetto_tree_begin(t->p, 0);
	for (size_t i = 0; i < t->index->threads.nr; i++) {
		const struct trace_index_thread *leader;

		if (!is_it(t, &all[i], t->start) || map_get(&processes, all[i].tgid))
			continue;
		leader = trace_index_who(t->index, all[i].tgid, t->start);
		tree_process(t, leader && leader->tgid == all[i].tgid ? leader : &all[i]);
		trace_remember(t, &processes, all[i].tgid, 1);
	}
	for (size_t i = 0; i < t->index->threads.nr; i++)
		if (is_it(t, &all[i], t->start))
			tree_thread(t, &all[i]);
	if (t->index->scoped)
		for (uint32_t cpu = 0; cpu < t->index->cpus.nr; cpu++)
			perfetto_tree_outsider(t->p, cpu);
	perfetto_tree_end(t->p);
	map_fini(&processes);
}

void trace_born(struct trace *t, int32_t tid, uint64_t at)
{
	const struct trace_index_thread *th = trace_index_who(t->index, tid, at);

	if (!th || th->start_ns <= t->start)
		return;
	perfetto_tree_begin(t->p, at);
	if (th->tid == th->tgid)
		tree_process(t, th);
	tree_thread(t, th);
	perfetto_tree_end(t->p);
	trace_remember(t, &t->born, (uint64_t)tid + 1, th->start_ns);
}

void trace_unborn(struct trace *t)
{
	const struct trace_index_thread *all = TRACE_INDEX_AT(t->index, threads, struct trace_index_thread);

	for (size_t i = 0; i < t->index->threads.nr; i++) {
		bool same = i && all[i - 1].tid == all[i].tid && all[i - 1].start_ns == all[i].start_ns;

		if (same || all[i].start_ns <= t->start || all[i].start_ns > t->index->end ||
		    seen(t, all[i].tid) == SEEN_NOT || map_get(&t->born, (uint64_t)all[i].tid + 1))
			continue;
		trace_born(t, all[i].tid, all[i].start_ns);
	}
}

static uint64_t entry_key(const struct trace *t, const struct trace_index_thread *th)
{
	return th - TRACE_INDEX_AT(t->index, threads, struct trace_index_thread) + 1;
}

/* Keeps the latest time: CPUs are read one after another. */
static void remember_latest(struct trace *t, struct map *m, uint64_t key, uint64_t at)
{
	if (at > (uintptr_t)map_get(m, key))
		trace_remember(t, m, key, at);
}

void trace_will_be_renamed(struct trace *t, int32_t tid, uint64_t at)
{
	const struct trace_index_thread *th = trace_index_who(t->index, tid, at);
	uint64_t first;

	if (!th)
		return;
	first = (uintptr_t)map_get(&t->renamed_first, entry_key(t, th));
	if (!first || at < first)
		trace_remember(t, &t->renamed_first, entry_key(t, th), at);
	remember_latest(t, &t->renamed_last, entry_key(t, th), at);
}

const char *trace_name(const struct trace *t, int32_t tid, uint64_t at)
{
	const struct trace_index_thread *th = trace_index_who(t->index, tid, at);

	return th && at >= (uintptr_t)map_get(&t->renamed_last, entry_key(t, th)) ? th->comm : "?";
}

/* The old name is that of the previous entry of the same life. */
void trace_renamed(struct trace *t, const struct event *e)
{
	const struct trace_index_thread *th = trace_index_who(t->index, e->tid, e->at);
	uint64_t key = th ? entry_key(t, th) : 0;
	bool first = key > 1 && e->at == (uintptr_t)map_get(&t->renamed_first, key);
	bool known = first && th[-1].tid == th->tid && th[-1].start_ns == th->start_ns;

	if (th && e->at >= (uintptr_t)map_get(&t->renamed_last, key))
		perfetto_cpu_rename(t->p, e->at, e->tid, known ? th[-1].comm : "?", th->comm);
}

struct perfetto_task trace_task(struct trace *t, int32_t tid, uint64_t at)
{
	const struct trace_index_thread *th =
		tid > 0 && tid < PERFETTO_OUTSIDER(0) ? trace_index_who(t->index, tid, at) : NULL;

	if (!tid)
		return (struct perfetto_task){ 0, 120, "swapper" };
	if (th)
		return (struct perfetto_task){ tid, th->prio, th->comm };
	if (t->index->scoped || tid < 0)
		return (struct perfetto_task){ PERFETTO_OUTSIDER(t->cpu), 120, PERFETTO_OUTSIDER_COMM };
	return (struct perfetto_task){ tid, 120, "?" };
}

/* --- Ends */

/* The key of the process that has the number at that time. */
static uint64_t process_key(const struct trace *t, int32_t tgid, uint64_t at)
{
	const struct trace_index_thread *leader = trace_index_who(t->index, tgid, at);

	return hash_add(hash_add(0, tgid), leader ? leader->start_ns : 0);
}

void trace_will_die(struct trace *t, int32_t tid, uint64_t at)
{
	const struct trace_index_thread *th = trace_index_who(t->index, tid, at);

	if (!th)
		return;
	remember_latest(t, &t->ends, (uint64_t)tid + 1, at << 1 | 1);
	remember_latest(t, &t->last_deaths, process_key(t, th->tgid, at), at);
}

/* A thread that calls exec takes the tid of its process's first thread, which has died. */
void trace_will_exec(struct trace *t, int32_t tid, uint64_t at)
{
	remember_latest(t, &t->ends, (uint64_t)tid + 1, at << 1);
}

void trace_survivors(struct trace *t)
{
	const struct trace_index_thread *all = TRACE_INDEX_AT(t->index, threads, struct trace_index_thread);

	for (size_t i = 0; i < t->index->threads.nr; i++) {
		uint64_t end = (uintptr_t)map_get(&t->ends, (uint64_t)all[i].tid + 1);
		bool died = end & 1 && end >> 1 >= all[i].start_ns;

		if (!died && all[i].start_ns <= t->index->end && all[i].to > t->index->end)
			trace_remember(t, &t->last_deaths, process_key(t, all[i].tgid, t->index->end), UINT64_MAX);
	}
}

static void write_freed(struct trace *t, int32_t tid, uint64_t at)
{
	struct perfetto_task dead = trace_task(t, tid, at);

	if (dead.tid == tid) /* it is in scope */
		perfetto_cpu_freed(t->p, at + 1, &dead);
}

void trace_died(struct trace *t, int32_t tid, uint64_t at)
{
	const struct trace_index_thread *th = trace_index_who(t->index, tid, at);

	if (!th || th->tgid != tid)
		write_freed(t, tid, at);
	if (th && (uintptr_t)map_get(&t->last_deaths, process_key(t, th->tgid, at)) == at)
		write_freed(t, th->tgid, at);
}

/* --- Threads blocked at the start */

/* CPUs are written one after the other: an earlier event can come later. */
void trace_seen(struct trace *t, int32_t tid, uint64_t at, enum seen how)
{
	uint64_t known, first = 1 + ((at - t->start) << SEEN_BITS | how);

	if (tid <= 0 || tid >= PERFETTO_OUTSIDER(0))
		return;
	known = first_seen(t, tid);
	if (!known || first < known)
		trace_remember(t, &t->seen, (uint64_t)tid + 1, first);
}

void trace_seen_after(struct trace *t, int32_t tid, enum seen how)
{
	if (tid > 0 && (how != SEEN_RAN || !map_get(&t->after, (uint64_t)tid + 1)))
		trace_remember(t, &t->after, (uint64_t)tid + 1, 1 + how);
}

void trace_blocked_all(struct trace *t)
{
	const struct trace_index_thread *all = TRACE_INDEX_AT(t->index, threads, struct trace_index_thread);

	for (size_t i = 0; i < t->index->threads.nr; i++) {
		struct perfetto_task task;
		int how = seen(t, all[i].tid);
		uintptr_t after = how == SEEN_NOT ? (uintptr_t)map_get(&t->after, (uint64_t)all[i].tid + 1) : 0;

		/* A thread without events was all the time in the state that it had at the end. */
		if (after)
			how = after - 1;
		else if (how == SEEN_NOT)
			how = all[i].state == STATE_D	    ? SEEN_IN_D
			      : all[i].state == STATE_SLEEP ? SEEN_ASLEEP
							    : SEEN_RAN;
		if (how == SEEN_RAN || !is_it(t, &all[i], t->start))
			continue;
		task = trace_task(t, all[i].tid, t->start);
		perfetto_blocked(t->p, &task, how == SEEN_IN_D);
	}
}

/* --- Stacks */

static struct perfetto_frame frame_of(const struct trace *t, uint32_t index)
{
	const struct trace_index_frame *from = &TRACE_INDEX_AT(t->index, frames, struct trace_index_frame)[index];
	const char *hex = trace_index_string(t->index, from->build_id);
	struct perfetto_frame f = {
		.function = from->function ? trace_index_string(t->index, from->function) : NULL,
		.path = from->kind == SYMBOL_KERNEL ? "[kernel.kallsyms]"
			: from->path		    ? trace_index_string(t->index, from->path)
						    : NULL,
		.rel_pc = from->place,
		.kind = from->kind == SYMBOL_KERNEL ? PERFETTO_KERNEL
			: from->kind == SYMBOL_JIT  ? PERFETTO_JIT
						    : PERFETTO_NATIVE,
	};

	for (; f.build_id_len < sizeof(f.build_id) && sscanf(hex, "%2hhx", &f.build_id[f.build_id_len]) == 1; hex += 2)
		f.build_id_len++;
	return f;
}

/* Adds frames outermost first. */
static size_t add_stack(const struct trace *t, uint32_t id, struct perfetto_frame *frames, size_t nr)
{
	const struct trace_index_stack *s = id ? trace_index_find_stack(t->index, id) : NULL;
	const uint32_t *refs = TRACE_INDEX_AT(t->index, refs, uint32_t);

	for (uint32_t i = s ? s->nr : 0; i-- > 0 && nr < FRAMES_MAX;) {
		uint32_t index = refs[s->first + i];

		if (index < t->index->frames.nr)
			frames[nr++] = frame_of(t, index);
	}
	return nr;
}

uint64_t trace_stack(struct trace *t, enum perfetto_use use, uint32_t user, uint32_t kernel)
{
	static struct perfetto_frame frames[FRAMES_MAX];
	uint64_t key = (uint64_t)user << 32 | kernel, number;
	size_t nr;

	if (!key)
		return 0;
	number = (uintptr_t)map_get(&t->stacks[use], key);
	if (number)
		return number - 1;
	nr = add_stack(t, user, frames, 0);
	nr = add_stack(t, kernel, frames, nr);
	number = nr ? perfetto_stack(t->p, use, frames, nr) : 0;
	trace_remember(t, &t->stacks[use], key, number + 1);
	return number;
}

/* The innermost kernel function that shows the reason. NULL: unknown. */
static const char *why(const struct trace *t, uint32_t kernel)
{
	const struct trace_index_stack *s = kernel ? trace_index_find_stack(t->index, kernel) : NULL;
	const uint32_t *refs = TRACE_INDEX_AT(t->index, refs, uint32_t);
	const char *name = NULL;

	for (uint32_t i = 0; s && i < s->nr; i++) {
		const struct trace_index_frame *f;

		if (refs[s->first + i] >= t->index->frames.nr)
			break;
		f = &TRACE_INDEX_AT(t->index, frames, struct trace_index_frame)[refs[s->first + i]];
		if (!f->function)
			continue;
		name = trace_index_string(t->index, f->function);
		if (!wait_functions_has(name))
			break;
	}
	return name;
}

static uint64_t life_key(const struct trace_index_thread *th)
{
	return hash_add(hash_add(0, th->tid), th->start_ns);
}

uint64_t trace_thread_track(struct trace *t, int32_t tid, uint64_t at)
{
	const struct trace_index_thread *th = trace_index_who(t->index, tid, at);
	uint64_t track = th ? (uintptr_t)map_get(&t->tracks, life_key(th)) : 0;

	if (!th || track)
		return track;
	track = perfetto_thread_track(t->p, at, th->tgid, tid);
	trace_remember(t, &t->tracks, life_key(th), track);
	return track;
}

/* Slices of one track must not overlap: times of a thread on two CPUs can differ slightly. */
void trace_block(struct trace *t, int32_t tid, uint64_t since, const struct event *e)
{
	const struct trace_index_thread *th = trace_index_who(t->index, tid, e->at);
	uint64_t track;
	uint64_t before = (uintptr_t)map_get(&t->block_ends, (uint64_t)tid + 1);
	const char *caller = why(t, e->kernel);
	const char *state = e->in_d ? "D" : "sleep";
	uint64_t end = e->at - e->off_ns + e->blocked_ns; /* it waited for a CPU after that */
	char name[256];
	struct perfetto_slice slice = {
		.name = name,
		.category = "offcpu",
		.stack = trace_stack(t, PERFETTO_OF_SLICE, e->user, e->kernel),
	};

	if (!th || end <= since)
		return;
	snprintf(name, sizeof(name), caller ? "%s: %s" : "%s", state, caller);
	if (before > since && end > before)
		since = before;
	track = trace_thread_track(t, tid, since);
	trace_remember(t, &t->block_ends, (uint64_t)tid + 1, end);
	perfetto_slice_begin(t->p, since, track, &slice);
	perfetto_slice_end(t->p, end, track);
	perfetto_cpu_blocked_reason(t->p, e->at - 1, tid, caller, e->io_wait); /* before the switch-in */
}

/* --- Cgroups */

void trace_ran(struct trace *t, int32_t tid, uint64_t from, uint64_t to)
{
	const struct trace_index_thread *th =
		tid > 0 && tid < PERFETTO_OUTSIDER(0) ? trace_index_who(t->index, tid, from) : NULL;
	uint64_t *seconds;

	if (!th || !th->cgroup || th->cgroup > t->index->cgroups.nr || to > t->index->end)
		return;
	seconds = &t->cgroup_ns[(uint64_t)(th->cgroup - 1) * t->seconds];
	while (from < to) {
		uint64_t second = (from - t->start) / SEC, end = t->start + (second + 1) * SEC;

		seconds[second] += (to < end ? to : end) - from;
		from = end;
	}
}

void trace_cgroup_counters(struct trace *t, uint64_t group)
{
	const uint32_t *paths = TRACE_INDEX_AT(t->index, cgroups, uint32_t);

	for (size_t c = 0; c < t->index->cgroups.nr; c++) {
		char name[4200];
		uint64_t track, sum = 0;

		for (uint32_t s = 0; s < t->seconds; s++)
			sum += t->cgroup_ns[c * t->seconds + s];
		if (!sum)
			continue;
		snprintf(name, sizeof(name), "%s on CPU", trace_index_string(t->index, paths[c]));
		track = perfetto_counter(t->p, group, name, PERFETTO_NS);
		for (uint32_t s = 0; s < t->seconds; s++)
			perfetto_count(t->p, t->start + s * SEC, track, t->cgroup_ns[c * t->seconds + s]);
	}
}
