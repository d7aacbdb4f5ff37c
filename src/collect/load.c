/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/load.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "collect/collect.h"
#include "collect/collector.h"
#include "collect/kernel_types.h"
#include "slot.h"
#include "util/fail.h"
#include "util/file.h"
#include "util/online.h"

#include "systop.skel.h"

/* The first attempt that reads no kernel memory. */
#define ATTEMPT_BLIND 2

static int controller_read(const char *controller)
{
	const struct btf *btf = kernel_types();
	__u32 id = btf ? kernel_type(btf, "cgroup_subsys_id", BTF_KIND_ENUM) : 0;
	const struct btf_type *t = id ? btf__type_by_id(btf, id) : NULL;
	char name[64];

	snprintf(name, sizeof(name), "%s_cgrp_id", strcmp(controller, "blkio") ? controller : "io");
	for (int i = 0; t && i < btf_vlen(t); i++)
		if (!strcmp(btf__name_by_offset(btf, btf_enum(t)[i].name_off), name))
			return btf_enum(t)[i].val;
	return HIERARCHY_NONE;
}

/* The numbers are kept: a scope needs them at each refresh, when the types have been forgotten. */
int controller_ssid(const char *controller)
{
	static struct {
		char name[32];
		int ssid;
	} known[16];
	int nr = 0, ssid;

	if (!controller)
		return HIERARCHY_V2;
	while (nr < 16 && *known[nr].name && strcmp(known[nr].name, controller))
		nr++;
	if (nr < 16 && *known[nr].name)
		return known[nr].ssid;
	ssid = controller_read(controller);
	if (nr < 16 && strlen(controller) < sizeof(known[nr].name)) {
		known[nr].ssid = ssid;
		snprintf(known[nr].name, sizeof(known[nr].name), "%s", controller);
	}
	return ssid;
}

/* Adapts to differences between kernels: programs for tracepoints that this one lacks are not loaded. */
static void suit_kernel(struct systop *skel)
{
	const struct btf *btf = kernel_types();
	struct bpf_program *p;

	bpf_object__for_each_program(p, skel->obj) {
		char name[64];

		if (bpf_program__autoload(p) || !btf)
			continue;
		snprintf(name, sizeof(name), "btf_trace_%s", bpf_program__name(p));
		bpf_program__set_autoload(p, bpf_program__expected_attach_type(p) == BPF_TRACE_ITER ||
						     kernel_type(btf, name, BTF_KIND_TYPEDEF));
	}
	for (int i = 0; i < COLLECTOR_COUNT; i++)
		if (collectors[i]->suit)
			collectors[i]->suit(skel, btf);
}

static void configure(struct systop *skel, struct load *l)
{
	for (int i = 0; i < COLLECTOR_COUNT; i++)
		if (collectors[i]->configure)
			collectors[i]->configure(skel, l);
}

/* The last line of the verifier shows what it rejected. */
static int refused(const struct load_report *report)
{
	const struct load_attempt *a = &report->attempts[report->refused - 1];
	const struct refusal *r = &a->refusal;

	if (!*r->what && a->err == -EPERM) {
		fail(a->err, EXIT_STATUS_PERMISSION, "the kernel refuses bpf() though the capabilities are held");
		fail_why("a seccomp filter or a security module forbids the call");
		fail_fix("start it as root on the host, or: docker run --privileged ...");
	}
	if (!*r->what)
		return a->err;
	fail(a->err, a->err == -EPERM ? EXIT_STATUS_PERMISSION : a->err == -ENOMEM ? EXIT_STATUS_RUNTIME : EXIT_STATUS_KERNEL,
	     "the kernel refuses BPF %s: %s", r->what, strerror(-a->err));
	if (a->err == -ENOMEM) {
		fail_why("the host, or the memory limit of systop's cgroup, has no room for it");
		fail_fix("systemd-run --scope systop    # in a cgroup without limit");
		return a->err;
	}
	if (r->nr_lines)
		fail_why("%.73s", r->lines[r->nr_lines - 1]);
	fail_fix("systop --check -v FILE    # FILE then has the full log");
	return a->err;
}

/* The next program that attempt number @attempt is the first to leave out, of collectors from *@at on; NULL: no more. */
static const struct collector_program *left_out(int attempt, int *at)
{
	for (; *at < COLLECTOR_COUNT; ++*at)
		for (const struct collector_program *p = collectors[*at]->programs; p && p->name; p++)
			if (p->attempt == attempt) {
				++*at;
				return p;
			}
	return NULL;
}

/* Leaves out the programs that attempts up to this one leave out. */
static void leave_out(struct systop *skel, int attempt)
{
	for (int n = 1; n <= attempt; n++) {
		const struct collector_program *p;

		for (int at = 0; (p = left_out(n, &at));)
			bpf_program__set_autoload(bpf_object__find_program_by_name(skel->obj, p->name), false);
	}
}

static const char *less_of(int attempt)
{
	const struct collector_program *p;

	for (int at = 0; (p = left_out(attempt, &at));)
		if (p->less)
			return p->less;
	return NULL;
}

/* Loads fewer programs if the kernel refuses some: an iterator that may sleep came with 5.18, and lockdown "confidentiality" stops
 * programs from reading arbitrary memory. Then there are no stacks, and a thread keeps the name it was born with. */
int load_programs(struct systop **skel, struct load *l, struct load_report *report)
{
	int err = -ENOMEM;

	*report = (struct load_report){ 0 };
	for (l->attempt = 0; l->attempt < LOAD_ATTEMPTS; l->attempt++) {
		struct systop *s;

		words_begin();
		s = systop__open();
		if (!s)
			return -errno;
		l->kernel_reads = l->attempt < ATTEMPT_BLIND;
		configure(s, l);
		suit_kernel(s);
		kernel_types_forget(); /* libbpf reads them for itself */
		leave_out(s, l->attempt);
		err = systop__load(s);
		if (!err) {
			*skel = s;
			return 0;
		}
		systop__destroy(s);
		report->attempts[report->refused++] = (struct load_attempt){ *words_refusal(), err, less_of(l->attempt + 1) };
	}
	return refused(report);
}

void load_end(struct load *l)
{
	file_close(&l->ring_fd);
}

int load_try(const struct collect_options *o, struct load_report *report)
{
	struct online *online = online_new(libbpf_num_possible_cpus());
	struct load l = { .options = o, .online = online, .ring_fd = -1 };
	struct systop *skel = NULL;
	int err = online ? load_programs(&skel, &l, report) : -ENOMEM;

	systop__destroy(skel);
	load_end(&l);
	online_free(online);
	return err;
}

const char *load_libbpf(void)
{
	return libbpf_version_string();
}
