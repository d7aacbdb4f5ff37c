/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_EXPORT_PERFETTO_PERFETTO_TREE_H
#define SYSTOP_EXPORT_PERFETTO_PERFETTO_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perfetto;

/* Threads out of scope are one process, and a thread of it on each CPU, as two can run at once. No tid is
 * as large: pid_max is 0x400000 at most. */
#define PERFETTO_OUTSIDER(cpu) (0x400000 + (int32_t)(cpu))
#define PERFETTO_OUTSIDER_COMM "[out-of-scope]"

#define PERFETTO_LABELS 4

struct perfetto_process {
	int32_t pid, ppid;
	int64_t uid;            /* -1: not known */
	const char *comm;
	const char *cmdline;    /* arguments, each ended by NUL, as /proc/PID/cmdline has them */
	size_t cmdline_len;     /* 0: it has none, comm is shown */
	bool kthread;
	const int32_t *nspids;  /* its pids in PID namespaces below the host's, outer ones first */
	size_t nr_nspids;
	uint64_t start_ns;      /* 0: not known */
	const char *const *labels; /* "cgroup:/web.slice" */
	size_t nr_labels;       /* PERFETTO_LABELS at most */
};

struct perfetto_thread {
	int32_t tid, tgid;
	const char *comm;
	const int32_t *nstids;
	size_t nr_nstids;
};

/*
 * perfetto_tree_begin, perfetto_tree_end - around processes and threads, one packet.
 * @born_ns: 0 for those that were there when the trace starts, each process and each thread, main
 * threads too; else when perfetto_cpu_newtask() says that they were born. A process or thread is in one
 * tree only: being in that of the start, too, would make it two.
 */
void perfetto_tree_begin(struct perfetto *p, uint64_t born_ns);
void perfetto_tree_process(struct perfetto *p, const struct perfetto_process *process);
void perfetto_tree_thread(struct perfetto *p, const struct perfetto_thread *thread);
/* perfetto_tree_outsider - who stands for the threads out of scope on a CPU. */
void perfetto_tree_outsider(struct perfetto *p, unsigned int cpu);
void perfetto_tree_end(struct perfetto *p);

#endif
