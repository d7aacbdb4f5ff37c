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

static void put(struct model *m, const struct cmdline **held)
{
	struct cmdline *c = (struct cmdline *)*held;

	*held = NULL;
	if (!c || --c->holders)
		return;
	m->cmdline_bytes -= cmdline_bytes(c);
	free(c);
}

void cmdline_drop(struct model *m, struct process *p)
{
	m->cmdline_bytes_ended -= node_of(p)->ended_bytes;
	node_of(p)->ended_bytes = 0;
	put(m, &p->cmdline);
	put(m, &p->frozen);
}

static size_t bytes_of_one(const struct cmdline *c)
{
	return c && c->holders == 1 ? cmdline_bytes(c) : 0;
}

void cmdline_ended(struct model *m, struct process *p)
{
	node_of(p)->ended_bytes = bytes_of_one(p->cmdline) + bytes_of_one(p->frozen);
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

	cut |= len > most;
	len = cmdline_len(text, len < most ? len : most);
	if (p->cmdline && p->cmdline->len == len && p->cmdline->cut == cut && !memcmp(p->cmdline->text, text, len))
		return true;
	if (m->cmdlines_frozen && !p->frozen) {
		p->frozen = p->cmdline;
		p->cmdline = NULL;
	}
	put(m, &p->cmdline);
	if (m->cmdline_bytes < CMDLINES_BYTES)
		c = cmdline_new(text, len, cut);
	if (!c)
		return false;
	m->cmdline_bytes += cmdline_bytes(c);
	p->cmdline = c;
	return true;
}

/* A process that has ended keeps its frozen one: only the ticks that showed it still show the process. */
void model_freeze_cmdlines(struct model *m, bool frozen)
{
	m->cmdlines_frozen = frozen;
	for (size_t i = 0; !frozen && i < m->processes.room; i++)
		if (m->processes.entries[i].key)
			put(m, &((struct process_node *)m->processes.entries[i].value)->process.frozen);
}

size_t model_cmdline_bytes(const struct model *m)
{
	return m->cmdline_bytes;
}
