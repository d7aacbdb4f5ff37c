/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_PROC_HOST_H
#define SYSTOP_PROC_HOST_H

#include "model/tick.h"

/* host_read - memory, swap, load and uptime of the host now, from the files meminfo, loadavg and uptime in @proc:
 * "/proc". What is in none of them is VALUE_NA. Takes about 40 us. */
void host_read(const char *proc, struct host_state *h);

#endif
