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

struct seed {
	struct bpf_program *prog;
	const struct slot *slots;
	uint32_t max;
	const struct shared *shared;
	struct map tids;  /* tid -> slot, of the slots up to */
	uint32_t indexed;
};

static int seed_index(struct seed *s)
{
	int err = 0;

	s->indexed = slots_used(s->shared, s->max);
	for (uint32_t i = 1; !err && i <= s->indexed; i++)
		if (s->slots[i].tid)
			err = map_put(&s->tids, s->slots[i].tid, (void *)&s->slots[i]);
	return err;
}

/* Whether the thread has a slot above the indexed ones: from the iterator, mostly the last one, or since it was born. */
static bool seed_entered(const struct seed *s, uint32_t tid)
{
	for (uint32_t i = slots_used(s->shared, s->max); i > s->indexed; i--)
		if (s->slots[i].tid == tid)
			return true;
	return false;
}

/* Runs the iterator for the threads of a process that have no slot. Returns how many remain. */
static int seed_process(const struct seed *s, const char *pid)
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
		uint32_t tid = strtoul(d->d_name, NULL, 10);

		if (!tid || map_get(&s->tids, tid))
			continue;
		seed_iterate(s->prog, tid, false);
		if (!seed_entered(s, tid))
			missed += !strchr("ZXx", process_state(tid)); /* zombies, which never run again, need no slot */
	}
	closedir(dir);
	return missed;
}

int seed_run(struct bpf_program *prog, const struct slot *slots, uint32_t max, const struct shared *shared)
{
	struct seed s = { .prog = prog, .slots = slots, .max = max, .shared = shared };
	struct dirent *d;
	int missed = 0, err = seed_iterate(prog, 0, false);
	DIR *dir;

	if (!err)
		err = seed_index(&s);
	dir = err ? NULL : opendir("/proc");
	while (dir && (d = readdir(dir)))
		if (d->d_name[0] >= '1' && d->d_name[0] <= '9')
			missed += seed_process(&s, d->d_name);
	if (dir)
		closedir(dir);
	map_fini(&s.tids);
	return err ? err : missed;
}
