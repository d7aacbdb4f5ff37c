/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "save.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "collect/collect.h"
#include "export/image.h"
#include "helper/helper.h"
#include "helper/proto.h"
#include "model/sample.h"
#include "model/tick.h"
#include "record/rings.h"
#include "sym/names.h"
#include "util/clock.h"
#include "util/format.h"
#include "util/map.h"

/* So long names are waited for, and the next refresh, which knows who came last. */
#define NAMES_NS 3000000000ULL
#define TICK_NS 1200000000ULL

/* A helper that says nothing for so long is given up. */
#define SILENT_NS 20000000000ULL

enum state { SAVE_IDLE, SAVE_NAMES, SAVE_WRITING };

struct save {
	struct save_options o;
	enum state state;
	struct helper helper;
	char path[PATH_MAX], text[PATH_MAX + 1024], reason[512];
	int fd;
	int err;
	uint64_t began, heard;   /* CLOCK_MONOTONIC ns */
	const struct tick *tick; /* the newest */
};

struct save *save_new(const struct save_options *o)
{
	struct save *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->o = *o;
	s->fd = -1;
	s->helper.socket = -1;
	return s;
}

static void end(struct save *s, int err)
{
	helper_kill(&s->helper);
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
	s->state = SAVE_IDLE;
	s->err = err;
	if (err == -ECANCELED)
		snprintf(s->text, sizeof(s->text), "not saved: cancelled");
	else if (err)
		snprintf(s->text, sizeof(s->text), "cannot save %s: %s", s->path, strerror(-err));
}

void save_free(struct save *s)
{
	if (!s)
		return;
	end(s, -ECANCELED);
	if (s->tick)
		tick_put(s->tick);
	free(s);
}

/* --- Names */

/* Equal keys are equal frames: anonymous ones are of a process. */
static uint64_t frame_key(uint64_t frame, uint32_t tgid)
{
	return frame & FRAME_ANONYMOUS && !(frame & FRAME_KERNEL) ? (frame ^ (uint64_t)tgid << 32) * 31 + 1 : frame + 1;
}

static int ask_stack(void *arg, uint32_t id, const struct stack_entry *e, const uint64_t *frames)
{
	struct save *s = arg;

	(void)id;
	for (uint32_t i = 0; i < e->nr; i++)
		if (frames[i] != FRAME_GAP)
			names_frame(s->o.names, frames[i], e->tgid);
	return 0;
}

int save_start(struct save *s, const char *path, int fd)
{
	char when[32];
	struct tm tm;
	time_t now = time(NULL);

	if (s->state != SAVE_IDLE)
		return -EBUSY;
	if (!rings_slots(collect_rings(s->o.collect)))
		return -EOPNOTSUPP;
	gmtime_r(&now, &tm);
	strftime(when, sizeof(when), "%Y%m%dT%H%M%SZ", &tm);
	if (path)
		snprintf(s->path, sizeof(s->path), "%s", path);
	else
		snprintf(s->path, sizeof(s->path), "systop-%s-%s.pb", s->o.uname->nodename, when);
	s->fd = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 3);
	s->state = SAVE_NAMES;
	s->began = s->heard = clock_ns(CLOCK_MONOTONIC);
	s->err = 0;
	collect_stacks(s->o.collect, ask_stack, s);
	snprintf(s->text, sizeof(s->text), "saving: names of functions");
	return 0;
}

void save_reason(struct save *s, const char *why)
{
	snprintf(s->reason, sizeof(s->reason), "%s", why);
}

void save_cancel(struct save *s)
{
	if (s->state != SAVE_IDLE)
		end(s, -ECANCELED);
}

bool save_busy(const struct save *s)
{
	return s->state != SAVE_IDLE;
}

const char *save_text(const struct save *s)
{
	return s->text;
}

int save_error(const struct save *s)
{
	return s->err;
}

/* --- The image */

static const char *const loss_keys[LOSS_COUNT] = {
#define _(id, name, help) "systop.lost." name,
	LOSSES(_)
#undef _
};

struct making {
	struct save *save;
	struct image_maker *m;
	struct map states; /* life -> enum thread_state + 1 */
};

static uint32_t make_frame(struct making *g, uint64_t frame, uint32_t tgid)
{
	uint64_t key = frame_key(frame, tgid);
	int64_t known = image_has_frame(g->m, key);
	const struct symbol *symbol;
	struct image_frame f = { 0 };
	char build_id[80], path[512];

	if (known >= 0)
		return known;
	if (frame == FRAME_GAP) {
		f.function = image_text(g->m, "[left out]");
		return image_frame(g->m, key, &f);
	}
	symbol = names_frame(g->save->o.names, frame, tgid);
	f.place = frame & FRAME_KERNEL || frame & FRAME_ANONYMOUS ? frame & ~FRAME_ANONYMOUS : frame & FRAME_OFFSET_MASK;
	if (symbol) {
		f.function = symbol->named ? image_text(g->m, symbol->name) : 0;
		names_path(g->save->o.names, frame, path, sizeof(path));
		f.path = image_text(g->m, path);
		f.kind = symbol->kind;
	}
	names_build_id(g->save->o.names, frame, build_id, sizeof(build_id));
	f.build_id = *build_id == '-' ? 0 : image_text(g->m, build_id);
	return image_frame(g->m, key, &f);
}

