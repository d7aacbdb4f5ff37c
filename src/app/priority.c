/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "app/priority.h"

#include <sys/resource.h>

#define RAISED (-10)

void priority_raise(void)
{
	if (!getpriority(PRIO_PROCESS, 0))
		setpriority(PRIO_PROCESS, 0, RAISED);
}

void priority_restore(void)
{
	if (getpriority(PRIO_PROCESS, 0) == RAISED)
		setpriority(PRIO_PROCESS, 0, 0);
}
