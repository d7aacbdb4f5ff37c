/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "save/process_info.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "helper/helper.h"
#include "helper/proto.h"
#include "model/cmdline.h"
#include "model/tick.h"
#include "util/clock.h"
#include "util/file.h"
#include "util/map.h"

#define PROCESSES_MAX 32768

/* Maximum bytes of all command lines, and the bytes that are reserved for each one that is still to be read. */
#define TEXT_MAX (32 << 20)
#define TEXT_EACH 256

/* A helper without progress for this long is replaced, up to STUCK_MAX times. */
#define STUCK_NS 500000000ULL
#define STUCK_MAX 4

/* In shared memory. */
struct table {
	uint32_t done;      /* processes that the helper has filled in */
	uint32_t text_len;  /* total */
	struct process_info all[];
};

struct process_info_table {
	int role, fd, stuck;
	bool arguments;
	struct helper helper;
	struct process_info *all;   /* the requested processes */
	uint32_t nr;
	struct table *table; /* contents written by the helper are checked: it reads what others can write */
	size_t bytes;
	uint32_t done;  /* table->done when last looked at */
	uint64_t since; /* when that changed; CLOCK_MONOTONIC ns */
};

static uint32_t text_room(uint32_t nr)
{
	return nr < TEXT_MAX / CMDLINE_MAX ? nr * CMDLINE_MAX : TEXT_MAX;
}

static size_t table_bytes(uint32_t nr)
{
	return sizeof(struct table) + nr * sizeof(struct process_info) + text_room(nr);
}

static char *texts(const struct table *t, uint32_t nr)
{
	return (char *)&t->all[nr];
}

static int by_tgid(const void *a, const void *b)
{
	const struct process_info *x = a, *y = b;

	return x->tgid < y->tgid ? -1 : x->tgid > y->tgid;
}

static uint32_t list_rows(const struct row *rows, size_t nr, struct map *known, struct process_info *all,
			  uint32_t listed)
{
	for (size_t i = 0; i < nr && listed < PROCESSES_MAX; i++) {
		const struct life *l = rows[i].thread;

		if (l->flags & PF_KTHREAD || map_get(known, l->tgid) || map_put(known, l->tgid, known))
			continue;
		all[listed++].tgid = l->tgid;
	}
	return listed;
}

/* Lists the processes of a tick, in order of PID. */
static uint32_t list_processes(const struct tick *t, struct process_info **all)
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

static bool make_table(struct process_info_table *w)
{
	w->bytes = table_bytes(w->nr);
	w->fd = memfd_create("systop-info", MFD_CLOEXEC);
	if (w->fd < 0 || ftruncate(w->fd, w->bytes))
		return false;
	w->table = mmap(NULL, w->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, w->fd, 0);
	if (w->table == MAP_FAILED) {
		w->table = NULL;
		return false;
	}
	memcpy(w->table->all, w->all, w->nr * sizeof(*w->all));
	return true;
}

/* Starts a helper, which continues with the first process that is not filled in. */
static void start(struct process_info_table *w)
{
	struct process_request r = { .nr = w->nr, .arguments = w->arguments };

	w->since = clock_ns(CLOCK_MONOTONIC);
	if (helper_open(w->role, &w->helper) || helper_send(w->helper.socket, &r, sizeof(r), w->fd) < 0)
		w->stuck = STUCK_MAX;
}

struct process_info_table *process_info_request(int role, const struct tick *t, bool arguments)
{
	struct process_info_table *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	*w = (struct process_info_table){ .role = role, .arguments = arguments, .fd = -1, .helper.socket = -1 };
	w->nr = list_processes(t, &w->all);
	if (w->all && make_table(w)) {
		start(w);
		return w;
	}
	process_info_free(w);
	return NULL;
}

void process_info_free(struct process_info_table *w)
{
	if (!w)
		return;
	helper_leave(&w->helper);
	if (w->table)
		munmap(w->table, w->bytes);
	file_close(&w->fd);
	free(w->all);
	free(w);
}

bool process_info_done(struct process_info_table *w)
{
	uint32_t done = __atomic_load_n(&w->table->done, __ATOMIC_ACQUIRE);
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	if (done >= w->nr || w->stuck >= STUCK_MAX)
		return true;
	if (done != w->done) {
		w->done = done;
		w->since = now;
	} else if (now - w->since > STUCK_NS) {
		helper_kill(&w->helper);
		w->stuck++;
		__atomic_store_n(&w->table->done, done + 1, __ATOMIC_RELEASE); /* skips the process that it hangs on */
		start(w);
	}
	return false;
}

bool process_info_at(const struct process_info_table *w, uint32_t i, struct process_info *who, char *text)
{
	uint32_t room = text_room(w->nr);

	if (i >= w->nr || i >= __atomic_load_n(&w->table->done, __ATOMIC_ACQUIRE))
		return false;
	memcpy(who, &w->table->all[i], sizeof(*who));
	who->tgid = w->all[i].tgid;
	if (who->nr_nspids > PROCESS_INFO_LEVELS)
		who->nr_nspids = 0;
	if (who->len > CMDLINE_MAX || who->text > room || who->len > room - who->text)
		who->len = 0;
	memcpy(text, texts(w->table, w->nr) + who->text, who->len);
	if (who->len)
		text[who->len - 1] = '\0';
	return true;
}

/* --- The role */

static void fill(struct table *t, uint32_t nr, bool arguments)
{
	for (uint32_t i = t->done; i < nr; i++) {
		uint32_t at = t->text_len;
		uint64_t used = (uint64_t)at + (nr - 1 - i) * TEXT_EACH;
		uint32_t room = arguments && used < text_room(nr) ? text_room(nr) - used : 0;
		struct process_info *w = &t->all[i];

		w->text = room ? at : 0;
		process_info_read(w, texts(t, nr) + w->text, room < CMDLINE_MAX ? room : CMDLINE_MAX);
		t->text_len = at + w->len;
		__atomic_store_n(&t->done, i + 1, __ATOMIC_RELEASE);
	}
}

void process_info_run(int socket)
{
	struct table *t = MAP_FAILED;
	struct process_request r;
	struct stat st;
	int fd, got = helper_receive(socket, &r, sizeof(r), &fd);

	if (fd < 0)
		return;
	if (got == sizeof(r) && r.nr <= PROCESSES_MAX && !fstat(fd, &st) && (uint64_t)st.st_size >= table_bytes(r.nr))
		t = mmap(NULL, table_bytes(r.nr), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (t == MAP_FAILED)
		return;
	fill(t, r.nr, r.arguments);
	munmap(t, table_bytes(r.nr));
}
