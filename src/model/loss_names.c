/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/loss_names.h"

const struct loss_name loss_names[LOSS_COUNT] = {
#define _(id, name, help) [LOSS_##id] = { name, help },
	LOSSES(_)
	REPAIRS(_)
#undef _
};

uint64_t loss_sum(const uint64_t loss[LOSS_COUNT])
{
	uint64_t sum = 0;

	for (int i = 0; i < LOSS_REPAIRED; i++)
		sum += loss[i];
	return sum;
}
