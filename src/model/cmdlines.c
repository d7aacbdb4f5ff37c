/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Command lines of processes. */
#include <stdlib.h>
#include <string.h>

#include "model/internal.h"

static struct process_node *node_of(struct process *p)
{
	return (struct process_node *)p;
}

struct process *model_process(const struct model *m, pid_t tgid)
{
	struct process_node *n = map_get(&m->processes, (uint64_t)tgid + 1);

	return n ? &n->process : NULL;
}

void model_processes_new(struct model *m, process_fn *fn, void *arg)
{
	for (size_t i = 0; i < m->nr_new_processes; i++) {
		struct process *p = model_process(m, m->new_processes[i].tgid);

		if (p)
			fn(arg, p, m->new_processes[i].start_ns);
	}
	m->nr_new_processes = 0;
}

void cmdline_drop(struct model *m, struct process *p)
{
	struct cmdline *c = (struct cmdline *)p->cmdline;

	m->cmdline_bytes_ended -= node_of(p)->ended_bytes;
	node_of(p)->ended_bytes = 0;
	p->cmdline = NULL;
	if (!c || --c->holders)
		return;
	m->cmdline_bytes -= cmdline_bytes(c);
	free(c);
}

void cmdline_ended(struct model *m, struct process *p)
{
	if (!p->cmdline || p->cmdline->holders > 1)
		return;
	node_of(p)->ended_bytes = cmdline_bytes(p->cmdline);
	m->cmdline_bytes_ended += node_of(p)->ended_bytes;
}

/* The names have to be the same: with CLONE_PARENT the parent is not the process that it is a copy of. */
void cmdline_inherit(struct process *p, const struct process *parent, const struct identity *id)
{
	if (!parent || !parent->cmdline || id->flags & PF_KTHREAD || strncmp(parent->comm, id->comm, sizeof(id->comm)))
		return;
	p->cmdline = parent->cmdline;
	((struct cmdline *)p->cmdline)->holders++;
}

bool model_cmdline(struct model *m, struct process *p, const char *text, size_t len, bool cut)
{
	size_t most = m->cmdline_bytes < CMDLINES_BYTES / 2 ? CMDLINE_MAX : CMDLINE_SHORT;
	struct cmdline *c = NULL;

	if (p->cmdline && p->cmdline->len == len && p->cmdline->cut == cut && !memcmp(p->cmdline->text, text, len))
		return true;
	cmdline_drop(m, p);
	if (m->cmdline_bytes < CMDLINES_BYTES)
		c = cmdline_new(text, len < most ? len : most, cut || len > most);
	if (!c)
		return false;
	m->cmdline_bytes += cmdline_bytes(c);
	p->cmdline = c;
	return true;
}

size_t model_cmdline_bytes(const struct model *m)
{
	return m->cmdline_bytes;
}
