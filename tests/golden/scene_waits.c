/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Interrupts, waits and wakeups of the scene. */
#include "scene.h"

#include "irq.h"
#include "model/wait.h"

#define SEC 1000000000ULL

static const struct irq_source sources[] = {
	{ IRQ_SOFT, 3, "NET_RX", "" },
	{ IRQ_SOFT, 1, "TIMER", "" },
	{ IRQ_VECTOR, IRQ_LOC, "LOC", "" },
	{ IRQ_HARD, IRQ_LINES, "24", "nvme0q1" },
	{ IRQ_HARD, IRQ_LINES + 1, "186", "mlx5_comp3@pci:0000" },
};

void scene_interrupts(struct scene *s, int nr)
{
	for (int i = 0; i < (int)(sizeof(sources) / sizeof(sources[0])); i++) {
		struct irq_values v = {
			.source = &sources[i],
			.count = 41200 / (i * i * 3 + 1),
			.ns = 312000000 / (i * i * 9 + 1),
			.max_ns = 31000000 / (7 * i * i + 1) / (SCENE_TICKS - nr),
			.max_at = (5000 + nr) * SEC - SEC / 7,
			.max_cpu = i % 3,
			.max_tid = i == 2 ? 0 : 2001,
			.nr_cpus = 1 + i % 3,
		};

		if (s->timers_unseen && sources[i].index == IRQ_LOC)
			continue;
		v.hist.n[IRQ_HIST_SHIFT + 5] = v.count * 98 / 100;
		v.hist.n[IRQ_HIST_SHIFT + 9] = v.count - v.hist.n[IRQ_HIST_SHIFT + 5] - 1;
		v.hist.n[IRQ_HIST_SHIFT + 17] = 1;
		scene_check(model_irq(s->model, &v));
		for (int cpu = 0; cpu < v.nr_cpus; cpu++) {
			struct irq_cpu on = { sources[i].index, cpu, v.count / v.nr_cpus, v.ns / v.nr_cpus };

			scene_check(model_irq_cpu(s->model, &on));
		}
	}
}

void scene_waits(struct scene *s, const struct life *server, const struct life *worker, const struct cgroup *limited)
{
	const struct wait waits[] = {
		{ worker, server, NULL, 310000000, 12, WAIT_BEHIND },
		{ worker, NULL, NULL, 60000000, 5, WAIT_SEVERAL },
		{ worker, NULL, NULL, 30000000, 3, WAIT_WAKEUP },
		{ worker, NULL, limited, 90000000, 2, WAIT_LIMIT },
		{ server, worker, NULL, 140000000, 9, WAIT_BEHIND },
	};
	const struct woken wokens[] = {
		{ worker, 700, 2001, WAKE_THREAD },
		{ worker, 40, 3, WAKE_SOFTIRQ },
		{ worker, 11, 24, WAKE_IRQ },
		{ server, 250, 2002, WAKE_THREAD },
	};
	const struct away aways[] = {
		{ worker, 900000000, 3, HIST_D, 28 },
		{ worker, 4000000, 2, HIST_SLEEP, 20 },
		{ server, 90000000, 2, HIST_SLEEP, 25 },
	};

	for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++)
		scene_check(model_wait(s->model, &waits[i]));
	for (size_t i = 0; i < sizeof(wokens) / sizeof(wokens[0]); i++)
		scene_check(model_woken(s->model, &wokens[i]));
	for (size_t i = 0; i < sizeof(aways) / sizeof(aways[0]); i++)
		scene_check(model_away(s->model, &aways[i]));
}

void scene_compiler(struct scene *s, const struct life *compiler, const struct life *worker)
{
	const struct wait waits[] = {
		{ worker, compiler, NULL, 7000000, 2, WAIT_BEHIND },
		{ compiler, worker, NULL, 5000000, 1, WAIT_BEHIND },
	};
	const struct woken woken = { compiler, 3, 4000, WAKE_THREAD };
	const struct away away = { compiler, 200000, 1, HIST_D, 17 };

	for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++)
		scene_check(model_wait(s->model, &waits[i]));
	scene_check(model_woken(s->model, &woken));
	scene_check(model_away(s->model, &away));
}

void scene_latencies(struct scene *s, int nr)
{
	for (enum hist_id k = HIST_SLEEP; k < HIST_COUNT; k++) {
		struct hist l = { 0 };

		for (int i = hists[k].first; i < 28; i++)
			l.n[i] = (1 << (28 - i)) / (1 + (i + nr) % 3) / (k + 1) / 8;
		if (k == HIST_D) /* as in the samples and scene_waits() */
			l.n[28] = l.n[29] = 3;
		if (k == HIST_SLEEP)
			l.n[20] = l.n[25] = 2;
		model_hist(s->model, k, &l);
	}
}
