/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/moves.h"

#include <bpf/libbpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "collect/seed.h"
#include "collect/slots.h"
#include "slot.h"
#include "util/file.h"

/* If more threads or processes are moved at once, all threads are read. */
#define MOVES_MAX 64

/* Moved threads and processes. */
struct moved {
	struct {
		uint32_t tid;
		bool process;
		uint64_t at;
	} who[MOVES_MAX];
	int nr;
	bool all;
	uint64_t last; /* time of the last move */
};

struct moves {
	struct ring_buffer *ring;
	int ring_fd; /* borrowed */
	struct bpf_program *iterator;
	struct shared *shared;
	struct slots *slots;
	struct moved now, before; /* moved since the last look; moved before, and read again: the iterator can skip some */
	uint64_t at;              /* when the threads being read were moved; 0: a switch found the move */
	int err;
};

static void on_moved(struct moves *m, const struct cgroup_move *e)
{
	struct moved *now = &m->now;

	now->last = e->at;
	if (now->nr == MOVES_MAX) {
		now->all = true;
		return;
	}
	now->who[now->nr].tid = e->tid;
	now->who[now->nr].process = e->process;
	now->who[now->nr].at = e->at;
	now->nr++;
}

/* When the kernel last reported a move of the thread, or of its process; 0: never. */
static uint64_t last_move(const struct moved *moved, const struct slot *s)
{
	uint64_t at = 0;

	for (int i = 0; i < moved->nr; i++)
		if (moved->who[i].tid == (moved->who[i].process ? s->tgid : s->tid) && moved->who[i].at > at)
			at = moved->who[i].at;
	return at;
}

/* When the thread was moved; 0: unknown. A switch finds the move only when the thread leaves its CPU or gets one, but what the
 * thread did since the move belongs to its new place. */
static uint64_t moved_at(const struct moves *m, const struct slot *s)
{
	uint64_t now = last_move(&m->now, s), before = last_move(&m->before, s);

	return m->at ? m->at : now > before ? now : before;
}

static int on_event(void *arg, void *data, size_t size)
{
	struct cgroup_move e = { 0 };
	struct moves *m = arg;

	/* The ring does not keep the alignment of a slot. */
	memcpy(&e, data, size < sizeof(e) ? size : sizeof(e));
	if (!e.slot)
		on_moved(m, &e);
	else if (size >= sizeof(e) && !m->err)
		m->err = slots_moved(m->slots, e.slot, &e.was, moved_at(m, &e.was));
	return 0;
}

static int moves_read(void *arg)
{
	struct moves *m = arg;
	int err;

	ring_buffer__consume(m->ring);
	err = m->err;
	m->err = 0;
	return err;
}

struct moves *moves_new(int fd, struct bpf_program *iterator, struct shared *shared, struct slots *slots)
{
	struct moves *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->iterator = iterator;
	m->shared = shared;
	m->slots = slots;
	m->ring_fd = fd;
	m->ring = ring_buffer__new(fd, on_event, m, NULL);
	if (!m->ring) {
		free(m);
		return NULL;
	}
	slots_ask_moved(slots, moves_read, m);
	return m;
}

void moves_free(struct moves *m)
{
	if (!m)
		return;
	slots_ask_moved(m->slots, NULL, NULL);
	ring_buffer__free(m->ring);
	free(m);
}

/* Reads threads with the iterator; one that has ended is ignored. */
static int look_at(struct moves *m, uint32_t id, bool process, uint64_t at)
{
	int err;

	seed_iterate(m->iterator, id, process);
	m->at = at;
	err = moves_read(m);
	m->at = 0;
	return err;
}

static int look(struct moves *m, const struct moved *moved)
{
	int err = 0;

	if (moved->all)
		return look_at(m, 0, false, moved->last);
	for (int i = 0; i < moved->nr && !err; i++)
		err = look_at(m, moved->who[i].tid, moved->who[i].process, moved->who[i].at);
	return err;
}

bool moves_due(const struct moves *m)
{
	return m->now.nr || m->now.all || m->before.nr || m->before.all || file_readable(m->ring_fd);
}

int moves_work(struct moves *m)
{
	struct moved before = m->before;
	int err = moves_read(m);

	if (__atomic_exchange_n(&m->shared->moves_lost, 0, __ATOMIC_RELAXED))
		m->now.all = true;
	m->before = m->now;
	m->now = (struct moved){ .nr = 0 };
	if (!err)
		err = look(m, &m->before);
	if (!err)
		err = look(m, &before);
	return err;
}
