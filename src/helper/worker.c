/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "helper/worker.h"

#include <errno.h>
#include <sys/epoll.h>

#include "helper/cost.h"
#include "util/clock.h"

#define RESTART_NS 1000000000ULL

/* Times that the deadline of a helper that may be runnable is extended. */
#define EXTENSIONS_MAX 10

/* Forgets stuck helpers that have ended. */
static void forget_ended(struct worker *w)
{
	int kept = 0;

	helper_work();
	for (int i = 0; i < w->nr_stuck; i++)
		if (!helper_ended(w->stuck[i]))
			w->stuck[kept++] = w->stuck[i];
	w->nr_stuck = kept;
}

int worker_events(void)
{
	static int fd = -1;

	if (fd < 0)
		fd = epoll_create1(EPOLL_CLOEXEC);
	return fd;
}

static void watch(int fd)
{
	struct epoll_event ev = { .events = EPOLLIN };

	if (fd >= 0)
		epoll_ctl(worker_events(), EPOLL_CTL_ADD, fd, &ev); /* fails for the starter's events, which are there already
								     * after the first time */
}

static void start(struct worker *w)
{
	forget_ended(w);
	w->off = w->nr_stuck == WORKER_STUCK_MAX;
	w->start_after = clock_ns(CLOCK_MONOTONIC) + RESTART_NS;
	watch(helper_events());
	if (w->off || helper_open(w->role, &w->helper))
		w->helper.socket = -1;
	else
		watch(w->helper.socket);
}

void worker_init(struct worker *w, int role, uint64_t timeout_ns)
{
	*w = (struct worker){
		.helper = { .socket = -1 },
		.role = role,
		.timeout_ns = timeout_ns,
	};
}

bool worker_is_stuck(const struct worker *w, uint32_t id)
{
	for (int i = 0; i < w->nr_stuck; i++)
		if (w->stuck[i] == id)
			return !helper_ended(id);
	return false;
}

void worker_stop(struct worker *w)
{
	helper_kill(&w->helper);
	w->deadline = 0;
}

bool worker_ready(struct worker *w)
{
	if (w->helper.socket < 0 && clock_ns(CLOCK_MONOTONIC) > w->start_after)
		start(w);
	if (w->helper.socket < 0 || worker_busy(w))
		return false;
	if (!helper_pid(w->helper.id))
		helper_work();
	return helper_pid(w->helper.id);
}

bool worker_ask(struct worker *w, const void *request, size_t bytes, int fd)
{
	if (helper_send(w->helper.socket, request, bytes, fd) < 0)
		return false;
	w->deadline = clock_ns(CLOCK_MONOTONIC) + w->timeout_ns;
	w->extensions = 0;
	w->cpu_before = w->cpu_max_ns ? process_cpu_ns(helper_pid(w->helper.id)) : 0;
	return true;
}

int worker_answer(struct worker *w, void *answer, size_t room, int *fd)
{
	if (fd)
		*fd = -1;
	return w->helper.socket < 0 ? -EAGAIN : helper_receive(w->helper.socket, answer, room, fd);
}

void worker_done(struct worker *w)
{
	w->deadline = 0;
}

uint64_t worker_cpu_ns(const struct worker *w)
{
	uint64_t cpu = process_cpu_ns(helper_pid(w->helper.id));

	return cpu > w->cpu_before ? cpu - w->cpu_before : 0;
}

bool worker_spent(const struct worker *w)
{
	return w->deadline && w->cpu_max_ns && worker_cpu_ns(w) > w->cpu_max_ns;
}

bool worker_late(struct worker *w)
{
	char state;

	if (worker_spent(w))
		return true;
	if (!w->deadline || clock_ns(CLOCK_MONOTONIC) < w->deadline)
		return false;
	/* On an overloaded host the helper had no CPU yet. With a CPU budget it may wait as long as that lasts. The state is
	 * unknown where /proc hides the helper (hidepid). */
	state = process_state(helper_pid(w->helper.id));
	if ((state != 'R' && state) || (w->extensions == EXTENSIONS_MAX && (!w->cpu_max_ns || !state)))
		return true;
	w->extensions++;
	w->deadline = clock_ns(CLOCK_MONOTONIC) + w->timeout_ns;
	return false;
}

void worker_failed(struct worker *w)
{
	uint32_t id = w->helper.id;

	if (w->helper.socket < 0)
		return;
	w->failures++;
	worker_stop(w);
	if (w->nr_stuck < WORKER_STUCK_MAX)
		w->stuck[w->nr_stuck++] = id;
}
