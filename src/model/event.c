/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/event.h"

const struct event_row event_rows[RING_KINDS] = {
#define _(id, name, track, shape, slots, ...) [RING_##id] = { name, EVENT_##track, EVENT_##shape, slots, { __VA_ARGS__ } },
	RING_EVENTS(_)
#undef _
};

#define _(id, name, track, shape, slots, ...) _Static_assert((slots) >= 1 && (slots) <= RING_SLOTS_MAX, name);
RING_EVENTS(_)
#undef _
