/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/load.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "collect/collect.h"
#include "collect/maxima.h"
#include "collect/probe.h"
#include "collect/waits.h"
#include "proc/sched_ext.h"
#include "record/rings.h"
#include "slot.h"
#include "util/fail.h"
#include "util/online.h"

#include "systop.skel.h"

int controller_ssid(const char *controller)
{
	struct btf *btf;
	char name[64];
	int ssid = HIERARCHY_NONE, id;

	if (!controller)
		return HIERARCHY_V2;
	snprintf(name, sizeof(name), "%s_cgrp_id", controller);
	btf = btf__load_vmlinux_btf();
	if (!btf)
		return HIERARCHY_NONE;
	id = btf__find_by_name_kind(btf, "cgroup_subsys_id", BTF_KIND_ENUM);
	if (id > 0) {
		const struct btf_type *t = btf__type_by_id(btf, id);
		const struct btf_enum *e = btf_enum(t);

		for (int i = 0; i < btf_vlen(t); i++)
			if (!strcmp(btf__name_by_offset(btf, e[i].name_off), name))
				ssid = e[i].val;
	}
	btf__free(btf);
	return ssid;
}

/* Slots for twice the threads that exist: a power of two, so that the dead ring's counter wraps. */
static uint32_t slots_wanted(void)
{
	uint32_t want = SLOTS_DEFAULT, threads = 0;
	FILE *f = fopen("/proc/loadavg", "re");

	if (f) {
		if (fscanf(f, "%*s %*s %*s %*u/%u", &threads) != 1)
			threads = 0;
		fclose(f);
	}
	while (want < 2 * threads)
		want *= 2;
	return want;
}

/* Tells the programs to look at a hierarchy for the cgroup scope. */
static void scope_hierarchy(struct systop *skel, int ssid)
{
	for (int i = 0; i < SCOPE_HIERARCHIES; i++) {
		if (skel->rodata->scope_ssid[i] == ssid)
			return;
		if (skel->rodata->scope_ssid[i] == HIERARCHY_NONE) {
			skel->rodata->scope_ssid[i] = ssid;
			return;
		}
	}
}

/* Tells the programs where the CPU limits are, if it is not the hierarchy that is shown. */
static void limits_hierarchy(struct systop *skel, int ssid)
{
	if (ssid == skel->rodata->cgroup_ssid)
		return;
	skel->rodata->limits_ssid = ssid;
	bpf_map__set_max_entries(skel->maps.limit_cgroups, skel->rodata->slots_max);
}

/* Whether softirqs are preemptible here. */
static bool is_realtime(void)
{
	FILE *f = fopen("/sys/kernel/realtime", "re");
	int on = 0;

	if (!f)
		return false;
	if (fscanf(f, "%d", &on) != 1)
		on = 0;
	fclose(f);
	return on;
}

/* Whether a hypervisor may run other machines on these CPUs: only x86 says that there is none. */
static bool may_be_guest(void)
{
#if defined(__x86_64__) || defined(__i386__)
	unsigned int a, b, c, d;

	return !__get_cpuid(1, &a, &b, &c, &d) || c & 1U << 31;
#else
	return true;
#endif
}

/* Bits of the index of stacks' ids: a CPU meets up to 100 new stacks between two looks at the dictionary, of 4 lines. */
static uint32_t stack_bits(int cpus)
{
	uint32_t bits = STACK_INDEX_BITS;

	while (bits < STACK_INDEX_BITS_MOST && cpus > 128 << (bits - STACK_INDEX_BITS))
		bits++;
	return bits;
}

static void configure(struct systop *skel, const struct collect_options *o, const struct online *online)
{
	struct sched_ext sched_ext;
	uint32_t max = slots_wanted();
	int nr_cpus = online_possible(online);

	skel->rodata->slots_max = max;
	skel->rodata->preempt_rt = is_realtime();
	sched_ext_read(SCHED_EXT_DIR, &sched_ext);
	skel->rodata->sched_ext_ran = sched_ext.ran;
	skel->rodata->steals = may_be_guest();
	skel->bss->shared.steal_told = !skel->rodata->steals;
	skel->rodata->page_shift = __builtin_ctzl(sysconf(_SC_PAGESIZE));
	bpf_map__set_max_entries(skel->maps.slots, max);
	bpf_map__set_max_entries(skel->maps.dead_ring, max);
	bpf_map__set_max_entries(skel->maps.free_slots, max);
	bpf_map__set_max_entries(skel->maps.found_slots, FOUND_PER_SLOT * max);
	skel->rodata->stack_index_bits = stack_bits(online_count(online));
	bpf_map__set_max_entries(skel->maps.stacks, 2 * STACK_HALF(skel->rodata->stack_index_bits));
	bpf_map__set_max_entries(skel->maps.stack_lines, 2 * STACK_LINES_HALF(skel->rodata->stack_index_bits));
	skel->rodata->wait_ns = o->wait_ns;
	skel->rodata->wait_price_ns = waits_price(online_count(online));
	skel->rodata->away_ns = o->wait_ns < AWAY_NS ? o->wait_ns : AWAY_NS;
	skel->rodata->self_tgid = o->self ? 0 : getpid();
	skel->rodata->starter_tgid = o->starter;
	skel->rodata->irq_named = maxima()->irq_lines;
	skel->rodata->files_max = maxima()->files;
	bpf_map__set_max_entries(skel->maps.files, maxima()->files);
	bpf_map__set_max_entries(skel->maps.free_files, maxima()->files);
	bpf_map__set_max_entries(skel->maps.cpus, nr_cpus);
	bpf_map__set_max_entries(skel->maps.areas, nr_cpus);
	bpf_map__set_max_entries(skel->maps.parked_stacks, max);
	bpf_map__set_max_entries(skel->maps.blocked_wanted, max);

	skel->rodata->cgroup_ssid = controller_ssid(o->shown_controller);
	limits_hierarchy(skel, controller_ssid(o->limits_controller));
	skel->rodata->scope_kinds = (o->nr_cgroups ? SCOPE_CGROUP : 0) |
				    (o->nr_pids ? SCOPE_PID : 0) | (o->nr_uids ? SCOPE_UID : 0);
	for (size_t i = 0; i < o->nr_cgroups; i++)
		scope_hierarchy(skel, controller_ssid(o->cgroups[i].controller));
}

