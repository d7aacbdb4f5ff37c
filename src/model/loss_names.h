/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_MODEL_LOSS_NAMES_H
#define SYSTOP_MODEL_LOSS_NAMES_H

#include <stdint.h>

#include "loss.h"

/* The causes of losses and repairs: the name in JSON, on screens and in traces, and its meaning. */
extern const struct loss_name {
	const char *name, *help;
} loss_names[LOSS_COUNT];

/* loss_sum - number of events lost for good, of all causes, without repairs. */
uint64_t loss_sum(const uint64_t loss[LOSS_COUNT]);

#endif
