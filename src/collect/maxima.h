/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_COLLECT_MAXIMA_H
#define SYSTOP_COLLECT_MAXIMA_H

#include <stdint.h>

/* How much there is room for, and when what is not used any more makes room for others. */
struct maxima {
	uint32_t files;        /* one more than there are ids of files, at most UNWIND_FILES */
	uint32_t file_age_s;   /* no stack of the recorder's window has the file; and for so much longer none had it, */
	uint32_t file_rest_s;  /* and, once it is met no more under its id, for that time */
	uint32_t irq_lines;    /* sources for lines of /proc/interrupts, at most IRQ_NAMED */
};

/* maxima - in a source file of its own: a test's program has less of all. */
const struct maxima *maxima(void);

#endif
