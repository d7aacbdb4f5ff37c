/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_COLLECT_IRQ_LINES_H
#define SYSTOP_COLLECT_IRQ_LINES_H

#include <stddef.h>
#include <stdint.h>

/* A line of /proc/interrupts that has a number and a handler. */
struct irq_line {
	uint32_t number;
	uint32_t group;    /* irq_lines_group() */
	uint64_t count;    /* on all CPUs, since boot */
	char device[64];   /* its last word: the handler; raw bytes */
};

/* irq_lines_read - reads all of them into @lines, which the caller frees. Returns their number, or -errno. */
int irq_lines_read(const char *path, struct irq_line **lines);

/* irq_lines_find - the number of the first line of a device, -1: there is none. */
long irq_lines_find(const char *path, const char *device);

/* irq_lines_device - the device of a line's queue: "nvme0q12" is "nvme0q*", "mlx5_comp3@pci:0000:3b:00.0" is
 * "mlx5_comp*@pci:0000:3b:00.0". */
void irq_lines_device(const char *name, char device[64]);

/* irq_lines_group - numbers the devices of @nr lines from 0 on, the one with most interrupts first. Sorts the lines by
 * device and number. Returns the number of devices; 0 also if there is no memory. */
uint32_t irq_lines_group(struct irq_line *lines, size_t nr);

#endif
