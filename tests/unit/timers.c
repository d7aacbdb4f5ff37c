/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/irqs.h"

#include <bpf/libbpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "area.h"
#include "collect/collect_internal.h"
#include "collect/cpus.h"
#include "collect/health.h"
#include "collect/irq_lines.h"
#include "model/health.h"
#include "ticks.h"

#include "systop.skel.h"

#define NR_CPUS 2

/* The programs' data. */
static struct cpu_area *areas[NR_CPUS];
static uint64_t lines[IRQ_LINES_MAX];
static uint32_t nr_lines;
static struct cpu_slot slots[NR_CPUS];
static struct shared shared;
static struct irqs *irqs;
static struct cpus *cpus;
static struct model *model;

static char path[] = "/tmp/systop-interrupts-XXXXXX";

/* A file like /proc/interrupts. */
static bool write_lines(void)
{
	static const char interrupts[] = "           CPU0       CPU1\n"
					 " 24:        100          0   PCI-MSIX-0000:00:01.0  0-edge  virtio0-timers\n"
					 " 48:        100         90   xen-percpu  -virq  timer0\n";
	FILE *file;

	strcpy(path + sizeof(path) - 7, "XXXXXX");
	file = fdopen(mkstemp(path), "w");
	return file && fputs(interrupts, file) >= 0 && !fclose(file);
}

static int open_all(void **state)
{
	(void)state;
	memset(slots, 0, sizeof(slots));
	memset(lines, 0, sizeof(lines));
	nr_lines = 0;
	shared = (struct shared){ .steal_known = 1 };
	areas[0] = calloc(1, sizeof(*areas[0])); /* the other CPU was never online */
	model = model_new(0);
	if (!write_lines())
		return -1;
	irqs = irqs_new(&(struct irqs_memory){ .areas = areas, .lines = lines, .nr_given = &nr_lines, .named = IRQ_NAMED,
					       .path = path, .cpus = slots, .nr_cpus = NR_CPUS });
	cpus = cpus_new(&(struct cpus_memory){ .slots = slots, .nr = NR_CPUS, .shared = &shared, .ticks = true });
	return !areas[0] || !model || !irqs || !cpus;
}

static int close_all(void **state)
{
	(void)state;
	cpus_free(cpus);
	irqs_free(irqs);
	model_free(model);
	free(areas[0]);
	unlink(path);
	return 0;
}

/* A source occurred @count times on CPU 0. */
static void came(uint32_t source, uint32_t count)
{
	areas[0]->irqs[source].count = count;
	areas[0]->irqs_met[source / 64] |= 1ULL << source % 64;
}

/* The values of CPU 0, which has run for @ns since the start, in the next tick. */
static struct cpu_values ran(uint64_t ns)
{
	struct cpu_values v;
	const struct tick *t;

	slots[0].run_ns = ns;
	slots[0].since = ns;
	slots[0].switches_done = ++slots[0].switches;
	tick_begin(model);
	assert_int_equal(cpus_tick(cpus, model, ns), 0);
	t = tick_end(model);
	v = t->cpus[0];
	tick_put(t);
	return v;
}

static bool unseen(void)
{
	return irqs_timers_unseen(irqs, cpus_busy_ns(cpus));
}

TEST(irqs, no_timer_on_a_busy_cpu)
{
	assert_int_equal(cpus_tick(cpus, NULL, 0), 0);
	ran(SEC / 2);
	assert_false(unseen()); /* it may be almost idle */
	ran(3 * SEC);
	assert_true(unseen());
	slots[0].timer_at = 1;
	assert_false(unseen());
}

/* Its timer may stay off. */
TEST(irqs, no_timer_on_a_tickless_cpu)
{
	assert_int_equal(cpus_tick(cpus, NULL, 0), 0);
	slots[0].tickless = 1;
	ran(3 * SEC);
	assert_false(unseen());
}

/* Like Xen. */
TEST(irqs, a_timer_that_has_a_line)
{
	assert_int_equal(cpus_tick(cpus, NULL, 0), 0);
	ran(3 * SEC);
	lines[24] = IRQ_LINES;
	nr_lines = 1;
	came(IRQ_LINES, 100);
	assert_int_equal(irqs_tick(irqs, NULL), 0);
	assert_true(unseen()); /* of a disk */
	lines[48] = IRQ_LINES + 1;
	nr_lines = 2;
	came(IRQ_LINES + 1, 100);
	assert_int_equal(irqs_tick(irqs, NULL), 0);
	assert_false(unseen());
}