/* What differs between kernels. Programs of tracepoints that not every kernel has: those that this one has are loaded. */
static void suit_kernel(struct systop *skel)
{
	struct btf *btf = btf__load_vmlinux_btf();
	struct bpf_program *p;

	bpf_object__for_each_program(p, skel->obj) {
		char name[64];

		if (bpf_program__autoload(p) || !btf)
			continue;
		snprintf(name, sizeof(name), "btf_trace_%s", bpf_program__name(p));
		bpf_program__set_autoload(p, p == skel->progs.blocked_task ||
						     btf__find_by_name_kind(btf, name, BTF_KIND_TYPEDEF) > 0);
	}
	skel->rodata->storage_at_switch = probe_found(btf, PROBE_STORAGE_MEMORY);
	skel->rodata->samples_wait = !probe_found(btf, PROBE_HASH_LOCKS);
	if (!probe_found(btf, PROBE_MAPLE_TREE)) { /* no files are met; a sampler takes only such maps before 6.1 */
		bpf_map__set_map_flags(skel->maps.files, 0);
		bpf_map__set_max_entries(skel->maps.files, 1);
		bpf_map__set_map_flags(skel->maps.files_asked, 0);
		bpf_map__set_max_entries(skel->maps.files_asked, 1);
	}
	skel->rodata->has_rdonly_cast = btf && btf__find_by_name_kind(btf, "bpf_rdonly_cast", BTF_KIND_FUNC) > 0;
	btf__free(btf);
}

/* The last of the verifier's lines says what it did not like. */
static int refused(const struct load_report *report)
{
	const struct load_attempt *a = &report->attempts[report->refused - 1];
	const struct refusal *r = &a->refusal;

	if (!*r->what)
		return a->err;
	fail(a->err, a->err == -EPERM ? EXIT_STATUS_PERMISSION : a->err == -ENOMEM ? EXIT_STATUS_RUNTIME : EXIT_STATUS_KERNEL,
	     "the kernel refuses BPF %s: %s", r->what, strerror(-a->err));
	if (r->nr_lines)
		fail_why("%.73s", r->lines[r->nr_lines - 1]);
	fail_fix("systop --check -v FILE    # FILE then has all that it says");
	return a->err;
}

/* With less of it where the kernel refuses: an iterator that may wait came with 5.19,
 * and lockdown "confidentiality" lets no program read what it likes. Then there are no stacks, and a
 * thread keeps the name it was born with. */
int load_programs(struct systop **skel, const struct collect_options *o, const struct online *online,
		  int ring_fd, uint32_t ring_slots, struct load_report *report)
{
	static const char *const without[LOAD_ATTEMPTS] = {
		"blocked_task: threads that are blocked now have no stacks",
		"task_rename and reading kernel memory: no stacks, and names after a rename are not seen",
	};
	int err = -ENOMEM;

	*report = (struct load_report){ 0 };
	for (int attempt = 0; attempt < LOAD_ATTEMPTS; attempt++) {
		struct systop *s;

		words_begin();
		s = systop__open();
		if (!s)
			return -errno;
		configure(s, o, online);
		suit_kernel(s);
		bpf_map__set_max_entries(s->maps.rings, online_possible(online));
		s->rodata->ring_bits = ring_slots ? __builtin_ctz(ring_slots) : 0;
		if (ring_slots)
			bpf_map__set_inner_map_fd(s->maps.rings, ring_fd);
		if (attempt)
			bpf_program__set_autoload(s->progs.blocked_task, false);
		if (attempt > 1) {
			bpf_program__set_autoload(s->progs.task_rename, false);
			s->rodata->kernel_reads = false;
		}
		err = systop__load(s);
		if (!err) {
			*skel = s;
			return 0;
		}
		systop__destroy(s);
		report->attempts[report->refused++] = (struct load_attempt){ *words_refusal(), err, without[attempt] };
	}
	return refused(report);
}

int load_try(const struct collect_options *o, struct load_report *report)
{
	struct online *online = online_new(libbpf_num_possible_cpus());
	uint32_t slots = online ? rings_size(o->window_s, o->window_bytes, o->memory_spare, online_count(online)) : 0;
	int ring_fd = slots ? rings_pattern(slots) : -1;
	struct systop *skel = NULL;
	int err = online ? load_programs(&skel, o, online, ring_fd, ring_fd < 0 ? 0 : slots, report) : -ENOMEM;

	systop__destroy(skel);
	if (ring_fd >= 0)
		close(ring_fd);
	online_free(online);
	return err;
}

const char *load_libbpf(void)
{
	return libbpf_version_string();
}
