/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>

#include "model/tick.h"
#include "tui/screen/view.h"
#include "tui/view/cpu_grid.h"
#include "tui/widget/pager.h"
#include "util/format.h"

struct system_view {
	struct pager pager;
	struct cpu_grid grid;
};

static int draw_pressure(const struct paint *p, int y, const struct tick *t)
{
	static const char *const names[] = { "cpu", "memory", "io" };

	paint_format(p, y++, 0, ROLE_TITLE, "%-10s %6s %6s  %s", "PRESSURE", "SOME%", "FULL%",
		     "of the interval: some, or all, tasks with work waited");
	for (int i = 0; i < PRESSURE_COUNT; i++) {
		const struct pressure *of = &t->pressure[i];

		paint_format(p, y++, 0, ROLE_TEXT, "%-10s %6s %6s", names[i], SHARE_TEXT(of->some_ns, t->interval_ns),
			     SHARE_TEXT(of->full_ns, t->interval_ns));
	}
	return y;
}

static int draw_self(const struct paint *p, int y, const struct tick *t)
{
	uint64_t oldest;

	paint_text(p, y++, 0, p->width, ROLE_TITLE, "SYSTOP ITSELF");
	paint_format(p, y++, 0, ROLE_TEXT, "CPU time      %6s %% of one CPU", SHARE_TEXT(t->self.cpu_ns, t->interval_ns));
	paint_format(p, y++, 0, ROLE_TEXT, "BPF programs  %6s %% of one CPU, in the threads they watch (estimate)",
		     SHARE_TEXT(t->self.bpf_ns, t->interval_ns));
	paint_format(p, y++, 0, ROLE_TEXT, "memory        %6s", BYTES_TEXT(t->self.rss_bytes));
	paint_format(p, y++, 0, ROLE_TEXT, "BPF maps      %6s", BYTES_TEXT(t->self.bpf_bytes));
	paint_format(p, y++, 0, ROLE_TEXT, "the past      %6s", BYTES_TEXT(tick_past(t, &oldest)));
	return y;
}

/* Lines about the selected CPU, at the bottom; a low screen has none. */
static int about_lines(const struct view_context *c)
{
	return c->height < 6 ? 0 : c->paint->width < 160 ? 2 : 1;
}

static int system_update(void *state, const struct view_context *c)
{
	return grid_update(&((struct system_view *)state)->grid, c, c->height - about_lines(c));
}

static void draw_about(struct system_view *s, const struct view_context *c)
{
	struct paint p = *c->paint;
	int y = c->top + c->height - about_lines(c);

	paint_clear_lines(&p, y, c->top + c->height);
	p.to = c->top + c->height;
	grid_about(&s->grid, c, &p, y);
}

static void system_draw(void *state, const struct view_context *c)
{
	struct system_view *s = state;
	int y;

	do {
		struct paint p = pager_begin(&s->pager, c->paint, c->top, c->height - about_lines(c));

		y = grid_draw(&s->grid, c, &p, 0);
		y = draw_pressure(&p, y + 1, c->tick);
		y = draw_self(&p, y + 1, c->tick);
	} while (pager_end(&s->pager, y));
	draw_about(s, c);
}

/* Scrolls to the selected CPU, with the title above it. */
static void reveal(struct system_view *s, int height)
{
	const struct grid_cpu *cpu = grid_selected(&s->grid);

	if (cpu->y - 2 < s->pager.at)
		s->pager.at = cpu->y > 2 ? cpu->y - 2 : 0;
	if (cpu->y >= s->pager.at + height)
		s->pager.at = cpu->y - height + 1;
}

static bool system_act(void *state, enum action a, const struct view_context *c)
{
	struct system_view *s = state;

	if (!grid_act(&s->grid, a))
		return pager_act(&s->pager, a, c); /* beyond the last CPU it scrolls to what is below */
	if (a == ACTION_CPU_CELLS)
		s->pager.at = 0;
	else
		reveal(s, c->height - about_lines(c));
	return true;
}

static bool system_click(void *state, const struct view_context *c, int y, int x)
{
	struct system_view *s = state;

	if (y < c->top + s->pager.height)
		grid_click(&s->grid, y - c->top + s->pager.at, x);
	return false; /* nothing to open */
}

static void system_status(void *state, const struct view_context *c, char *buf, size_t size)
{
	(void)state;
	snprintf(buf, size, "%zu CPU%s", c->tick->nr_cpus, c->tick->nr_cpus == 1 ? "" : "s");
}

static void system_fini(void *state)
{
	grid_fini(&((struct system_view *)state)->grid);
}

const struct view view_system = {
	.legend = "", /* shown above the CPUs */
	.state_size = sizeof(struct system_view),
	.update = system_update,
	.draw = system_draw,
	.act = system_act,
	.click = system_click,
	.status = system_status,
	.fini = system_fini,
};
