/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/maxima.h"

#include "irq.h"
#include "unwind.h"

const struct maxima *maxima(void)
{
	/* file_age_s exceeds the time for which a trace waits for names before it is written. */
	static const struct maxima usual = { .files = UNWIND_FILES, .file_age_s = 60, .file_rest_s = 10,
					     .irq_lines = IRQ_NAMED };

	return &usual;
}
