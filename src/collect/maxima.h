/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_COLLECT_MAXIMA_H
#define SYSTOP_COLLECT_MAXIMA_H

#include <stdint.h>

/* Capacities, and the ages at which unused data makes room. */
struct maxima {
	uint32_t files;        /* ids of files + 1, at most UNWIND_FILES */
	uint32_t file_age_s;   /* a file can go if no stack of the window has it, nor of this time before, */
	uint32_t file_rest_s;  /* and its id is free after this time without a key */
	uint32_t irq_lines;    /* sources for lines of /proc/interrupts, at most IRQ_NAMED */
};

/* maxima - in a source file of its own, so that a test program can have smaller ones. */
const struct maxima *maxima(void);

#endif
