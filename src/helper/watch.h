/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_HELPER_WATCH_H
#define SYSTOP_HELPER_WATCH_H

/*
 * watch_start - ends this process, while it is busy, soon after the other end of its socket was closed, or after it
 * used so much CPU time for one request. 0: any.
 * watch_request - another request is begun: a message came.
 */
int watch_start(int socket, unsigned int request_ms);
void watch_request(void);

#endif
