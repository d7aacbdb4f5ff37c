/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ticks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "area.h"
#include "collect/irq_lines.h"
#include "collect/irqs.h"
#include "model/tick.h"
#include "model/wait.h"
#include "slot.h"
#include "util/file.h"

#define CPUS 1024

static char path[] = "/tmp/systop-interrupts-XXXXXX";
static uint64_t lines[IRQ_LINES_MAX];
static uint32_t nr_given;
static struct cpu_area *areas[CPUS];
static struct cpu_slot cpus[CPUS];
static FILE *file;

/* A file like /proc/interrupts with this number of columns. */
static void begin_file(int columns)
{
	strcpy(path + sizeof(path) - 7, "XXXXXX");
	file = fdopen(mkstemp(path), "w");
	assert_non_null(file);
	for (int cpu = 0; cpu < columns; cpu++)
		fprintf(file, "       CPU%d", cpu);
	fprintf(file, "\n");
}

static void add_line(int number, int columns, int count, const char *device)
{
	fprintf(file, "%4d:", number);
	for (int cpu = 0; cpu < columns; cpu++)
		fprintf(file, " %10d", cpu ? 0 : count);
	fprintf(file, " PCI-MSIX-0000:%02x:00.0  %3d-edge      %s\n", number % 64, number % 129, device);
}

static struct irqs *end_file(uint32_t named)
{
	struct irqs_memory memory = {
		.areas = areas,
		.lines = lines,
		.nr_given = &nr_given,
		.named = named,
		.path = path,
		.cpus = cpus,
		.nr_cpus = CPUS,
	};
	struct irqs *q;

	fprintf(file, " NMI: %10d  Non-maskable interrupts\n ERR: %10d\n", 0, 0);
	fclose(file);
	memset(lines, 0, sizeof(lines));
	nr_given = 0;
	q = irqs_new(&memory);
	assert_non_null(q);
	return q;
}

static void end(struct irqs *q)
{
	irqs_free(q);
	unlink(path);
}

static void assert_source(struct irqs *q, int number, const char *name, const char *device)
{
	int first;
	const struct irq_source *s = irqs_source(q, lines[number], &first);

	assert_non_null(s);
	assert_string_equal(s->name, name);
	assert_string_equal(s->device, device);
	assert_string_equal(irqs_device(q, number), device);
}

/* 24 disks of 129 queues on 1,024 CPUs: each line has a source that names its device. */
static void test_many_queues(void **state)
{
	char device[64];
	struct irqs *q;
	int number = 40;

	(void)state;
	begin_file(CPUS);
	add_line(24, CPUS, 3, "ACPI:Ged");
	for (int disk = 0; disk < 24; disk++) {
		for (int queue = 0; queue < 129; queue++) {
			snprintf(device, sizeof(device), "nvme%dq%d", disk, queue);
			add_line(number++, CPUS, 1000 + disk, device);
		}
	}
	for (int queue = 0; queue < 64; queue++) {
		snprintf(device, sizeof(device), "mlx5_comp%d@pci:0000:3b:00.0", queue);
		add_line(number++, CPUS, 1, device);
	}
	q = end_file(IRQ_NAMED);
	for (int i = 40; i < number; i++)
		assert_true(lines[i] >= IRQ_LINES && lines[i] < IRQ_SOURCES - 1);
	assert_int_equal(nr_given, 26);
	assert_source(q, 24, "24", "ACPI:Ged");
	assert_source(q, 40 + 129, "169+128", "nvme1q*");
	assert_source(q, 40 + 129 + 77, "169+128", "nvme1q*");
	assert_source(q, number - 1, "3136+63", "mlx5_comp*@pci:0000:3b:00.0");
	assert_int_equal(lines[IRQ_LINES_MAX - 1], 0);
	end(q);
}

/* If all lines fit, each has a source, in the order in which they are first seen. */
static void test_few_lines(void **state)
{
	struct irqs *q;

	(void)state;
	begin_file(2);
	add_line(24, 2, 1, "nvme0q0");
	add_line(25, 2, 1, "nvme0q1");
	q = end_file(IRQ_NAMED);
	assert_int_equal(nr_given, 0);
	lines[25] = IRQ_LINES; /* seen by the programs */
	nr_given = 1;
	assert_source(q, 25, "25", "nvme0q1");
	assert_string_equal(irqs_device(q, 24), "");
	assert_string_equal(irqs_device(q, IRQ_LINES_MAX), "");
	unlink(path); /* it is not read again for a name */
	assert_string_equal(irqs_device(q, 25), "nvme0q1");
	end(q);
}

