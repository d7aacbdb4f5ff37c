/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <inttypes.h>
#include <stdio.h>

#include "model/tick.h"
#include "tui/pager.h"
#include "tui/view.h"
#include "util/format.h"

#define CPU_CELLS 36 /* " cpu12  42.1 [##########    ] 12.3K/s" */
#define CPU_BAR 14

struct system_view {
	struct pager pager;
};

static void draw_cpu(const struct paint *p, int y, int x, const struct cpu_values *cpu,
		     uint64_t interval_ns)
{
	uint64_t all = cpu->run_ns + cpu->idle_ns;
	int filled = all ? (CPU_BAR * cpu->run_ns + all / 2) / all : 0;
	char run[16], switches[16];

	format_value(run, sizeof(run), UNIT_SHARE, cpu->run_ns, all);
	format_value(switches, sizeof(switches), UNIT_RATE, cpu->switches, interval_ns);
	x = paint_format(p, y, x, ROLE_TEXT, "%4d %5s [", cpu->cpu, run);
	for (int i = 0; i < CPU_BAR; i++)
		x = paint_text(p, y, x, 1, ROLE_USER, i >= filled ? " " : p->unicode ? "█" : "#");
	paint_format(p, y, x, ROLE_TEXT, "] %6s", switches);
}

static int draw_cpus(const struct paint *p, int y, const struct tick *t)
{
	int columns = p->width / CPU_CELLS ? p->width / CPU_CELLS : 1;
	int lines = (t->nr_cpus + columns - 1) / columns;

	for (int column = 0; column < columns && column < (int)t->nr_cpus; column++)
		paint_format(p, y, column * CPU_CELLS, ROLE_TITLE, "%4s %5s %*s%8s", "CPU", "RUN%",
			     CPU_BAR + 2, "", "CSW/s");
	y++;
	for (size_t i = 0; i < t->nr_cpus; i++)
		draw_cpu(p, y + (int)i % lines, (int)i / lines * CPU_CELLS, &t->cpus[i],
			 t->interval_ns);
	return y + lines;
}

static int draw_pressure(const struct paint *p, int y, const struct tick *t)
{
	static const char *const names[] = { "cpu", "memory", "io" };

	paint_format(p, y++, 0, ROLE_TITLE, "%-10s %6s %6s  %s", "PRESSURE", "SOME%", "FULL%",
		     "of the interval in which some, or all, tasks that had work waited");
	for (int i = 0; i < PRESSURE_COUNT; i++) {
		char some[16], full[16];

		format_value(some, sizeof(some), UNIT_SHARE, t->pressure[i].some_ns, t->interval_ns);
		format_value(full, sizeof(full), UNIT_SHARE, t->pressure[i].full_ns, t->interval_ns);
		paint_format(p, y++, 0, ROLE_TEXT, "%-10s %6s %6s", names[i], some, full);
	}
	return y;
}

static int draw_self(const struct paint *p, int y, const struct tick *t)
{
	char cpu[16], bpf[16], rss[16], maps[16], past[16];
	uint64_t oldest;
	size_t bytes = tick_past(t, &oldest);

	format_value(cpu, sizeof(cpu), UNIT_SHARE, t->self.cpu_ns, t->interval_ns);
	format_value(bpf, sizeof(bpf), UNIT_SHARE, t->self.bpf_ns, t->interval_ns);
	format_value(rss, sizeof(rss), UNIT_BYTES, t->self.rss_bytes, 0);
	format_value(maps, sizeof(maps), UNIT_BYTES, t->self.bpf_bytes, 0);
	format_value(past, sizeof(past), UNIT_BYTES, bytes, 0);
	paint_text(p, y++, 0, p->width, ROLE_TITLE, "SYSTOP ITSELF");
	paint_format(p, y++, 0, ROLE_TEXT, "CPU time      %6s %% of one CPU", cpu);
	paint_format(p, y++, 0, ROLE_TEXT, "BPF programs  %6s %% of one CPU, in the threads they watch (estimate)",
		     bpf);
	paint_format(p, y++, 0, ROLE_TEXT, "memory        %6s", rss);
	paint_format(p, y++, 0, ROLE_TEXT, "BPF maps      %6s", maps);
	paint_format(p, y++, 0, ROLE_TEXT, "the past      %6s", past);
	return y;
}

static int system_update(void *state, const struct view_context *c)
{
	(void)state;
	(void)c;
	return 0;
}

static void system_draw(void *state, const struct view_context *c)
{
	struct system_view *s = state;
	struct paint p = pager_begin(&s->pager, c->paint, c->top, c->height);
	int y = draw_cpus(&p, 0, c->tick);

	y = draw_pressure(&p, y + 1, c->tick);
	y = draw_self(&p, y + 1, c->tick);
	pager_end(&s->pager, y);
}

static bool system_act(void *state, enum action a, const struct view_context *c)
{
	(void)c;
	return pager_act(&((struct system_view *)state)->pager, a);
}

static void system_status(void *state, const struct view_context *c, char *buf, size_t size)
{
	(void)state;
	snprintf(buf, size, "%zu CPUs", c->tick->nr_cpus);
}

static void system_fini(void *state)
{
	(void)state;
}

const struct view view_system = {
	.name = "System",
	.places = IN_SYSTEM,
	.state_size = sizeof(struct system_view),
	.update = system_update,
	.draw = system_draw,
	.act = system_act,
	.status = system_status,
	.fini = system_fini,
};
