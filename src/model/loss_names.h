/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_MODEL_LOSS_NAMES_H
#define SYSTOP_MODEL_LOSS_NAMES_H

#include "loss.h"

/* The causes of losses: the name in JSON, on screens and in traces, and what it means. */
extern const struct loss_name {
	const char *name, *help;
} loss_names[LOSS_COUNT];

#endif
