/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_HELPER_WATCH_H
#define SYSTOP_HELPER_WATCH_H

#include <stddef.h>

/*
 * watch_start - ends this process, while it is busy, soon after the other end of its socket was closed, or after it used
 * @request_ms of CPU time for one request; 0: no limit. Returns 0, or another number if there is no timer.
 * watch_request - a message came: a new request begins. watch_budget - sets its limit; @late: the answer to send if it uses
 * more.
 */
int watch_start(int socket, unsigned int request_ms);
void watch_request(void);
void watch_budget(unsigned int ms, const void *late, size_t bytes);

#endif
