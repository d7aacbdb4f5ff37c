/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/perfetto/perfetto_tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "export/perfetto/perfetto_internal.h"
#include "util/text.h"

/* Fields of ProcessTree. */
enum { TREE_PROCESSES = 1, TREE_THREADS = 2 };

void perfetto_tree_begin(struct perfetto *p, uint64_t born_ns)
{
	/* Perfetto takes a process for another one unless its tree is later than its birth. */
	p->tree_ns = born_ns ? born_ns + 1 : p->start_ns;
	p->tree.len = p->labels.len = 0;
}

void perfetto_tree_end(struct perfetto *p)
{
	PB(TracePacket) packet = packet_on(SEQUENCE_REST, 0);
	PB(ProcessTree) end = PB_INIT(PROCESS_TREE);

	if (!p->tree.len)
		return;
	PB_SET(packet, timestamp, p->tree_ns);
	if (p->tree_ns == p->start_ns)
		PB_SET(end, collection_end_timestamp, p->tree_ns);
	bytes_fields(p, &p->tree, &end.base);
	packet_write_body(p, &packet, PB_DATA(PROCESS_TREE), &p->tree);
	bytes_append(p, &p->out, p->labels.data, p->labels.len);
	p->labels.len = 0;
	out_write(p, false);
}

/* The arguments as a list that is one allocation; NULL: out of memory. */
static char **arguments(const char *cmdline, size_t len, size_t *nr)
{
	size_t most = 1, at = 0;
	char **list, *text;

	for (size_t i = 0; i < len; i++)
		most += !cmdline[i];
	list = malloc(most * sizeof(*list) + 4 * len + most);
	if (!list)
		return NULL;
	text = (char *)(list + most);
	for (*nr = 0; at < len; at += strnlen(cmdline + at, len - at) + 1) {
		list[(*nr)++] = text;
		text += text_safe(text, 4 * (len - at) + 1, cmdline + at, len - at) + 1;
	}
	return list;
}

/* A process can have only one such description: Perfetto takes a second one for a new process. */
static void add_label(struct perfetto *p, const struct perfetto_process *process)
{
	PB(TracePacket) packet = packet_on(SEQUENCE_REST, 0);
	PB(TrackDescriptor) track = PB_INIT(TRACK_DESCRIPTOR);
	PB(ProcessDescriptor) descriptor = PB_INIT(PROCESS_DESCRIPTOR);
	char text[TEXT_SIZE], *label = text_of(text, process->label);

	PB_SET(descriptor, pid, process->pid);
	descriptor.n_process_labels = 1;
	descriptor.process_labels = &label;
	PB_SET(track, uuid, ++p->last_track);
	track.process = &descriptor;
	/* The time makes Perfetto read it after the process's birth. */
	PB_SET(packet, timestamp, p->tree_ns);
	PB_SET_DATA(packet, TRACK_DESCRIPTOR, track_descriptor, &track);
	packet_append(p, &p->labels, &packet, 0, NULL);
}

void perfetto_tree_process(struct perfetto *p, const struct perfetto_process *process)
{
	PB(ProcessTree__Process) entry = PB_INIT(PROCESS_TREE__PROCESS);
	char comm[COMM_SIZE], *name = comm_of(comm, process->comm), **args = NULL;
	size_t len = process->cmdline_len;

	/* A process that changed its title may leave empty bytes after its arguments. */
	while (len && !process->cmdline[len - 1])
		len--;
	PB_SET(entry, pid, process->pid);
	PB_SET(entry, ppid, process->ppid);
	if (process->uid >= 0)
		PB_SET(entry, uid, process->uid);
	if (len) {
		args = arguments(process->cmdline, len, &entry.n_cmdline);
		if (!args) {
			perfetto_fail(p, -ENOMEM);
			return;
		}
		entry.cmdline = args;
	} else {
		entry.n_cmdline = 1;
		entry.cmdline = &name;
		PB_SET(entry, cmdline_is_comm, true);
	}
	if (process->kthread)
		PB_SET(entry, is_kthread, true);
	entry.n_nspid = process->nr_nspids;
	entry.nspid = (int32_t *)process->nspids;
	if (process->start_ns)
		PB_SET(entry, process_start_from_boot, process->start_ns);
	bytes_message(p, &p->tree, TREE_PROCESSES, &entry.base);
	free(args);
	if (process->label)
		add_label(p, process);
}

void perfetto_tree_thread(struct perfetto *p, const struct perfetto_thread *thread)
{
	PB(ProcessTree__Thread) entry = PB_INIT(PROCESS_TREE__THREAD);
	char comm[COMM_SIZE];

	PB_SET(entry, tid, thread->tid);
	PB_SET(entry, tgid, thread->tgid);
	entry.name = comm_of(comm, thread->comm);
	entry.n_nstid = thread->nr_nstids;
	entry.nstid = (int32_t *)thread->nstids;
	bytes_message(p, &p->tree, TREE_THREADS, &entry.base);
}

void perfetto_tree_outsider(struct perfetto *p, unsigned int cpu)
{
	struct perfetto_process process = {
		.pid = PERFETTO_OUTSIDER(0), .uid = -1, .comm = PERFETTO_OUTSIDER_COMM
	};
	struct perfetto_thread thread = {
		.tid = PERFETTO_OUTSIDER(cpu), .tgid = process.pid, .comm = PERFETTO_OUTSIDER_COMM
	};

	if (!p->has_outsiders)
		perfetto_tree_process(p, &process);
	p->has_outsiders = true;
	perfetto_tree_thread(p, &thread);
}
