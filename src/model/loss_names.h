/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_MODEL_LOSS_NAMES_H
#define SYSTOP_MODEL_LOSS_NAMES_H

#include <stdint.h>

#include "loss.h"

/* The causes of losses and repairs: the name in JSON, on screens and in traces, and what it means. */
extern const struct loss_name {
	const char *name, *help;
} loss_names[LOSS_COUNT];

/* loss_sum - what is lost for good, of all causes: what was repaired is not. A count of events. */
uint64_t loss_sum(const uint64_t loss[LOSS_COUNT]);

#endif