static int make_stack(void *arg, uint32_t id, const struct stack_entry *e, const uint64_t *frames)
{
	struct making *g = arg;
	uint32_t indexes[STACK_USER_MAX];

	for (uint32_t i = 0; i < e->nr; i++)
		indexes[i] = make_frame(g, frames[i], e->tgid);
	image_stack(g->m, id, indexes, e->nr);
	return 0;
}

static int make_life(void *arg, const struct life *l, uint64_t from, uint64_t to)
{
	struct making *g = arg;
	uint32_t state = (uintptr_t)map_get(&g->states, (uintptr_t)l);

	image_thread(g->m, l, from, to, state ? state - 1 : STATE_DEAD);
	return 0;
}

static void make_states(struct making *g, const struct row *rows, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		map_put(&g->states, (uintptr_t)rows[i].thread, (void *)(uintptr_t)(rows[i].state + 1));
}

static void make_ticks(struct making *g, const struct tick *t, uint64_t from)
{
	uint64_t oldest;

	tick_past(t, &oldest);
	for (uint64_t seq = oldest; seq <= t->seq; seq++) {
		const struct tick *head = tick_head(t, seq);
		struct image_tick at = { .runq_p99_ns = VALUE_NA };

		if (!head || head->boottime_ns < from)
			continue;
		at.at = head->boottime_ns;
		at.runq_p99_ns = values_value(&head->total, FIELD_RUNQ_P99);
		for (int i = 0; i < LOSS_COUNT; i++)
			at.loss += head->loss[i];
		image_tick(g->m, &at);
	}
}

static void make_cpus(struct making *g)
{
	const struct rings *rings = collect_rings(g->save->o.collect);
	int nr = collect_nr_cpus(g->save->o.collect);

	for (int cpu = 0; cpu < nr; cpu++) {
		struct image_cpu c = { .online = rings_fd(rings, cpu) >= 0 };
		const struct rings_mark *marks = rings_marks(rings, cpu, &c.nr);

		collect_cpu_now(g->save->o.collect, cpu, &c.head, &c.current);
		c.online = c.online && (c.head || c.current >= 0);
		image_cpu(g->m, &c, marks);
	}
}

static void make_attributes(struct making *g, const struct tick *t)
{
	const struct save_options *o = &g->save->o;
	char line[4096] = "";
	size_t len = 0;

	for (char **a = o->argv; *a && len < sizeof(line); a++)
		len += snprintf(line + len, sizeof(line) - len, "%s%s", len ? " " : "", *a);
	image_words(g->m, "systop.version", o->version);
	image_words(g->m, "systop.command", line);
	image_words(g->m, "systop.scope", o->scope);
	if (*g->save->reason)
		image_words(g->m, "systop.reason", g->save->reason);
	image_number(g->m, "systop.window_s", o->window_s);
	for (int i = 0; i < LOSS_COUNT; i++)
		image_number(g->m, loss_keys[i], t->loss[i]);
}

static void now(struct image_clocks *c)
{
	c->boottime_ns = clock_ns(CLOCK_BOOTTIME);
	c->realtime_ns = clock_ns(CLOCK_REALTIME);
	c->monotonic_ns = clock_ns(CLOCK_MONOTONIC);
	c->monotonic_raw_ns = clock_ns(CLOCK_MONOTONIC_RAW);
}

static struct image head_of(const struct save *s)
{
	const struct save_options *o = &s->o;
	time_t wall = time(NULL);
	struct image head = {
		.uname = *o->uname,
		.hz = sysconf(_SC_CLK_TCK),
		.page_size = sysconf(_SC_PAGESIZE),
		.nr_cpus = sysconf(_SC_NPROCESSORS_ONLN),
		.ram_bytes = (uint64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE),
		.frequency = collect_frequency(o->collect, 0),
		.ring_slots = rings_slots(collect_rings(o->collect)),
		.scoped = o->scoped,
		.cycles = collect_cycles(o->collect),
	};
	struct tm tm;

	localtime_r(&wall, &tm);
	head.utc_offset_min = tm.tm_gmtoff / 60;
	now(&head.clocks);
	head.end = s->tick->boottime_ns; /* who came later is not known */
	if (o->until_ns && head.end > o->until_ns)
		head.end = o->until_ns;
	head.from = head.end - (uint64_t)o->window_s * 1000000000ULL;
	if (head.from < o->from_ns)
		head.from = o->from_ns;
	return head;
}

