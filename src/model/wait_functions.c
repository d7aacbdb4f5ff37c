/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/wait_functions.h"

#include <stddef.h>
#include <string.h>

static const char *const waits[] = {
	"__schedule", "schedule", "io_schedule", "preempt_schedule", "__switch_to", "bit_wait", "__wait_on_bit",
	"out_of_line_wait_on_bit", "wait_for_completion", "__wait_for_common", "wait_for_common", "__mutex_lock",
	"mutex_lock", "__mutex_lock_slowpath", "rwsem_", "down_", "__down", "rt_mutex", "__rt_mutex", "rwbase_",
	"__rwbase_", "rtlock_", "rt_spin_", "rt_read_lock", "rt_write_lock", "percpu_rwsem_wait", "__percpu_",
	"prepare_to_wait", "finish_wait", "wait_woken", "do_wait_", "msleep",
	"usleep_range", "hrtimer_nanosleep", "do_nanosleep", "__bio_", "blk_wait", "submit_bio_wait",
	"folio_wait_bit", "__folio_lock", "wait_on_page_bit", "__lock_page",
};

bool wait_functions_has(const char *function)
{
	for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++)
		if (!strncmp(function, waits[i], strlen(waits[i])))
			return true;
	return false;
}
