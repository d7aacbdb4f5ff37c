/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_TUI_VIEW_LATENCY_SUBSECOND_FLAME_H
#define SYSTOP_TUI_VIEW_LATENCY_SUBSECOND_FLAME_H

#include <stdbool.h>

#include "query/subsecond.h"

struct opening;

/* subsecond_flame - @o opens the flamegraph of what the recorder has in the range: for D state the blocks, else the
 * CPU samples. @what: for its titles. Returns false if out of memory. */
bool subsecond_flame(struct opening *o, const struct subsecond_range *r, enum subsecond_metric metric,
		     const char *what);

#endif
