/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_APP_TURNS_H
#define SYSTOP_APP_TURNS_H

#include <stdint.h>

/* How long the main loop's turns take: nothing else is done meanwhile, and keys wait. */
struct turns {
	uint64_t longest_ns; /* one turn, in the last 10 to 20 s; */
	uint64_t work_ns;    /* and without what the turn waited for a CPU, which is somebody else's doing */
};

void turns_begin(void);
void turns_end(void);

/* turns_get - of those that ended so far. */
struct turns turns_get(void);

#endif