/* A tick has what came before its instant; what comes later is the next one's. */
TEST(irqs, what_comes_after_the_instant)
{
	struct irq_slot *s = &areas[0]->irqs[IRQ_LOC];
	const struct tick *t;

	assert_int_equal(irqs_tick(irqs, NULL), 0);
	came(IRQ_LOC, 5);
	s->max_ns = 300;
	irqs_capture(irqs);
	came(IRQ_LOC, 7);
	s->max_ns = 200;
	irqs_capture(irqs); /* a repeat keeps the longest of both */
	came(IRQ_LOC, 8);
	s->max_ns = 400;
	for (int i = 0; i < 2; i++) {
		tick_begin(model);
		assert_int_equal(irqs_tick(irqs, model), 0);
		t = tick_end(model);
		assert_int_equal(t->nr_irqs, 1);
		assert_int_equal(t->irqs[0].count, i ? 1 : 7);
		assert_int_equal(t->irqs[0].max_ns, i ? 400 : 300);
		assert_int_equal(t->irqs[0].nr_cpus, 1);
		tick_put(t);
	}
}

/* An unobserved gap is not "none". */
TEST(irqs, gaps_are_not_known_without_timers)
{
	assert_int_equal(cpus_tick(cpus, NULL, 0), 0);
	assert_int_equal(ran(SEC).gap_ns, 0);
	cpus_timers(cpus, false);
	slots[0].gap_ns = SEC; /* from a sampler's interrupt */
	assert_int_equal(ran(2 * SEC).gap_ns, VALUE_NA);
	cpus_timers(cpus, true);
	assert_int_equal(ran(3 * SEC).gap_ns, SEC);
}

static const struct health_line *line_of(const struct health *h, const char *name)
{
	for (size_t i = 0; i < h->nr; i++)
		if (!strcmp(h->lines[i].name, name))
			return &h->lines[i];
	return NULL;
}

TEST(irqs, health)
{
	struct systop *skel = systop__open();
	struct collect c = { .skel = skel, .irqs = irqs, .cpus = cpus };

	assert_non_null(skel);
	assert_int_equal(cpus_tick(cpus, NULL, 0), 0);
	bpf_program__set_autoload(skel->progs.local_timer_entry, true);
	for (int deaf = 0; deaf < 2; deaf++) {
		struct health h = { 0 };
		const struct health_line *l;

		ran(deaf ? 3 * SEC : SEC / 2);
		health_programs(&h, &c, skel->obj);
		l = line_of(&h, "local_timer_entry");
		assert_non_null(l);
		assert_int_equal(l->verdict, deaf ? HEALTH_DEGRADED : HEALTH_ON);
		assert_int_equal(!!strstr(l->text, "not seen here"), deaf);
		assert_int_equal(line_of(&h, "sched_switch")->verdict, HEALTH_ON);
		health_fini(&h);
	}
	systop__destroy(skel);
}

/* The line of a device, not of one whose name begins or ends like it. */
TEST(irqs, line_of_a_device)
{
	assert_int_equal(irq_lines_find(path, "timer0"), 48);
	assert_int_equal(irq_lines_find(path, "timer"), -1);
	assert_int_equal(irq_lines_find(path, "timers"), -1);
	assert_int_equal(irq_lines_find("/nowhere", "timer0"), -1);
}

/* Where timers are a line, another program sees them. */
TEST(irqs, health_of_timers_that_are_a_line)
{
	struct systop *skel = systop__open();
	struct collect c = { .skel = skel, .irqs = irqs, .cpus = cpus };

	assert_non_null(skel);
	bpf_program__set_autoload(skel->progs.local_timer_entry, false);
	bpf_program__set_autoload(skel->progs.irq_handler_entry, true);
	for (int line = 0; line < 2; line++) {
		struct health h = { 0 };
		const struct health_line *l;

		skel->rodata->timer_line = line ? 48 : IRQ_NO_LINE;
		health_programs(&h, &c, skel->obj);
		l = line_of(&h, "local_timer_entry");
		assert_non_null(l);
		assert_int_equal(l->verdict, line ? HEALTH_ON : HEALTH_OFF);
		assert_int_equal(!!strstr(l->text, "a line here"), line);
		health_fini(&h);
	}
	systop__destroy(skel);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test_setup_teardown(irqs_no_timer_on_a_busy_cpu, open_all, close_all),
		cmocka_unit_test_setup_teardown(irqs_no_timer_on_a_tickless_cpu, open_all, close_all),
		cmocka_unit_test_setup_teardown(irqs_a_timer_that_has_a_line, open_all, close_all),
		cmocka_unit_test_setup_teardown(irqs_what_comes_after_the_instant, open_all, close_all),
		cmocka_unit_test_setup_teardown(irqs_gaps_are_not_known_without_timers, open_all, close_all),
		cmocka_unit_test_setup_teardown(irqs_health, open_all, close_all),
		cmocka_unit_test_setup_teardown(irqs_line_of_a_device, open_all, close_all),
		cmocka_unit_test_setup_teardown(irqs_health_of_timers_that_are_a_line, open_all, close_all),
	};

	return cmocka_run_group_tests(cases, NULL, NULL);
}
