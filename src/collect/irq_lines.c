/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/irq_lines.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/vec.h"

/* Adds up the counts of a line, one per CPU. Returns the text after them. */
static const char *read_counts(const char *at, int cpus, uint64_t *sum)
{
	for (*sum = 0; cpus; cpus--) {
		uint64_t count = 0;

		while (*at == ' ')
			at++;
		if (!isdigit((unsigned char)*at))
			break;
		for (; isdigit((unsigned char)*at); at++)
			count = count * 10 + (*at - '0');
		*sum += count;
	}
	return at;
}

/* Parses a line that begins like "24:". Returns whether it is one, and has a handler. */
static bool parse(char *text, int cpus, struct irq_line *line)
{
	char *end, *last;
	long number = strtol(text, &end, 10);
	const char *behind;

	if (end == text || *end != ':' || number < 0 || number > UINT32_MAX)
		return false;
	line->number = number;
	behind = read_counts(end + 1, cpus, &line->count);
	for (size_t len = strlen(text); len && isspace((unsigned char)text[len - 1]); len--)
		text[len - 1] = '\0';
	last = strrchr(text, ' ');
	snprintf(line->device, sizeof(line->device), "%s", last && last >= behind ? last + 1 : "");
	return line->device[0];
}

static int count_cpus(const char *head)
{
	int cpus = 0;

	for (head = strstr(head, "CPU"); head; head = strstr(head + 1, "CPU"))
		cpus++;
	return cpus;
}

int irq_lines_read(const char *path, struct irq_line **lines)
{
	FILE *f = fopen(path, "re");
	size_t nr = 0, room = 0, bytes = 0;
	int cpus = 0, err = 0;
	char *text = NULL;

	*lines = NULL;
	if (!f)
		return -errno;
	if (getline(&text, &bytes, f) > 0)
		cpus = count_cpus(text);
	while (!err && getline(&text, &bytes, f) > 0) {
		struct irq_line line = { 0 };

		if (parse(text, cpus, &line))
			err = VEC_PUSH(*lines, nr, room, line);
	}
	free(text);
	fclose(f);
	return err ? err : (int)nr;
}

long irq_lines_find(const char *path, const char *device)
{
	struct irq_line *lines;
	int nr = irq_lines_read(path, &lines);
	long number = -1;

	for (int i = 0; i < nr && number < 0; i++)
		if (!strcmp(lines[i].device, device))
			number = lines[i].number;
	free(lines);
	return number;
}

void irq_lines_device(const char *name, char device[64])
{
	size_t head = strcspn(name, "@"), digits = 0;

	while (digits < head && isdigit((unsigned char)name[head - 1 - digits]))
		digits++;
	if (!digits || digits == head)
		snprintf(device, 64, "%s", name);
	else
		snprintf(device, 64, "%.*s*%s", (int)(head - digits), name, name + head);
}

static int by_device(const void *a, const void *b)
{
	const struct irq_line *x = a, *y = b;
	char of_x[64], of_y[64];
	int order;

	irq_lines_device(x->device, of_x);
	irq_lines_device(y->device, of_y);
	order = strcmp(of_x, of_y);
	return order ? order : (x->number > y->number) - (x->number < y->number);
}

struct device {
	uint32_t group; /* in the order of names */
	uint32_t rank;  /* of the device with this index as its group */
	uint64_t count;
};

static int by_count(const void *a, const void *b)
{
	const struct device *x = a, *y = b;

	return x->count == y->count ? (x->group > y->group) - (x->group < y->group) : x->count < y->count ? 1 : -1;
}

uint32_t irq_lines_group(struct irq_line *lines, size_t nr)
{
	struct device *devices = calloc(nr + 1, sizeof(*devices));
	char last[64] = "", device[64];
	uint32_t nr_devices = 0;

	if (!devices)
		return 0;
	qsort(lines, nr, sizeof(*lines), by_device);
	for (size_t i = 0; i < nr; i++) {
		irq_lines_device(lines[i].device, device);
		if (!i || strcmp(device, last))
			nr_devices++;
		snprintf(last, sizeof(last), "%s", device);
		lines[i].group = nr_devices - 1;
		devices[nr_devices - 1].count += lines[i].count;
	}
	for (uint32_t i = 0; i < nr_devices; i++)
		devices[i].group = i;
	qsort(devices, nr_devices, sizeof(*devices), by_count);
	for (uint32_t i = 0; i < nr_devices; i++)
		devices[devices[i].group].rank = i;
	for (size_t i = 0; i < nr; i++)
		lines[i].group = devices[lines[i].group].rank;
	free(devices);
	return nr_devices;
}
