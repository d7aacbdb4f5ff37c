/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_APP_TURNS_H
#define SYSTOP_APP_TURNS_H

#include <stdbool.h>
#include <stdint.h>

/* Length of the main loop's turns: nothing else runs meanwhile, and keys wait. */
struct turns {
	uint64_t longest_ns; /* longest turn of the last 10 to 20 s; */
	uint64_t work_ns;    /* the same without the turn's waits for a CPU, which others cause */
};

void turns_begin(void);
void turns_end(void);

/* turns_until - when a slice of longer work must end, to continue in the next turn: CLOCK_MONOTONIC ns.
 * turns_used - whether work that takes long has to wait for the next turn. */
uint64_t turns_until(void);
bool turns_used(void);

/* turns_get - of the turns that ended so far. */
struct turns turns_get(void);

#endif
