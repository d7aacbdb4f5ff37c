/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/commands.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "helper/proto.h"
#include "helper/worker.h"
#include "model/health.h"
#include "model/model.h"
#include "slot.h"
#include "util/clock.h"
#include "util/vec.h"

/* A process that has not answered for this long is sick. */
#define TIMEOUT_NS 500000000ULL

/* Requests a second, each of which takes the helper about 10 us; and requests at once, as many as a full host has at the
 * start. */
#define PER_SECOND 2000
#define BURST 8192

/* A command line is read again after this long, if it is wanted; a new process's this long after its birth. */
#define AGAIN_NS 2000000000ULL
#define BIRTH_NS 1000000000ULL

/* If this many programs were started, the ring is read before the next tick: they fill a fifteenth of it at most. */
#define STARTED_DUE 512

/* A process that held up a helper is left alone until that helper has ended, and for at least this long. */
#define SICK_NS 30000000000ULL
#define SICK_MAX 16

/* Maximum number of processes that wait for their turn; others are read only when they are on the screen. */
#define QUEUE_MAX 262144

/* A queue of processes, oldest first. */
struct queue {
	struct entry {
		pid_t tgid;
		uint64_t due; /* CLOCK_BOOTTIME ns; 0: now */
	} *at;
	size_t first, nr, room; /* at[first] to at[nr - 1] */
};

struct commands {
	struct commands_options o;
	struct ring_buffer *ring;
	struct worker worker;
	struct queue wanted, fresh; /* on the screen; first seen */
	struct commands_request request;
	uint32_t execs[COMMANDS_BATCH]; /* of the requested processes at the request */
	uint32_t answered;
	struct {
		pid_t tgid;
		uint32_t helper;
		uint64_t until; /* CLOCK_MONOTONIC ns */
	} sick[SICK_MAX];       /* processes that held up a helper */
	uint32_t nr_sick;
	double allowed;         /* requests, */
	uint64_t allowed_at;    /* as of this time */
	bool changed;           /* a command line, by the present batch */
	uint64_t drained;       /* programs started before the ring was read */
	uint64_t read, failed, lost;
};

static int on_started(void *arg, void *data, size_t size);

struct commands *commands_new(const struct commands_options *o)
{
	struct commands *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->o = *o;
	c->allowed = BURST;
	c->allowed_at = clock_ns(CLOCK_MONOTONIC);
	worker_init(&c->worker, o->role, TIMEOUT_NS);
	if (o->ring_fd >= 0)
		c->ring = ring_buffer__new(o->ring_fd, on_started, c, NULL);
	if (c->ring || o->ring_fd < 0)
		return c;
	commands_free(c);
	return NULL;
}

void commands_free(struct commands *c)
{
	if (!c)
		return;
	worker_stop(&c->worker);
	ring_buffer__free(c->ring);
	free(c->wanted.at);
	free(c->fresh.at);
	free(c);
}

/* --- Queues */

static void queue_put(struct queue *q, pid_t tgid, uint64_t due)
{
	if (q->first > q->room / 2) {
		memmove(q->at, q->at + q->first, (q->nr - q->first) * sizeof(*q->at));
		q->nr -= q->first;
		q->first = 0;
	}
	if (q->nr - q->first < QUEUE_MAX)
		VEC_PUSH(q->at, q->nr, q->room, ((struct entry){ tgid, due }));
}

/* The next process that is due, 0: none. */
static pid_t queue_take(struct queue *q, uint64_t now)
{
	if (q->first == q->nr || q->at[q->first].due > now)
		return 0;
	return q->at[q->first++].tgid;
}

static bool is_kernels(const struct process *p)
{
	return p->flags & PF_KTHREAD;
}

/* Kernel workers show what they work on. A worker's flags are read at its birth, when it has its name, but not yet its flag. */
static bool has_command(const struct process *p)
{
	return !is_kernels(p) || p->flags & PF_WQ_WORKER || !strncmp(p->comm, "kworker/", 8);
}

void commands_want(struct commands *c, pid_t tgid)
{
	struct process *p = model_process(c->o.model, tgid);
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	if (!p || now < p->asked_ns || !has_command(p))
		return;
	p->asked_ns = now + AGAIN_NS;
	queue_put(&c->wanted, tgid, 0);
}

static void on_new(void *arg, struct process *p, uint64_t start_ns)
{
	struct commands *c = arg;

	if (has_command(p))
		queue_put(&c->fresh, p->tgid, start_ns + BIRTH_NS);
}

/* --- Programs that were started */

/* If the text is unknown, the process does not keep its parent's. If it is cut, a helper reads the whole of it. */
static int on_started(void *arg, void *data, size_t size)
{
	struct commands *c = arg;
	const struct command_event *e = data;
	const struct life *l = size >= COMMAND_SMALL ? c->o.life(c->o.arg, e->slot) : NULL;
	struct process *p;

	if (!l || l->tgid != (pid_t)e->tgid || e->len > size - offsetof(struct command_event, text)) {
		c->lost++; /* its slot was being written, or is another thread's by now */
		return 0;
	}
	p = l->process;
	p->execs++;
	p->whole = e->total <= 1 || (e->len && e->len + 1 >= e->total); /* the last byte is a NUL */
	c->lost += !model_cmdline(c->o.model, p, e->text, e->len, !p->whole);
	if (!p->whole)
		queue_put(&c->wanted, p->tgid, 0);
	return 0;
}

/* By the programs' own count. */
static uint64_t nr_started(const struct commands *c)
{
	uint64_t nr = 0;

	for (int cpu = 0; cpu < c->o.nr_cpus; cpu++)
		nr += __atomic_load_n(&c->o.cpus[cpu].commands, __ATOMIC_RELAXED);
	return nr;
}

