/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The caller of the helper for command lines. */
#include "helpers.h"

#include <stddef.h>
#include <string.h>

#include "collect/commands.h"
#include "helper/proto.h"
#include "model/health.h"
#include "model/model.h"

#define PROCESSES 8
#define FIRST 10

/* Inputs share a model: creating one takes most of the time. */
#define INPUTS 2000

static struct cgroup root = { .id = 1, .path = "/" };

static struct model *shared_model(void)
{
	static struct model *m;
	static int inputs;

	if (inputs++ % INPUTS == 0) {
		model_free(m);
		m = model_new(0);
	}
	fuzz_check(m, "no memory");
	return m;
}

static void known(void *arg, struct process *p, uint64_t start_ns)
{
	(void)arg;
	(void)p;
	(void)start_ns;
}

/* Forgets processes that have ended: the second tick from now no longer shows them, the third frees them. */
static void forget(struct model *m)
{
	static const struct timespec wall;

	model_processes_new(m, known, NULL);
	for (int i = 0; i < 3; i++)
		fuzz_check(!model_begin(m, 1, 1, &wall), "no memory");
}

/* Processes, of which one is a kernel worker and one another kernel thread. */
static struct life *make_process(struct model *m, int i)
{
	struct identity id = { .tid = FIRST + i, .tgid = FIRST + i, .ppid = FIRST, .comm = "some", .start_ns = 5,
			       .flags = i == 1 ? PF_KTHREAD | PF_WQ_WORKER : i == 2 ? PF_KTHREAD : 0 };
	struct life *l = model_life(m, &id, &root);

	fuzz_check(l, "no memory");
	return l;
}

/* An answer that is valid except for what the input changes. */
static void answer(struct feed *f)
{
	static struct commands_answer a;
	uint32_t bytes;

	a.at = feed_number(f, 1) % 12;
	a.err = feed_number(f, 1) & 1 ? -3 : 0;
	a.cut = feed_number(f, 1);
	a.len = feed_number(f, 2) % (sizeof(a.text) + 2);
	feed_copy(f, a.text, 64);
	bytes = offsetof(struct commands_answer, text) + a.len;
	helpers_answer(0, &a, bytes < sizeof(a) ? bytes : sizeof(a), -1);
}

static void step(struct feed *f, struct commands *c)
{
	static const struct commands_answer any;
	uint8_t raw[128], what = feed_number(f, 1);

	if (what & 0x40) /* up to 5.1 s */
		fuzz_clock_pass(feed_number(f, 1) * 20000000, 0);
	if (what & 0x20)
		helpers_stick(0);
	switch (what & 7) {
	case 0: /* anything */
		feed_copy(f, raw, sizeof(raw));
		helpers_answer(0, raw, 1 + feed_number(f, 1) % sizeof(raw), -1);
		break;
	case 1:
		helpers_answer(0, &any, offsetof(struct commands_answer, text), fuzz_fd_any());
		break;
	case 2:
		helpers_close(0);
		break;
	case 3:
	case 4:
		commands_want(c, FIRST + feed_number(f, 1) % (PROCESSES + 2));
		break;
	default:
		answer(f);
	}
	commands_work(c);
}

void fuzz_commands(const uint8_t *bytes, size_t size)
{
	struct feed f = { bytes, size };
	struct model *m = shared_model();
	const struct commands_options o = { .model = m, .ring_fd = -1 };
	struct life *lives[PROCESSES];
	struct health h = { 0 };
	struct commands *c;

	fuzz_clock_begin();
	c = commands_new(&o);
	fuzz_check(c, "no memory");
	for (int i = 0; i < PROCESSES; i++)
		lives[i] = make_process(m, i);
	while (f.left)
		step(&f, c);
	commands_health(c, &h);
	for (int i = 0; i < PROCESSES; i++) {
		const struct cmdline *text = lives[i]->process->cmdline;

		fuzz_check(!text || (text->len <= CMDLINE_MAX && !text->text[text->len]), "%u bytes", text ? text->len : 0);
		model_life_end(m, lives[i]);
	}
	commands_free(c);
	forget(m);
	health_fini(&h);
	helpers_forget();
	fuzz_clock_end();
}
