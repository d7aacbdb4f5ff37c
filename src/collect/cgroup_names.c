/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/cgroup_names.h"

#include <bpf/libbpf.h>
#include <stdlib.h>

#include "proc/cgroup.h"
#include "slot.h"
#include "util/file.h"

struct cgroup_names {
	struct ring_buffer *events;
	int events_fd; /* borrowed */
	struct cgroups *cgroups, *limits; /* those of cgroups_limits() */
};

static int on_event(void *arg, void *data, size_t size)
{
	const struct cgroup_event *e = data;
	struct cgroup_names *n = arg;

	if (size >= sizeof(*e) && (!e->limits || n->limits))
		cgroups_report(e->limits ? n->limits : n->cgroups, e->id, e->parent, e->name);
	return 0;
}

static void on_ask(void *arg)
{
	struct cgroup_names *n = arg;

	ring_buffer__consume(n->events);
}

struct cgroup_names *cgroup_names_new(int fd, struct cgroups *cgroups)
{
	struct cgroup_names *n = calloc(1, sizeof(*n));

	if (!n)
		return NULL;
	n->cgroups = cgroups;
	n->limits = cgroups_limits(cgroups);
	n->events_fd = fd;
	n->events = ring_buffer__new(fd, on_event, n, NULL);
	if (!n->events) {
		free(n);
		return NULL;
	}
	cgroups_ask_with(cgroups, on_ask, n);
	if (n->limits)
		cgroups_ask_with(n->limits, on_ask, n);
	return n;
}

bool cgroup_names_due(const struct cgroup_names *n)
{
	return file_readable(n->events_fd);
}

void cgroup_names_free(struct cgroup_names *n)
{
	if (!n)
		return;
	cgroups_ask_with(n->cgroups, NULL, NULL);
	if (n->limits)
		cgroups_ask_with(n->limits, NULL, NULL);
	ring_buffer__free(n->events);
	free(n);
}