/* More devices than sources: those that interrupt have one, and some are left for later ones. */
static void test_many_devices(void **state)
{
	char device[64];
	struct irqs *q;

	(void)state;
	begin_file(2);
	for (int i = 0; i < 40; i++) {
		snprintf(device, sizeof(device), "disk%d-req", i);
		add_line(100 + i, 2, i % 4 ? 0 : 50 + i, device);
	}
	q = end_file(16);
	for (int i = 0; i < 40; i += 4) {
		snprintf(device, sizeof(device), "disk%d-req", i);
		assert_within(lines[100 + i], IRQ_LINES, IRQ_LINES + 13);
	}
	assert_source(q, 136, "136", "disk36-req");
	assert_int_equal(nr_given, 14);
	lines[101] = IRQ_LINES + 16; /* from the programs: no room was left */
	nr_given = 17;
	assert_source(q, 101, "others", "");
	end(q);
}

static void test_device_of_queue(void **state)
{
	static const struct {
		const char *name, *device;
	} cases[] = {
		{ "nvme0q12", "nvme0q*" },          { "eth0-TxRx-3", "eth0-TxRx-*" },
		{ "virtio2-input.0", "virtio2-input.*" }, { "mlx5_comp3@pci:0000:3b:00.0", "mlx5_comp*@pci:0000:3b:00.0" },
		{ "ACPI:Ged", "ACPI:Ged" },         { "i8042", "i*" },
		{ "8250", "8250" },                 { "", "" },
	};
	char device[64];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		irq_lines_device(cases[i].name, device);
		assert_string_equal(device, cases[i].device);
	}
}

/* A source that never occurred on a CPU is not read there: its memory is behind a lock. */
static void test_reads_what_came(void **state)
{
	size_t page = sysconf(_SC_PAGESIZE), bytes = (sizeof(struct cpu_area) + page - 1) / page * page;
	struct irqs *q;

	(void)state;
	for (int cpu = 0; cpu < 4; cpu++) {
		areas[cpu] = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		assert_ptr_not_equal(areas[cpu], MAP_FAILED);
		areas[cpu]->irqs[3].count = 5;
		areas[cpu]->irqs_met[0] = 1 << 3;
		assert_false(mprotect((char *)areas[cpu] + page, sizeof(areas[cpu]->irqs) - page, PROT_NONE));
	}
	begin_file(4);
	q = end_file(IRQ_NAMED);
	nr_given = IRQ_NAMED + 1;
	assert_int_equal(irqs_tick(q, NULL), 0);
	end(q);
	for (int cpu = 0; cpu < 4; cpu++) {
		munmap(areas[cpu], bytes);
		areas[cpu] = NULL;
	}
}

/* The handlers of all lines but one. */
static const char *handlers;
static int gone = -1;

void __wrap_file_line(char *line, size_t size, const char *name, ...);

void __wrap_file_line(char *line, size_t size, const char *name, ...)
{
	va_list arguments;

	assert_string_equal(name, "/sys/kernel/irq/%d/actions");
	va_start(arguments, name);
	snprintf(line, size, "%s", va_arg(arguments, int) == gone ? "" : handlers);
	va_end(arguments);
}

static uint64_t now_s;

int __wrap_clock_gettime(clockid_t id, struct timespec *ts);
int __wrap_clock_gettime(clockid_t id, struct timespec *ts)
{
	(void)id;
	*ts = (struct timespec){ .tv_sec = now_s };
	return 0;
}

/* CPU 0 has interrupts of the first line. */
static void begin_area(void)
{
	areas[0] = calloc(1, sizeof(*areas[0]));
	assert_non_null(areas[0]);
	areas[0]->irqs_met[0] = 1 << IRQ_LINES;
}

static void end_area(void)
{
	free(areas[0]);
	areas[0] = NULL;
}

/* Ticks with interrupts of line 25 until its source has been looked at. */
static void tick_until_seen(struct irqs *q)
{
	for (int i = 0; i < 16; i++) {
		areas[0]->irqs[IRQ_LINES].count++;
		assert_int_equal(irqs_tick(q, NULL), 0);
	}
}

/* The line of a device that is gone is given to another one. Its source has the name in /proc/interrupts. */
static void test_line_of_another_device(void **state)
{
	struct irqs *q;

	(void)state;
	begin_area();
	begin_file(2);
	add_line(25, 2, 1, "usb, nvme0q1");
	q = end_file(IRQ_NAMED);
	lines[25] = IRQ_LINES;
	nr_given = 1;
	handlers = "usb,nvme0q1";
	tick_until_seen(q);
	assert_source(q, 25, "25", "nvme0q1");

	file = fopen(path, "w");
	assert_non_null(file);
	fprintf(file, "       CPU0\n");
	add_line(25, 1, 1, "q1");
	fclose(file);
	handlers = ""; /* none at the moment */
	tick_until_seen(q);
	assert_source(q, 25, "25", "nvme0q1");
	handlers = "q1";
	tick_until_seen(q);
	assert_source(q, 25, "25", "q1");
	end(q);
	end_area();
}

static void tick(struct irqs *q, int times)
{
	while (times--)
		assert_int_equal(irqs_tick(q, NULL), 0);
}