bool commands_due(const struct commands *c)
{
	return nr_started(c) - c->drained >= STARTED_DUE;
}

int commands_drain(struct commands *c)
{
	c->drained = nr_started(c);
	return c->ring ? ring_buffer__consume(c->ring) : 0;
}

/* --- Requests */

static bool is_sick(const struct commands *c, pid_t tgid, uint64_t now)
{
	for (int i = 0; i < SICK_MAX; i++)
		if (c->sick[i].tgid == tgid && (now < c->sick[i].until || worker_is_stuck(&c->worker, c->sick[i].helper)))
			return true;
	return false;
}

/* @p: NULL: it has ended. */
static void add(struct commands *c, struct process *p, uint64_t now)
{
	struct commands_request *r = &c->request;

	if (!p || is_sick(c, p->tgid, now))
		return;
	p->asked_ns = now + AGAIN_NS;
	c->execs[r->nr] = p->execs;
	r->of[r->nr++] = (struct commands_of){ p->tgid, is_kernels(p) };
}

/* Requests that may be made now. */
static uint32_t allowance(struct commands *c, uint64_t now)
{
	c->allowed += (now - c->allowed_at) * (PER_SECOND / 1e9);
	c->allowed = c->allowed < BURST ? c->allowed : BURST;
	c->allowed_at = now;
	return c->allowed < COMMANDS_BATCH ? (uint32_t)c->allowed : COMMANDS_BATCH;
}

/* Requests the next batch: first what is on the screen. */
static void ask(struct commands *c)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC), boot = clock_ns(CLOCK_BOOTTIME);
	uint32_t most;
	pid_t tgid;

	if ((c->wanted.first == c->wanted.nr && c->fresh.first == c->fresh.nr) || !worker_ready(&c->worker))
		return;
	most = allowance(c, now);
	c->request.nr = c->answered = c->changed = 0;
	while (c->request.nr < most && (tgid = queue_take(&c->wanted, boot)))
		add(c, model_process(c->o.model, tgid), now);
	while (c->request.nr < most && (tgid = queue_take(&c->fresh, boot))) {
		struct process *p = model_process(c->o.model, tgid);

		if (p && !p->whole)
			add(c, p, now);
	}
	c->allowed -= c->request.nr;
	if (c->request.nr && !worker_ask(&c->worker, &c->request, sizeof(c->request), -1))
		worker_failed(&c->worker);
}

/* The helper hangs on the process whose answer is missing. Those after it are requested again. */
static void failed(struct commands *c)
{
	uint32_t helper = c->worker.helper.id, first = c->answered, at;
	bool busy = worker_busy(&c->worker);

	worker_failed(&c->worker);
	if (!busy || first >= c->request.nr)
		return;
	c->failed++;
	at = c->nr_sick++ % SICK_MAX;
	c->sick[at].tgid = c->request.of[first].tgid;
	c->sick[at].helper = helper;
	c->sick[at].until = clock_ns(CLOCK_MONOTONIC) + SICK_NS;
	for (uint32_t i = first + 1; i < c->request.nr; i++)
		queue_put(&c->wanted, c->request.of[i].tgid, 0);
}

/* --- Answers */

/* An empty answer is that of a process that is ending, or never had a command line: the known text stays. An answer from
 * before an exec is too old. */
static void take(struct commands *c, const struct commands_answer *a)
{
	struct process *p = model_process(c->o.model, c->request.of[a->at].tgid);
	const struct cmdline *before;

	c->answered = a->at + 1;
	c->read += !a->err;
	if (!p || p->execs != c->execs[a->at] || !a->len)
		return;
	before = p->cmdline;
	c->lost += !model_cmdline(c->o.model, p, a->text, a->len, a->cut);
	c->changed |= p->cmdline != before;
}

static bool is_sound(const struct commands *c, const struct commands_answer *a, int bytes)
{
	return bytes >= (int)offsetof(struct commands_answer, text) && a->at == c->answered && a->at <= c->request.nr &&
	       a->len <= sizeof(a->text) && bytes == (int)(offsetof(struct commands_answer, text) + a->len);
}

bool commands_work(struct commands *c)
{
	static struct commands_answer a;
	bool changed = false;
	int got;

	model_processes_new(c->o.model, on_new, c);
	while ((got = worker_answer(&c->worker, &a, sizeof(a), NULL)) != -EAGAIN) {
		if (got < 0 || !worker_busy(&c->worker) || !is_sound(c, &a, got)) {
			failed(c);
			break;
		}
		if (a.at == c->request.nr) {
			worker_done(&c->worker);
			changed = c->changed;
			break;
		}
		take(c, &a);
	}
	if (worker_late(&c->worker))
		failed(c);
	ask(c);
	return changed;
}

uint64_t commands_lost(const struct commands *c)
{
	return c->lost;
}

void commands_health(const struct commands *c, struct health *h)
{
	if (c->worker.off)
		health_add(h, "Helpers", "commands", HEALTH_OFF, "%d are stuck in the kernel: no more are started",
			   c->worker.nr_stuck);
	else if (c->failed)
		health_add(h, "Helpers", "commands", HEALTH_DEGRADED,
			   "%" PRIu64 " command lines could not be read in time, %" PRIu64 " were read", c->failed, c->read);
	else
		health_add(h, "Helpers", "commands", HEALTH_ON, "reads command lines, %" PRIu64 " so far", c->read);
	health_add(h, "Maps", "command lines", HEALTH_FACT, "%.1f of %lu MiB", model_cmdline_bytes(c->o.model) / 1048576.0,
		   CMDLINES_BYTES >> 20);
}
