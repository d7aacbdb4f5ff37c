/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "who_ask.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "helper/helper.h"
#include "helper/proto.h"
#include "model/tick.h"
#include "util/clock.h"
#include "util/map.h"

#define PROCESSES_MAX 32768
#define TEXT_EACH 256 /* on average; */
#define TEXT_MAX 1024 /* of one */

/* A helper that gets no further for so long is replaced, so often. */
#define STUCK_NS 500000000ULL
#define STUCK_MAX 4

/* In memory that both have. */
struct table {
	uint32_t nr;
	uint32_t done;      /* of them: written by the helper */
	uint32_t text_len;
	uint32_t text_room; /* behind all */
	struct who all[];
};

struct who_table {
	int role, fd, stuck;
	struct helper helper;
	struct table *table;
	size_t bytes;
	uint32_t done;  /* seen last, */
	uint64_t since; /* at that time; CLOCK_MONOTONIC ns */
};

static size_t table_bytes(uint32_t nr)
{
	return sizeof(struct table) + nr * (sizeof(struct who) + TEXT_EACH);
}

static char *texts(const struct table *t)
{
	return (char *)&t->all[t->nr];
}

static int by_tgid(const void *a, const void *b)
{
	const struct who *x = a, *y = b;

	return x->tgid < y->tgid ? -1 : x->tgid > y->tgid;
}

static uint32_t list_rows(const struct row *rows, size_t nr, struct map *known, struct who *all, uint32_t listed)
{
	for (size_t i = 0; i < nr && listed < PROCESSES_MAX; i++) {
		const struct life *l = rows[i].thread;

		if (l->flags & PF_KTHREAD || map_get(known, l->tgid) || map_put(known, l->tgid, known))
			continue;
		all[listed++].tgid = l->tgid;
	}
	return listed;
}

/* The processes of a tick, by number. */
static uint32_t list_processes(const struct tick *t, struct who **all)
{
	size_t most = t->nr_active + t->nr_idle < PROCESSES_MAX ? t->nr_active + t->nr_idle : PROCESSES_MAX;
	struct map known = { 0 };
	uint32_t nr;

	*all = calloc(most + 1, sizeof(**all));
	if (!*all)
		return 0;
	nr = list_rows(t->active, t->nr_active, &known, *all, 0);
	nr = list_rows(t->idle, t->nr_idle, &known, *all, nr);
	map_fini(&known);
	qsort(*all, nr, sizeof(**all), by_tgid);
	return nr;
}

static bool make_table(struct who_table *w, const struct who *all, uint32_t nr)
{
	w->bytes = table_bytes(nr);
	w->fd = memfd_create("systop-who", MFD_CLOEXEC);
	if (w->fd < 0 || ftruncate(w->fd, w->bytes))
		return false;
	w->table = mmap(NULL, w->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, w->fd, 0);
	if (w->table == MAP_FAILED) {
		w->table = NULL;
		return false;
	}
	w->table->nr = nr;
	w->table->text_room = nr * TEXT_EACH;
	memcpy(w->table->all, all, nr * sizeof(*all));
	return true;
}

/* A helper that goes on after what is done. */
static void start(struct who_table *w)
{
	struct who_request r = { .nr = w->table->nr };

	w->since = clock_ns(CLOCK_MONOTONIC);
	if (helper_open(w->role, &w->helper) || helper_send(w->helper.socket, &r, sizeof(r), w->fd) < 0)
		w->stuck = STUCK_MAX;
}

struct who_table *who_ask(int role, const struct tick *t)
{
	struct who_table *w = calloc(1, sizeof(*w));
	struct who *all = NULL;
	uint32_t nr = list_processes(t, &all);

	if (w) {
		*w = (struct who_table){ .role = role, .fd = -1, .helper.socket = -1 };
		if (!all || !make_table(w, all, nr)) {
			who_free(w);
			w = NULL;
		} else {
			start(w);
		}
	}
	free(all);
	return w;
}

void who_free(struct who_table *w)
{
	if (!w)
		return;
	helper_leave(&w->helper);
	if (w->table)
		munmap(w->table, w->bytes);
	if (w->fd >= 0)
		close(w->fd);
	free(w);
}

bool who_done(struct who_table *w)
{
	uint32_t done = __atomic_load_n(&w->table->done, __ATOMIC_ACQUIRE);
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	if (done >= w->table->nr || w->stuck >= STUCK_MAX)
		return true;
	if (done != w->done) {
		w->done = done;
		w->since = now;
	} else if (now - w->since > STUCK_NS) {
		helper_kill(&w->helper);
		w->stuck++;
		__atomic_store_n(&w->table->done, done + 1, __ATOMIC_RELEASE); /* without the one it hangs on */
		start(w);
	}
	return false;
}

const struct who *who_at(const struct who_table *w, uint32_t i)
{
	return i < w->table->nr && i < w->table->done ? &w->table->all[i] : NULL;
}

const char *who_text(const struct who_table *w, const struct who *who)
{
	return texts(w->table) + who->text;
}

/* --- The role */

void who_run(int socket)
{
	struct who_request r;
	struct table *t;
	int fd;

	if (helper_receive(socket, &r, sizeof(r), &fd) != sizeof(r) || fd < 0)
		return;
	t = mmap(NULL, table_bytes(r.nr), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (t == MAP_FAILED)
		return;
	for (uint32_t i = t->done; i < r.nr; i++) {
		uint32_t room = t->text_room - t->text_len;
		struct who *w = &t->all[i];

		w->text = t->text_len;
		who_read(w, texts(t) + t->text_len, room < TEXT_MAX ? room : TEXT_MAX);
		t->text_len += w->len;
		__atomic_store_n(&t->done, i + 1, __ATOMIC_RELEASE);
	}
}