/* Two lines have sources, and a third one none, until one of the two is gone for longer than anything is kept. */
static void test_source_of_lines_that_are_gone(void **state)
{
	struct irqs *q;

	(void)state;
	begin_file(2);
	add_line(26, 2, 1, "eth0");
	add_line(27, 2, 1, "eth1");
	q = end_file(2);
	lines[25] = IRQ_LINES;
	lines[26] = IRQ_LINES + 1;
	lines[27] = IRQ_LINES + 2; /* from the programs: no room was left */
	nr_given = 3;
	handlers = "eth";
	assert_source(q, 27, "others", "");
	now_s = 3600;
	tick(q, HISTORY_TICKS + 16);
	assert_int_equal(lines[27], IRQ_LINES + 2); /* the others have a handler */
	gone = 25;
	tick(q, 16);
	assert_int_equal(lines[25], 0);
	assert_int_equal(lines[26], IRQ_LINES + 1);
	assert_source(q, 27, "27", "eth1");
	gone = -1;
	end(q);
}

/* A source that had interrupts not long ago is shown in refreshes and traces, although its line is gone. */
static void test_source_that_is_shown(void **state)
{
	struct irqs *q;

	(void)state;
	begin_area();
	begin_file(2);
	add_line(26, 2, 1, "eth0");
	q = end_file(1);
	lines[25] = IRQ_LINES;
	lines[26] = IRQ_LINES + 1;
	nr_given = 2;
	handlers = "eth";
	gone = 25;
	now_s = 3600;
	tick(q, HISTORY_TICKS + 16);
	assert_int_equal(lines[26], IRQ_LINES);

	lines[25] = IRQ_LINES;
	lines[26] = IRQ_LINES + 1;
	areas[0]->irqs[IRQ_LINES].count = 1;
	assert_int_equal(irqs_tick(q, NULL), 0);
	now_s += 599;
	tick(q, HISTORY_TICKS + 16);
	assert_int_equal(lines[26], IRQ_LINES + 1);
	areas[0]->irqs[IRQ_LINES].count = 2;
	assert_int_equal(irqs_tick(q, NULL), 0);
	now_s += 600;
	tick(q, HISTORY_TICKS - 16);
	assert_int_equal(lines[26], IRQ_LINES + 1);
	tick(q, 32);
	assert_int_equal(lines[26], IRQ_LINES);
	gone = -1;
	end(q);
	end_area();
}

/* What the line of CPU 0 did in a refresh. */
static struct irq_values refresh(struct irqs *q, struct model *m)
{
	struct irq_values v;
	const struct tick *t;

	tick_begin(m);
	assert_int_equal(irqs_tick(q, m), 0);
	t = tick_end(m);
	assert_int_equal(t->nr_irqs, 1);
	v = t->irqs[0];
	tick_put(t);
	return v;
}

/* The longest interrupt is that of the refresh, on the clock that continues while the host is suspended. One that ends at that
 * moment may be counted first: the longest is never shorter than the average. */
static void test_longest_of_a_refresh(void **state)
{
	struct model *m = model_new(0);
	struct irq_values v;
	struct irq_slot *s;
	struct irqs *q;

	(void)state;
	begin_area();
	begin_file(1);
	add_line(25, 1, 1, "eth0");
	q = end_file(IRQ_NAMED);
	lines[25] = IRQ_LINES;
	nr_given = 1;
	handlers = "eth0";
	cpus[0].suspended_ns = 1000;
	s = &areas[0]->irqs[IRQ_LINES];
	*s = (struct irq_slot){ .count = 2, .ns = 5000, .max_ns = 4000, .max_at = 100, .max_tid = 7 };
	v = refresh(q, m);
	assert_int_equal(v.count, 2);
	assert_int_equal(v.ns, 5000);
	assert_int_equal(v.max_ns, 4000);
	assert_int_equal(v.max_at, 1100);
	assert_int_equal(v.max_tid, 7);
	s->count++;
	s->ns += 300;
	s->max_ns = 300;
	assert_int_equal(refresh(q, m).max_ns, 300);
	s->count += 2;
	s->ns += 800;
	v = refresh(q, m);
	assert_int_equal(v.ns, 800);
	assert_int_equal(v.max_ns, 400);
	cpus[0].suspended_ns = 0;
	model_free(m);
	end(q);
	end_area();
}

/* A thread woken by a line whose number does not fit beside the thread's. */
static void test_waker_says_what_it_knows(void **state)
{
	char name[32];

	(void)state;
	wake_name(WAKE_IRQ, 1022, name, sizeof(name));
	assert_string_equal(name, "irq 1022");
	wake_name(WAKE_IRQ, WAKER_NUMBER_MAX, name, sizeof(name));
	assert_string_equal(name, "irq 1023+");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_many_queues),
		cmocka_unit_test(test_few_lines),
		cmocka_unit_test(test_many_devices),
		cmocka_unit_test(test_device_of_queue),
		cmocka_unit_test(test_reads_what_came),
		cmocka_unit_test(test_line_of_another_device),
		cmocka_unit_test(test_source_of_lines_that_are_gone),
		cmocka_unit_test(test_source_that_is_shown),
		cmocka_unit_test(test_longest_of_a_refresh),
		cmocka_unit_test(test_waker_says_what_it_knows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
