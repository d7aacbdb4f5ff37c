/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_PROC_PID_H
#define SYSTOP_PROC_PID_H

#include <stddef.h>
#include <sys/types.h>

/* pid_process - the process of @pid, which may also be one of its threads.
 * @name: "sleep 4711", its name and PID, safe for a terminal
 * Returns its PID, or -ESRCH after fail() (exit status 5). */
pid_t pid_process(pid_t pid, char *name, size_t size);

/* pid_thread - 0 if there is a thread @tid, else -ESRCH after fail() (exit status 5).
 * @name: "worker 4712", likewise */
int pid_thread(pid_t tid, char *name, size_t size);

#endif
