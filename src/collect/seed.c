/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/seed.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collect/slot_values.h"
#include "helper/cost.h"
#include "util/map.h"

int seed_iterate(struct bpf_program *prog, uint32_t id, bool process)
{
	union bpf_iter_link_info info = { .task.tid = process ? 0 : id, .task.pid = process ? id : 0 };
	LIBBPF_OPTS(bpf_iter_attach_opts, opts, .link_info = &info, .link_info_len = sizeof(info));
	struct bpf_link *link = bpf_program__attach_iter(prog, id ? &opts : NULL);
	char buf[64];
	ssize_t n;
	int fd, err = 0;

	if (!link)
		return -errno;
	fd = bpf_iter_create(bpf_link__fd(link));
	if (fd < 0) {
		err = -errno;
	} else {
		while ((n = read(fd, buf, sizeof(buf))) > 0 || (n < 0 && errno == EAGAIN))
			;
		if (n < 0)
			err = -errno;
		close(fd);
	}
	bpf_link__destroy(link);
	return err;
}

static int seed_index(const struct slot *slots, uint32_t max, const struct shared *shared, struct map *tids)
{
	int err = 0;

	for (uint32_t i = 1; !err && i <= slots_used(shared, max); i++)
		if (slots[i].tid)
			err = map_put(tids, slots[i].tid, (void *)&slots[i]);
	return err;
}

/* Runs the iterator for the threads of a process that have no slot. Returns how many remain. */
static int seed_process(struct bpf_program *prog, const char *pid, const struct map *tids, const struct slot *slots,
			uint32_t max, const struct shared *shared)
{
	char path[32 + 256];
	struct dirent *d;
	int missed = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%s/task", pid);
	dir = opendir(path);
	if (!dir)
		return 0; /* the process is gone */
	while ((d = readdir(dir))) {
		uint32_t used = slots_used(shared, max), tid = strtoul(d->d_name, NULL, 10);

		if (!tid || map_get(tids, tid))
			continue;
		if (seed_iterate(prog, tid, false) || slots_used(shared, max) == used ||
		    slots[slots_used(shared, max)].tid != tid)
			missed += !strchr("ZXx", process_state(tid)); /* zombies, which never run again, need no slot */
	}
	closedir(dir);
	return missed;
}

int seed_run(struct bpf_program *prog, const struct slot *slots, uint32_t max, const struct shared *shared)
{
	struct map tids = { 0 };
	struct dirent *d;
	int missed = 0, err = seed_iterate(prog, 0, false);
	DIR *dir;

	if (!err)
		err = seed_index(slots, max, shared, &tids);
	dir = err ? NULL : opendir("/proc");
	while (dir && (d = readdir(dir)))
		if (d->d_name[0] >= '1' && d->d_name[0] <= '9')
			missed += seed_process(prog, d->d_name, &tids, slots, max, shared);
	if (dir)
		closedir(dir);
	map_fini(&tids);
	return err ? err : missed;
}
