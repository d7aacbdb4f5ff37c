/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/loss_names.h"

const struct loss_name loss_names[LOSS_COUNT] = {
#define _(id, name, help) [LOSS_##id] = { name, help },
	LOSSES(_)
#undef _
};