/* All that the helper needs to know: its fd, or -errno. */
static int make_image(struct save *s, const struct tick *t)
{
	struct image head = head_of(s);
	struct making g = { .save = s, .m = image_maker(&head) };
	int fd;

	if (!g.m)
		return -ENOMEM;
	make_cpus(&g);
	make_states(&g, t->active, t->nr_active);
	make_states(&g, t->idle, t->nr_idle);
	tick_lives(t, PAST_TICKS, make_life, &g);
	collect_stacks(s->o.collect, make_stack, &g);
	make_ticks(&g, t, head.from);
	make_attributes(&g, t);
	fd = image_put(g.m);
	image_free(g.m);
	map_fini(&g.states);
	return fd;
}

/* --- The helper */

static int tell(struct save *s, const struct write_request *r, int fd)
{
	size_t bytes = r->what == WRITE_PATH ? sizeof(*r) : offsetof(struct write_request, path);
	int sent;

	/* Many CPUs' rings are more than the socket holds: the helper takes them at once. */
	for (int i = 0; i < 50 && (sent = helper_send(s->helper.socket, r, bytes, fd)) == -EAGAIN; i++) {
		struct pollfd p = { .fd = s->helper.socket, .events = POLLOUT };

		poll(&p, 1, 1);
	}
	return sent < 0 ? sent : 0;
}

static int tell_all(struct save *s, int image)
{
	static struct write_request r;
	const struct rings *rings = collect_rings(s->o.collect);
	int nr = collect_nr_cpus(s->o.collect), err;

	r.what = WRITE_IMAGE;
	err = tell(s, &r, image);
	r.what = WRITE_CPUS;
	if (!err)
		err = tell(s, &r, collect_cpus_fd(s->o.collect));
	r.what = WRITE_RING;
	for (int cpu = 0; cpu < nr && !err; cpu++) {
		r.cpu = cpu;
		if (rings_fd(rings, cpu) >= 0)
			err = tell(s, &r, rings_fd(rings, cpu));
	}
	r.what = s->fd < 0 ? WRITE_PATH : WRITE_TO;
	snprintf(r.path, sizeof(r.path), "%s", s->path);
	return err ? err : tell(s, &r, s->fd);
}

static void write_now(struct save *s)
{
	int image = make_image(s, s->tick), err = image < 0 ? image : helper_open(s->o.role, &s->helper);

	if (!err)
		err = tell_all(s, image);
	if (image >= 0)
		close(image);
	if (err) {
		end(s, err);
		return;
	}
	s->state = SAVE_WRITING;
	s->heard = clock_ns(CLOCK_MONOTONIC);
	snprintf(s->text, sizeof(s->text), "saving: 0 %%");
}

static void done(struct save *s, const struct write_answer *a)
{
	char bytes[16], events[16];

	if (a->err) {
		end(s, a->err > 0 || a->err < -4095 ? -EIO : a->err);
		return;
	}
	end(s, 0);
	format_value(bytes, sizeof(bytes), UNIT_BYTES, a->bytes, 0);
	format_value(events, sizeof(events), UNIT_COUNT, a->events, 0);
	snprintf(s->text, sizeof(s->text), "saved %s: %s, %.1f s, %s events, %" PRIu64 " lost%s%s", s->path, bytes,
		 (a->to - a->from) / 1e9, events, a->lost, *s->reason ? "; " : "", s->reason);
	*s->reason = '\0';
}

static bool names_are_there(const struct save *s)
{
	return !names_pending(s->o.names) || clock_ns(CLOCK_MONOTONIC) - s->began > NAMES_NS;
}

bool save_work(struct save *s)
{
	struct write_answer a;
	bool changed = false;
	int fd, got;

	while (s->state == SAVE_WRITING && (got = helper_receive(s->helper.socket, &a, sizeof(a), &fd)) != -EAGAIN) {
		if (fd >= 0)
			close(fd);
		changed = true;
		s->heard = clock_ns(CLOCK_MONOTONIC);
		if (got != sizeof(a))
			end(s, got < 0 ? got : -EIO);
		else if (a.done)
			done(s, &a);
		else
			snprintf(s->text, sizeof(s->text), "saving: %u %%", a.percent < 100 ? a.percent : 100);
	}
	if (s->state == SAVE_WRITING && clock_ns(CLOCK_MONOTONIC) - s->heard > SILENT_NS) {
		end(s, -ETIMEDOUT);
		changed = true;
	}
	if (s->state == SAVE_NAMES && s->tick && clock_ns(CLOCK_MONOTONIC) - s->began > TICK_NS && names_are_there(s)) {
		write_now(s);
		changed = true;
	}
	return changed;
}

bool save_tick(struct save *s, const struct tick *t)
{
	if (s->tick)
		tick_put(s->tick);
	s->tick = tick_get(t);
	if (s->state != SAVE_NAMES || !names_are_there(s))
		return false;
	write_now(s);
	return true;
}
