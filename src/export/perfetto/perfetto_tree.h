/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_EXPORT_PERFETTO_PERFETTO_TREE_H
#define SYSTOP_EXPORT_PERFETTO_PERFETTO_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perfetto;

/* Threads out of scope are one process with a thread per CPU, as two can run at once. No real tid is as large: pid_max
 * is at most 0x400000. */
#define PERFETTO_OUTSIDER(cpu) (0x400000 + (int32_t)(cpu))
#define PERFETTO_OUTSIDER_COMM "[out-of-scope]"

struct perfetto_process {
	int32_t pid, ppid;
	int64_t uid;            /* -1: unknown */
	const char *comm;
	const char *cmdline;    /* arguments, each terminated by NUL, as in /proc/PID/cmdline */
	size_t cmdline_len;     /* 0: none, comm is shown */
	bool kthread;
	const int32_t *nspids;  /* its pids in PID namespaces below the host's, outermost first */
	size_t nr_nspids;
	uint64_t start_ns;      /* 0: unknown */
	const char *label;      /* "cgroup:/web.slice"; NULL: none */
};

struct perfetto_thread {
	int32_t tid, tgid;
	const char *comm;
	const int32_t *nstids;
	size_t nr_nstids;
};

/*
 * perfetto_tree_begin, perfetto_tree_end - enclose processes and threads; they form one packet.
 * @born_ns: 0 for all that exist when the trace starts: each process and each thread, including main threads; otherwise
 * the time of birth passed to perfetto_cpu_newtask(). A process or thread may be in one tree only: one that is in two
 * becomes two.
 */
void perfetto_tree_begin(struct perfetto *p, uint64_t born_ns);
void perfetto_tree_process(struct perfetto *p, const struct perfetto_process *process);
void perfetto_tree_thread(struct perfetto *p, const struct perfetto_thread *thread);
/* perfetto_tree_outsider - the thread that stands for threads out of scope on a CPU. */
void perfetto_tree_outsider(struct perfetto *p, unsigned int cpu);
void perfetto_tree_end(struct perfetto *p);

#endif
