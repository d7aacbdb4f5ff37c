/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/scope.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collect/collect.h"
#include "collect/load.h"
#include "slot.h"

static int compare(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct scope_cgroup));
}

static bool is_in(const struct scope_cgroup *sorted, size_t nr, const struct scope_cgroup *key)
{
	return nr && bsearch(key, sorted, nr, sizeof(*key), compare);
}

int scope_set_cgroups(struct scope *s, const struct collect_cgroup *cgroups, size_t nr)
{
	struct scope_cgroup *now = calloc(nr + 1, sizeof(*now));
	uint8_t one = 1;
	size_t kept = 0;
	int err = 0;

	if (!now)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		now[i].id = cgroups[i].id;
		now[i].ssid = controller_ssid(cgroups[i].controller);
	}
	qsort(now, nr, sizeof(*now), compare);
	for (size_t i = 0; i < s->nr_cgroups; i++) { /* those that leave make room */
		if (is_in(now, nr, &s->cgroups[i]))
			continue;
		s->changed = true;
		bpf_map_delete_elem(s->cgroups_fd, &s->cgroups[i]);
	}
	for (size_t i = 0; i < nr; i++) {
		if (!is_in(s->cgroups, s->nr_cgroups, &now[i])) {
			if (bpf_map_update_elem(s->cgroups_fd, &now[i], &one, BPF_ANY)) {
				err = -errno;
				continue;
			}
			s->changed = true;
		}
		now[kept++] = now[i];
	}
	free(s->cgroups);
	s->cgroups = now;
	s->nr_cgroups = kept;
	if (nr - kept > s->nr_missing)
		s->missed += nr - kept - s->nr_missing;
	s->nr_missing = nr - kept;
	return err;
}

/* How a number is covered: enum pid_scope. */
static uint8_t covered(const struct scope *s, uint32_t number)
{
	uint8_t how = 0;

	bpf_map_lookup_elem(s->pids_fd, &number, &how);
	return how;
}

static int set_covered(struct scope *s, uint32_t number, uint8_t how)
{
	return bpf_map_update_elem(s->pids_fd, &number, &how, BPF_ANY) ? -errno : 0;
}

static int cover(struct scope *s, uint32_t number, enum pid_scope how)
{
	return set_covered(s, number, covered(s, number) | how);
}

void scope_uncover(struct scope *s, uint32_t number, enum pid_scope how)
{
	set_covered(s, number, covered(s, number) & ~how);
}

int scope_fill(struct scope *s, const struct collect_options *o)
{
	uint8_t one = 1;
	int err = scope_set_cgroups(s, o->cgroups, o->nr_cgroups);

	s->changed = false; /* no thread has one yet */
	for (size_t i = 0; !err && i < o->nr_pids; i++)
		err = cover(s, o->pids[i], SCOPE_PROCESS);
	for (size_t i = 0; !err && i < o->nr_tids; i++)
		err = cover(s, o->tids[i], SCOPE_THREAD);
	for (size_t i = 0; !err && i < o->nr_uids; i++) {
		uint32_t uid = o->uids[i];

		err = bpf_map_update_elem(s->uids_fd, &uid, &one, BPF_ANY) ? -errno : 0;
	}
	return err;
}

void scope_free(struct scope *s)
{
	if (s)
		free(s->cgroups);
	free(s);
}
