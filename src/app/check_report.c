/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --check: what this host has, as a table and as JSON. */
#include "app/check.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "config.h"

#include "app/clocksource.h"
#include "app/namespaces.h"
#include "app/options.h"
#include "collect/collect.h"
#include "collect/load.h"
#include "collect/probe.h"
#include "collect/samplers.h"
#include "export/json/json.h"
#include "model/check.h"
#include "proc/cgroup.h"
#include "proc/hierarchy.h"
#include "proc/memory.h"
#include "proc/mounts.h"
#include "sym/kallsyms.h"
#include "util/file.h"

static void add_hierarchies(struct checks *c)
{
	struct failure unread = { 0 };
	struct cgroup_mounts m = { 0 };

	if (hierarchy_mounts(&m)) {
		failure_take(&unread);
		check_add(c, "cgroups", CHECK_NO, NULL, "unknown: %s", unread.what ? unread.what : "out of memory");
		if (unread.why)
			check_reason(c, "%s", unread.why);
		if (unread.fix)
			check_fix(c, "%s", unread.fix);
	} else if (!m.nr) {
		check_add(c, "cgroups", CHECK_NO, NULL, "none mounted: all threads are shown in /");
		check_reason(c, "no cgroup hierarchy is mounted");
		check_fix(c, "mount -t cgroup2 none /sys/fs/cgroup");
	}
	for (size_t i = 0; !unread.status && i < m.nr; i++) {
		const char *controllers = m.mounts[i].controllers ? m.mounts[i].controllers : "v2";

		check_add(c, "cgroups", CHECK_YES, NULL, "%-4s %s", controllers, m.mounts[i].path);
	}
	failure_fini(&unread);
	cgroup_mounts_fini(&m);
}

static void add_probes(struct checks *c)
{
	const struct probe *probes;
	size_t nr;

	if (probes_read(&probes, &nr)) {
		check_add(c, "BTF", CHECK_NO, NULL, "missing: %s", BTF_PATH)->needed = true;
		check_reason(c, "the kernel has no types, or /sys is not mounted");
		check_fix(c, "boot a kernel with CONFIG_DEBUG_INFO_BTF=y (every distribution's)");
		return;
	}
	check_add(c, "BTF", CHECK_YES, "ok", "%s", "")->needed = true;
	for (size_t i = 0; i < nr; i++) {
		const struct probe *p = &probes[i];

		check_add(c, p->name, p->found ? CHECK_YES : CHECK_NO, p->found ? "ok" : "off", "%s%s%s", p->what,
			  p->found ? "" : ": no ", p->found ? "" : p->why)->needed = p->needed;
		if (!p->found)
			check_reason(c, "the kernel has no %s", p->why);
	}
}

static void add_rights(struct checks *c)
{
	const char *name, *what;
	bool needed, held;

	for (size_t i = 0; (name = check_right(i, &needed, &what, &held)); i++) {
		check_add(c, name, held ? CHECK_YES : CHECK_NO, held ? "held" : "no", "%sto %s", needed ? "needed " : "", what)
			->needed = needed;
		if (held)
			continue;
		check_reason(c, "the effective capabilities of this process lack it");
		check_fix(c, "sudo systop");
	}
}

static void add_kernel(struct checks *c, const struct utsname *uts)
{
	check_add(c, "kernel", CHECK_FACT, NULL, "%s %s%s", uts->release, uts->machine,
		  strstr(uts->version, "PREEMPT_RT") ? " PREEMPT_RT" : "");
}

/* Settings of this host that make systop slower or hide something. */
static void add_settings(struct checks *c)
{
	char mode[64], paranoid[64], scheduler[200];
	const struct clocksource *source = clocksource_now();
	bool locked;
	int err, symbols;

	check_lockdown(mode, sizeof(mode));
	locked = !strcmp(mode, "confidentiality");
	check_add(c, "lockdown", locked ? CHECK_NO : CHECK_YES, NULL, "%s%s", mode,
		  locked ? ": no stacks, and names after a rename are not seen" : "");
	if (locked)
		check_reason(c, "the kernel lets no program read its memory: no stacks, and names after a rename are not seen");
	file_line(paranoid, sizeof(paranoid), "/proc/sys/kernel/perf_event_paranoid");
	check_add(c, "perf_event_paranoid", CHECK_FACT, NULL, "%s", *paranoid ? paranoid : "-");
	err = samplers_try();
	check_add(c, "samples", err ? CHECK_NO : CHECK_YES, NULL, "%s%s",
		  err ? "no perf event can be opened: " : "perf events can be opened", err ? strerror(-err) : "");
	if (err) {
		check_reason(c, "no perf event can be opened: %s", strerror(-err));
		check_fix(c, "sudo systop, or: sysctl kernel.perf_event_paranoid=2");
	}
	symbols = kallsyms_open(KALLSYMS_PATH);
	check_add(c, "kernel symbols", symbols < 0 ? CHECK_NO : CHECK_YES, NULL, "%s",
		  symbols < 0 ? "hidden: functions of the kernel have no names" : "can be read");
	if (symbols < 0) {
		check_reason(c, "kernel.kptr_restrict, or the lack of CAP_SYSLOG, hides the addresses in " KALLSYMS_PATH);
		check_fix(c, "sudo systop, or: sysctl kernel.kptr_restrict=1");
	}
	file_close(&symbols);
	check_add(c, "clock", source->counter ? CHECK_YES : CHECK_NO, source->counter ? "ok" : "slow", "%s", source->text);
	if (!source->counter)
		check_reason(c, "it slows down every switch");
	check_scheduler(scheduler, sizeof(scheduler));
	check_add(c, "scheduler", CHECK_FACT, NULL, "%s", scheduler);
}

/* The kernel's reasons for a refusal. */
static void add_refusal(struct checks *c, const struct load_attempt *a, bool at_last)
{
	const char *what = *a->refusal.what ? a->refusal.what : "them";

	check_add(c, "BPF programs", CHECK_NO, at_last ? "no" : "off", "%s%sthe kernel refuses %s: %s", at_last ? "" : a->without,
		  at_last ? "" : "; ", what, strerror(-a->err))->needed = at_last;
	check_reason(c, "the kernel refuses %s: %s", what, strerror(-a->err));
	for (int i = 0; i < a->refusal.nr_lines; i++)
		check_add(c, "BPF programs", CHECK_FACT, NULL, "     %s", a->refusal.lines[i])->json = false;
}

static void add_report(struct checks *c, const struct load_report *report, int err)
{
	for (int i = err ? report->refused - 1 : 0; i >= 0 && i < report->refused; i++)
		add_refusal(c, &report->attempts[i], err);
	if (!err)
		check_add(c, "BPF programs", CHECK_YES, "ok", "%s",
			  report->refused ? "the kernel accepts the others" : "the kernel accepts them")->needed = true;
}

static int try_programs(struct checks *c, const struct options *o)
{
	struct collect_options with = { .frequency = o->frequency, .wait_ns = o->wait_ns, .table_mib = o->table_mib,
					.window_s = o->window_s, .window_bytes = o->window_bytes,
					.max_cpu = o->max_cpu, .max_memory = o->max_memory };
	struct cgroup_mounts mounts = { 0 };
	struct load_report report = { 0 };
	struct cgroups *cgroups = NULL;
	int err = hierarchy_mounts(&mounts);

	if (!err)
		err = memory_check(&mounts);
	if (!err) {
		cgroups = hierarchy_open(&mounts, NULL, &with.shown_controller, &with.limits_controller);
		err = cgroups ? 0 : -EIO;
	}
	if (!err) {
		with.memory_spare = memory_spare(&mounts);
		err = load_try(&with, &report);
		add_report(c, &report, err);
	}
	if (err)
		fail(err, EXIT_STATUS_RUNTIME, "cannot load BPF programs: %s", strerror(-err));
	cgroups_free(cgroups);
	cgroup_mounts_fini(&mounts);
	return err;
}

/* What systop itself checks before it starts, in its order: the first failure decides its exit status, and later steps are not
 * checked. */
static void add_steps(struct checks *c, const struct options *o, struct failure *first)
{
	static const char *const steps[] = { "namespaces", "rights", "kernel features", "clock's cost", "open files", "stack",
					     "start" };
	int err = 0;

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		struct check_line *line;

		if (err) {
			line = check_add(c, steps[i], CHECK_FACT, NULL, "%s", "");
			line->table = false;
			line->needed = true;
			check_reason(c, "not checked: an earlier check failed");
			continue;
		}
		err = i == 0 ? namespaces_check(NULL, 0) : i == 1 ? check_rights() : i == 2 ? check_kernel() :
		      i == 3 ? clocksource_check(o->force) : i == 4 ? check_files() : i == 5 ? check_stack() : try_programs(c, o);
		if (err)
			c->status = failure_take(first);
		line = check_add(c, steps[i], err ? CHECK_NO : CHECK_YES, NULL, "%s", err && first->what ? first->what : "");
		line->table = false;
		line->needed = true;
		if (err && first->why)
			check_reason(c, "%s", first->why);
		if (err && first->fix)
			check_fix(c, "%s", first->fix);
	}
}

enum exit_status check_print(const struct options *o)
{
	struct checks c = { 0 };
	struct failure first = { 0 };
	struct utsname uts;
	int status;

	uname(&uts);
	add_kernel(&c, &uts);
	add_probes(&c);
	add_rights(&c);
	add_settings(&c);
	add_hierarchies(&c);
	add_steps(&c, o, &first);
	status = c.status;
	if (o->exporter) {
		if (json_check(stdout, &c, PACKAGE_VERSION, &uts))
			status = status ? status : EXIT_STATUS_RUNTIME;
	} else {
		checks_table(&c, stdout);
		if (status)
			printf("systop: %s\n", first.what ? first.what : "out of memory");
		if (first.why)
			printf("  why: %s\n", first.why);
		if (first.fix)
			printf("  fix: %s\n", first.fix);
		printf("%-18s %s\n", "verdict", status ? "systop cannot run here" : "systop can run here");
	}
	failure_fini(&first);
	checks_fini(&c);
	return status;
}
